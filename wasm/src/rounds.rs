//! Rounds of META-BTS over bootstraps that are done one step at a time.

use refloat::{
    bootstrapping::{MetaRun, Rounds},
    schemes::ckks::{Ciphertext, CkksEvaluator},
    wire::WireWord,
};

use crate::{
    events::Recorder,
    failure::{Failure, Result},
};

/// Rounds of a method on `x`, each after the first worth `gain_bits` bits. `None` for a single round, which is a plain bootstrap; some
/// methods have no other.
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

/// Takes in the result of a round; returns what to bootstrap in the next, if there is one.
pub fn next<W: WireWord>(
    meta: &mut MetaRun<'static, W>,
    refreshed: Ciphertext<W>,
    events: &mut Recorder,
) -> Result<Option<Ciphertext<W>>> {
    meta.take(refreshed, events)?;
    Ok(meta.input()?)
}

/// The failure of inspecting a bootstrap of several rounds, whose later rounds hold corrections rather than the message.
pub fn not_inspected() -> Failure {
    Failure::invalid("a bootstrap of several rounds cannot be inspected; leave out rounds or inspect")
}
