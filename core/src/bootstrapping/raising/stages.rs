//! Names of the stages that raise the modulus and move coefficients, as reported to observers.

use alloc::vec::Vec;

use super::spec::{RaisingSpec, StageOrder};
use crate::trace::StageInfo;

/// Slots to coefficients.
pub const SLOTS_TO_COEFFS: &str = "slots_to_coeffs";
/// From the lowest modulus to the highest.
pub const MOD_RAISE: &str = "mod_raise";
/// For few slots, the sum over rotations that keeps only the coefficients of the message.
pub const SUB_SUM: &str = "sub_sum";
/// Coefficients to slots.
pub const COEFFS_TO_SLOTS: &str = "coeffs_to_slots";

/// See [`SLOTS_TO_COEFFS`].
pub(in crate::bootstrapping) fn slots_to_coeffs<R>(spec: &RaisingSpec<R>) -> StageInfo {
    StageInfo {
        id: SLOTS_TO_COEFFS,
        title: "Slots to coefficients",
        symbol: "z -> U z: slots become coefficients",
        levels: spec.slots_to_coeffs,
    }
}

/// See [`MOD_RAISE`].
pub(in crate::bootstrapping) const RAISE: StageInfo = StageInfo {
    id: MOD_RAISE,
    title: "Raise the modulus",
    symbol: "m mod q0 -> m + q0 I mod Q, I a small integer per coefficient",
    levels: 0,
};

/// See [`SUB_SUM`].
const SUM: StageInfo = StageInfo {
    id: SUB_SUM,
    title: "Sum over rotations",
    symbol: "coefficients between those of the message -> 0",
    levels: 0,
};

/// See [`COEFFS_TO_SLOTS`].
pub(in crate::bootstrapping) fn coeffs_to_slots<R>(spec: &RaisingSpec<R>) -> StageInfo {
    StageInfo {
        id: COEFFS_TO_SLOTS,
        title: "Coefficients to slots",
        symbol: "slots = (m_k + q0 I_k) / (K q0)",
        levels: spec.coeffs_to_slots,
    }
}

/// The stages of one pass with a reduction in one stage, in the order of the set.
pub(in crate::bootstrapping) fn of<R>(spec: &RaisingSpec<R>, reduction: StageInfo) -> Vec<StageInfo> {
    // Rotations by n, 2n, .. N/4 slots for n slots: their sum keeps what repeats and cancels the rest.
    let sum = (1 << spec.log_slots < spec.chain.n / 2).then_some(SUM);
    let inner = [Some(RAISE), sum, Some(coeffs_to_slots(spec)), Some(reduction)].into_iter().flatten();
    match spec.order {
        StageOrder::CoeffsToSlotsFirst => inner.chain([slots_to_coeffs(spec)]).collect(),
        StageOrder::SlotsToCoeffsFirst => [slots_to_coeffs(spec)].into_iter().chain(inner).collect(),
    }
}
