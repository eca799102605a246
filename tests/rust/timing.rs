//! Does the running time of what touches secrets depend on them? The test of Reparaz, Balasch and
//! Verbauwhede ("dude, is my code constant time?", ePrint 2016/1123): one fixed input against random
//! ones, interleaved at random, and Welch's t between the two.
//!
//! Not a proof, and at the mercy of the machine, so it runs on request:
//! `cargo test --release -p refloat-tests --test timing -- --ignored --nocapture --test-threads 1`,
//! with `REFLOAT_TIMING_RUNS` measurements each (50000 if unset; a release takes 1000000).

use std::hint::black_box;
use std::time::Instant;

use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::params::ship_preset;
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;
use refloat_tests::measure::uniform;

/// Above this, the two classes are told apart.
const LIMIT: f64 = 4.5;

/// Times `work` on inputs that `input(class, i)` prepares, class 0 fixed and class 1 random, and
/// returns the largest |t| over several croppings of the slow tail.
fn t_value<T, R>(runs: usize, input: impl Fn(u64, u64) -> T, work: impl Fn(&T) -> R) -> f64 {
    let mut coin = Seed::from_bytes([1; 32]).derive("refloat test: timing", &[]).stream();
    // Inputs are prepared in batches, so that preparing one does not warm the caches for it.
    let mut times: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for batch in 0..runs.div_ceil(64) as u64 {
        let classes: Vec<u64> = (0..64).map(|_| u64::from(coin.below(2))).collect();
        let inputs: Vec<T> =
            classes.iter().zip(0..).map(|(&class, i)| input(class, 64 * batch + i)).collect();
        for (&class, input) in classes.iter().zip(&inputs) {
            let start = Instant::now();
            black_box(work(black_box(input)));
            times[class as usize].push(start.elapsed().as_nanos() as f64);
        }
    }
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let croppings = [0.5, 0.75, 0.9, 0.97].map(|part| all[(part * (all.len() - 1) as f64) as usize]);
    croppings.into_iter().map(|limit| welch(&times, limit).abs()).fold(0.0, f64::max)
}

/// Welch's t of the times up to `limit`.
fn welch(times: &[Vec<f64>; 2], limit: f64) -> f64 {
    let moments = times.each_ref().map(|times| {
        let kept: Vec<f64> = times.iter().copied().filter(|&t| t <= limit).collect();
        let n = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / n;
        let variance = kept.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    });
    (moments[0].0 - moments[1].0) / (moments[0].1 + moments[1].1).sqrt()
}

fn runs() -> usize {
    std::env::var("REFLOAT_TIMING_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(50_000)
}

fn seed_of(class: u64, i: u64) -> Seed {
    Seed::from_bytes([2; 32]).derive("refloat test: timing input", &[class, class * i])
}

fn check(what: &str, t: f64) {
    println!("{what}: |t| = {t:.2}");
    assert!(t < LIMIT, "{what} takes a time that depends on its secret: |t| = {t:.1}");
}

fn toy() -> (ShipParams, ShipSecretKey) {
    let params: ShipParams = ship_preset("toy10").unwrap().params().unwrap();
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([3; 32]));
    (params, secret)
}

#[test]
#[ignore = "measures time; see the head of the file"]
fn the_test_sees_a_branch_on_a_secret() {
    // A guard on the method: work that stops early on the fixed class is told apart at once.
    let work = |secret: &Vec<u8>| secret.iter().position(|&x| black_box(x) != 0);
    let input = |class: u64, i: u64| vec![(class * (i | 1)) as u8 & 1; 4096];
    let t = t_value(2_000, input, work);
    assert!(t > 10.0 * LIMIT, "|t| = {t:.1}");
}

#[test]
#[ignore = "measures time; see the head of the file"]
fn sampling_does_not_depend_on_what_is_drawn() {
    let t = t_value(runs(), seed_of, |seed| {
        let mut out = [0; 512];
        seed.stream().ternary(&mut out);
        out
    });
    check("ternary", t);
    let t = t_value(runs(), seed_of, |seed| {
        let mut out = [0; 512];
        seed.stream().cbd21(&mut out);
        out
    });
    check("centred binomial", t);
    let t = t_value(runs(), seed_of, |seed| {
        let mut stream = seed.stream();
        core::array::from_fn::<u32, 64, _>(|_| stream.below(350))
    });
    check("below", t);
}

#[test]
#[ignore = "measures time; see the head of the file"]
fn key_generation_does_not_depend_on_the_key() {
    let (params, _) = toy();
    // Windows of this set do not overlap, so no draw is thrown away.
    let t = t_value(runs() / 10, seed_of, |seed| ShipSecretKey::generate(&params, seed));
    check("key generation", t);
}

#[test]
#[ignore = "measures time; see the head of the file"]
fn encryption_does_not_depend_on_the_message() {
    let (_, secret) = toy();
    let input = |class: u64, i: u64| if class == 0 { vec![0.25; 512] } else { uniform(512, i) };
    let randomness = Seed::from_bytes([4; 32]);
    let work = |values: &Vec<f64>| secret.encrypt(values, SlotMode::Real, &randomness).map(drop);
    check("encryption", t_value(runs() / 10, input, work));
}

#[test]
#[ignore = "measures time; see the head of the file"]
fn decryption_does_not_depend_on_the_message_or_the_key() {
    let (params, _) = toy();
    let input = |class: u64, i: u64| -> (ShipSecretKey, Ciphertext) {
        let secret = ShipSecretKey::generate(&params, &seed_of(class, i));
        let values = if class == 0 { vec![0.25; 512] } else { uniform(512, i) };
        let ciphertext = secret.encrypt(&values, SlotMode::Real, &seed_of(class, i)).unwrap();
        (secret, ciphertext)
    };
    let work = |(secret, ciphertext): &(ShipSecretKey, Ciphertext)| {
        secret.decrypt(ciphertext, SlotMode::Real).map(drop)
    };
    check("decryption", t_value(runs() / 10, input, work));
}
