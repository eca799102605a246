//! Backends: the row operations per instruction set, and the choice among them.
//!
//! Only this folder contains `unsafe` code: intrinsics, which the token types guard.
#![allow(unsafe_code)]
// Intrinsics are many and self-explanatory by their prefix; pointers are cast for unaligned loads only.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx512_wide;
#[cfg(target_arch = "x86_64")]
mod avx512_wide_convert;
#[cfg(target_arch = "x86_64")]
mod avx512_wide_sums;
mod backend;
pub mod dispatch;
pub(crate) mod gates;
#[cfg(target_arch = "x86_64")]
mod ifma;
#[cfg(target_arch = "x86_64")]
mod ifma_sums;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
pub(crate) mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
pub(crate) mod vector;
