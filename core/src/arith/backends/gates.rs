//! The row operations of DM/CGGI of each backend. They are kept apart from the others so that a program that does
//! not use them does not contain them.

use super::dispatch;
use crate::arith::kernels::{Kernels, gate_product::MAX_TERMS, gates::GateKernels, unrolled_product};
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
use crate::arith::simd::neon::Neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
use crate::arith::simd::simd128::Simd128;
#[cfg(target_arch = "x86_64")]
use crate::arith::simd::{avx2::Avx2, avx512::Avx512, ifma::Ifma};
use crate::arith::simd::{prefetch::prefetch, scalar::Scalar};
use crate::arith::{Modulus, NttTable};
use alloc::{vec, vec::Vec};

/// Implements [`GateKernels`] for a token type, using the type of vector operations that are made from the token.
///
/// 32-bit words get transforms without reductions and in an order of their own (`registers` registers a tile) and products by Montgomery
/// reduction; 64-bit words get the transforms and products of `OwnOrder`, by default the ordinary ones.
macro_rules! gate_backend {
    (@products u32, $rows:ty, $features:tt, $registers:literal) => {
        kernel!(ntt_forward_rough = gate_product::forward::<$registers, _>, $rows, $features, t: &NttTable<u32>, row: &mut [u32]);
        fn evaluate(&self, t: &NttTable<u32>, row: &mut [u32], rough: bool, near: &[u32]) {
            if gate_product::has_own_order::<$registers, _>(<$rows>::from(*self), t) {
                return InOwnOrder(*self).evaluate(t, row, rough, near);
            }
            $crate::arith::simd::prefetch::prefetch(near);
            if rough { self.ntt_forward_rough(t, row) } else { self.ntt_forward(t, row) }
        }
        fn interpolate(&self, t: &NttTable<u32>, row: &mut [u32], near: &[u32]) {
            if gate_product::has_own_order::<$registers, _>(<$rows>::from(*self), t) {
                return InOwnOrder(*self).interpolate(t, row, near);
            }
            $crate::arith::simd::prefetch::prefetch(near);
            self.ntt_inverse(t, row);
        }
        kernel!(reorder = gate_product::reorder::<$registers, _>, $rows, $features, t: &NttTable<u32>, row: &mut [u32]);
        kernel!(gate_product = gate_product::product, $rows, $features, m: &Modulus<u32>, out: &mut [&mut [u32]], rows: &[u32], key: &[u32], rough: bool);
        fn prepare_key(&self, m: &Modulus<u32>, out: &mut [u32], key: &[u32], rows: usize) {
            gate_product::prepare(m, out, key, rows);
        }
        kernel!(unrolled_product = unrolled_product::product, $rows, $features, m: &Modulus<u32>, out: [&mut [u32]; 2], rows: &[u32], key: &[u32], turns: &unrolled_product::Turns<u32>, rough: bool);
        fn prepare_unrolled(&self, m: &Modulus<u32>, n: usize, out: &mut [u32], key: &[u32]) {
            unrolled_product::prepare(m, u32::BITS, n, out, key);
        }
    };
    (@own $token:ty, u32, $rows:ty, $features:tt, $registers:literal) => {
        /// The transforms to and from the backend's own order of evaluations.
        #[derive(Clone, Copy)]
        struct InOwnOrder($token);
        impl From<InOwnOrder> for $rows {
            #[inline(always)]
            fn from(order: InOwnOrder) -> Self {
                order.0.into()
            }
        }
        #[rustfmt::skip]
        impl InOwnOrder {
            kernel!(evaluate = gate_product::evaluate::<$registers, _>, $rows, $features, t: &NttTable<u32>, row: &mut [u32], rough: bool, near: &[u32]);
            kernel!(interpolate = gate_product::interpolate::<$registers, _>, $rows, $features, t: &NttTable<u32>, row: &mut [u32], near: &[u32]);
        }
    };
    (@own $token:ty, u64, $rows:ty, $features:tt, $registers:literal) => {};
    (@products u64, $rows:ty, $features:tt, $registers:literal) => {
        fn ntt_forward_rough(&self, t: &NttTable<u64>, row: &mut [u64]) {
            self.ntt_forward(t, row);
        }
        fn evaluate(&self, t: &NttTable<u64>, row: &mut [u64], _rough: bool, near: &[u64]) {
            $crate::arith::backends::gates::OwnOrder::evaluate(self, t, row, near);
        }
        fn interpolate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
            $crate::arith::backends::gates::OwnOrder::interpolate(self, t, row, near);
        }
        fn reorder(&self, t: &NttTable<u64>, row: &mut [u64]) {
            $crate::arith::backends::gates::OwnOrder::reorder(self, t, row);
        }
        fn gate_product(&self, m: &Modulus<u64>, out: &mut [&mut [u64]], rows: &[u64], key: &[u64], _rough: bool) {
            $crate::arith::backends::gates::wide_product(self, m, out, rows, key);
        }
        fn prepare_key(&self, _m: &Modulus<u64>, out: &mut [u64], key: &[u64], _rows: usize) {
            out.copy_from_slice(key);
        }
        fn unrolled_product(&self, m: &Modulus<u64>, out: [&mut [u64]; 2], rows: &[u64], key: &[u64], turns: &unrolled_product::Turns<u64>, _rough: bool) {
            $crate::arith::backends::gates::OwnOrder::unrolled_product(self, m, out, rows, key, turns);
        }
        fn prepare_unrolled(&self, m: &Modulus<u64>, n: usize, out: &mut [u64], key: &[u64]) {
            $crate::arith::backends::gates::OwnOrder::prepare_unrolled(self, m, n, out, key);
        }
    };
    ($token:ty, $word:ident, $name:literal, features = $features:tt, registers = $registers:literal, rows = $rows:ty) => {
        const _: () = {
            #[allow(unused_imports)]
            use $crate::arith::kernels::{Kernels, gate_product, unrolled_product};
            use $crate::arith::kernels::gates::{self, DigitCut, GateKernels};
            use $crate::arith::backends::macros::kernel;
            use $crate::arith::{Modulus, NttTable};

            $crate::arith::backends::gates::gate_backend!(@own $token, $word, $rows, $features, $registers);

            #[rustfmt::skip]
            impl GateKernels<$word> for $token {
                $crate::arith::backends::gates::gate_backend!(@products $word, $rows, $features, $registers);
                fn name(&self) -> &'static str {
                    $name
                }
                fn prefetch(&self, words: &[$word]) {
                    $crate::arith::simd::prefetch::prefetch(words);
                }
                kernel!(digits = gates::digits, $rows, $features, cut: &DigitCut<$word>, out: &mut [$word], x: &[$word]);
                kernel!(turned_digits = gates::turned_digits, $rows, $features, cut: &DigitCut<$word>, out: &mut [$word], mirrored: &[$word], exponent: usize);
                kernel!(add_mirrored = gates::add_mirrored, $rows, $features, m: &Modulus<$word>, mirrored: &mut [$word], y: &[$word]);
                kernel!(add_rows_narrow = gates::add_rows_narrow, $rows, $features, sum: &mut [u16], rows: &[u16], chosen: &[(u32, i16)]);
                kernel!(add_rows_wide = gates::add_rows_wide, $rows, $features, sum: &mut [u32], rows: &[u32], chosen: &[(u32, i16)]);
            }
        };
    };
}
pub(crate) use gate_backend;

