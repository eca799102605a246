//! NEON, which every 64-bit ARM processor has: four 32-bit lanes.
//!
//! There is no 64-bit product of lanes. SVE has one (`umulh`), but stable Rust has no intrinsics for it, Apple's processors do not have SVE,
//! and of those that can be rented only Neoverse V1 has registers wider than these 128 bits.

/// Intrinsics, allowed by the target.
macro_rules! neon {
    ($e:expr) => {
        // SAFETY: what uses this is compiled only for targets that have NEON; loads and stores go through references to whole packs,
        // and need no more than the alignment of a word.
        unsafe { $e }
    };
}

pub(in crate::arith) use neon;

pub(in crate::arith) mod reals;
pub(in crate::arith) mod words32;

/// Vector operations on four `u32`. There is no detection: the instructions belong to the target.
#[derive(Clone, Copy)]
pub(crate) struct Neon;
