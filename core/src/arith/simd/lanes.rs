//! How many words the registers hold that transforms may use here; the tables of a transform are arranged for these numbers. A vector
//! that is missing here treats all rows as too short for it, so its transforms are right but slow.
//!
//! This is kept apart from the choice of a backend, so that a transform's table does not bring every kernel into a module of WebAssembly.

use crate::arith::MachineWord;

/// The numbers for words `W`, of at most two backends; 1 stands for none.
pub(crate) fn lane_counts<W: MachineWord>() -> [usize; 2] {
    if W::BITS == 32 { words32() } else { words64() }
}

/// The number for residues as `f64`; 1 where no transform uses them.
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
    use super::{avx2, avx512};
    [
        lanes_of::<avx2::words32::Lanes, _>(avx2::Avx2::detect()),
        lanes_of::<avx512::Lanes, _>(avx512::Avx512::detect()),
    ]
}

#[cfg(target_arch = "x86_64")]
fn words64() -> [usize; 2] {
    use super::{avx2, ifma};
    [
        lanes_of::<avx2::words64::Lanes, _>(avx2::Avx2::detect()),
        lanes_of::<ifma::Lanes, _>(ifma::Ifma::detect()),
    ]
}

/// The lanes of a vector, or 1 without the token that it is made from.
#[cfg(target_arch = "x86_64")]
fn lanes_of<V: super::vector::Vector + From<T>, T>(token: Option<&T>) -> usize {
    token.map_or(1, |_| V::LANES)
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