/// The order of evaluations that a backend for 64-bit words prefers, and its products; by default the ordinary ones.
pub(crate) trait OwnOrder: Kernels<u64> {
    /// See [`GateKernels::evaluate`].
    fn evaluate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        prefetch(near);
        self.ntt_forward(t, row);
    }
    /// See [`GateKernels::interpolate`].
    fn interpolate(&self, t: &NttTable<u64>, row: &mut [u64], near: &[u64]) {
        prefetch(near);
        self.ntt_inverse(t, row);
    }
    /// See [`GateKernels::reorder`].
    fn reorder(&self, _t: &NttTable<u64>, _row: &mut [u64]) {}
    /// See [`GateKernels::prepare_unrolled`].
    fn prepare_unrolled(&self, _m: &Modulus<u64>, _n: usize, out: &mut [u64], key: &[u64]) {
        out.copy_from_slice(key);
    }
    /// See [`GateKernels::unrolled_product`].
    fn unrolled_product(
        &self,
        m: &Modulus<u64>,
        out: [&mut [u64]; 2],
        rows: &[u64],
        key: &[u64],
        turns: &unrolled_product::Turns<u64>,
    ) where
        Self: Sized,
    {
        unrolled_product::product_of_rows(self, m, out, rows, key, turns);
    }
}

