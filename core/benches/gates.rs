//! Time of DM/CGGI gates and their parts per parameter set and backend: least of many runs, one thread.
//!
//! `cargo bench -p refloat --bench gates [-- FILTER]`; a filter keeps the lines that contain it. The backend
//! is the one in use: choose it with `REFLOAT_BACKEND`.

use refloat::arith::{Word, backend_name};
use refloat::bootstrapping::cggi::{CggiEvaluator, CggiKeys};
use refloat::params::CggiPreset;
use refloat::random::Seed;
use refloat::schemes::cggi::{CggiSecretKey, Encoding, Gate};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for preset in CggiPreset::all() {
        if preset.wide() { set::<u64>(preset, &filter) } else { set::<u32>(preset, &filter) }
    }
}

/// One line: a NAND for sets of bits, a look-up of the largest integers otherwise.
fn set<W: Word>(preset: &CggiPreset, filter: &str) {
    let label = format!("{:16} {:8}", preset.name, backend_name::<W>());
    if !label.contains(filter) {
        return;
    }
    let params = preset.params_over::<W>().expect("a preset");
    let secret = CggiSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let start = Instant::now();
    let keys = CggiKeys::generate(&secret).expect("keys");
    let keygen = start.elapsed().as_secs_f64();
    let megabytes = keys.memory_bytes() as f64 / 1e6;
    let evaluator = CggiEvaluator::new(keys);
    let messages = params.spec().messages;
    let (what, (least, mean), failure) = if messages == 2 {
        let bits = secret.encrypt_bits(&[true, false], &Seed::from_bytes([2; 32]));
        let run = || {
            black_box(evaluator.gate(Gate::Nand, &[&bits[0], &bits[1]], &mut ()).expect("a gate"));
        };
        ("nand", time(300, run), params.gate_failure())
    } else {
        let encoding = Encoding::Padded { messages };
        let x = secret.encrypt(encoding, &[messages - 1], &Seed::from_bytes([2; 32])).expect("a message");
        let table: Vec<u32> = (0..messages).rev().collect();
        let run = || {
            black_box(evaluator.look_up(&x[0], &table, encoding, &mut ()).expect("a look-up"));
        };
        ("look-up", time(100, run), params.look_up_failure())
    };
    println!(
        "{label} {what:7} {:8.3} ms, mean {:8.3} ms; keys {keygen:6.3} s, {megabytes:6.1} MB; 2^{failure:.0} failures, \
         {:.1} bits",
        least * 1e3,
        mean * 1e3,
        params.security().bits
    );
}

/// Least and mean seconds of one run.
fn time(runs: u32, mut run: impl FnMut()) -> (f64, f64) {
    let (mut least, mut sum) = (f64::INFINITY, 0.0);
    run();
    for _ in 0..runs {
        let start = Instant::now();
        run();
        let seconds = start.elapsed().as_secs_f64();
        least = least.min(seconds);
        sum += seconds;
    }
    (least, sum / f64::from(runs))
}
