//! Conventional CKKS bootstrapping under fresh keys, and its times.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use refloat::bootstrapping::ckks_conventional::{
    ConventionalEvaluator, ConventionalKeys, ConventionalParams, ConventionalSecretKey, KeySource,
};
use refloat::random::{Seed, Stream};
use refloat::schemes::ckks::{Ciphertext, Complex};
use refloat::trace::Observer;

use super::failure::Failure;
use super::keyfiles::fresh_seed;
use super::machine;
use super::measure::{self, Precision};
use super::output::{Output, bytes};
use super::progress::{self, StageClock, StageTime};
use crate::memory_plan::MemoryPlan;
use crate::streamed::StreamedKeys;

/// Everything needed to bootstrap with a set, with fresh keys.
pub struct ConventionalBench {
    /// The set.
    pub params: ConventionalParams,
    /// The evaluator.
    pub evaluator: ConventionalEvaluator,
    /// The evaluation keys.
    pub keys: BenchKeys,
    /// The memory that keys and diagonals take.
    pub plan: MemoryPlan,
    /// Seconds it took to make the evaluation keys, on all threads.
    pub keygen_seconds: f64,
    /// Seconds it took to encode the diagonals, on all threads.
    pub encode_seconds: f64,
    secret: ConventionalSecretKey,
    message: Vec<Complex>,
}

/// Evaluation keys, kept as the memory plan says.
pub enum BenchKeys {
    /// All of them in memory.
    Resident(Box<ConventionalKeys>),
    /// In a temporary file that lives as long as they do, read as they are used.
    Streamed(StreamedKeys),
}

impl BenchKeys {
    fn make(secret: &ConventionalSecretKey, plan: &MemoryPlan) -> Result<Self, Failure> {
        if !plan.streamed {
            return Ok(Self::Resident(Box::new(ConventionalKeys::generate(secret)?)));
        }
        let parts = secret.params().key_parts();
        let places: Vec<(u64, usize)> = parts
            .iter()
            .scan(0, |end, part| {
                let start = *end;
                *end += part.bytes as u64;
                Some((start, part.bytes))
            })
            .collect();
        let failed = |error: &std::io::Error| Failure::file("write keys to", &std::env::temp_dir(), error);
        let file = Arc::new(Mutex::new(tempfile::tempfile().map_err(|error| failed(&error))?));
        let at = |start: u64| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start)).map(|_| file)
        };
        (0..parts.len()).into_par_iter().try_for_each(|index| {
            let bytes = secret.key_part(index)?;
            let write = || at(places[index].0)?.write_all(&bytes);
            write().map_err(|error| failed(&error))
        })?;
        let file = Arc::clone(&file);
        let read = Arc::new(move |index: usize| {
            let (start, length) = places[index];
            let mut bytes = vec![0; length];
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut bytes).map(|()| bytes)
        });
        Ok(Self::Streamed(StreamedKeys::new(secret.params(), secret.key_id(), plan.keys, read)?))
    }

    /// The source that a bootstrap takes keys from.
    pub fn source(&self) -> &dyn KeySource<u64> {
        match self {
            Self::Resident(keys) => &**keys,
            Self::Streamed(keys) => keys,
        }
    }

    /// Bytes in memory: all the keys, or the largest part of them held at once.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Resident(keys) => keys.memory_bytes(),
            Self::Streamed(keys) => keys.peak_bytes() as usize,
        }
    }
}

/// The result of a bootstrap.
type Outcome = Result<Ciphertext<u64>, refloat::Error>;

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
    /// log2 of the modulus of its output.
    pub log_q: f64,
}

