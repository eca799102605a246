//! How many words the registers hold that transforms may use here: what the tables of a transform are arranged for.

use crate::arith::MachineWord;

/// The numbers for words `W`, of at most two backends; 1 stands for none.
pub(crate) fn lane_counts<W: MachineWord>() -> [usize; 2] {
    if W::BITS == 32 { words32() } else { words64() }
}

/// The number for residues as `f64`; 1 where transforms are not done in them.
pub(crate) fn real_lanes() -> usize {
    if cfg!(target_arch = "x86_64") {
        words64()[0]
    } else if cfg!(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")) {
        4
    } else {
        1
    }
}

#[cfg(target_arch = "x86_64")]
fn words32() -> [usize; 2] {
    use super::{avx2::Avx2, avx512::Avx512};
    [if Avx2::detect().is_some() { 8 } else { 1 }, if Avx512::detect().is_some() { 16 } else { 1 }]
}

#[cfg(target_arch = "x86_64")]
fn words64() -> [usize; 2] {
    use super::{avx2::Avx2, ifma::Ifma};
    [if Avx2::detect().is_some() { 4 } else { 1 }, if Ifma::detect().is_some() { 8 } else { 1 }]
}

#[cfg(not(target_arch = "x86_64"))]
fn words32() -> [usize; 2] {
    let four = cfg!(any(
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ));
    [if four { 4 } else { 1 }, 1]
}

#[cfg(not(target_arch = "x86_64"))]
fn words64() -> [usize; 2] {
    [1, 1]
}
