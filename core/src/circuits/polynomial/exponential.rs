//! e^(2 pi i x) of the numbers x in slots.

use alloc::format;

use super::{
    clear::Polynomial,
    evaluate::PolynomialEvaluator,
    fit::{exponential, exponential_of_degree},
    plan::Plan,
};
use crate::{
    arith::{ComplexDoubleDouble, DoubleDouble, Word},
    error::Error,
    schemes::{
        ckks::{Ciphertext, CkksEvaluator, Scale},
        evaluator::Leveled,
    },
    trace::Counters,
};

/// e^(2 pi i x) for |x| up to K: a polynomial in y = x / K for the angle divided by 2^r, and r squarings.
pub struct Exponential {
    polynomial: Polynomial,
    plan: Plan,
    squarings: u32,
}

impl Exponential {
    /// The exponential that is exact at the integers of absolute value below `range`, in the manner of [`exponential`]: of degree 2
    /// `range` - 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range.
    pub fn at_integers(range: u32, squarings: u32) -> Result<Self, Error> {
        Self::of(exponential(range, squarings)?, squarings)
    }

    /// The exponential with the same error everywhere, in the manner of [`exponential_of_degree`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range.
    pub fn of_degree(range: u32, squarings: u32, degree: usize) -> Result<Self, Error> {
        Self::of(exponential_of_degree(range, squarings, degree)?.polynomial, squarings)
    }

    fn of(polynomial: Polynomial, squarings: u32) -> Result<Self, Error> {
        let plan = Plan::new(core::slice::from_ref(&polynomial))?;
        Ok(Self { polynomial, plan, squarings })
    }

    /// The polynomial for e^(2 pi i x / 2^r).
    pub fn polynomial(&self) -> &Polynomial {
        &self.polynomial
    }

    /// Number of levels that an evaluation takes.
    pub fn levels(&self) -> usize {
        self.plan.levels() + self.squarings as usize
    }

    /// Key switches for one ciphertext.
    pub fn key_switches(&self) -> usize {
        self.plan.key_switches() + self.squarings as usize
    }

    /// The value of the circuit at a number in the clear.
    pub fn value(&self, x: DoubleDouble) -> ComplexDoubleDouble {
        let w = self.polynomial.value(x.into());
        (0..self.squarings).fold(w, |w, _| w * w)
    }

    /// e^(2 pi i K y) in every slot y, at scale `target` and [`Self::levels`] levels below.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if y or the key have too few levels; [`Error::ParamsMismatch`];
    /// [`Error::ScaleMismatch`] for scales far below the primes.
    pub fn evaluate<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        polynomials: &PolynomialEvaluator<'_, CkksEvaluator<W>>,
        y: &Ciphertext<W>,
        target: Scale,
    ) -> Result<Ciphertext<W>, Error> {
        self.evaluate_counted(evaluator, polynomials, y, target, &mut Counters::default())
    }

    /// [`Self::evaluate`], counting.
    #[doc(hidden)]
    pub fn evaluate_counted<W: Word>(
        &self,
        evaluator: &CkksEvaluator<W>,
        polynomials: &PolynomialEvaluator<'_, CkksEvaluator<W>>,
        y: &Ciphertext<W>,
        target: Scale,
        counters: &mut Counters,
    ) -> Result<Ciphertext<W>, Error> {
        let Some(last) = y.level().checked_sub(self.levels()) else {
            return Err(Error::LevelMismatch(format!(
                "an exponential of {0} levels and a ciphertext at level {1}; bring it at level {0} or above",
                self.levels(),
                y.level()
            )));
        };
        let levels = &evaluator.context().rlwe().spec().levels;
        let prime = |level: usize| Scale::product(levels[level].iter().copied());
        // Backwards from the last squaring: S' = sqrt(S q).
        let first = last + self.squarings as usize;
        let wanted = (last + 1..=first).fold(target, |scale, level| scale.mul(prime(level)).sqrt());
        let mut values = polynomials.evaluate_planned_counted(&self.plan, y, wanted, counters)?;
        let mut w =
            values.pop().ok_or_else(|| Error::InvalidArgument("a plan without polynomials".into()))?;
        for _ in 0..self.squarings {
            w = polynomials.reduce_counted(&evaluator.tensor(&w, &w)?, counters)?;
        }
        evaluator.at_label(w, target)
    }
}
