//! One track of a set's blind rotation in 32-bit and in 64-bit words, one thread.
//!
//! `cargo bench -p refloat --bench words -- ship14`; with `REFLOAT_BACKEND=scalar` before it, without vector
//! instructions. Primes below 2^31 fit either word, so that the keys and the work are the same.

use std::time::Instant;

use refloat::{
    Error,
    arith::{Word, backend_name},
    bootstrapping::{
        ckks_ship::{Phases, ShipEvaluator, ShipParams, ShipSecretKey, TrackScratch, generate_track},
        method::SlotMode,
    },
    params,
    random::Seed,
    ring::Poly,
    trace::Counters,
};

/// Tracks made, so that no cache holds the keys from one run to the next, and runs over them.
const TRACKS: usize = 3;
const RUNS: usize = 5;

fn main() -> Result<(), Error> {
    let name = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let name = name.unwrap_or_else(|| "toy10".into());
    let (narrow, wide) = (track::<u32>(&name)?, track::<u64>(&name)?);
    println!("{name}, one track, the fastest of {RUNS} runs over {TRACKS} tracks");
    println!("u32, {}: {:.2} ms", backend_name::<u32>(), 1e3 * narrow);
    println!("u64, {}: {:.2} ms", backend_name::<u64>(), 1e3 * wide);
    Ok(())
}

/// Seconds of a track.
fn track<W: Word>(name: &str) -> Result<f64, Error> {
    let params = ShipParams::<W>::new(&(params::ship_preset(name)?.spec)())?;
    let secret = ShipSecretKey::<W>::generate(&params, &Seed::from_bytes([3; 32]));
    let evaluator = ShipEvaluator::<W>::compact(&params)?;
    let q0 = params.ckks().rlwe().q(0);
    let residues = |by: u64| {
        let row = |prime: u64| (0..params.n() as u64).map(move |i| W::from_u64(prime / 997 * (i * by % 997)));
        Poly::from_rows(q0, q0.primes().flat_map(row).collect())
    };
    let phases = Phases::new(&residues(5), &residues(7));
    let mut counters = Counters::default();
    let encoded = evaluator.encode_phase(&phases, SlotMode::Real, &mut counters)?;
    let keys = (0..TRACKS).map(|track| generate_track(&secret, track)).collect::<Result<Vec<_>, _>>()?;
    let mut scratch = TrackScratch::new(&params);
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        for (track, keys) in keys.iter().enumerate() {
            let began = Instant::now();
            evaluator.blind_rotate(&encoded, 0, track, keys, &mut scratch, &mut counters)?;
            best = best.min(began.elapsed().as_secs_f64());
        }
    }
    Ok(best)
}
