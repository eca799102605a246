//! Ciphertexts without their words: what operations do to level, factor and noise. This says in advance what can be computed, and refuses
//! what the noise has no room for.

use alloc::format;

use super::{ciphertext::BgvCiphertext, context::BgvContext, factor::Factor};
use crate::{
    arith::Word,
    error::Error,
    schemes::evaluator::{Label, Leveled},
    trace::Counters,
};

/// All of a ciphertext but its words, its set and its key.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BgvShape {
    /// Its level.
    pub level: usize,
    /// Its factor.
    pub factor: Factor,
    /// The estimate of its noise.
    pub noise: f64,
    /// Its components: 2, or 3 before relinearisation.
    pub components: usize,
}

impl BgvShape {
    /// Checks that the noise of a ciphertext modulo 2^`log_q` leaves the plaintext right.
    ///
    /// # Errors
    /// [`Error::Limit`] if it might not.
    pub(super) fn check_room(&self, log_q: f64) -> Result<(), Error> {
        let (ring, log_noise) = (self.factor.ring(), libm::log2(self.noise));
        let capacity = log_q - 1.0 - ring.modulus().log2() - log_noise;
        // Written so that an estimate that is not a number is refused too.
        if capacity >= 0.0 {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "the noise could reach 2^{:.1} and the modulus 2^{:.1} of level {} holds plaintexts modulo {} up to 2^{:.1}; bootstrap \
             first",
            log_noise,
            log_q,
            self.level,
            ring.value(),
            log_noise + capacity,
        )))
    }

    /// The shape of a ciphertext.
    pub fn of<W: Word>(x: &BgvCiphertext<W>) -> Self {
        Self { level: x.level(), factor: x.factor(), noise: x.noise(), components: x.components() }
    }

    /// The shape of a fresh ciphertext at a level.
    pub fn fresh<W: Word>(context: &BgvContext<W>, level: usize) -> Self {
        let factor = Factor::one(context.message_modulus().ring());
        Self { level, factor, noise: context.noise().fresh(), components: 2 }
    }
}

/// [`BgvEvaluator`](super::BgvEvaluator) on shapes: its operations accept and refuse what the evaluator's do, and their noise is the same
/// to the bit. Only plaintexts of many slots differ: they count with the largest noise possible.
///
/// A relinearisation key is the highest level that it serves.
pub(crate) struct Rehearsal<W: Word> {
    context: BgvContext<W>,
}

impl<W: Word> Rehearsal<W> {
    /// A rehearsal for a set.
    pub fn new(context: &BgvContext<W>) -> Self {
        Self { context: context.clone() }
    }

    /// x, if its noise leaves its plaintext right.
    pub fn checked(&self, x: BgvShape) -> Result<BgvShape, Error> {
        x.check_room(self.context.rlwe().q(x.level).log2())?;
        Ok(x)
    }

    /// One level down.
    pub fn rescale(&self, x: &BgvShape) -> Result<BgvShape, Error> {
        self.divided(x, x.noise)
    }

    /// x times an integer, at level `level` and with the factor `factor`.
    pub fn multiple(&self, x: &BgvShape, by: i64, level: usize, factor: Factor) -> Result<BgvShape, Error> {
        let before = factor.mul(self.context.level_factor(level + 1));
        let mut sum = self.empty_sum(x, level + 1, before);
        self.add_multiple_assign(&mut sum, x, &by)?;
        self.rescale(&sum)
    }

    /// x times an integer.
    pub fn multiply_integer(&self, x: &BgvShape, k: i64) -> Result<BgvShape, Error> {
        let mut out = *x;
        self.multiply_integer_assign(&mut out, k)?;
        self.checked(out)
    }

    /// x plus an integer.
    pub fn add_constant(&self, x: &BgvShape, c: i64) -> Result<BgvShape, Error> {
        let mut out = *x;
        self.add_constant_assign(&mut out, &c)?;
        self.checked(out)
    }

    /// x plus a plaintext.
    pub fn add_plain(&self, x: &BgvShape) -> Result<BgvShape, Error> {
        self.checked(BgvShape { noise: x.noise + self.context.noise().largest_fraction(), ..*x })
    }

