//! Rounds of META-BTS over bootstraps that are done a step at a time.

use refloat::{
    bootstrapping::{MetaRun, Rounds},
    schemes::ckks::{Ciphertext, CkksEvaluator},
    wire::WireWord,
};

use crate::{
    events::Recorder,
    failure::{Failure, Result},
};

/// Rounds of a method on `x`, each after the first worth `gain_bits` bits; `None` for one round, which is the method itself and
/// all there is of some.
pub fn begin<W: WireWord>(
    evaluator: &'static CkksEvaluator<W>,
    (count, gain_bits): (Option<f64>, Option<u32>),
    levels: [usize; 2],
    x: &Ciphertext<W>,
) -> Result<Option<MetaRun<'static, W>>> {
    let count = count.unwrap_or(1.0);
    if !(0.0..=f64::from(u32::MAX)).contains(&count) || count.fract() != 0.0 {
        return Err(Failure::invalid(format!(
            "{count} is not a number of rounds: pass a whole number from 1"
        )));
    }
    let Some(gain_bits) = gain_bits else {
        return if count as u32 == 1 { Ok(None) } else { Err(Failure::invalid(ONE)) };
    };
    let rounds = Rounds::new(count as u32, gain_bits)?;
    if rounds.count() == 1 {
        return Ok(None);
    }
    Ok(Some(MetaRun::new(evaluator, rounds, levels, x)?))
}

const ONE: &str = "sets of this method bootstrap in one round: leave rounds out, or read more digits";

/// Takes what came of a round; what to bootstrap in the next, if there is one.
pub fn next<W: WireWord>(
    meta: &mut MetaRun<'static, W>,
    refreshed: Ciphertext<W>,
    events: &mut Recorder,
) -> Result<Option<Ciphertext<W>>> {
    meta.take(refreshed, events)?;
    Ok(meta.input()?)
}

/// The failure of a look into a bootstrap of several rounds, whose later ones hold corrections and not the message.
pub fn not_inspected() -> Failure {
    Failure::invalid("a bootstrap of several rounds is not inspected: leave rounds or inspect out")
}
