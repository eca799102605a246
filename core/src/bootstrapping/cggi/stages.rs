//! The stages of a bootstrap, as reported to observers.

use crate::trace::StageInfo;

/// From the ring key to the short key.
pub const KEY_SWITCH: &str = "key_switch";
/// From the modulus of the short key to exponents of X.
pub const MOD_SWITCH: &str = "mod_switch";
/// The accumulator, turned by the encrypted phase.
pub const BLIND_ROTATE: &str = "blind_rotate";
/// The constant coefficient, an LWE sample again.
pub const EXTRACT: &str = "sample_extract";

/// The stages in order.
pub(super) static STAGES: [StageInfo; 4] = [
    StageInfo {
        id: KEY_SWITCH,
        title: "Key switch",
        symbol: "(a, b) mod p under z -> mod q under s",
        levels: 0,
    },
    StageInfo {
        id: MOD_SWITCH,
        title: "Round to exponents",
        symbol: "(a, b) mod q -> mod 2N, rounding errors centred",
        levels: 0,
    },
    StageInfo {
        id: BLIND_ROTATE,
        title: "Blind rotation",
        symbol: "ACC = v X^-b, then ACC X^(-a_i s_i), s_i encrypted in the keys",
        levels: 0,
    },
    StageInfo {
        id: EXTRACT,
        title: "Extraction",
        symbol: "constant coefficient of v X^-phi = v(phi), an LWE sample under z",
        levels: 0,
    },
];
