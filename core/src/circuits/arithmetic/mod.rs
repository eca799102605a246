//! Arithmetic on numbers in slots, one operation at a time: levels and scales are brought together here.
//!
//! What a planner does for a program ([`super::program`]) is done for each operation by itself: sums meet at one scale, factors are
//! encoded so that the product has the scale of its level, and nothing falls below the lowest level of messages.

mod keys;

use alloc::{format, vec::Vec};

pub use keys::{ArithmeticKeys, KeyList, ListedKeys, NumberArithmetic};
pub(crate) use keys::{Key, SWAP, check_maker, check_owner, missing};

use super::program::Target;
use crate::{
    arith::Word,
    error::Error,
    schemes::{
        ckks::{Ciphertext, CkksContext, CkksEvaluator, Complex, Scale},
        evaluator::Leveled,
    },
};

/// Smallest log2 of a factor's scale: numbers are rounded to multiples of its inverse.
const SMALLEST_FACTOR: f64 = 12.0;
/// Largest integer by which slots are multiplied without taking a level.
const LARGEST_INTEGER: f64 = 256.0;

/// Numbers that are known in the clear.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// The same number in every slot.
    Everywhere(Complex),
    /// One number per slot; missing numbers are 0.
    Slots(&'a [Complex]),
}

/// Operations on ciphertexts of one set.
pub struct Arithmetic<'a, W: Word> {
    evaluator: CkksEvaluator<W>,
    target: &'a Target,
}

impl<'a, W: Word> Arithmetic<'a, W> {
    /// Operations at the levels and scales of `target`, which is that of the set of `context`.
    pub fn new(context: &CkksContext<W>, target: &'a Target) -> Self {
        Self { evaluator: CkksEvaluator::new(context), target }
    }

    /// x + y, at the lower of the two levels, or one below it if both are at one level with different scales.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for ciphertexts of another set, or of different keys; [`Error::LevelMismatch`] or
    /// [`Error::ScaleMismatch`] if no level is left to bring the scales together.
    pub fn add(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let (x, y) = self.at_one_scale(x, y)?;
        self.evaluator.add(&x, &y)
    }

    /// x - y, as [`Self::add`].
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn subtract(&self, x: &Ciphertext<W>, y: &Ciphertext<W>) -> Result<Ciphertext<W>, Error> {
        let (x, y) = self.at_one_scale(x, y)?;
        self.evaluator.sub(&x, &y)
    }

    /// -x.
    pub fn negate(&self, x: &Ciphertext<W>) -> Ciphertext<W> {
        self.evaluator.negate(x)
    }

