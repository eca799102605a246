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
/// Few slots: the sum over rotations that leaves the coefficients of the message alone.
pub const SUB_SUM: &str = "sub_sum";
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
    // Rotations by n, 2n, .. N/4 slots for n slots: they leave alone what repeats, and cancel the rest.
    let sub_sum = (1 << spec.log_slots < spec.chain.n / 2).then_some(StageInfo {
        id: SUB_SUM,
        title: "Sum over rotations",
        symbol: "coefficients between those of the message -> 0",
        levels: 0,
    });
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
    let inner = [Some(raise), sub_sum, Some(coeffs_to_slots), Some(eval_mod)].into_iter().flatten();
    match spec.order {
        StageOrder::CoeffsToSlotsFirst => inner.chain([slots_to_coeffs]).collect(),
        StageOrder::SlotsToCoeffsFirst => [slots_to_coeffs].into_iter().chain(inner).collect(),
    }
}