impl ConventionalBench {
    /// Draws keys and a message, uniform in the square of complex numbers with parts in [-`bound`, `bound`].
    ///
    /// # Errors
    /// A failure naming both amounts if keys and diagonals do not fit `budget` bytes.
    pub fn new(
        params: ConventionalParams,
        bound: f64,
        budget: Option<u64>,
        output: &Output,
    ) -> Result<Self, Failure> {
        let budget = budget.or_else(machine::available_memory);
        let plan = MemoryPlan::within(&params, budget)
            .map_err(|needed| Failure::memory(params.name(), needed, budget.unwrap_or(0)))?;
        let spinner = progress::spinner(output, &format!("{}: making keys", params.name()));
        let secret = ConventionalSecretKey::generate(&params, &fresh_seed()?);
        let began = Instant::now();
        let keys = BenchKeys::make(&secret, &plan)?;
        let keygen_seconds = began.elapsed().as_secs_f64();
        spinner.set_message(format!("{}: encoding diagonals", params.name()));
        let began = Instant::now();
        let evaluator = ConventionalEvaluator::new(&params, plan.storage())?;
        let encode_seconds = began.elapsed().as_secs_f64();
        spinner.finish_and_clear();
        let message = uniform(&fresh_seed()?, params.slots(), bound);
        Ok(Self { params, evaluator, keys, plan, keygen_seconds, encode_seconds, secret, message })
    }

    /// Times `bootstrap` on a fresh exhausted ciphertext.
    fn run(
        &self,
        threads: usize,
        output: &Output,
        bootstrap: &(impl Fn(&Self, &Ciphertext<u64>, &mut dyn Observer) -> Outcome + Sync),
    ) -> Result<Timed, Failure> {
        let pool = measure::pool(threads)?;
        let input = self.secret.encrypt(&self.message, self.params.levels().input, &fresh_seed()?)?;
        let mut clock = StageClock::new(output);
        let began = Instant::now();
        let result = pool.install(|| bootstrap(self, &input, &mut clock))?;
        let seconds = began.elapsed().as_secs_f64();
        let private = self.secret.decrypt(&result)?;
        let precision = Precision::of_slots(private.reveal_to_key_owner(), &self.message);
        let stages = std::mem::take(&mut clock.stages);
        Ok(Timed { seconds, stages, precision, level: result.level(), log_q: result.log_q() })
    }

    /// Precision of another message that is exhausted and bootstrapped once, on all threads.
    pub fn precision_of(&self, message: &[Complex]) -> Result<Precision, Failure> {
        let input = self.secret.encrypt(message, self.params.levels().input, &fresh_seed()?)?;
        let result = self.bootstrap(&input, &mut ())?;
        Ok(Precision::of_slots(self.secret.decrypt(&result)?.reveal_to_key_owner(), message))
    }

    /// `runs` bootstraps on `threads` threads, one after the other.
    pub fn runs(&self, threads: usize, runs: usize, output: &Output) -> Result<Vec<Timed>, Failure> {
        (0..runs).map(|_| self.run(threads, output, &Self::bootstrap)).collect()
    }

    /// The fastest of `runs` runs of `bootstrap` on `threads` threads.
    pub fn best_of(
        &self,
        threads: usize,
        runs: usize,
        output: &Output,
        bootstrap: impl Fn(&Self, &Ciphertext<u64>, &mut dyn Observer) -> Outcome + Sync,
    ) -> Result<Timed, Failure> {
        let mut best = self.run(threads, output, &bootstrap)?;
        for _ in 1..runs {
            let next = self.run(threads, output, &bootstrap)?;
            if next.seconds < best.seconds {
                best = next;
            }
        }
        Ok(best)
    }

    /// The fastest of `runs` bootstraps on `threads` threads.
    pub fn best(&self, threads: usize, runs: usize, output: &Output) -> Result<Timed, Failure> {
        self.best_of(threads, runs, output, Self::bootstrap)
    }

    fn bootstrap(&self, x: &Ciphertext<u64>, observer: &mut dyn Observer) -> Outcome {
        self.evaluator.bootstrap(x, self.keys.source(), observer)
    }

    /// Bytes of keys and diagonals.
    pub fn memory_bytes(&self) -> usize {
        self.keys.memory_bytes() + self.evaluator.memory_bytes()
    }

