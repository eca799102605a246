//! The stages of a conventional bootstrap, as reported to observers.

use alloc::vec::Vec;

use super::{
    reduction::Reduction,
    spec::{ConventionalSpec, StageOrder},
};
use crate::trace::StageInfo;

/// Slots to coefficients.
pub const SLOTS_TO_COEFFS: &str = "slots_to_coeffs";
/// From the lowest modulus to the highest.
pub const MOD_RAISE: &str = "mod_raise";
/// Coefficients to slots.
pub const COEFFS_TO_SLOTS: &str = "coeffs_to_slots";
/// Reduction modulo q0.
pub const EVAL_MOD: &str = "eval_mod";

/// The stages in the order of the set.
pub(super) fn of(spec: &ConventionalSpec) -> Vec<StageInfo> {
    let slots_to_coeffs = StageInfo {
        id: SLOTS_TO_COEFFS,
        title: "Slots to coefficients",
        symbol: "z -> U z: slots become coefficients",
        levels: spec.slots_to_coeffs,
    };
    let raise = StageInfo {
        id: MOD_RAISE,
        title: "Raise the modulus",
        symbol: "m mod q0 -> m + q0 I mod Q, I a small integer per coefficient",
        levels: 0,
    };
    let coeffs_to_slots = StageInfo {
        id: COEFFS_TO_SLOTS,
        title: "Coefficients to slots",
        symbol: "slots = (m_k + q0 I_k) / (K q0)",
        levels: spec.coeffs_to_slots,
    };
    let eval_mod = StageInfo {
        id: EVAL_MOD,
        title: "Reduce modulo q0",
        symbol: match spec.reduction {
            Reduction::Sine(_) => "sin(2 pi x) / 2 pi ~ x - round(x), x = m/q0 + I",
            Reduction::Harmonics(_) => "a1 sin(2 pi x) + a2 sin(4 pi x) ~ x - round(x), x = m/q0 + I",
        },
        levels: spec.reduction.levels(),
    };
    match spec.order {
        StageOrder::CoeffsToSlotsFirst => alloc::vec![raise, coeffs_to_slots, eval_mod, slots_to_coeffs],
        StageOrder::SlotsToCoeffsFirst => alloc::vec![slots_to_coeffs, raise, coeffs_to_slots, eval_mod],
    }
}
