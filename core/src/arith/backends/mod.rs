//! Backends: kernels compiled for an instruction set, and the choice among them.
//!
//! A kernel is a method of a token that proves that the CPU has the instructions, and only there are they called; that, and the arithmetic
//! of one backend alone, is the `unsafe` code here.
#![allow(unsafe_code)]
// Intrinsics are many and self-explanatory by their prefix; pointers are cast for unaligned loads only.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod dispatch;
pub(crate) mod gates;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod macros;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
mod word;

pub use dispatch::{all_backends, backend_choice, backend_name};
pub use word::Word;
