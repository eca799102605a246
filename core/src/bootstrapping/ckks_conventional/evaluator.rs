//! The stages as public methods, and all of them in one call.

use alloc::{format, vec, vec::Vec};

use super::{
    reduction::{FittedReduction, Reduction},
    run::ConventionalRun,
};
use crate::{
    arith::Word,
    bootstrapping::raising::{KeySource, RaisingEvaluator, StageOrder},
    error::Error,
    schemes::ckks::{Ciphertext, Scale},
    trace::{Counters, Observer},
};

/// Conventional bootstraps on ciphertexts of one set.
pub type ConventionalEvaluator<W = u64> = RaisingEvaluator<Reduction, W>;

impl<W: Word> ConventionalEvaluator<W> {
    /// The same slots at the output level and the scale of the set, from [`Levels::input`](crate::bootstrapping::raising::Levels) or any
    /// level above.
    ///
    /// Real and imaginary parts must be at most 1, as for encryption. Slots that were computed cannot be checked: those of larger
    /// messages come out wrong, without an error.
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

    /// Stage 1 of coefficients-to-slots-first: brings the input to level 0 and multiplies it by the integer that makes its
    /// scale q0 over the message ratio.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] for a scale too large for q0.
    pub fn to_base(&self, x: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let wanted =
            self.params().base_modulus().div(Scale::exp2(f64::from(self.params().spec().log_message_ratio)));
        let factor = libm::round(wanted.div(x.scale()).to_f64());
        if factor < 1.0 {
            return Err(Error::ScaleMismatch(format!(
                "a message at scale 2^{:.1}, and room for 2^{:.1} modulo q0; rescale it before the bootstrap",
                x.log_scale(),
                wanted.log2()
            )));
        }
        let x = self.ckks().drop_to_level(x, 0)?;
        Ok(self.ckks().multiply_integer(&x, factor as i64)?.relabelled(x.scale().mul(Scale::new(factor))))
    }

    /// x - round(x) for x = K times the slots: the message over q0, relabelled as the message at the scale that the set prescribes.
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
        let wanted = match self.params().spec().order {
            StageOrder::CoeffsToSlotsFirst => self.params().reduced_scale(),
            StageOrder::SlotsToCoeffsFirst => self.params().scale(),
        };
        let target = wanted.mul(self.params().base_modulus()).div(base);
        let relinearization = &*keys.relinearization_key()?;
        let reduced = match self.reduction() {
            FittedReduction::Sine(sine) => {
                sine.evaluate(self.ckks(), parts, relinearization, target, counters)?
            }
            FittedReduction::Harmonics(harmonics) => {
                let (g, key) = keys.conjugation_key()?;
                vec![harmonics.evaluate(self.ckks(), parts, relinearization, (g, &key), target, counters)?]
            }
        };
        Ok(reduced.into_iter().map(|x| x.relabelled(wanted)).collect())
    }

    /// Joins real and imaginary parts as re + i im; a single part stays as it is.
    ///
    /// # Errors
    /// [`Error::ScaleMismatch`] for parts of two bootstraps.
    pub fn join_parts(&self, parts: &[Ciphertext<W>]) -> Result<Ciphertext<W>, Error> {
        match parts {
            [one] => Ok(one.clone()),
            [real, imaginary] => self.ckks().add(real, &self.ckks().multiply_by_i(imaginary)?),
            other => Err(Error::InvalidArgument(format!("{} parts; there are one or two", other.len()))),
        }
    }
}
