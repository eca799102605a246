//! BFV (Fan, Vercauteren, ePrint 2012/144), which is the same ciphertext under another name.
//!
//! A BFV ciphertext has the phase round(Q m/P) + e modulo Q. Rounding Q m/P subtracts \[Q m\]_P/P, so modulo Q the phase is -\[Q m\]_P/P +
//! e. Word for word this is the scaled form of a BGV ciphertext of m with the factor -Q modulo P. Converting from BFV only names that
//! factor; converting to BFV brings a ciphertext to it.

use alloc::{format, vec};

use super::{
    ciphertext::BgvCiphertext, context::BgvContext, evaluator::BgvEvaluator, factor::Factor, shape::BgvShape,
};
use crate::{
    arith::Word,
    error::Error,
    ring::{Eval, Poly},
    schemes::evaluator::Label,
};

impl<W: Word> BgvContext<W> {
    /// -Q modulo p^`exponent`: the factor of a BFV ciphertext at a level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have; [`Error::InvalidArgument`] beyond the largest power of the set.
    pub fn bfv_factor(&self, level: usize, exponent: u32) -> Result<Factor, Error> {
        self.rlwe().check_level(level)?;
        let ring = self.modulus(exponent)?.ring();
        let q = (0..=level).fold(Factor::one(ring), |q, level| q.mul(self.level_factor(level)));
        Factor::new(ring.neg(q.value()), ring)
    }

    /// The ciphertext whose words are those of a BFV ciphertext of plaintexts modulo p^`exponent`: c_0 + c_1 s = round(Q m/P) + e.
    ///
    /// `noise` is an estimate of the largest embedding of e, as [`super::NoiseModel`] counts it, and is raised to the floor of the set if
    /// it is below. It is [`super::NoiseModel::fresh`] for what has just been encrypted.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for components that are not modulo the Q of this level; [`Error::LevelMismatch`],
    /// [`Error::InvalidArgument`] as [`Self::bfv_factor`], and for noise that is not a number; [`Error::Limit`] for more noise than the
    /// level holds.
    pub fn from_bfv(
        &self,
        key_id: [u8; 16],
        (level, exponent): (usize, u32),
        [c0, c1]: [Poly<W, Eval>; 2],
        noise: f64,
    ) -> Result<BgvCiphertext<W>, Error> {
        let factor = self.bfv_factor(level, exponent)?;
        let basis = self.rlwe().q(level);
        for part in [&c0, &c1] {
            if part.basis().n() != basis.n() || !part.basis().primes().eq(basis.primes()) {
                return Err(Error::ParamsMismatch(format!(
                    "a component of degree {} modulo {} primes; level {level} has degree {} and its own {} primes",
                    part.basis().n(),
                    part.basis().len(),
                    basis.n(),
                    basis.len()
                )));
            }
        }
        if !noise.is_finite() || noise < 0.0 {
            return Err(Error::InvalidArgument(format!(
                "noise of {noise}; it is a finite number, 0 or more"
            )));
        }
        let out = BgvCiphertext {
            fingerprint: self.fingerprint(),
            key_id,
            level,
            factor,
            noise: noise.max(self.noise().floor()),
            parts: vec![c0, c1],
        };
        BgvShape::of(&out).check_room(out.log_q())?;
        Ok(out)
    }
}

impl<W: Word> BgvEvaluator<W> {
    /// The same slots as a BFV ciphertext: the components of the result have c_0 + c_1 s = round(Q m/P) + e, for Q of the result's level.
    /// That level is one below the level of `x`, unless `x` has the factor already.
    ///
    /// # Errors
    /// As [`Self::at_factor`].
    pub fn to_bfv(&self, x: &BgvCiphertext<W>) -> Result<BgvCiphertext<W>, Error> {
        let (context, exponent) = (self.context(), x.ring().exponent());
        x.two_parts()?;
        if x.factor() == context.bfv_factor(x.level(), exponent)? {
            return Ok(x.clone());
        }
        context.rlwe().rescale(x.level())?;
        let below = context.bfv_factor(x.level() - 1, exponent)?;
        if x.factor() == below {
            return self.drop_to_level(x, x.level() - 1);
        }
        self.at_factor(x, below)
    }
}
