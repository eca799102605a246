//! Backends: kernels compiled for an instruction set, and the choice among them.
//!
//! Kernels are methods of a token, a value of which proves that the CPU has the instructions. Calling what was compiled for these, and
//! arithmetic that only one backend has, is the `unsafe` code here.
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