    /// x times a plaintext, not rescaled, with the factor `factor`.
    pub fn multiply_plain(&self, x: &BgvShape, factor: Factor) -> Result<BgvShape, Error> {
        let largest = self.context.noise().largest_fraction() * x.factor.ring().value() as f64;
        self.checked(BgvShape { noise: x.noise * largest, factor, ..*x })
    }

    /// An automorphism of x.
    pub fn automorphism(&self, x: &BgvShape) -> Result<BgvShape, Error> {
        let model = self.context.noise();
        self.checked(BgvShape { noise: x.noise + model.key_switch(x.level) + model.rounding(), ..*x })
    }

    fn divided(&self, x: &BgvShape, noise: f64) -> Result<BgvShape, Error> {
        self.context.rlwe().rescale(x.level)?;
        let noise = self.context.noise().rescaled(noise, self.context.level_divisor(x.level));
        let factor = x.factor.div(self.context.level_factor(x.level));
        self.checked(BgvShape { level: x.level - 1, factor, noise, components: 2 })
    }
}

impl<W: Word> Leveled for Rehearsal<W> {
    type Ciphertext = BgvShape;
    type Coefficient = i64;
    type Label = Factor;
    type RelinearizationKey = usize;

    fn level(&self, x: &BgvShape) -> usize {
        x.level
    }

    fn label(&self, x: &BgvShape) -> Factor {
        x.factor
    }

    fn label_of_level(&self, level: usize) -> Factor {
        self.context.level_factor(level)
    }

    fn at_label(&self, x: BgvShape, label: Factor) -> Result<BgvShape, Error> {
        x.factor.check_same(label)?;
        Ok(x)
    }

    fn check_operand(&self, x: &BgvShape, key: &usize, _: Factor) -> Result<(), Error> {
        if x.level <= *key {
            return Ok(());
        }
        Err(Error::LevelMismatch(format!(
            "a key for levels up to {key}, a ciphertext at level {}; make the key at that level",
            x.level
        )))
    }

    fn empty_sum(&self, _: &BgvShape, level: usize, label: Factor) -> BgvShape {
        BgvShape { level, factor: label, noise: 0.0, components: 2 }
    }

    fn add_constant_assign(&self, sum: &mut BgvShape, c: &i64) -> Result<(), Error> {
        let ring = sum.factor.ring();
        sum.noise += sum.factor.times(ring, *c).unsigned_abs() as f64 / ring.value() as f64;
        Ok(())
    }

    fn add_multiple_assign(&self, sum: &mut BgvShape, x: &BgvShape, c: &i64) -> Result<(), Error> {
        let own = sum.factor.div(x.factor).times(sum.factor.ring(), *c);
        sum.noise += own.unsigned_abs() as f64 * x.noise;
        sum.components = sum.components.max(x.components);
        Ok(())
    }

    fn multiply_integer_assign(&self, x: &mut BgvShape, k: i64) -> Result<(), Error> {
        let ring = x.factor.ring();
        x.noise *= ring.centered(ring.reduce_signed(k)).unsigned_abs() as f64;
        Ok(())
    }

    fn add_to(&self, x: BgvShape, y: &BgvShape) -> Result<BgvShape, Error> {
        x.factor.check_same(y.factor)?;
        let (level, components) = (x.level.min(y.level), x.components.max(y.components));
        self.checked(BgvShape { level, noise: x.noise + y.noise, components, ..x })
    }

    fn tensor(&self, x: &BgvShape, y: &BgvShape) -> Result<BgvShape, Error> {
        self.checked(BgvShape {
            level: x.level.min(y.level),
            factor: x.factor.mul(y.factor),
            noise: x.noise * y.noise * x.factor.ring().value() as f64,
            components: 3,
        })
    }

    fn reduce(&self, x: &BgvShape, _: &usize, _: &mut Counters) -> Result<BgvShape, Error> {
        self.checked(*x)?;
        let switched = if x.components == 3 { self.context.noise().key_switch(x.level) } else { 0.0 };
        self.divided(x, x.noise + switched)
    }
}
