//! The stages of a SHIP bootstrap, as reported to observers.

use crate::trace::StageInfo;

/// Slots to coefficients.
pub const SLOTS_TO_COEFFS: &str = "slots_to_coeffs";
/// Dense to sparse secret.
pub const ENCAPSULATE: &str = "encapsulate";
/// Roots of unity from the public coefficients.
pub const ENCODE_PHASE: &str = "encode_phase";
/// One factor per non-zero coefficient of the sparse secret.
pub const BLIND_ROTATE: &str = "blind_rotate";
/// The product of all factors.
pub const PRODUCT_TREE: &str = "product_tree";
/// The imaginary part.
pub const CONJUGATE: &str = "conjugate";

/// Stage lists by depth of the product tree, 2 to 8.
pub(super) static STAGES: [[StageInfo; 6]; 7] =
    [stages(2), stages(3), stages(4), stages(5), stages(6), stages(7), stages(8)];

pub(super) fn of_tree(depth: usize) -> Option<&'static [StageInfo]> {
    STAGES.get(depth.checked_sub(2)?).map(|s| &s[..])
}

const fn stages(depth: usize) -> [StageInfo; 6] {
    [
        StageInfo {
            id: SLOTS_TO_COEFFS,
            title: "Slots to coefficients",
            symbol: "z -> V z: slots become coefficients Re z | Im z at scale D0",
            levels: 1,
        },
        StageInfo {
            id: ENCAPSULATE,
            title: "Switch to the sparse secret",
            symbol: "(b, a) mod q0 under s -> (b, a) mod q0 under s'",
            levels: 0,
        },
        StageInfo {
            id: ENCODE_PHASE,
            title: "Raise: public coefficients become roots of unity",
            symbol: "F_t = w^(a_t), w = exp(2 pi i / q0), encoded in slots modulo Q P",
            levels: 0,
        },
        StageInfo {
            id: BLIND_ROTATE,
            title: "Blind rotations",
            symbol: "track k: slots F_(i - J_k), J_k encrypted in the keys",
            levels: 0,
        },
        StageInfo {
            id: PRODUCT_TREE,
            title: "Product tree",
            symbol: "w^(b_i) prod_k F_(i - J_k) = w^(m_i)",
            levels: depth,
        },
        StageInfo {
            id: CONJUGATE,
            title: "Imaginary part",
            symbol: "x + conj(x): (gamma / 2 pi) sin(2 pi m_i / q0) ~ m_i / D0",
            levels: 0,
        },
    ]
}
