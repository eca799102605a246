//! Measurements: precision of a decryption, and timed runs.

use std::time::Instant;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::bootstrapping::ckks_ship::{Diagonals, ShipEvaluator, ShipKeys, ShipParams, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, Complex};
use serde::Serialize;

use super::failure::Failure;
use super::machine;
use super::output::Output;
use super::progress::{self, StageClock, StageTime};
use crate::memory;

/// Bits of precision: -log2 of the error.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Precision {
    /// Precision of the worst slot.
    pub worst: f64,
    /// Precision by the root mean square of the errors.
    pub rms: f64,
    /// Precision by the mean error.
    pub mean: f64,
}

impl Precision {
    /// Precision of the first `expected.len()` of `values`.
    pub fn of(values: &[f64], expected: &[f64]) -> Self {
        Self::of_errors(values.iter().zip(expected).map(|(value, expected)| (value - expected).abs()))
    }

    /// Precision of complex slots: an error is a distance in the plane.
    pub fn of_slots(slots: &[Complex], expected: &[Complex]) -> Self {
        Self::of_errors(slots.iter().zip(expected).map(|(&slot, &expected)| (slot - expected).abs()))
    }

    /// Exact agreement counts as 60 bits, and NaN as an infinite error.
    fn of_errors(errors: impl Iterator<Item = f64>) -> Self {
        let (mut worst, mut sum, mut squares, mut count) = (0.0f64, 0.0, 0.0, 0u32);
        for error in errors {
            let error = if error.is_nan() { f64::INFINITY } else { error };
            worst = worst.max(error);
            sum += error;
            squares += error * error;
            count += 1;
        }
        let count = f64::from(count.max(1));
        let bits = |error: f64| -error.max(2f64.powi(-60)).log2();
        Self { worst: bits(worst), rms: bits((squares / count).sqrt()), mean: bits(sum / count) }
    }
}

/// Everything needed to bootstrap with a set, with fresh keys.
pub struct Bench {
    /// The set.
    pub params: ShipParams,
    /// The evaluator.
    pub evaluator: ShipEvaluator,
    /// The evaluation keys.
    pub keys: ShipKeys,
    secret: ShipSecretKey,
    /// Seconds it took to make the evaluation keys, on all threads.
    pub keygen_seconds: f64,
}

/// Ciphertexts that are bootstrapped together.
pub struct Work {
    mode: SlotMode,
    /// The slots of all ciphertexts, one after the other.
    message: Vec<f64>,
    inputs: Vec<Ciphertext>,
}

impl Work {
    /// What the slots hold.
    pub fn mode(&self) -> SlotMode {
        self.mode
    }

    /// Number of ciphertexts.
    pub fn ciphertexts(&self) -> usize {
        self.inputs.len()
    }
}

/// One timed bootstrapping.
pub struct Timed {
    /// Its duration.
    pub seconds: f64,
    /// Its stages.
    pub stages: Vec<StageTime>,
    /// Precision of its output.
    pub precision: Precision,
    /// Level of its output.
    pub level: usize,
}

impl Bench {
    /// Checks that the keys of a set and the evaluator's matrix fit `budget` bytes or, without one, the available memory if known.
    ///
    /// # Errors
    /// A failure that names both amounts.
    pub fn fits(params: &ShipParams, budget: Option<u64>) -> Result<(), Failure> {
        let needed = params.expanded_key_bytes() + Diagonals::for_params(params).memory_bytes(params);
        machine::check_memory(params.name(), needed, budget)
    }

    /// Draws keys.
    ///
    /// # Errors
    /// A failure naming both amounts if keys and the evaluator's matrix do not fit `budget` bytes.
    pub fn new(params: ShipParams, budget: Option<u64>, output: &Output) -> Result<Self, Failure> {
        Self::fits(&params, budget)?;
        let spinner = progress::spinner(output, &format!("{}: making keys", params.name()));
        let secret = ShipSecretKey::generate(&params, &super::keyfiles::fresh_seed()?);
        let began = Instant::now();
        let keys = ShipKeys::generate(&secret)?;
        let keygen_seconds = began.elapsed().as_secs_f64();
        let evaluator = ShipEvaluator::new(&params)?;
        spinner.finish_and_clear();
        Ok(Self { params, evaluator, keys, secret, keygen_seconds })
    }

    /// log2 of the probability that a bootstrapping under this key is wrong.
    pub fn log2_failure(&self) -> f64 {
        self.secret.log2_failure()
    }

    /// Exhausted ciphertexts with uniform slots.
    pub fn work(&self, mode: SlotMode, ciphertexts: usize) -> Result<Work, Failure> {
        let slots = self.params.slots() * if mode == SlotMode::Complex { 2 } else { 1 };
        let message = uniform(&super::keyfiles::fresh_seed()?, ciphertexts * slots, mode);
        let level = self.params.input_level();
        let encrypt = |message: &[f64]| -> Result<Ciphertext, Failure> {
            Ok(self.secret.encrypt_at(message, mode, level, &super::keyfiles::fresh_seed()?)?)
        };
        let inputs = message.chunks(slots).map(encrypt).collect::<Result<_, _>>()?;
        Ok(Work { mode, message, inputs })
    }

