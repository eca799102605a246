//! refloat.

use std::{ops::ControlFlow, time::Instant};

use refloat::{
    Error,
    bootstrapping::{
        ckks_ship::{BLIND_ROTATE, PRODUCT_TREE, SLOTS_TO_COEFFS, ShipEvaluator, ShipKeys, ShipSecretKey},
        method::SlotMode,
    },
    params,
    random::Seed,
    trace::{Observer, StageEvent},
};

use crate::{Contender, least, message, precision};

/// Seconds of the stages of one bootstrap.
struct Stopwatch {
    entered: Instant,
    before: f64,
    core: f64,
}

impl Observer for Stopwatch {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        match event {
            StageEvent::Enter { .. } => self.entered = Instant::now(),
            StageEvent::Exit { stage, .. } => {
                let seconds = self.entered.elapsed().as_secs_f64();
                match *stage {
                    SLOTS_TO_COEFFS => self.before += seconds,
                    BLIND_ROTATE | PRODUCT_TREE => self.core += seconds,
                    _ => {}
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// Makes keys, bootstraps `rounds` times and once before, decrypts.
pub fn run(name: &str, rounds: usize) -> Result<Contender, Error> {
    let params = params::ship_preset(name)?.params()?;
    let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
    let start = Instant::now();
    let keys = ShipKeys::generate(&secret)?;
    let key_seconds = start.elapsed().as_secs_f64();
    let evaluator = ShipEvaluator::new(&params)?;
    let message = message(params.slots());
    let fresh = secret.encrypt(&message, SlotMode::Real, &Seed::from_bytes([2; 32]))?;
    let exhausted = evaluator.exhaust(&fresh)?;
    let (mut whole, mut half, mut core) = (Vec::new(), Vec::new(), Vec::new());
    let mut refreshed = evaluator.bootstrap(&exhausted, SlotMode::Real, &keys, &mut ())?;
    for _ in 0..rounds {
        let start = Instant::now();
        let mut watch = Stopwatch { entered: start, before: 0.0, core: 0.0 };
        refreshed = evaluator.bootstrap(&exhausted, SlotMode::Real, &keys, &mut watch)?;
        let seconds = start.elapsed().as_secs_f64();
        whole.push(seconds);
        half.push(seconds - watch.before);
        core.push(watch.core);
    }
    let decrypted = secret.decrypt(&refreshed, SlotMode::Real)?;
    Ok(Contender {
        name: format!("refloat {name}"),
        security: params.security().statement.clone(),
        log_qp: params.log_qp(),
        log_sparse: params.log_q0_p(),
        room: params.log_q(refreshed.level()) - params.scale().log2(),
        key_seconds,
        key_bytes: keys.memory_bytes(),
        whole: Some(least(&whole)),
        half: least(&half),
        core: Some(least(&core)),
        bits: precision(decrypted.reveal_to_key_owner(), &message),
    })
}
