//! The stages between the schemes, as reported to observers.

use crate::{
    error::Error,
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Slots to coefficients at the lowest levels.
pub const SLOTS_TO_BASE: &str = "slots_to_coeffs";
/// From coefficients to samples under the key of the gates.
pub const TO_GATES: &str = "to_gates";
/// Comparisons of pairs.
pub const COMPARE: &str = "compare";
/// Look-ups of ranks.
pub const LOOK_UP: &str = "look_up";
/// Samples into one ring, and to the ephemeral secret of the slots.
pub const TO_SLOTS: &str = "to_slots";
/// From the lowest modulus to the highest, and coefficients to slots.
pub const RAISE: &str = "mod_raise";
/// The sine that reads bits.
pub const READ_BITS: &str = "eval_mod";

/// The stages of a comparison of numbers in slots whose results are slots, in order.
pub static STAGES: [StageInfo; 7] = [
    StageInfo {
        id: SLOTS_TO_BASE,
        title: "Slots to coefficients",
        symbol: "x in slot j -> gamma x q0 in coefficient rev(j)",
        levels: 0,
    },
    StageInfo {
        id: TO_GATES,
        title: "To the key of the gates",
        symbol: "q0 -> p_s, s -> z, coefficients -> LWE samples, p_s -> p",
        levels: 0,
    },
    StageInfo {
        id: COMPARE,
        title: "Compare pairs",
        symbol: "c_ij = [x_i >= x_j], i < j; one blind rotation each",
        levels: 0,
    },
    StageInfo { id: LOOK_UP, title: "Look ranks up", symbol: "r_i = sum_j c_ij; table[r_i]", levels: 0 },
    StageInfo {
        id: TO_SLOTS,
        title: "Pack samples",
        symbol: "LWE samples -> one ring sample, z(X^(N'/N)) -> ephemeral secret mod q0",
        levels: 0,
    },
    StageInfo {
        id: RAISE,
        title: "Raise the modulus, coefficients to slots",
        symbol: "slots = b_j / 4 + I_j, b = 1 or -1",
        levels: 0,
    },
    StageInfo { id: READ_BITS, title: "Read bits", symbol: "(1 + sin(2 pi x)) / 2", levels: 0 },
];

/// Runs a stage and reports it; `position` gives level, and log2 of modulus and scale, of its result.
pub(super) fn run<T>(
    stage: &'static str,
    observer: &mut dyn Observer,
    work: impl FnOnce(&mut Counters, &mut dyn Observer) -> Result<T, Error>,
    position: impl FnOnce(&T) -> (usize, f64, f64),
) -> Result<T, Error> {
    emit(observer, &StageEvent::Enter { stage })?;
    let mut counters = Counters::default();
    let out = work(&mut counters, observer)?;
    let (level, log_q, log_scale) = position(&out);
    emit(observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })?;
    Ok(out)
}

/// Steps that are done between two looks of an observer.
pub(super) fn batch() -> usize {
    4 * crate::par::threads()
}

/// Runs `count` independent steps on all threads, some at a time so that the observer sees the progress and can cancel.
pub(super) fn run_all<T: Send>(
    stage: &'static str,
    count: usize,
    observer: &mut dyn Observer,
    work: impl Fn(usize) -> Result<T, Error> + Sync + Send,
) -> Result<alloc::vec::Vec<T>, Error> {
    let each = batch();
    let mut out = alloc::vec::Vec::with_capacity(count);
    while out.len() < count {
        let first = out.len();
        let batch = crate::par::try_map(each.min(count - first), |i| work(first + i))?;
        out.extend(batch);
        emit(observer, &StageEvent::Progress { stage, done: out.len(), total: count })?;
    }
    Ok(out)
}
