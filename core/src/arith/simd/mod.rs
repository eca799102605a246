//! Backends: the row operations per instruction set, and the choice among them.
//!
//! Only this folder contains `unsafe` code: intrinsics, which the token types guard.
#![allow(unsafe_code)]
// Intrinsics are many and self-explanatory by their prefix; pointers are cast for unaligned loads only.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod backend;
pub mod dispatch;
pub(crate) mod scalar;
pub(crate) mod vector;
