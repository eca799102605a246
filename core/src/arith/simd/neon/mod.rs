//! NEON, which every 64-bit ARM processor has: four 32-bit lanes, with signed residues in transforms; residues modulo primes below 2^50 also as `f64`, four in two
//! registers. Larger primes stay with `mul` and `umulh`: there is no 64-bit product of lanes.
//!
//! SVE2 has one (`umulh` of lanes), but where it exists today its registers have the 128 bits of these (Neoverse N2, V2), Apple's
//! processors do not have it, and stable Rust has no intrinsics for it.

/// Intrinsics, allowed by the target.
macro_rules! neon {
    ($e:expr) => {
        // SAFETY: this module is compiled only for targets that have NEON; loads and stores go through references to whole packs,
        // and need no more than the alignment of a word.
        unsafe { $e }
    };
}

mod halves;
mod reals;
mod signed;
mod words32;

use super::{backend::backend, gates::gate_backend, scalar::Scalar};
use crate::arith::kernels::products;

/// Vector operations on four `u32`. There is no detection: the instructions belong to the target.
#[derive(Clone, Copy)]
pub(crate) struct Neon;

/// Products and transforms of 64-bit words: in `f64` or in halves where primes are small enough.
mod wide {
    pub(super) use super::halves::{inner_product, key_products};
    pub(super) use super::reals::{forward, inverse, mul_assign};
}

backend!(
    Neon,
    u32,
    "neon",
    features = [],
    transforms = [signed::forward, signed::inverse],
    rows = Neon,
    products = Neon,
    sums = products
);
backend!(
    Neon,
    u64,
    "neon",
    features = [],
    transforms = [wide::forward, wide::inverse],
    rows = Scalar::<u64>::new(),
    products = Scalar::<u64>::new(),
    sums = wide
);
gate_backend!(Neon, u32, "neon", features = [], registers = 8, rows = Neon);
gate_backend!(Neon, u64, "neon", features = [], registers = 8, rows = Scalar::<u64>::new());
