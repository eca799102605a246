//! The stages of a bootstrap, as reported to observers.

use alloc::{vec, vec::Vec};

use super::spec::BgvSpec;
use crate::trace::StageInfo;

/// Slots to coefficients.
pub const SLOTS_TO_COEFFS: &str = "slots_to_coeffs";
/// To the sparse secret, times p^e modulo q0.
pub const PREPARE: &str = "prepare";
/// From the lowest modulus to the highest.
pub const MOD_RAISE: &str = "mod_raise";
/// Coefficients to slots.
pub const COEFFS_TO_SLOTS: &str = "coeffs_to_slots";
/// Coordinates of slots into ciphertexts of their own.
pub const UNPACK: &str = "unpack";
/// Removal of the low digit.
pub const DIGIT_REMOVAL: &str = "digit_removal";

/// Subtraction of digits that are apart from the message.
pub const TAKE_OFF: &str = "take_off";

/// The stages in order, given the levels of the removal.
pub(super) fn of(spec: &BgvSpec, removal: usize) -> Vec<StageInfo> {
    let slots_to_coeffs = StageInfo {
        id: SLOTS_TO_COEFFS,
        title: "Slots to coefficients",
        symbol: "slots become coefficients, modulo p^r",
        levels: spec.slots_to_coeffs,
    };
    let unpack = StageInfo {
        id: UNPACK,
        title: "Unpack the slots",
        symbol: "a ciphertext of integers I + p^t y mod p^e for each coordinate",
        levels: 0,
    };
    if spec.approach.is_apart() {
        return apart(spec, slots_to_coeffs, removal);
    }
    let mut out = vec![
        StageInfo {
            id: PREPARE,
            title: "Sparse secret, times p^e",
            symbol: "p^e (m/p^r + e) mod q0 = p^t m' + q0 I",
            levels: 0,
        },
        StageInfo {
            id: MOD_RAISE,
            title: "Raise the modulus",
            symbol: "(p^t m' + q0 I)/p^e mod Q: a ciphertext of I + p^t m'/q0 mod p^e",
            levels: 0,
        },
        StageInfo {
            id: COEFFS_TO_SLOTS,
            title: "Coefficients to slots",
            symbol: "slots = I + p^t y mod p^e",
            levels: spec.coeffs_to_slots,
        },
        StageInfo {
            id: DIGIT_REMOVAL,
            title: "Remove the low digit",
            symbol: "x - D(x) = p^t y mod p^e, read as y mod p^r",
            levels: removal,
        },
    ];
    if spec.is_general() {
        out.insert(3, unpack);
        out.push(slots_to_coeffs);
    } else {
        out.insert(0, slots_to_coeffs);
    }
    out
}

/// The stages of a set whose digits are apart from the message; D stands for p^t or the step.
fn apart(spec: &BgvSpec, slots_to_coeffs: StageInfo, removal: usize) -> Vec<StageInfo> {
    let stage = |id, title, symbol, levels| StageInfo { id, title, symbol, levels };
    let mut out = vec![
        stage(
            PREPARE,
            "Sparse secret, times p^r D",
            "p^r D (m/p^r + e) mod q0 = D m' + q0 I, of m' + q0 I'",
            0,
        ),
        stage(MOD_RAISE, "Raise both moduli", "I + D m'/q0, and I - D I' of what was reduced, mod Q", 0),
        stage(COEFFS_TO_SLOTS, "Coefficients to slots", "slots = I - D I'", spec.coeffs_to_slots),
        stage(DIGIT_REMOVAL, "Read the digit", "f(I - D I') = I", removal),
        stage(TAKE_OFF, "Take the digit off", "(I + D m'/q0) - I, read as m mod p^r", 0),
    ];
    if spec.is_general() {
        let each = "a ciphertext of integers I - D I' for each coordinate";
        out.insert(3, stage(UNPACK, "Unpack the slots", each, 0));
        let digits = StageInfo { symbol: "digits in slots become coefficients", ..slots_to_coeffs };
        out.insert(5, digits);
    } else {
        out.insert(0, slots_to_coeffs);
    }
    out
}
