//! The stages as public methods, and all of them in one call.

use alloc::{format, vec, vec::Vec};

use super::{
    key_source::{self, KeySource},
    maps::Maps,
    params::ConventionalParams,
    raise::Lift,
    reduction::FittedReduction,
    run::ConventionalRun,
    spec::StageOrder,
};
use crate::{
    arith::Word,
    circuits::linear_transform::{LinearTransform, PlaintextStorage},
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator, Scale},
    trace::{Counters, Observer},
};

/// Evaluates on ciphertexts of one set: bootstrapping, and through [`Self::ckks`] the arithmetic between bootstraps.
pub struct ConventionalEvaluator<W: Word = u64> {
    params: ConventionalParams<W>,
    ckks: CkksEvaluator<W>,
    maps: Maps<W>,
    lift: Lift<W>,
    reduction: FittedReduction,
}

impl<W: Word> ConventionalEvaluator<W> {
    /// Encodes the diagonals of both maps and keeps them as `storage` says.
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn new(params: &ConventionalParams<W>, storage: PlaintextStorage) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            ckks: CkksEvaluator::new(params.ckks()),
            maps: Maps::new(params, storage)?,
            lift: Lift::new(params),
            reduction: FittedReduction::new(&params.spec().reduction)?,
        })
    }

    /// The parameter set.
    pub fn params(&self) -> &ConventionalParams<W> {
        &self.params
    }

    /// General CKKS operations on ciphertexts of this set.
    pub fn ckks(&self) -> &CkksEvaluator<W> {
        &self.ckks
    }

    /// The reduction modulo q0 with its error bound.
    pub fn reduction(&self) -> &FittedReduction {
        &self.reduction
    }

    /// Bytes of encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.maps.memory_bytes()
    }

    /// The same slots at the output level and the scale of the set.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::ScaleMismatch`] for a ciphertext that does not fit;
    /// [`Error::Cancelled`] if the observer says so; [`Error::MissingKey`].
    pub fn bootstrap(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let mut run = ConventionalRun::new(self, x)?;
        while !run.step(keys, observer)? {}
        run.finish()
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
        key_source::check(keys, &self.params, x)?;
        self.ckks.multiply_rescale(x, y, &*keys.relinearization_key()?, &mut Counters::default())
    }

    /// Stage 1 of coefficients-to-slots-first: brings the input to level 0 and multiplies it by the integer that makes its
    /// scale q0 over the message ratio.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] for a scale too large for q0.
    pub fn to_base(&self, x: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let wanted =
            self.params.base_modulus().div(Scale::exp2(f64::from(self.params.spec().log_message_ratio)));
        let factor = libm::round(wanted.div(x.scale()).to_f64());
        if factor < 1.0 {
            return Err(Error::ScaleMismatch(format!(
                "a message at scale 2^{:.1}, and room for 2^{:.1} modulo q0; rescale it before the bootstrap",
                x.log_scale(),
                wanted.log2()
            )));
        }
        let x = self.ckks.drop_to_level(x, 0)?;
        Ok(self.ckks.multiply_integer(&x, factor as i64)?.relabelled(x.scale().mul(Scale::new(factor))))
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
        key_source::check(keys, &self.params, x)?;
        self.lift.raise(x, keys, counters)
    }

    /// Few slots: the sum over the rotations by n, 2n, .. for n slots, at the scale that keeps the message. Coefficients between
    /// those of the message, where there is q0 I alone, become 0. Does nothing to a message that fills the ring.
    ///
    /// # Errors
    /// [`Error::MissingKey`].
    pub fn sub_sum(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        key_source::check(keys, &self.params, x)?;
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
    /// slots beside each other in one.
    ///
    /// # Errors
    /// [`Error::MissingKey`], [`Error::LevelMismatch`].
    pub fn coeffs_to_slots(
        &self,
        x: &Ciphertext<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let pairs = self.apply(&self.maps.coeffs_to_slots, x, keys, counters)?;
        let (g, key) = keys.conjugation_key()?;
        let conjugate = self.ckks.automorphism(&pairs, g, &key, counters)?;
        drop(key);
        let scale = pairs.scale().mul(Scale::new(2.0));
        let real = self.ckks.add(&pairs, &conjugate)?.relabelled(scale);
        if self.params.packs_parts() {
            return Ok(vec![real]);
        }
        let imaginary = self.ckks.multiply_by_i(&self.ckks.sub(&conjugate, &pairs)?)?.relabelled(scale);
        Ok(vec![real, imaginary])
    }

    /// x - round(x) for x = K slots: the message over q0, relabelled to the message at the scale the set says.
    ///
    /// `base` is the scale of the message at level 0. Two harmonics join both parts, see [`Self::join_parts`].
    ///
    /// # Errors
    /// [`Error::LevelMismatch`].
    pub fn eval_mod(
        &self,
        parts: &[Ciphertext<W>],
        base: Scale,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let wanted = match self.params.spec().order {
            StageOrder::CoeffsToSlotsFirst => self.params.reduced_scale(),
            StageOrder::SlotsToCoeffsFirst => self.params.scale(),
        };
        let target = wanted.mul(self.params.base_modulus()).div(base);
        let relinearization = &*keys.relinearization_key()?;
        let reduced = match &self.reduction {
            FittedReduction::Sine(sine) => {
                sine.evaluate(&self.ckks, parts, relinearization, target, counters)?
            }
            FittedReduction::Harmonics(harmonics) => {
                let (g, key) = keys.conjugation_key()?;
                vec![harmonics.evaluate(&self.ckks, parts, relinearization, (g, &key), target, counters)?]
            }
        };
        Ok(reduced.into_iter().map(|x| x.relabelled(wanted)).collect())
    }

    /// Real and imaginary parts as one: re + i im; a single one is left alone.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] for parts of two bootstraps.
    pub fn join_parts(&self, parts: &[Ciphertext<W>]) -> Result<Ciphertext<W>, Error> {
        match parts {
            [one] => Ok(one.clone()),
            [real, imaginary] => self.ckks.add(real, &self.ckks.multiply_by_i(imaginary)?),
            other => Err(Error::InvalidArgument(format!("{} parts; there are one or two", other.len()))),
        }
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
        key_source::check(keys, &self.params, x)?;
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
        let mut out = x.clone();
        for stage in stages {
            out = stage.apply(&self.ckks, &out, keys, counters)?;
        }
        Ok(out)
    }

    fn rotate(
        &self,
        x: &Ciphertext<W>,
        steps: i64,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let (g, key) = keys.rotation_key(steps)?;
        self.ckks.automorphism(x, g, &key, counters)
    }
}
