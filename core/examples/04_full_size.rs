//! Bootstrapping at 128-bit security, timed.
//!
//!     cargo run --release -p refloat --features parallel --example 04_full_size
//!     cargo run --release -p refloat --features parallel --example 04_full_size -- ship13-bits
//!
//! The first argument names the set: `ship13` by default (4096 numbers in [-1, 1]), or `ship13-bits` (4096 bits,
//! which the bootstrap cleans: it squares their error away). Any name of `refloat params` will do.
//!
//! The evaluation keys of these sets take gigabytes. Here the holder of the secret key makes those of one
//! track at a time, uses them and drops them (`GeneratedKeys`), as a browser tab does; so the time of the blind
//! rotations includes making their keys. A server holds all keys in memory instead (`ShipKeys`).

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use refloat::{
    Error,
    bootstrapping::{
        ckks_ship::{GeneratedKeys, ShipEvaluator, ShipSecretKey},
        method::SlotMode,
    },
    params::{DEFAULT_PRESET, ship_preset},
    random::Seed,
    trace::{Observer, StageEvent},
};

/// Prints the time of each stage. The core has no clock; the observer brings one.
struct Stopwatch {
    entered: Instant,
}

impl Observer for Stopwatch {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        match event {
            StageEvent::Enter { .. } => self.entered = Instant::now(),
            StageEvent::Exit { stage, level, log_q, .. } => {
                println!(
                    "  {stage:<16} {} level {level}, log2 Q {log_q:.1}",
                    seconds(self.entered.elapsed())
                );
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn seconds(time: Duration) -> String {
    format!("{:8.3} s", time.as_secs_f64())
}

fn main() -> Result<(), Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| DEFAULT_PRESET.into());
    let preset = ship_preset(&name)?;
    let (params, about) = (preset.params()?, refloat::about());
    println!("{name}: {}", preset.title);
    println!("{}", params.security().statement);
    println!("{} kernels, {} threads\n", about.backend_u32, about.threads);

    let start = Instant::now();
    let secret = ShipSecretKey::generate(&params, &Seed::random()?);
    println!("secret key         {}", seconds(start.elapsed()));
    let start = Instant::now();
    let keys = GeneratedKeys::new(&secret)?;
    println!("keys but tracks    {}", seconds(start.elapsed()));
    let start = Instant::now();
    let evaluator = ShipEvaluator::new(&params)?;
    println!("evaluator's tables {}", seconds(start.elapsed()));

    // Anything in range; the fractional parts of multiples of the golden ratio spread evenly.
    let spread = |k: usize| (k as f64 * 0.618_033_988_749_895).fract();
    let values: Vec<f64> = (0..params.slots())
        .map(|k| match params.mode() {
            SlotMode::Bits => spread(k).round(),
            _ => 2.0 * spread(k) - 1.0,
        })
        .collect();
    let ciphertext = secret.encrypt(&values, params.mode(), &Seed::random()?)?;
    let exhausted = evaluator.exhaust(&ciphertext)?;
    println!("\nfrom level {}, log2 Q {:.1}", exhausted.level(), exhausted.log_q());
    let start = Instant::now();
    let mut watch = Stopwatch { entered: start };
    let refreshed = evaluator.bootstrap(&exhausted, params.mode(), &keys, &mut watch)?;
    println!("  {:<16} {}", "in all", seconds(start.elapsed()));

    let decrypted = secret.decrypt(&refreshed, params.mode())?;
    let errors: Vec<f64> =
        decrypted.reveal_to_key_owner().iter().zip(&values).map(|(x, e)| (x - e).abs()).collect();
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let mean = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    println!(
        "\nworst slot right to {:.2} bits (promised: {:.2}), root mean square {:.2} bits",
        -worst.log2(),
        preset.promised,
        -mean.log2()
    );
    if params.mode() == SlotMode::Bits {
        let wrong = errors.iter().filter(|e| **e >= 0.5).count();
        println!("{wrong} of {} bits wrong after rounding", errors.len());
    }
    Ok(())
}
