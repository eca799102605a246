//! Precision of a set over several keys: bootstrap, square, bootstrap again.
//!
//! Seeds are fixed, so the figures are the same on every machine, backend and number of threads. Keys are made
//! track by track and dropped, so that the largest set fits a machine that could not hold its keys.
//!
//! ```sh
//! cargo run --release -p refloat --features parallel --example 05_precision_over_keys -- ship13 5
//! ```

use refloat::{
    Error,
    bootstrapping::{
        ckks_ship::{GeneratedKeys, ShipEvaluator, ShipSecretKey},
        method::SlotMode,
    },
    params,
    random::Seed,
    schemes::ckks::Ciphertext,
};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "toy10".into());
    let keys = arguments.next().and_then(|k| k.parse().ok()).unwrap_or(3u8);

    let preset = params::ship_preset(&name)?;
    let params = preset.params()?;
    let mode = params.mode();
    let evaluator = ShipEvaluator::new(&params)?;
    println!("{name}: {}", params.security().statement);
    println!("bits against the exact values, worst slot / root mean square over {} slots", params.slots());
    let mut worst = f64::INFINITY;
    for key in 1..=keys {
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([key; 32]));
        let evaluation = GeneratedKeys::new(&secret)?;
        let message = message(params.slots(), mode, u64::from(key));
        let squares: Vec<f64> = message.iter().map(|x| x * x).collect();

        let fresh = secret.encrypt(&message, mode, &Seed::from_bytes([key + 100; 32]))?;
        let refreshed = evaluator.bootstrap(&fresh, mode, &evaluation, &mut ())?;
        let squared = evaluator.square(&refreshed, &evaluation)?;
        let again = evaluator.bootstrap(&squared, mode, &evaluation, &mut ())?;

        let first = bits(&secret, &refreshed, &message)?;
        let second = bits(&secret, &again, &squares)?;
        worst = worst.min(first.0);
        println!(
            "key {key}: bootstrap {:.2} / {:.2}, square and bootstrap again {:.2} / {:.2}",
            first.0, first.1, second.0, second.1
        );
    }
    println!("worst slot of all keys: {worst:.2} bits; promised: {}", preset.promised);
    Ok(())
}

/// Uniform reals in [-1, 1], or bits.
fn message(slots: usize, mode: SlotMode, seed: u64) -> Vec<f64> {
    let mut stream = Seed::from_bytes([200; 32]).derive("example message", &[seed]).stream();
    (0..slots)
        .map(|_| match mode {
            SlotMode::Bits => f64::from(stream.below(2)),
            _ => 2.0 * f64::from(stream.below(u32::MAX)) / f64::from(u32::MAX) - 1.0,
        })
        .collect()
}

/// -log2 of the largest and of the root-mean-square error.
fn bits(secret: &ShipSecretKey, ciphertext: &Ciphertext, expected: &[f64]) -> Result<(f64, f64), Error> {
    let plain = secret.decrypt(ciphertext, secret.params().mode())?;
    let errors = plain.reveal_to_key_owner().iter().zip(expected).map(|(x, y)| (x - y).abs());
    let (max, sum) = errors.fold((0.0f64, 0.0), |(max, sum), e| (max.max(e), sum + e * e));
    Ok((-max.log2(), -(sum / expected.len() as f64).sqrt().log2()))
}
