//! Measurements: precision of a decryption, and timed runs.

use std::time::Instant;

use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::ckks_ship::{
    Diagonals, ShipEvaluator, ShipKeys, ShipMode, ShipParams, ShipSecretKey,
};
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use serde::Serialize;

use super::failure::Failure;
use super::machine;
use super::output::Output;
use super::progress::{self, StageClock, StageTime};

/// Bits of precision: -log2 of the error.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Precision {
    /// Of the worst slot.
    pub worst: f64,
    /// Of the root mean square.
    pub rms: f64,
}

impl Precision {
    /// Of the first `expected.len()` of `values`. Exact agreement counts as 60 bits.
    pub fn of(values: &[f64], expected: &[f64]) -> Self {
        let errors = || values.iter().zip(expected).map(|(value, expected)| (value - expected).abs());
        let count = errors().count().max(1) as f64;
        let worst = errors().fold(0.0, f64::max);
        let rms = (errors().map(|error| error * error).sum::<f64>() / count).sqrt();
        let bits = |error: f64| -error.max(2f64.powi(-60)).log2();
        Self { worst: bits(worst), rms: bits(rms) }
    }
}

/// Everything needed to bootstrap with a set, made afresh.
pub struct Bench {
    /// The set.
    pub params: ShipParams,
    /// The evaluator.
    pub evaluator: ShipEvaluator,
    /// The evaluation keys.
    pub keys: ShipKeys,
    secret: ShipSecretKey,
    message: Vec<f64>,
    input: Ciphertext,
    /// Seconds it took to make the evaluation keys, on all threads.
    pub keygen_seconds: f64,
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
    /// Whether the machine has the memory for the keys of a set and the evaluator's matrix, where it tells.
    ///
    /// # Errors
    /// A failure that names both amounts.
    pub fn fits(params: &ShipParams) -> Result<(), Failure> {
        let needed = params.expanded_key_bytes() + Diagonals::for_params(params).memory_bytes(params);
        match machine::available_memory() {
            Some(available) if available < needed => Err(Failure::memory(params.name(), needed, available)),
            _ => Ok(()),
        }
    }

    /// Draws keys and a message with uniform slots.
    pub fn new(params: ShipParams, output: &Output) -> Result<Self, Failure> {
        Self::fits(&params)?;
        let spinner = progress::spinner(output, &format!("{}: making keys", params.name()));
        let mode = params.mode();
        let secret = ShipSecretKey::generate(&params, &super::keyfiles::fresh_seed()?);
        let began = Instant::now();
        let keys = ShipKeys::generate(&secret)?;
        let keygen_seconds = began.elapsed().as_secs_f64();
        let evaluator = ShipEvaluator::new(&params)?;
        let message = uniform(&super::keyfiles::fresh_seed()?, params.slots(), mode);
        let input =
            secret.encrypt_at(&message, mode, params.input_level(), &super::keyfiles::fresh_seed()?)?;
        spinner.finish_and_clear();
        Ok(Self { params, evaluator, keys, secret, message, input, keygen_seconds })
    }

    /// Bootstraps once on `threads` threads.
    pub fn run(&self, threads: usize, output: &Output) -> Result<Timed, Failure> {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))?;
        let mut clock = StageClock::new(output);
        let mode = self.params.mode();
        let began = Instant::now();
        let result = pool.install(|| self.evaluator.bootstrap(&self.input, mode, &self.keys, &mut clock))?;
        let seconds = began.elapsed().as_secs_f64();
        let private = self.secret.decrypt(&result, mode)?;
        let precision = Precision::of(private.reveal_to_key_owner(), &self.message);
        Ok(Timed { seconds, stages: std::mem::take(&mut clock.stages), precision, level: result.level() })
    }

    /// The fastest of `runs` runs.
    pub fn best(&self, threads: usize, runs: usize, output: &Output) -> Result<Timed, Failure> {
        let mut best = self.run(threads, output)?;
        for _ in 1..runs {
            let next = self.run(threads, output)?;
            if next.seconds < best.seconds {
                best = next;
            }
        }
        Ok(best)
    }
}

/// Uniform messages: reals in [-1, 1], or bits.
fn uniform(seed: &Seed, slots: usize, mode: ShipMode) -> Vec<f64> {
    let mut stream = seed.stream();
    (0..slots)
        .map(|_| match mode {
            ShipMode::Bits => f64::from(stream.below(2)),
            ShipMode::Real | ShipMode::Complex => {
                f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX - 1) * 2.0 - 1.0
            }
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
    }

    #[test]
    fn messages_are_in_range() {
        let values = uniform(&Seed::from_bytes([1; 32]), 10_000, ShipMode::Real);
        assert!(values.iter().all(|value| value.abs() <= 1.0));
        assert!(values.iter().sum::<f64>().abs() < 500.0 && values.iter().any(|value| *value > 0.99));
        let bits = uniform(&Seed::from_bytes([2; 32]), 1000, ShipMode::Bits);
        assert!(
            bits.iter().all(|bit| [0.0f64, 1.0].map(f64::to_bits).contains(&bit.to_bits()))
                && bits.contains(&0.0)
                && bits.contains(&1.0)
        );
    }
}
