//! Numbers divided by a modulus, at the scale of the set: the input of readouts.

use alloc::format;

use super::{evaluator::MsbEvaluator, noise, numbers::Numbers, radix::MAX_MODULUS, spec::LARGEST_MESSAGE};
use crate::{
    arith::{DoubleDouble, Word},
    error::Error,
    schemes::{
        ckks::{Ciphertext, CkksEvaluator, Scale},
        evaluator::Leveled,
    },
    trace::Counters,
};

/// Numbers over a modulus, at the scale of a set.
pub(super) struct Fraction<W: Word> {
    x: Ciphertext<W>,
    /// Bound of their absolute values.
    largest: f64,
    /// Bound of their errors.
    off: f64,
    /// Work of the division.
    counters: Counters,
}

impl<W: Word> Fraction<W> {
    /// The numbers as they are read.
    pub fn numbers(&self) -> Numbers<'_, W> {
        Numbers::up_to(&self.x, self.largest).off_by(self.off).after(self.counters)
    }

    /// The numbers plus `c`.
    pub fn plus(mut self, ckks: &CkksEvaluator<W>, c: DoubleDouble) -> Result<Self, Error> {
        ckks.add_constant_assign(&mut self.x, c.into())?;
        self.largest = (self.largest + c.abs().to_f64()).min(LARGEST_MESSAGE);
        Ok(self)
    }
}

impl<W: Word> MsbEvaluator<W> {
    /// x over `modulus` at the scale of the set: the same residues where x is at that scale over the modulus, and otherwise a
    /// product by a constant, one level down.
    pub(super) fn fraction(&self, numbers: Numbers<'_, W>, modulus: f64) -> Result<Fraction<W>, Error> {
        check_modulus(modulus)?;
        let x = numbers.ciphertext();
        self.params().check_set(x)?;
        let (scale, lowest) = (self.params().scale(), self.params().levels().input);
        let (bound, off) = (numbers.largest(scale)?, numbers.off(self.params())?);
        let largest = bound / modulus;
        // Scales are exact to within 2^-45.
        if largest > LARGEST_MESSAGE * (1.0 + 1e-9) {
            return Err(Error::InvalidArgument(format!(
                "numbers up to {bound} modulo {modulus}; they may be 2^20 times the modulus: state a smaller bound of the numbers, \
                 or take a larger modulus"
            )));
        }
        if x.scale().matches(scale.div(Scale::new(modulus))) {
            let counters = Counters::default();
            return Ok(Fraction { x: x.clone().relabelled(scale), largest, off: off / modulus, counters });
        }
        if x.level() <= lowest {
            return Err(Error::LevelMismatch(format!(
                "numbers at scale 2^{:.6} and level {}: those modulo {modulus} are read at scale 2^{:.6}, or take a product by a \
                 constant above level {lowest}; encrypt at that scale, or read them earlier",
                x.log_scale(),
                x.level(),
                scale.div(Scale::new(modulus)).log2()
            )));
        }
        let off = off / modulus + self.off_divided(x, bound);
        let mut counters = Counters::default();
        let x = self.divide(x, modulus, &mut counters)?;
        Ok(Fraction { x, largest, off, counters })
    }

    /// x / `modulus` at the scale of the set, one level down.
    pub(super) fn divide(
        &self,
        x: &Ciphertext<W>,
        modulus: f64,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let inverse = DoubleDouble::ONE / DoubleDouble::new(modulus);
        let scale = self.params().scale();
        self.ckks().multiply_constant_rescale_counted(x, inverse.into(), scale, counters)
    }

    /// The error that a division adds to numbers up to `largest`: its constant is rounded to a multiple of the scale of x over that of the
    /// product, and the product is rescaled.
    pub(super) fn off_divided(&self, x: &Ciphertext<W>, largest: f64) -> f64 {
        let prime = self.ckks().label_of_level(x.level());
        noise::of_division(self.params(), x.scale(), prime, largest)
    }
}

/// Checks that numbers can be read modulo `modulus`.
pub(super) fn check_modulus(modulus: f64) -> Result<(), Error> {
    const LARGEST: f64 = MAX_MODULUS as f64;
    if (1.0 / LARGEST..=LARGEST).contains(&modulus) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!("numbers modulo {modulus}; take a modulus from 2^-20 to 2^20")))
}

/// The fraction times `modulus`, by a change of scale alone.
pub(super) fn whole<W: Word>(x: Ciphertext<W>, modulus: f64) -> Ciphertext<W> {
    let scale = x.scale().div(Scale::new(modulus));
    x.relabelled(scale)
}
