//! One bootstrap, stage by stage, seen by the owner of the key.
//!
//!     cargo run --release -p refloat --features parallel --example 02_bootstrap
//!
//! Multiplications use up the modulus of a ciphertext (example 01). Bootstrapping evaluates the
//! decryption under encryption, and so turns an exhausted ciphertext into one that can be computed
//! with again: a *refresh*. SHIP (ePrint 2025/784) does it through roots of unity.
//!
//!  1. `slots_to_coeffs`: the slots become coefficients m_i modulo a small prime q0.
//!  2. `encapsulate`: the key is switched to a sparse one, with h non-zero coefficients.
//!  3. `encode_phase`: the public half of the ciphertext, exp(2 pi i a_t / q0), is encoded as slots at the full
//!     modulus. The modulus is high again from here on; what is missing is the secret.
//!  4. `blind_rotate`: each non-zero coefficient of the secret shifts that sequence by an amount that only the
//!     keys know, encrypted. The h tracks are independent of each other.
//!  5. `product_tree`: the product of all tracks is exp(2 pi i m_i / q0), in log2(h + 1) levels.
//!  6. `conjugate`: its imaginary part is sin(2 pi m_i / q0), which is close to the message where that is small.
//!
//! An evaluator sees levels and scales only. The key's owner can decrypt between two steps
//! (`ShipSecretKey::view`), which is where the bits of precision below come from.
//!
//! The set `toy10` is a demonstration size, with no security at all; example 04 runs the real one.

use std::ops::ControlFlow;

use refloat::{
    Error,
    bootstrapping::{
        ViewKind,
        ckks_ship::{ShipEvaluator, ShipKeys, ShipRun, ShipSecretKey},
    },
    params::ship_preset,
    random::Seed,
    schemes::ckks::Complex,
    trace::{Observer, StageEvent},
};

/// Prints what the evaluator itself knows.
struct Narrator;

impl Observer for Narrator {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if let StageEvent::Exit { level, log_q, log_scale, counters, .. } = event {
            println!(
                "     level {level}, log2 Q {log_q:.1}, log2 scale {log_scale:.2}; {} transforms, {} key switches",
                counters.ntt, counters.key_switch
            );
        }
        // `Break` would cancel the bootstrap here.
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Error> {
    let preset = ship_preset("toy10")?;
    let params = preset.params()?;
    println!("{}: {}", params.name(), preset.title);
    println!("{}", params.security().statement);

    let secret = ShipSecretKey::generate(&params, &Seed::random()?);
    // What the evaluator is given. In earnest they travel in chunks: see `ShipKeys::builder`.
    let keys = ShipKeys::generate(&secret)?;
    let evaluator = ShipEvaluator::new(&params)?;
    println!("evaluation keys: {:.1} MiB in memory\n", keys.memory_bytes() as f64 / f64::from(1 << 20));

    let values: Vec<f64> = (0..params.slots()).map(|k| (k as f64 * 0.05).sin()).collect();
    let message: Vec<Complex> = values.iter().map(|&re| Complex { re, im: 0.0 }).collect();
    let ciphertext = secret.encrypt(&values, params.mode(), &Seed::random()?)?;
    let exhausted = evaluator.exhaust(&ciphertext)?;
    println!("exhausted: level {}, log2 Q {:.1}", exhausted.level(), exhausted.log_q());

    let mut run = ShipRun::new(&evaluator, &exhausted, params.mode())?;
    while let Some(stage) = run.next_stage() {
        println!("\n{}: {}\n     {}", stage.id, stage.title, stage.symbol);
        // A stage is one step or several: a track of the blind rotations, a layer of the tree.
        let (mut worst, mut unit, mut steps) = (None::<f64>, "", 0);
        while run.next_stage() == Some(stage) {
            run.step(&keys, &mut Narrator)?;
            steps += 1;
            if let Some(view) = secret.view(&run, &message)? {
                let (error, _) = view.error();
                worst = Some(worst.unwrap_or(0.0).max(error));
                unit = match view.kind {
                    ViewKind::Slots => "slot",
                    ViewKind::Coefficients => "coefficient",
                    ViewKind::Phases => "phase, in turns,",
                    ViewKind::Quotients => "coefficient over q0",
                    _ => "number",
                };
            }
        }
        match worst {
            Some(error) => println!("     {steps} steps; worst {unit} right to {:.1} bits", -error.log2()),
            None => println!("     {steps} steps; nothing encrypted to look at"),
        }
    }

    let refreshed = run.finish()?;
    let decrypted = secret.decrypt(&refreshed, params.mode())?;
    let pairs = decrypted.reveal_to_key_owner().iter().zip(&values);
    let worst = pairs.map(|(found, sent)| (found - sent).abs()).fold(0.0, f64::max);
    println!("\nrefreshed: level {}, log2 Q {:.1}", refreshed.level(), refreshed.log_q());
    println!("worst slot right to {:.1} bits; the set promises {:.1}", -worst.log2(), preset.promised);
    assert!(-worst.log2() >= preset.promised, "the set keeps its promise");

    println!("\nall of it in one call:");
    let again = evaluator.bootstrap(&exhausted, params.mode(), &keys, &mut Narrator)?;
    assert!(again.parts()[0].data() == refreshed.parts()[0].data(), "the same bits, step by step or at once");
    Ok(())
}
