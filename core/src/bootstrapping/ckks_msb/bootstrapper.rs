//! Boot of Kim and Noh, "Modular Reduction in CKKS", which refreshes real numbers, as a [`Method`].

use alloc::vec::Vec;

use super::{
    evaluator::{MsbEvaluator, one, run},
    radix::Radix,
    reading::MsbReading,
    readout::Readout,
    rounding::Rounding,
    run::MsbRun,
    stages,
};
use crate::{
    arith::Word,
    bootstrapping::{Method, raising::KeySource},
    circuits::program::Readings,
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Observer, StageInfo},
};

/// How far the scale of a number may be from that of the set: the error that this makes in a number of 1, in steps of its rounding.
pub(super) const LARGEST_DRIFT: f64 = 1.0 / 16.0;

/// An evaluator with its keys that refreshes real numbers in (-1/2, 1/2), rounded to multiples of 1/T. A number within a few of these
/// steps of 1/2 or -1/2 may come back at the other end.
pub struct MsbBootstrapper<'a, W: Word = u64> {
    evaluator: &'a MsbEvaluator<W>,
    keys: &'a dyn KeySource<W>,
    readout: Readout,
    stages: Vec<StageInfo>,
    output_level: usize,
}

impl<'a, W: Word> MsbBootstrapper<'a, W> {
    /// Reads and refreshes in the bases of `radix`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for bases whose tables take more levels than the set has; as [`Readout::centred`].
    pub fn new(
        evaluator: &'a MsbEvaluator<W>,
        keys: &'a dyn KeySource<W>,
        radix: &Radix,
    ) -> Result<Self, Error> {
        let readout = Readout::centred(radix)?;
        evaluator.params().check_levels(&readout, false)?;
        let spec = evaluator.params().spec();
        let pass = |(i, levels)| stages::of_pass(spec, i == 0, levels);
        let stages = readout.levels().enumerate().flat_map(pass).collect();
        let deepest = readout.levels().max().unwrap_or(0);
        let output_level = evaluator.params().levels().output - deepest;
        Ok(Self { evaluator, keys, readout, stages, output_level })
    }

    pub(super) fn keys(&self) -> &'a dyn KeySource<W> {
        self.keys
    }
}

/// A bootstrap, not begun yet.
fn begin<'a, W: Word>(
    evaluator: &'a MsbEvaluator<W>,
    x: &Ciphertext<W>,
    readout: &Readout,
) -> Result<MsbRun<'a, W>, Error> {
    // Products drift from the scale of the set because their primes differ from it. Read at that scale, a number is off by less than its
    // rounding.
    let scale = evaluator.params().scale();
    let drift = (x.scale().div(scale).to_f64() - 1.0).abs();
    let near = drift * (readout.grid() as f64) < LARGEST_DRIFT;
    let x = if near { x.clone().relabelled(scale) } else { x.clone() };
    MsbRun::new(evaluator, &x, readout, Rounding::Ephemeral)
}

impl<'a, W: Word> MsbRun<'a, W> {
    /// A bootstrap of a program, driven from outside: as [`MsbBootstrapper::bootstrap`] in the bases of
    /// [`MsbParams::refreshing_radix`](super::MsbParams::refreshing_radix).
    ///
    /// # Errors
    /// As [`MsbRun::new`].
    pub fn refreshing(evaluator: &'a MsbEvaluator<W>, x: &Ciphertext<W>) -> Result<Self, Error> {
        begin(evaluator, x, &Readout::centred(&evaluator.params().refreshing_radix()?)?)
    }
}

impl<W: Word> Method<W> for MsbBootstrapper<'_, W> {
    fn ckks(&self) -> &CkksEvaluator<W> {
        self.evaluator.ckks()
    }

    fn input_level(&self) -> usize {
        self.evaluator.params().levels().input
    }

    fn output_level(&self) -> usize {
        self.output_level
    }

    fn stages(&self) -> &[StageInfo] {
        &self.stages
    }

    fn bootstrap(&self, x: &Ciphertext<W>, observer: &mut dyn Observer) -> Result<Ciphertext<W>, Error> {
        one(run(begin(self.evaluator, x, &self.readout)?, self.keys, observer)?)
    }

    fn read_digits(
        &self,
        x: &Ciphertext<W>,
        readings: Readings<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let mut reading = MsbReading::new(self.evaluator, x, readings, 0.0)?;
        while !reading.step(self.keys, observer)? {}
        reading.finish()
    }
}
