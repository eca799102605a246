//! Backends: the kernels compiled for each instruction set, algorithms that only one instruction set has, and the choice among them.
//!
//! Kernels are methods of a token, whose existence proves that the CPU has the instructions. The `unsafe` code here calls functions that
//! were compiled for those instructions, or is arithmetic that only one backend has.
#![allow(unsafe_code)]
// Intrinsics are many and self-explanatory by their prefix; pointers are cast for unaligned loads only.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
pub(super) mod gates;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod macros;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod word;

pub use dispatch::backend_choice;
pub use word::{Word, all_backends, backend_name};