    /// x plus known numbers, at the level and scale of x.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set; [`Error::InvalidArgument`] for too many numbers, or one that is not
    /// finite or too large for the modulus.
    pub fn add_known(&self, x: &Ciphertext<W>, y: Known<'_>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        match y {
            Known::Everywhere(number) => {
                check_finite(&[number])?;
                self.evaluator.add_constant(x, number.into())
            }
            Known::Slots(numbers) => {
                let encoded = self.evaluator.encode(&self.spread(numbers)?, x.level(), x.scale())?;
                self.evaluator.add_plain(x, &encoded)
            }
        }
    }

    /// x times known numbers, one level below x; an integer up to 256 in every slot takes no level.
    ///
    /// # Errors
    /// As [`Self::add_known`]; [`Error::LevelMismatch`] if no level is left.
    pub fn multiply_known(&self, x: &Ciphertext<W>, y: Known<'_>) -> Result<Ciphertext<W>, Error> {
        self.check_set(x)?;
        if let Known::Everywhere(Complex { re, im: 0.0 }) = y
            && re.abs() <= LARGEST_INTEGER
            && libm::trunc(re) - re == 0.0
        {
            return self.evaluator.multiply_integer(x, re as i64);
        }
        let level = self.below(x.level(), "a product with numbers")?;
        let scale = self.target.scale(level);
        match y {
            Known::Everywhere(number) => {
                check_finite(&[number])?;
                self.factor_scale(x, level, scale)?;
                self.evaluator.multiply_constant_rescale(x, number.into(), scale)
            }
            Known::Slots(numbers) => {
                let factor = self.factor_scale(x, level, scale)?;
                let encoded = self.evaluator.encode(&self.spread(numbers)?, x.level(), factor)?;
                let product = self.evaluator.rescale(&self.evaluator.multiply_plain(x, &encoded)?)?;
                Ok(product.relabelled(scale))
            }
        }
    }

    /// x y, relinearised, one level below the lower of the two.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for ciphertexts of another set, or of another key than the others; [`Error::LevelMismatch`] if no
    /// level is left; [`Error::MissingKey`] without the key; [`Error::ScaleMismatch`] for scales whose product the level has no room
    /// for.
    pub fn multiply(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
        keys: &ArithmeticKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        keys.check_owner(x)?;
        self.check_set(x)?;
        x.check_same_key(y)?;
        let level = x.level().min(y.level());
        self.below(level, "a product")?;
        // A ciphertext that was read from bytes brings a scale of its own.
        let room = self.evaluator.context().rlwe().q(level).log2() - 1.0;
        if x.log_scale() + y.log_scale() > room {
            return Err(Error::ScaleMismatch(format!(
                "a product at scales 2^{:.1} and 2^{:.1} does not fit the 2^{room:.1} that level {level} has for numbers up to 1; encrypt \
                 at the scale of the set",
                x.log_scale(),
                y.log_scale()
            )));
        }
        self.evaluator.multiply(x, y, keys.relinearization()?)
    }

    /// Rotates the slots cyclically to the left by `steps` places, or to the right if `steps` is negative. The rotation is composed of
    /// those that have keys.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another set or key than that of the keys; [`Error::MissingKey`] if no composition
    /// of the keys makes the rotation.
    pub fn rotate(
        &self,
        x: &Ciphertext<W>,
        steps: i64,
        keys: &ArithmeticKeys<W>,
    ) -> Result<Ciphertext<W>, Error> {
        keys.check_owner(x)?;
        let mut out = x.clone();
        for hop in keys.target().rotation(x.level(), steps)? {
            let (automorphism, key) = keys.rotation(hop)?;
            out = self.evaluator.automorphism(&out, automorphism, key)?;
        }
        Ok(out)
    }

    /// The complex conjugates of the slots.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn conjugate(&self, x: &Ciphertext<W>, keys: &ArithmeticKeys<W>) -> Result<Ciphertext<W>, Error> {
        keys.check_owner(x)?;
        let (automorphism, key) = keys.conjugation()?;
        self.evaluator.automorphism(x, automorphism, key)
    }

    /// The same message at a lower level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level above that of x; [`Error::ParamsMismatch`] for a ciphertext of another set.
    pub fn drop_to_level(&self, x: &Ciphertext<W>, level: usize) -> Result<Ciphertext<W>, Error> {
        self.evaluator.drop_to_level(x, level)
    }

    /// Both ciphertexts, brought to one scale.
    fn at_one_scale(
        &self,
        x: &Ciphertext<W>,
        y: &Ciphertext<W>,
    ) -> Result<(Ciphertext<W>, Ciphertext<W>), Error> {
        self.check_set(x)?;
        x.check_same_key(y)?;
        let (a, b) = (x.level(), y.level());
        if x.scale().matches(y.scale()) {
            return Ok((x.clone(), y.clone()));
        }
        if a > b {
            return Ok((self.adjusted(x, b, y.scale())?, y.clone()));
        }
        if b > a {
            return Ok((x.clone(), self.adjusted(y, a, x.scale())?));
        }
        let level = self.below(
            a,
            &format!("bringing scales 2^{:.6} and 2^{:.6} together", x.log_scale(), y.log_scale()),
        )?;
        let scale = self.target.scale(level);
        Ok((self.adjusted(x, level, scale)?, self.adjusted(y, level, scale)?))
    }

    /// x brought to `scale` at `level`, which is below its own.
    fn adjusted(&self, x: &Ciphertext<W>, level: usize, scale: Scale) -> Result<Ciphertext<W>, Error> {
        let x = self.evaluator.drop_to_level(x, level + 1)?;
        self.factor_scale(&x, level, scale)?;
        self.evaluator.multiply_constant_rescale(&x, Complex::ONE.into(), scale)
    }

    /// Scale of a factor whose product with x, once rescaled, has `scale` at `level`.
    fn factor_scale(&self, x: &Ciphertext<W>, level: usize, scale: Scale) -> Result<Scale, Error> {
        let factor = scale.mul(self.evaluator.label_of_level(level + 1)).div(x.scale());
        if factor.log2() >= SMALLEST_FACTOR {
            return Ok(factor);
        }
        Err(Error::ScaleMismatch(format!(
            "a ciphertext at scale 2^{:.1} is to be brought to 2^{:.1} at level {level}: factors would be rounded to multiples of \
             2^{:.1}; encrypt at the scale of the set",
            x.log_scale(),
            scale.log2(),
            -factor.log2()
        )))
    }

    /// The level below `level`, if values may be there.
    fn below(&self, level: usize, what: &str) -> Result<usize, Error> {
        let (floor, top) = (self.target.floor(), self.target.top());
        if level > floor {
            return Ok(level - 1);
        }
        let bootstrap = match self.target.bootstraps_from() {
            Some(input) if level >= input => "bootstrap it first, or ",
            _ => "",
        };
        Err(Error::LevelMismatch(format!(
            "{what} takes a level of an operand at level {level}, and ciphertexts of this set stay at level {floor} or above; \
             {bootstrap}encrypt at a level up to {top}"
        )))
    }

    fn check_set(&self, x: &Ciphertext<W>) -> Result<(), Error> {
        x.identity().check_set(&self.evaluator.context().fingerprint())
    }

    /// The numbers in all slots of the ring; they repeat if messages have fewer slots.
    fn spread(&self, numbers: &[Complex]) -> Result<Vec<Complex>, Error> {
        let slots = self.target.slots();
        if numbers.len() > slots {
            return Err(Error::InvalidArgument(format!(
                "{} numbers for the {slots} slots of a ciphertext; give at most one a slot",
                numbers.len()
            )));
        }
        check_finite(numbers)?;
        let at = |slot: usize| numbers.get(slot % slots).copied().unwrap_or_default();
        Ok((0..self.evaluator.context().slots()).map(at).collect())
    }
}

/// Checks that no number is infinite or NaN.
fn check_finite(numbers: &[Complex]) -> Result<(), Error> {
    match numbers.iter().position(|z| !(z.re.is_finite() && z.im.is_finite())) {
        None => Ok(()),
        Some(i) => Err(Error::InvalidArgument(format!(
            "number {i} is {} + {} i; give finite numbers",
            numbers[i].re, numbers[i].im
        ))),
    }
}