    /// Precision of a message that is exhausted and bootstrapped once, on all threads.
    pub fn precision_of(&self, mode: SlotMode, message: &[f64]) -> Result<Precision, Failure> {
        let level = self.params.input_level();
        let input = self.secret.encrypt_at(message, mode, level, &super::keyfiles::fresh_seed()?)?;
        let result = self.evaluator.bootstrap(&input, mode, &self.keys, &mut ())?;
        Ok(Precision::of(self.secret.decrypt(&result, mode)?.reveal_to_key_owner(), message))
    }

    /// Bootstraps once on `threads` threads.
    pub fn run(&self, work: &Work, threads: usize, output: &Output) -> Result<Timed, Failure> {
        let pool = pool(threads)?;
        let mut clock = StageClock::new(output);
        let began = Instant::now();
        let results = pool.install(|| match &work.inputs[..] {
            [only] => self.evaluator.bootstrap(only, work.mode, &self.keys, &mut clock).map(|out| vec![out]),
            inputs => self.evaluator.bootstrap_batch(inputs, work.mode, &self.keys, &mut clock),
        })?;
        let seconds = began.elapsed().as_secs_f64();
        let mut values = Vec::with_capacity(work.message.len());
        for result in &results {
            let private = self.secret.decrypt(result, work.mode)?;
            values.extend_from_slice(private.reveal_to_key_owner());
        }
        let precision = Precision::of(&values, &work.message);
        let level = results.first().map_or(0, Ciphertext::level);
        Ok(Timed { seconds, stages: std::mem::take(&mut clock.stages), precision, level })
    }

    /// Seconds that `threads` threads take to read the keys of the tracks once: the fastest of `runs`.
    pub fn read_seconds(&self, threads: usize, runs: usize) -> Result<f64, Failure> {
        let pool = pool(threads)?;
        let once = || {
            let began = Instant::now();
            std::hint::black_box(pool.install(|| self.keys.read_tracks()));
            began.elapsed().as_secs_f64()
        };
        Ok((0..runs).map(|_| once()).fold(f64::INFINITY, f64::min))
    }

    /// The fastest of `runs` runs of each of `works`, which take turns.
    pub fn best(
        &self,
        works: &[Work],
        threads: usize,
        runs: usize,
        output: &Output,
    ) -> Result<Vec<Timed>, Failure> {
        let once = || works.iter().map(|work| self.run(work, threads, output)).collect::<Result<Vec<_>, _>>();
        let mut best = once()?;
        for _ in 1..runs {
            for (best, next) in best.iter_mut().zip(once()?) {
                if next.seconds < best.seconds {
                    *best = next;
                }
            }
        }
        Ok(best)
    }
}

/// A pool of `threads` threads.
pub fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))
}

/// Seconds that all threads take to fill as much fresh memory as the keys of a set take, in one piece for each track. The memory
/// goes back to the system before keys are made.
///
/// # Errors
/// A failure naming both amounts if they do not fit.
pub fn fill_seconds(params: &ShipParams, budget: Option<u64>) -> Result<f64, Failure> {
    Bench::fits(params, budget)?;
    let began = Instant::now();
    let pieces = params.tracks();
    let size = usize::try_from(params.expanded_key_bytes()).unwrap_or(usize::MAX) / pieces;
    let filled: Vec<Vec<u8>> = (0..pieces).into_par_iter().map(|piece| vec![piece as u8 | 1; size]).collect();
    std::hint::black_box(&filled);
    let seconds = began.elapsed().as_secs_f64();
    memory::give_back(None, || drop(filled));
    Ok(seconds)
}

/// Uniform messages: reals in [-1, 1], or bits.
fn uniform(seed: &Seed, slots: usize, mode: SlotMode) -> Vec<f64> {
    let mut stream = seed.stream();
    (0..slots)
        .map(|_| match mode {
            SlotMode::Bits => f64::from(stream.below(2)),
            _ => f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX - 1) * 2.0 - 1.0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_in_bits_of_error() {
        let precision = Precision::of(&[0.5, 0.25, 9.0], &[0.5, 0.125]);
        assert!((precision.worst - 3.0).abs() < 1e-12 && (precision.rms - 3.5).abs() < 1e-12);
        assert!((Precision::of(&[1.0], &[1.0]).worst - 60.0).abs() < 1e-12);
        let zero = Complex::ZERO;
        let slots = Precision::of_slots(&[Complex::new(0.0, 0.125), zero], &[zero, zero]);
        assert!((slots.worst - 3.0).abs() < 1e-12 && (slots.mean - 4.0).abs() < 1e-12);
        assert!((slots.rms - 3.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_a_number_has_no_bits() {
        for values in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            let Precision { worst, rms, mean } = Precision::of(&values, &[1.0, 1.0]);
            assert!(worst < 0.0 && rms < 0.0 && mean < 0.0, "{worst} {rms} {mean}");
        }
    }

    #[test]
    fn messages_are_in_range() {
        let values = uniform(&Seed::from_bytes([1; 32]), 10_000, SlotMode::Real);
        assert!(values.iter().all(|value| value.abs() <= 1.0));
        assert!(values.iter().sum::<f64>().abs() < 500.0 && values.iter().any(|value| *value > 0.99));
        let bits = uniform(&Seed::from_bytes([2; 32]), 1000, SlotMode::Bits);
        assert!(
            bits.iter().all(|bit| [0.0f64, 1.0].map(f64::to_bits).contains(&bit.to_bits()))
                && bits.contains(&0.0)
                && bits.contains(&1.0)
        );
    }
}