impl OwnOrder for Scalar<u64> {}
#[cfg(target_arch = "x86_64")]
impl OwnOrder for Avx2 {}
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
impl OwnOrder for Neon {}

/// [`GateKernels::gate_product`] by the ordinary products of rows.
pub(crate) fn wide_product(
    kernels: &impl Kernels<u64>,
    m: &Modulus<u64>,
    out: &mut [&mut [u64]],
    rows: &[u64],
    key: &[u64],
) {
    fn list<'r>(rows: &'r [u64], n: usize, places: &mut [&'r [u64]; MAX_TERMS]) {
        for (place, row) in places.iter_mut().zip(rows.chunks_exact(n)) {
            *place = row;
        }
    }
    let (mut left, mut right): ([&[u64]; MAX_TERMS], [&[u64]; MAX_TERMS]) =
        ([&[]; MAX_TERMS], [&[]; MAX_TERMS]);
    match out {
        [out] => {
            let (n, terms) = (out.len(), rows.len() / out.len());
            list(rows, n, &mut left);
            list(key, n, &mut right);
            kernels.inner_product(m, out, &left[..terms], &right[..terms], false);
        }
        [out0, out1] => {
            let (n, terms) = (out0.len(), rows.len() / out0.len());
            list(rows, n, &mut left);
            kernels.key_product(m, out0, out1, &left[..terms], key, false);
        }
        _ => debug_assert!(false, "one or two columns"),
    }
}

static SCALAR_U32: Scalar<u32> = Scalar::new();
static SCALAR_U64: Scalar<u64> = Scalar::new();

/// The row operations usable for 32-bit words here, the plain ones first.
pub(crate) fn all_u32() -> Vec<&'static dyn GateKernels<u32>> {
    #[allow(unused_mut)]
    let mut all: Vec<&'static dyn GateKernels<u32>> = vec![&SCALAR_U32];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(Avx512::detect().map(|token| token as &dyn GateKernels<u32>));
        all.extend(Avx2::detect().map(|token| token as &dyn GateKernels<u32>));
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    all.push(&Neon);
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    all.push(&Simd128);
    all
}

/// The row operations usable for 64-bit words here, the plain ones first.
pub(crate) fn all_u64() -> Vec<&'static dyn GateKernels<u64>> {
    #[allow(unused_mut)]
    let mut all: Vec<&'static dyn GateKernels<u64>> = vec![&SCALAR_U64];
    #[cfg(target_arch = "x86_64")]
    {
        all.extend(Ifma::detect().map(|token| token as &dyn GateKernels<u64>));
        all.extend(Avx2::detect().map(|token| token as &dyn GateKernels<u64>));
    }
    #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
    all.push(&Neon);
    all
}

/// The row operations of the same backend as [`dispatch::select_u32`], found by its name. A module of WebAssembly that is not
/// forced to be scalar takes SIMD128 outright: a list of all backends would bring them all into the module.
pub(crate) fn select_u32() -> &'static dyn GateKernels<u32> {
    #[cfg(all(
        target_arch = "wasm32",
        target_os = "unknown",
        target_feature = "simd128",
        not(refloat_backend = "scalar")
    ))]
    return &Simd128;
    #[allow(unreachable_code)]
    let name = dispatch::select_u32().name();
    all_u32().into_iter().find(|k| k.name() == name).unwrap_or(&SCALAR_U32)
}

/// The row operations of the same backend as [`dispatch::select_u64`].
pub(crate) fn select_u64() -> &'static dyn GateKernels<u64> {
    let name = dispatch::select_u64().name();
    all_u64().into_iter().find(|k| k.name() == name).unwrap_or(&SCALAR_U64)
}
