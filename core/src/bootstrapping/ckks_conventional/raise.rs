//! ModRaise of CKKS ciphertexts.

use super::{
    key_source::{Direction, KeySource},
    params::ConventionalParams,
};
use crate::{
    arith::Word,
    error::Error,
    rlwe::ModRaise,
    schemes::ckks::{Ciphertext, Scale},
    trace::Counters,
};

/// [`ModRaise`] with the keys and the scales of a set.
pub(super) struct Lift<W: Word> {
    params: ConventionalParams<W>,
    raise: ModRaise<W>,
}

impl<W: Word> Lift<W> {
    pub fn new(params: &ConventionalParams<W>) -> Self {
        Self { params: params.clone(), raise: ModRaise::new(params.ckks().rlwe()) }
    }

    /// Slots (m + q0 I) / (K q0) at scale K q0, at the highest level.
    pub fn raise(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let raised = if let Some(context) = self.params.encapsulation() {
            let there = keys.ephemeral_key(Direction::ToEphemeral)?;
            let pair = self.raise.to_ephemeral(x.pair()?, Some((context, &there)), counters)?;
            // A fetched key goes before the next one comes.
            drop(there);
            let back = keys.ephemeral_key(Direction::FromEphemeral)?;
            self.raise.from_ephemeral(&pair, Some(&back), counters)?
        } else {
            let pair = self.raise.to_ephemeral(x.pair()?, None, counters)?;
            self.raise.from_ephemeral(&pair, None, counters)?
        };
        let range = Scale::new(f64::from(self.params.spec().reduction.range()));
        let top = self.params.ckks().rlwe().max_level();
        Ok(x.with_pair(raised, top, self.params.base_modulus().mul(range)))
    }
}
