//! Computing without end: square, bootstrap, square, bootstrap, …
//!
//!     cargo run --release -p refloat --features parallel --example 03_square_and_bootstrap_again
//!
//! A refreshed ciphertext comes back at level 2 with room for one multiplication before the next refresh
//! needs level 1. One is enough: with a bootstrap after each, any number of multiplications can follow one
//! another. The modulus comes back every time; precision does not. Each refresh adds an error of its own, the
//! same every time, and what is computed in between carries on the errors that are there: squaring a
//! number near 1 doubles its error, here as anywhere.
//!
//! Squares make small numbers smaller, so the values start near 1: x, x^2, x^4, … Without a refresh the second
//! squaring is refused, by name.

use refloat::{
    Error,
    bootstrapping::ckks_ship::{ShipEvaluator, ShipKeys, ShipSecretKey},
    params::ship_preset,
    random::Seed,
};

const ROUNDS: u32 = 4;

fn main() -> Result<(), Error> {
    let params = ship_preset("toy10")?.params()?;
    println!("{}: {}\n", params.name(), params.security().statement);
    let secret = ShipSecretKey::generate(&params, &Seed::random()?);
    let keys = ShipKeys::generate(&secret)?;
    let evaluator = ShipEvaluator::new(&params)?;

    let mut expected: Vec<f64> = (0..params.slots()).map(|k| 1.0 - k as f64 / 4096.0).collect();
    let mut x = secret.encrypt(&expected, params.mode(), &Seed::random()?)?;
    println!("{:>8} {:>6} {:>10} {:>22} {:>20}", "", "level", "log2 scale", "last slot", "worst slot, bits");
    for round in 0..=ROUNDS {
        let decrypted = secret.decrypt(&x, params.mode())?;
        let found = decrypted.reveal_to_key_owner();
        let worst = found.iter().zip(&expected).map(|(x, e)| (x - e).abs()).fold(0.0, f64::max);
        println!(
            "{:>8} {:>6} {:>10.4} {:>10.6} of {:.6} {:>20.1}",
            format!("x^{}", 1u64 << round),
            x.level(),
            x.log_scale(),
            found.last().copied().unwrap_or_default(),
            expected.last().copied().unwrap_or_default(),
            -worst.log2(),
        );
        // The refresh is worth 10 bits in the worst slot, and every squaring may take one of them.
        assert!(-worst.log2() > 10.0 - f64::from(round), "round {round}: {worst}");
        if round == ROUNDS {
            break;
        }
        let square = evaluator.square(&x, &keys)?;
        for e in &mut expected {
            *e *= *e;
        }
        if round == 0 {
            let error = evaluator.square(&square, &keys).expect_err("no level is left for it");
            println!("         one more squaring now: {}: {error}", error.code());
        }
        x = evaluator.bootstrap(&square, params.mode(), &keys, &mut ())?;
    }
    println!("\n{ROUNDS} squarings and {ROUNDS} bootstraps: x^{}", 1u64 << ROUNDS);
    Ok(())
}
