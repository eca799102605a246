//! The stages of one pass, which reads one digit, as reported to observers.

use alloc::{vec, vec::Vec};

use super::spec::MsbSpec;
use crate::{
    bootstrapping::raising::{ReductionSpec, stages},
    trace::StageInfo,
};

/// To the ephemeral secret at the lowest modulus; there the digit of the pass before is subtracted.
pub const TO_EPHEMERAL: &str = "to_ephemeral";
/// Coefficients rounded to a grid, where numbers are not on one.
pub const DISCRETISE: &str = "discretise";
/// e^(2 pi i x) of the quotients.
pub const EVAL_EXP: &str = "eval_exp";
/// Tables on roots of unity.
pub const LOOK_UP: &str = "look_up";

/// Levels that the tables of a digit in base t take: their degree is 2t - 1.
pub(super) fn table_levels(t: u32) -> usize {
    (2 * t).next_power_of_two().ilog2() as usize
}

/// The stages of one pass, with the rounding stage if `rounds`; its tables take `levels` levels.
pub(super) fn of_pass(spec: &MsbSpec, rounds: bool, levels: usize) -> Vec<StageInfo> {
    let mut out = vec![
        stages::slots_to_coeffs(spec),
        StageInfo {
            id: TO_EPHEMERAL,
            title: "To the ephemeral secret",
            symbol: "m mod q0, less the digit read before",
            levels: 0,
        },
    ];
    if rounds {
        out.push(StageInfo {
            id: DISCRETISE,
            title: "Round to the grid",
            symbol: "m -> round(T m / q0) q0 / T",
            levels: 0,
        });
    }
    out.extend([
        stages::RAISE,
        stages::coeffs_to_slots(spec),
        StageInfo {
            id: EVAL_EXP,
            title: "Into the exponent",
            symbol: "x -> e^(2 pi i x), x = k m/q0 + I",
            levels: spec.reduction.levels(),
        },
        StageInfo {
            id: LOOK_UP,
            title: "Look the digit up",
            symbol: "e^(2 pi i j/t) -> f(j), by a polynomial of degree 2t - 1",
            levels,
        },
    ]);
    out
}
