//! Instructions: the vector operations of every instruction set, and the detection of what the CPU has. Nothing here knows a kernel.
//!
//! Intrinsics are `unsafe`. Token types guard them: holding a value of one proves that the CPU has the instructions.
#![allow(unsafe_code)]
// Intrinsics are many and self-explanatory by their prefix; pointers are cast for unaligned loads only.
#![allow(clippy::wildcard_imports, clippy::cast_ptr_alignment)]

/// Vector operations of instructions that not every CPU of the target has: they hold a token, which proves that this one does.
#[cfg(target_arch = "x86_64")]
macro_rules! lanes {
    ($(#[$doc:meta])* $token:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct Lanes(#[allow(dead_code)] $token);

        impl From<$token> for Lanes {
            #[inline(always)]
            fn from(token: $token) -> Self {
                Self(token)
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
pub(super) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512_wide;
#[cfg(target_arch = "x86_64")]
pub(super) mod avx512_wide_products;
#[cfg(target_arch = "x86_64")]
pub(super) mod ifma;
pub(super) mod lanes;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
pub(super) mod neon;
pub(super) mod prefetch;
pub(super) mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub(super) mod simd128;
pub(super) mod vector;
