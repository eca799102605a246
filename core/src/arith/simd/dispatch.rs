//! The choice of a backend, made once.

use super::scalar::Scalar;
use crate::arith::{Kernels, Word};
use alloc::{vec, vec::Vec};

/// Name of the backend in use for words `W`.
pub fn backend_name<W: Word>() -> &'static str {
    W::kernels().name()
}

/// Every backend usable on this CPU, the scalar one first.
pub fn all_backends<W: Word>() -> Vec<&'static dyn Kernels<W>> {
    W::all_kernels()
}

static SCALAR_U32: Scalar<u32> = Scalar::new();
static SCALAR_U64: Scalar<u64> = Scalar::new();

macro_rules! per_word {
    ($word:ty, $scalar:ident, $all:ident, $select:ident) => {
        pub(crate) fn $all() -> Vec<&'static dyn Kernels<$word>> {
            #[allow(unused_mut)]
            let mut all: Vec<&'static dyn Kernels<$word>> = vec![&$scalar];
            #[cfg(target_arch = "x86_64")]
            if let Some(token) = super::avx2::Avx2::detect() {
                all.push(token);
            }
            all
        }

        pub(crate) fn $select() -> &'static dyn Kernels<$word> {
            #[cfg(target_arch = "x86_64")]
            if let Some(token) = super::avx2::Avx2::detect() {
                return token;
            }
            &$scalar
        }
    };
}

per_word!(u32, SCALAR_U32, all_u32, select_u32);
per_word!(u64, SCALAR_U64, all_u64, select_u64);
