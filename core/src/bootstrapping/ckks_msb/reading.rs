//! Reading the digits that a program asks for, one stage at a time.

use alloc::{format, vec::Vec};

use super::{digits::Digits, evaluator::MsbEvaluator, fraction::whole, numbers::Numbers, run::MsbRun};
use crate::{
    arith::{DoubleDouble, Word},
    bootstrapping::raising::KeySource,
    circuits::program::Readings,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::Observer,
};

/// Readings of the same digits of one ciphertext, driven from outside, in the bases and with the guard digits that programs use.
pub struct MsbReading<'a, W: Word = u64> {
    run: MsbRun<'a, W>,
    modulus: f64,
    places: Vec<usize>,
}

impl<'a, W: Word> MsbReading<'a, W> {
    /// Begins; `shift` is added to the numbers before they are read. Nothing is computed yet, except a product by a constant if the numbers
    /// are not at the scale at which they are read modulo their modulus.
    ///
    /// # Errors
    /// As the plan of a program with these nodes: [`Error::InvalidArgument`] for readings that are not of the same digits, that the set
    /// does not have, or that the noise of numbers at that scale does not allow; [`Error::LevelMismatch`] for a ciphertext below the level
    /// at which it is read, or tables that take too many levels; [`Error::ParamsMismatch`].
    pub fn new(
        evaluator: &'a MsbEvaluator<W>,
        x: &Ciphertext<W>,
        readings: Readings<'_>,
        shift: f64,
    ) -> Result<Self, Error> {
        let params = evaluator.params();
        params.check_set(x)?;
        let digits = Digits::of(params, x.scale(), readings)?;
        digits.plan(params, x.scale(), readings.list)?;
        if !shift.is_finite() {
            return Err(Error::InvalidArgument(format!("numbers plus {shift}; add a number that is finite")));
        }
        let x = evaluator.fraction(Numbers::up_to(x, digits.largest).off_by(digits.off), digits.modulus)?;
        let x = x.plus(evaluator.ckks(), DoubleDouble::new(shift) / DoubleDouble::new(digits.modulus))?;
        let run = MsbRun::new(evaluator, x.numbers(), &digits.readout, digits.rounding)?;
        let mut kept = digits.places.clone();
        kept.sort_unstable();
        let place = |place: &usize| kept.binary_search(place).unwrap_or_default();
        let places = digits.places.iter().map(place).collect();
        Ok(Self { run: run.keeping(kept.clone()), modulus: digits.modulus, places })
    }

    /// The run of the digits: its stages, and where it stands.
    pub fn run(&self) -> &MsbRun<'a, W> {
        &self.run
    }

    /// Does one stage; see [`MsbRun::step`].
    ///
    /// # Errors
    /// As [`MsbRun::step`].
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        self.run.step(keys, observer)
    }

    /// The results, in the order of the readings.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Vec<Ciphertext<W>>, Error> {
        let mut results: Vec<_> = self.run.finish()?.into_iter().map(Some).collect();
        let take = |&place: &usize| {
            let result = results.get_mut(place).and_then(Option::take);
            result.map(|x| whole(x, self.modulus)).ok_or_else(|| {
                Error::InvalidArgument(format!("no result {place} of a reading: a bug of the plan"))
            })
        };
        self.places.iter().map(take).collect()
    }
}
