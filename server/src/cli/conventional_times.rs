//! Times of conventional bootstrapping: what `refloat bench` measures of it, alone and beside a peer.

use std::time::Instant;

use rayon::ThreadPoolBuilder;
use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalParams, ConventionalSecretKey,
};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::schemes::ckks::Complex;
use serde::Serialize;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::machine;
use super::output::Output;
use super::progress::{self, StageClock, StageTime};

/// Keys of a conventional set, made afresh.
pub struct ConventionalBench {
    /// The set.
    pub params: ConventionalParams,
    evaluator: ConventionalEvaluator,
    keys: ConventionalKeys,
    secret: ConventionalSecretKey,
    /// Seconds it took to make the evaluation keys, on all threads.
    pub keygen_seconds: f64,
}

/// Bootstraps of one ciphertext on some threads.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConventionalTimes {
    /// Threads.
    pub threads: usize,
    /// The duration of each.
    pub seconds: Vec<f64>,
    /// The stages of the fastest.
    pub stages: Vec<StageTime>,
    /// -log2 of the mean error over the slots, complex modulus: of the worst run.
    pub mean_bits: f64,
    /// -log2 of the largest.
    pub worst_bits: f64,
    /// Products left before the next bootstrap.
    pub levels: usize,
    /// log2 of the modulus of the result.
    #[serde(rename = "logQ")]
    pub log_q: f64,
}

impl ConventionalTimes {
    /// The shortest.
    pub fn fastest(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl ConventionalBench {
    /// Makes keys, and the encoded diagonals of the linear maps.
    pub fn new(params: ConventionalParams, output: &Output) -> Result<Self, Failure> {
        let needed = params.key_bytes();
        if let Some(available) = machine::available_memory().filter(|available| *available < needed) {
            return Err(Failure::memory(params.name(), needed, available));
        }
        let spinner = progress::spinner(output, &format!("{}: making keys", params.name()));
        let secret = ConventionalSecretKey::generate(&params, &fresh_seed()?);
        let began = Instant::now();
        let keys = ConventionalKeys::generate(&secret)?;
        let keygen_seconds = began.elapsed().as_secs_f64();
        let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated)?;
        spinner.finish_and_clear();
        Ok(Self { params, evaluator, keys, secret, keygen_seconds })
    }

    /// Bytes of keys and encoded diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.keys.memory_bytes() + self.evaluator.memory_bytes()
    }

    /// Bootstraps a ciphertext of uniform slots `runs` times on `threads` threads.
    pub fn run(&self, threads: usize, runs: usize, output: &Output) -> Result<ConventionalTimes, Failure> {
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))?;
        let mut stream = fresh_seed()?.stream();
        let mut unit = || f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX - 1) * 2.0 - 1.0;
        let values: Vec<Complex> = (0..self.params.slots()).map(|_| Complex::new(unit(), unit())).collect();
        let levels = self.params.levels();
        let x = self.secret.encrypt(&values, levels.input, &fresh_seed()?)?;
        let mut times = ConventionalTimes {
            threads,
            seconds: Vec::with_capacity(runs),
            stages: Vec::new(),
            mean_bits: f64::INFINITY,
            worst_bits: f64::INFINITY,
            levels: levels.left(),
            log_q: 0.0,
        };
        for _ in 0..runs {
            let mut clock = StageClock::new(output);
            let began = Instant::now();
            let refreshed = pool.install(|| self.evaluator.bootstrap(&x, &self.keys, &mut clock))?;
            let seconds = began.elapsed().as_secs_f64();
            if seconds < times.fastest() {
                times.stages = std::mem::take(&mut clock.stages);
            }
            times.seconds.push(seconds);
            times.log_q = refreshed.log_q();
            let private = self.secret.decrypt(&refreshed)?;
            let found = private.reveal_to_key_owner();
            let errors = || found.iter().zip(&values).map(|(&z, &w)| (z - w).abs());
            let mean = errors().sum::<f64>() / values.len() as f64;
            times.mean_bits = times.mean_bits.min(-mean.log2());
            times.worst_bits = times.worst_bits.min(-errors().fold(0.0, f64::max).log2());
        }
        Ok(times)
    }
}
