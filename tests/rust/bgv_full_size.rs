//! The 128-bit set for BGV bootstrapping, end to end: minutes, and 5 GB of memory.

use std::time::Instant;

use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvPreset, BgvSecretKey};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::random::Seed;
use refloat::trace::{Observer, StageEvent};
use refloat_tests::rns::Lottery;

/// Prints what each stage takes.
struct Stages(Instant);

impl Observer for Stages {
    fn event(&mut self, event: &StageEvent) -> std::ops::ControlFlow<()> {
        match event {
            StageEvent::Enter { .. } => self.0 = Instant::now(),
            StageEvent::Exit { stage, level, log_q, counters, .. } => println!(
                "  {stage}: {:.3} s, level {level}, 2^{log_q:.1}, {} key switches, {} transforms",
                self.0.elapsed().as_secs_f64(),
                counters.key_switch,
                counters.ntt
            ),
            _ => (),
        }
        std::ops::ControlFlow::Continue(())
    }
}

#[test]
#[ignore = "minutes, and 5 GB of memory"]
fn bgv15_is_exact_through_chained_bootstraps() {
    let (bootstraps, seeds) = (3, 1);
    let preset = BgvPreset::named("bgv15").expect("a set");
    let params = preset.params().expect("a sound set");
    println!("{}", params.security().statement);
    println!(
        "log2 QP {:.2}, log2 q0 R {:.2}, failure 2^{:.1}, {} levels of products, keys of {} bytes on the wire",
        params.log_qp(),
        params.log_q0_p(),
        params.log2_failure(),
        params.levels().left(),
        params.key_bytes()
    );
    assert!(params.log2_failure() <= preset.promised, "{}", params.log2_failure());
    let begin = Instant::now();
    let bootstrapper = BgvBootstrapper::new(&params, PlaintextStorage::Evaluated).expect("a sound set");
    println!("diagonals: {:.2} s, {} bytes", begin.elapsed().as_secs_f64(), bootstrapper.memory_bytes());
    for seed in 0..seeds {
        let secret = BgvSecretKey::generate(&params, &Seed::from_bytes([40 + seed; 32]));
        let begin = Instant::now();
        let keys = secret.evaluation_keys().expect("keys");
        println!("keys: {:.2} s, {} bytes", begin.elapsed().as_secs_f64(), keys.memory_bytes());
        let ring = params.messages();
        let mut lottery = Lottery::new(seed.into());
        let mut message: Vec<u64> = (0..params.n()).map(|_| lottery.word() % ring.value()).collect();
        let randomness = Seed::from_bytes([50 + seed; 32]);
        let mut x = secret.encrypt(&message, params.levels().output, &randomness).expect("reduced");
        for round in 0..bootstraps {
            while x.level() > params.levels().input {
                let begin = Instant::now();
                x = bootstrapper.multiply(&x, &x, &keys).expect("room");
                println!("  square: {:.3} s", begin.elapsed().as_secs_f64());
                for m in &mut message {
                    *m = ring.mul(*m, *m);
                }
            }
            // The group of units has order 2^16: squares alone go to 1.
            let shift: Vec<u64> = (0..params.n()).map(|_| lottery.word() % ring.value()).collect();
            x = bootstrapper.bgv().add_plain(&x, &shift).expect("room");
            for (m, &s) in message.iter_mut().zip(&shift) {
                *m = ring.add(*m, s);
            }
            let begin = Instant::now();
            x = bootstrapper.bootstrap(&x, &keys, &mut Stages(Instant::now())).expect("an input");
            let seconds = begin.elapsed().as_secs_f64();
            let found = secret.decrypt(&x).expect("our own");
            let wrong =
                found.reveal_to_key_owner().iter().zip(&message).filter(|(found, m)| found != m).count();
            println!(
                "bootstrap {round}: {seconds:.3} s, {wrong} of {} slots wrong, level {}, capacity {:.1} bits",
                message.len(),
                x.level(),
                x.capacity()
            );
            assert_eq!(wrong, 0);
        }
    }
}
