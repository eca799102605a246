//! Times of gates, look-ups and circuits: what `refloat bench` and `refloat reproduce cggi` measure.

use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::Error;
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::circuits::netlist::{Bit, Builder, Clear, Plan, arithmetic, arithmetic::Form};
use refloat::schemes::cggi::{CggiCiphertext, CggiParams, CggiSecretKey, Encoding, Gate};
use refloat::wire::WireWord;

use super::failure::Failure;
use super::keyfiles::fresh_seed;

/// Fresh keys of a DM/CGGI set.
pub struct GateBench<W: WireWord> {
    secret: CggiSecretKey<W>,
    evaluator: CggiEvaluator<W>,
    /// Seconds it took to make the evaluation keys, on all threads.
    pub keygen_seconds: f64,
}

impl<W: WireWord> GateBench<W> {
    /// Makes keys.
    pub fn new(params: &CggiParams<W>) -> Result<Self, Failure> {
        let secret = CggiSecretKey::generate(params, &fresh_seed()?);
        let began = Instant::now();
        let keys = pool(0)?.install(|| CggiKeys::generate(&secret))?;
        let keygen_seconds = began.elapsed().as_secs_f64();
        Ok(Self { secret, evaluator: CggiEvaluator::new(keys), keygen_seconds })
    }

    /// Bytes of the evaluation keys in memory.
    pub fn memory_bytes(&self) -> usize {
        self.evaluator.keys().memory_bytes()
    }

    /// Seconds of one NAND on one thread: the fastest of `runs`. Every result is checked.
    pub fn nand(&self, runs: usize) -> Result<f64, Failure> {
        let bits = self.secret.encrypt_bits(&[true, false, true], &fresh_seed()?);
        let pairs = [(&bits[0], &bits[1], true), (&bits[0], &bits[2], false)];
        fastest(1, runs, |run| {
            let (x, y, expected) = pairs[run % 2];
            let result = self.evaluator.gate(Gate::Nand, &[x, y], &mut ())?;
            Ok((self.secret.decrypt_bit(&result)? == expected, "NAND"))
        })
    }

    /// Seconds of one look-up of a function on integers of an encoding, on one thread: the fastest of
    /// `runs`. Every result is checked.
    pub fn look_up(&self, encoding: Encoding, runs: usize) -> Result<f64, Failure> {
        let t = encoding.messages();
        let table: Vec<u32> = (0..t).map(|m| (3 * m * m * m + m + 1) % t).collect();
        let messages: Vec<u32> = (0..t).collect();
        let list = self.secret.encrypt(encoding, &messages, &fresh_seed()?)?;
        fastest(1, runs, |run| {
            let m = run % list.len();
            let result = self.evaluator.look_up(&list[m], &table, encoding, &mut ())?;
            Ok((self.secret.decrypt(&result)? == table[m], "look-up"))
        })
    }

    /// Seconds of a circuit of `count` NAND gates that do not depend on each other, on `threads` threads: the fastest
    /// of `runs`. Every result is checked.
    pub fn independent(&self, count: usize, threads: usize, runs: usize) -> Result<f64, Failure> {
        let mut builder = Builder::new();
        let (x, y) = (builder.inputs("x", count), builder.inputs("y", count));
        let results: Vec<Bit> = x.iter().zip(&y).map(|(&x, &y)| builder.gate(Gate::Nand, &[x, y])).collect();
        builder.outputs("z", &results);
        let plan = builder.finish()?.plan();
        let bits: Vec<bool> = (0..2 * count).map(|i| i % 3 == 0).collect();
        let inputs = self.secret.encrypt_bits(&bits, &fresh_seed()?);
        let expected = plan.run(&Clear, &bits, &mut ())?;
        fastest(threads, runs, |_| {
            let outputs = plan.run(&self.evaluator, &inputs, &mut ())?;
            Ok((self.secret.decrypt_bits(&outputs)? == expected, "row of gates"))
        })
    }

    /// Seconds of an 8-bit prefix addition on `threads` threads, the fastest of `runs`, and the number of its bootstraps. Every
    /// result is checked.
    pub fn adder(&self, threads: usize, runs: usize) -> Result<(f64, usize), Failure> {
        let plan: Plan = arithmetic::adder(8, Form::Prefix)?.plan();
        let bits: Vec<bool> = (0..16).map(|i| 0xb64d >> i & 1 == 1).collect();
        let inputs: Vec<CggiCiphertext<W>> = self.secret.encrypt_bits(&bits, &fresh_seed()?);
        let expected = plan.run(&Clear, &bits, &mut ())?;
        let seconds = fastest(threads, runs, |_| {
            let outputs = plan.run(&self.evaluator, &inputs, &mut ())?;
            Ok((self.secret.decrypt_bits(&outputs)? == expected, "addition"))
        })?;
        Ok((seconds, plan.bootstraps()))
    }
}

fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| Failure::system(&error))
}

/// The fastest of `runs` runs after one to warm up. The times include decryption, which is microseconds of a millisecond.
fn fastest(
    threads: usize,
    runs: usize,
    work: impl Fn(usize) -> Result<(bool, &'static str), Error> + Sync,
) -> Result<f64, Failure> {
    pool(threads)?.install(|| {
        let mut least = f64::INFINITY;
        for run in 0..=runs {
            let began = Instant::now();
            let (right, what) = work(run)?;
            let seconds = began.elapsed().as_secs_f64();
            if !right {
                return Err(Failure::system(&format!("a {what} gave a wrong result, which must not happen")));
            }
            if run > 0 {
                least = least.min(seconds);
            }
        }
        Ok(least)
    })
}