    /// What was made, and the time and memory it took, in words.
    pub fn summary(&self) -> String {
        let keys = if self.plan.streamed {
            format!(
                "{} at a time in memory, read from a file of {} as they are used",
                bytes(self.plan.keys),
                bytes(self.params.key_bytes())
            )
        } else {
            format!("{} in memory", bytes(self.keys.memory_bytes() as u64))
        };
        format!(
            "evaluation keys made in {:.2} s on all threads: {keys}\ndiagonals encoded in {:.2} s, kept {}: {} in memory",
            self.keygen_seconds,
            self.encode_seconds,
            if self.plan.evaluated { "evaluated" } else { "as coefficients" },
            bytes(self.evaluator.memory_bytes() as u64),
        )
    }
}

fn uniform(seed: &Seed, slots: usize, bound: f64) -> Vec<Complex> {
    let mut stream = seed.stream();
    let part = |stream: &mut Stream| {
        (f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX - 1) * 2.0 - 1.0) * bound
    };
    (0..slots)
        .map(|_| {
            let re = part(&mut stream);
            Complex::new(re, part(&mut stream))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use refloat::circuits::linear_transform::PlaintextStorage;
    use refloat::params::conventional_preset;

    use super::*;

    #[test]
    fn a_budget_trades_memory_for_transforms_and_then_refuses() {
        let params = conventional_preset("n16").unwrap().params().unwrap();
        let fast = MemoryPlan::within(&params, None).unwrap();
        assert!(fast.evaluated && fast.total() < 16 << 30, "{fast:?}");
        let frugal = MemoryPlan::within(&params, Some(fast.total() - 1)).unwrap();
        assert!(!frugal.evaluated && 4 * frugal.diagonals < fast.diagonals, "{frugal:?}");
        // With less memory, keys are read as they are used: first in what is left for them, then in the least that a run can do with.
        let streamed = MemoryPlan::within(&params, Some(frugal.total() - 1)).unwrap();
        assert!(
            streamed.streamed && !frugal.streamed && streamed.total() == frugal.total() - 1,
            "{streamed:?}"
        );
        let least = frugal.total() - frugal.keys + params.least_key_bytes().unwrap();
        assert!(least <= 4 << 30, "n16 takes {least} bytes");
        assert_eq!(MemoryPlan::within(&params, Some(least)).unwrap().total(), least);
        assert_eq!(MemoryPlan::within(&params, Some(least - 1)).unwrap_err(), least);
        let (budget, frugal) = (Some(least - 1), MemoryPlan::within(&params, Some(least)).unwrap());
        let failure = ConventionalBench::new(params, 1.0, budget, &Output::new(true)).err().unwrap();
        assert_eq!(failure.code, "LIMIT");
        assert!(failure.detail.contains(&bytes(frugal.total())), "{}", failure.detail);
    }

    #[test]
    fn the_plan_is_what_keys_and_evaluator_take() {
        let output = Output::new(true);
        for name in ["toy-conventional10-sparse", "toy-conventional10-slots-first"] {
            let params = conventional_preset(name).unwrap().params().unwrap();
            let (fast, frugal) = (
                MemoryPlan::of(&params, PlaintextStorage::Evaluated),
                MemoryPlan::of(&params, PlaintextStorage::Coefficients),
            );
            for budget in [fast.total(), frugal.total()] {
                let bench = ConventionalBench::new(params.clone(), 1.0, Some(budget), &output).unwrap();
                assert_eq!(bench.evaluator.memory_bytes() as u64, bench.plan.diagonals, "{name}");
                assert_eq!(bench.keys.memory_bytes() as u64, bench.plan.keys, "{name}");
                let timed = bench.best(1, 1, &output).unwrap();
                assert!(
                    timed.precision.worst > 14.0 && timed.stages.len() == bench.params.stages().len(),
                    "{name}"
                );
            }
        }
    }
}
