//! The stages of a bootstrap around its reduction: slots-to-coefficients, ModRaise, SubSum, coefficients-to-slots.

use alloc::{vec, vec::Vec};

use super::{
    key_source::KeySource, maps::Maps, params::RaisingParams, raise::Lift, reduction::ReductionSpec,
};
use crate::{
    arith::Word,
    circuits::linear_transform::{LinearTransform, PlaintextStorage},
    error::Error,
    rlwe::EphemeralPair,
    schemes::{
        ckks::{Ciphertext, CkksEvaluator, Scale},
        identity::Identity,
    },
    trace::Counters,
};

/// Evaluates on ciphertexts of one set: the stages of its method, and through [`Self::ckks`] the arithmetic between bootstraps.
pub struct RaisingEvaluator<R: ReductionSpec, W: Word = u64> {
    params: RaisingParams<R, W>,
    ckks: CkksEvaluator<W>,
    maps: Maps<W>,
    lift: Lift<R, W>,
    reduction: R::Fitted,
}

impl<R: ReductionSpec, W: Word> RaisingEvaluator<R, W> {
    /// Encodes the diagonals of both maps and keeps them as `storage` says.
    pub fn new(params: &RaisingParams<R, W>, storage: PlaintextStorage) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            ckks: CkksEvaluator::new(params.ckks()),
            maps: Maps::new(params, storage)?,
            lift: Lift::new(params),
            reduction: params.spec().reduction.fitted()?,
        })
    }

    /// The parameter set.
    pub fn params(&self) -> &RaisingParams<R, W> {
        &self.params
    }

    /// General CKKS operations on ciphertexts of this set.
    pub fn ckks(&self) -> &CkksEvaluator<W> {
        &self.ckks
    }

    /// The reduction with its polynomials.
    pub fn reduction(&self) -> &R::Fitted {
        &self.reduction
    }

    /// Bytes of memory that the evaluator keeps from one bootstrap to the next: the encoded diagonals of both linear maps. What a bootstrap
    /// itself takes while it runs is not counted.
    pub fn memory_bytes(&self) -> usize {
        self.maps.memory_bytes()
    }

    /// x y, relinearised and rescaled by one level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] at level 0; [`Error::ParamsMismatch`] for keys of another set.
    pub fn multiply(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(x, keys)?;
        self.ckks.multiply(x, y, &*keys.relinearization_key()?)
    }

    /// From level 0 to the highest: slots of the polynomial m + q0 I, divided by K q0. For few slots, [`Self::sub_sum`] comes
    /// next.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for keys without those of the ephemeral secret.
    pub fn mod_raise(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let pair = self.to_ephemeral(x, keys, counters)?;
        self.from_ephemeral(&pair, self.top(), x, keys, counters)
    }

    /// The first half of [`Self::mod_raise`]: m modulo q0 under the ephemeral secret.
    ///
    /// # Errors
    /// As [`Self::mod_raise`].
    pub fn to_ephemeral(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<EphemeralPair<W>, Error> {
        self.lift.lower(x, keys, counters)
    }

    /// The second half of [`Self::mod_raise`], to the highest level or to a lower one; `like` is a ciphertext of the same key.
    ///
    /// # Errors
    /// As [`Self::mod_raise`]; [`Error::LevelMismatch`] for a level above the highest.
    pub fn from_ephemeral(
        &self,
        pair: &EphemeralPair<W>,
        level: usize,
        like: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(like, keys)?;
        self.lift.raise(pair, level, like.identity(), keys, counters)
    }

    /// [`Self::from_ephemeral`] for a pair that did not come from a ciphertext of the set, under the key set of `keys`.
    pub(in crate::bootstrapping) fn raise_linked(
        &self,
        pair: &EphemeralPair<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let identity = Identity { fingerprint: self.params.fingerprint(), key_id: keys.key_id() };
        self.lift.raise(pair, self.top(), identity, keys, counters)
    }

    /// For a message of few slots, n, the sum over the rotations by n, 2n, .., at the scale that keeps the message. Coefficients
    /// between those of the message, which hold q0 I alone, become 0. Does nothing to a message that fills the ring.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn sub_sum(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(x, keys)?;
        let mut out = x.clone();
        let (slots, all) = (self.params.slots(), self.params.n() / 2);
        let mut step = slots;
        while step < all {
            out = self.ckks.add(&out, &self.rotate(&out, step as i64, keys, counters)?)?;
            step *= 2;
        }
        let gain = Scale::new((all / slots) as f64);
        let scale = out.scale().mul(gain);
        Ok(out.relabelled(scale))
    }

    /// The coefficients in slots, divided by K q0: real and imaginary parts of their pairs, in two ciphertexts, or for few
    /// slots side by side in one.
    ///
    /// A ciphertext that was raised to a level below the highest comes out lower by the same number of levels. Its scale
    /// differs from that of others as the primes of the two levels do.
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::LevelMismatch`].
    pub fn coeffs_to_slots(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let less = self.top().saturating_sub(x.level());
        let lowered = |stage: &LinearTransform<W>| stage.lowered(stage.level().saturating_sub(less));
        let stages = self.maps.coeffs_to_slots.iter().map(lowered).collect::<Result<Vec<_>, _>>()?;
        let pairs = self.apply(&stages, x, keys, counters)?;
        let (g, key) = keys.conjugation_key()?;
        let conjugate = self.ckks.automorphism_counted(&pairs, g, &key, counters)?;
        drop(key);
        let scale = pairs.scale().mul(Scale::new(2.0));
        let real = self.ckks.add(&pairs, &conjugate)?.relabelled(scale);
        if self.params.packs_parts() {
            return Ok(vec![real]);
        }
        let imaginary = self.ckks.multiply_by_i(&self.ckks.sub(&conjugate, &pairs)?)?.relabelled(scale);
        Ok(vec![real, imaginary])
    }

    /// Slots to coefficients.
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::LevelMismatch`].
    pub fn slots_to_coeffs(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let out = self.apply(&self.maps.slots_to_coeffs, x, keys, counters)?;
        if !self.params.packs_parts() {
            return Ok(out);
        }
        self.ckks.add(&out, &self.rotate(&out, self.params.slots() as i64, keys, counters)?)
    }

    fn apply(
        &self,
        stages: &[LinearTransform<W>],
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        self.check(x, keys)?;
        stages.iter().try_fold(x.clone(), |x, stage| stage.apply_counted(&self.ckks, &x, keys, counters))
    }

    fn top(&self) -> usize {
        self.params.ckks().rlwe().max_level()
    }

    /// Rotates all slots of the ring to the left by `steps`.
    pub(in crate::bootstrapping) fn rotate(
        &self,
        x: &Ciphertext<W>,
        steps: i64,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let (g, key) = keys.rotation_key(steps)?;
        self.ckks.automorphism_counted(x, g, &key, counters)
    }

    fn check(&self, x: &Ciphertext<W>, keys: &dyn KeySource<W>) -> Result<(), Error> {
        self.lift.check(x, keys)
    }
}
