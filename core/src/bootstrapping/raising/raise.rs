//! ModRaise of CKKS ciphertexts, in two halves.

use super::{
    key_source::{self, Direction, KeySource},
    params::RaisingParams,
    reduction::ReductionSpec,
};
use crate::{
    arith::Word,
    error::Error,
    rlwe::{EphemeralPair, ModRaise},
    schemes::{
        ckks::{Ciphertext, Scale},
        identity::Identity,
    },
    trace::Counters,
};

/// [`ModRaise`] with the keys and the scales of a set.
pub(super) struct Lift<R: ReductionSpec, W: Word> {
    params: RaisingParams<R, W>,
    raise: ModRaise<W>,
}

impl<R: ReductionSpec, W: Word> Lift<R, W> {
    pub fn new(params: &RaisingParams<R, W>) -> Self {
        Self { params: params.clone(), raise: ModRaise::new(params.ckks().rlwe()) }
    }

    /// [`Error::ParamsMismatch`] unless a ciphertext is of this set, and the keys are its owner's.
    pub fn check(&self, x: &Ciphertext<W>, keys: &dyn KeySource<W>) -> Result<(), Error> {
        self.params.check_set(x)?;
        key_source::check(keys, x.identity())
    }

    /// The ciphertext modulo q0, under the ephemeral secret where the set has one.
    pub fn lower(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<EphemeralPair<W>, Error> {
        self.check(x, keys)?;
        let Some(context) = self.params.encapsulation() else {
            return self.raise.to_ephemeral(x.pair()?, None, counters);
        };
        let there = keys.ephemeral_key(Direction::ToEphemeral)?;
        self.raise.to_ephemeral(x.pair()?, Some((context, &there)), counters)
    }

    /// Slots (m + q0 I) / (K q0) at scale K q0, at `level`, a ciphertext of `identity`.
    pub fn raise(
        &self,
        pair: &EphemeralPair<W>,
        level: usize,
        identity: Identity,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let raised = if self.params.encapsulation().is_some() {
            let back = keys.ephemeral_key(Direction::FromEphemeral)?;
            self.raise.from_ephemeral(pair, level, Some(&back), counters)?
        } else {
            self.raise.from_ephemeral(pair, level, None, counters)?
        };
        let range = Scale::new(f64::from(self.params.spec().reduction.range()));
        Ok(Ciphertext::of_pair(identity, raised, level, self.params.base_modulus().mul(range)))
    }
}
