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

pub(crate) fn select_u32() -> &'static dyn Kernels<u32> {
    &Scalar
}

pub(crate) fn select_u64() -> &'static dyn Kernels<u64> {
    &Scalar
}

pub(crate) fn all_u32() -> Vec<&'static dyn Kernels<u32>> {
    vec![&Scalar]
}

pub(crate) fn all_u64() -> Vec<&'static dyn Kernels<u64>> {
    vec![&Scalar]
}
