//! Messages to bootstrap, and what the holder of the key measures on the way.

use refloat::Error;
use refloat::bootstrapping::ViewKind;
use refloat::bootstrapping::ckks_ship::{KeySource, ShipEvaluator, ShipRun, ShipSecretKey};
use refloat::bootstrapping::method::SlotMode;
use refloat::random::Seed;
use refloat::schemes::ckks::Ciphertext;

/// `count` values uniform in [-1, 1], from a seed.
pub fn uniform(count: usize, seed: u64) -> Vec<f64> {
    let mut words = vec![0; count];
    let seed = Seed::from_bytes([7; 32]).derive("refloat test: messages", &[seed]);
    seed.stream().fill_uniform_u64(1 << 53, &mut words);
    words.into_iter().map(|w| w as f64 / (1u64 << 52) as f64 - 1.0).collect()
}

/// `count` fair bits, from a seed.
pub fn bits(count: usize, seed: u64) -> Vec<f64> {
    uniform(count, seed).into_iter().map(|x| f64::from(u8::from(x > 0.0))).collect()
}

/// The mean of the squares.
pub fn mean_square(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), x| (sum + x * x, count + 1.0));
    sum / count
}

/// Fails unless `measured` is `model` to within the relative `tolerance`.
///
/// # Panics
/// If it is not: that is the test.
pub fn assert_within(measured: f64, model: f64, tolerance: f64, what: &str) {
    let ratio = measured / model;
    assert!(
        (ratio - 1.0).abs() < tolerance,
        "{what}: measured {measured:.4e}, model {model:.4e}, ratio {ratio:.3}"
    );
}

/// The messages that the phases after encapsulation hold, noise included, as the holder of the key
/// reads them: what the rest of the bootstrap takes the sine of.
///
/// # Errors
/// As the first two stages.
///
/// # Panics
/// If the view after encapsulation is not of phases.
pub fn noisy_messages(
    secret: &ShipSecretKey,
    evaluator: &ShipEvaluator,
    keys: &dyn KeySource<u32>,
    ciphertext: &Ciphertext,
    mode: SlotMode,
) -> Result<Vec<f64>, Error> {
    let mut run = ShipRun::new(evaluator, ciphertext, mode)?;
    while run.phases().is_none() {
        run.step(keys, &mut ())?;
    }
    let view = secret.view(&run, &[])?.expect("phases to look at");
    assert_eq!(view.kind, ViewKind::Phases);
    Ok(view.values.iter().map(|turns| turns.re * secret.params().spec().gamma).collect())
}
