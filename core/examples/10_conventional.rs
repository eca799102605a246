//! Conventional bootstrapping, stage by stage, seen by the owner of the key.
//!
//!     cargo run --release -p refloat --features parallel --example 10_conventional
//!     cargo run --release -p refloat --features parallel --example 10_conventional -- n15
//!
//! An exhausted ciphertext decrypts to m modulo a small q0. Read modulo a large Q it decrypts to m + q0 I, with a small
//! integer I in every coefficient (`mod_raise`). Coefficients are moved into slots (`coeffs_to_slots`), a polynomial
//! near x - round(x) removes I (`eval_mod`), and what is left is moved back (`slots_to_coeffs`).
//!
//! Between the second stage and the third, the owner of the key sees the comb: values that lie close to integers.
//! Their distances from the integers hold the message.
//!
//! Without an argument this runs a demonstration size without any security; `n15` and `n16` have 128 bits, and take 8
//! and 12 GB of memory.

use refloat::{
    Error,
    bootstrapping::ckks_conventional::{
        ConventionalEvaluator, ConventionalKeys, ConventionalRun, ConventionalSecretKey, ConventionalState,
    },
    bootstrapping::raising::ReductionSpec,
    circuits::linear_transform::PlaintextStorage,
    params::conventional_preset,
    random::Seed,
    schemes::ckks::Complex,
};

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "toy-conventional11".into());
    let preset = conventional_preset(&name)?;
    let params = preset.params()?;
    println!("{name}: {}\n{}\n", preset.title, params.security().statement);
    let levels = params.levels();
    println!(
        "{} slots, log2 QP {:.0}, {} levels from one bootstrap to the next, keys of {:.2} GB\n",
        params.slots(),
        params.log_qp(),
        levels.left(),
        params.expanded_key_bytes() as f64 / 1e9
    );

    let secret = ConventionalSecretKey::generate(&params, &Seed::random()?);
    let keys = ConventionalKeys::generate(&secret)?;
    let evaluator = ConventionalEvaluator::new(&params, PlaintextStorage::Evaluated)?;

    let point = |k: usize| Complex::new((k as f64 / 17.0).sin(), (k as f64 / 29.0).cos());
    let values: Vec<Complex> = (0..params.slots()).map(point).collect();
    let exhausted = secret.encrypt(&values, levels.input, &Seed::random()?)?;
    println!("exhausted: level {}, a modulus of {:.0} bits", exhausted.level(), exhausted.log_q());

    let mut run = ConventionalRun::new(&evaluator, &exhausted)?;
    while let Some(stage) = run.next_stage().copied() {
        run.step(&keys, &mut ())?;
        let x = &run.ciphertexts()[0];
        println!(
            "{:<16} level {:>2}, a modulus of {:>4.0} bits, scale 2^{:.1}",
            stage.id,
            x.level(),
            x.log_q(),
            x.log_scale()
        );
        if let ConventionalState::Slots(parts) = run.state() {
            comb(&secret, parts, params.spec().reduction.range())?;
        }
    }

    let refreshed = secret.decrypt(&run.finish()?)?;
    let errors: Vec<f64> =
        refreshed.reveal_to_key_owner().iter().zip(&values).map(|(&a, &b)| (a - b).abs()).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let worst = errors.iter().fold(0.0, |worst: f64, &e| worst.max(e));
    println!("\nprecision: {:.2} bits on average, {:.2} in the worst slot", -mean.log2(), -worst.log2());
    assert!(-mean.log2() > preset.promised.bits[0]);
    Ok(())
}

/// How many coefficients hold which multiple of q0, and how far from it they are.
fn comb(
    secret: &ConventionalSecretKey,
    parts: &[refloat::schemes::ckks::Ciphertext<u64>],
    range: u32,
) -> Result<(), Error> {
    let mut counts = std::collections::BTreeMap::new();
    let mut widest: f64 = 0.0;
    for part in parts {
        for z in secret.decrypt(part)?.reveal_to_key_owner() {
            let x = z.re * f64::from(range);
            *counts.entry(x.round() as i64).or_insert(0usize) += 1;
            widest = widest.max((x - x.round()).abs());
        }
    }
    println!("    multiples of q0 in the slots, and how many of each: {counts:?}");
    println!("    no value is farther from one than {widest:.1e}");
    Ok(())
}
