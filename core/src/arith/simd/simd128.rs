//! WebAssembly SIMD128: four 32-bit lanes. There is no detection at run time: a module that contains these
//! instructions does not load where they are missing.

use super::vector::{Products, Redc, Transpose, Vector, registers};
use crate::arith::Shoup;
use core::arch::wasm32::*;

/// Vector operations on four `u32`.
#[derive(Clone, Copy)]
pub(crate) struct Simd128;

/// A Shoup factor.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: v128,
    quotient: v128,
}

/// The double words of the lower and of the upper lanes.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    low: v128,
    high: v128,
}

registers! {
    Simd128: [u32; 4] as v128,
    |from| {
        // SAFETY: the reference covers 16 readable bytes; the instruction needs no alignment.
        unsafe { v128_load(from.as_ptr().cast()) }
    },
    |to, x| {
        // SAFETY: the reference covers 16 writable bytes; the instruction needs no alignment.
        unsafe { v128_store(to.as_mut_ptr().cast(), x) }
    }
}

impl Vector for Simd128 {
    type Factor = Factor;

    const LAZY_BITS: u32 = 30;

    #[inline(always)]
    fn splat(self, x: u32) -> v128 {
        u32x4_splat(x)
    }
    #[inline(always)]
    fn add(self, a: v128, b: v128) -> v128 {
        i32x4_add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: v128, b: v128) -> v128 {
        i32x4_sub(a, b)
    }
    #[inline(always)]
    fn reduce_once(self, x: v128, c: v128) -> v128 {
        u32x4_min(x, i32x4_sub(x, c))
    }
    #[inline(always)]
    fn correct(self, d: v128, c: v128) -> v128 {
        u32x4_min(d, i32x4_add(d, c))
    }
    #[inline(always)]
    fn add_if_greater(self, x: v128, bound: v128, addend: v128) -> v128 {
        i32x4_add(x, v128_and(u32x4_gt(x, bound), addend))
    }
    #[inline(always)]
    fn shift_right(self, x: v128, bits: u32) -> v128 {
        u32x4_shr(x, bits)
    }
    #[inline(always)]
    fn and(self, a: v128, b: v128) -> v128 {
        v128_and(a, b)
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u32>) -> Factor {
        Factor { value: u32x4_splat(w.value), quotient: u32x4_splat(w.quotient) }
    }
    #[inline(always)]
    fn mul_lazy(self, a: v128, w: &Factor, p: v128) -> v128 {
        let low = u64x2_extmul_low_u32x4(a, w.quotient);
        let high = u64x2_extmul_high_u32x4(a, w.quotient);
        let quotient = i32x4_shuffle::<1, 3, 5, 7>(low, high);
        i32x4_sub(i32x4_mul(a, w.value), i32x4_mul(quotient, p))
    }
    #[inline(always)]
    fn factors(self, value: v128, quotient: v128) -> Factor {
        Factor { value, quotient }
    }
}

impl Transpose<8> for Simd128 {
    #[inline(always)]
    fn transpose(self, [a, b, c, d, e, f, g, h]: [v128; 8]) -> [v128; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (transpose(a, b, c, d), transpose(e, f, g, h));
        [a, b, c, d, e, f, g, h]
    }
}

#[inline(always)]
fn transpose(a: v128, b: v128, c: v128, d: v128) -> [v128; 4] {
    let (ab0, ab1) = (i32x4_shuffle::<0, 4, 1, 5>(a, b), i32x4_shuffle::<2, 6, 3, 7>(a, b));
    let (cd0, cd1) = (i32x4_shuffle::<0, 4, 1, 5>(c, d), i32x4_shuffle::<2, 6, 3, 7>(c, d));
    [
        i64x2_shuffle::<0, 2>(ab0, cd0),
        i64x2_shuffle::<1, 3>(ab0, cd0),
        i64x2_shuffle::<0, 2>(ab1, cd1),
        i64x2_shuffle::<1, 3>(ab1, cd1),
    ]
}

/// The even and the odd words.
#[inline(always)]
fn halves(a: v128, b: v128) -> (v128, v128) {
    (i32x4_shuffle::<0, 2, 4, 6>(a, b), i32x4_shuffle::<1, 3, 5, 7>(a, b))
}

impl Products for Simd128 {
    type Acc = Acc;
    type Real = [v128; 2];

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        Acc { low: u64x2_splat(0), high: u64x2_splat(0) }
    }
    #[inline(always)]
    fn acc_from(self, x: v128) -> Acc {
        Acc { low: u64x2_extend_low_u32x4(x), high: u64x2_extend_high_u32x4(x) }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: v128, b: v128) -> Acc {
        Acc {
            low: i64x2_add(acc.low, u64x2_extmul_low_u32x4(a, b)),
            high: i64x2_add(acc.high, u64x2_extmul_high_u32x4(a, b)),
        }
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (v128, v128) {
        halves(acc.low, acc.high)
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (v128, v128) {
        let bias = u64x2_splat(bias);
        let low = i64x2_add(i64x2(x[0], x[1]), bias);
        let high = i64x2_add(i64x2(x[2], x[3]), bias);
        halves(low, high)
    }
    #[inline(always)]
    fn real_zero(self) -> [v128; 2] {
        [f64x2_splat(0.0); 2]
    }
    #[inline(always)]
    fn real_mul_add(self, sum: [v128; 2], y: v128, factor: f64) -> [v128; 2] {
        let factor = f64x2_splat(factor);
        let low = f64x2_convert_low_u32x4(y);
        let high = f64x2_convert_low_u32x4(i64x2_shuffle::<1, 1>(y, y));
        [f64x2_add(sum[0], f64x2_mul(low, factor)), f64x2_add(sum[1], f64x2_mul(high, factor))]
    }
    #[inline(always)]
    fn real_round(self, x: [v128; 2]) -> v128 {
        let half = f64x2_splat(0.5);
        let low = u32x4_trunc_sat_f64x2_zero(f64x2_add(x[0], half));
        let high = u32x4_trunc_sat_f64x2_zero(f64x2_add(x[1], half));
        i64x2_shuffle::<0, 2>(low, high)
    }
    #[inline(always)]
    fn gather(self, x: &[u32], perm: &[u32], origin: u32) -> v128 {
        let word = |j: usize| x[perm[j].wrapping_sub(origin) as usize];
        u32x4(word(0), word(1), word(2), word(3))
    }
}

impl Redc for Simd128 {
    #[inline(always)]
    fn acc_redc(self, acc: Acc, negative_inverse: v128, p: v128) -> v128 {
        let multiple = i32x4_mul(halves(acc.low, acc.high).0, negative_inverse);
        let low = i64x2_add(acc.low, u64x2_extmul_low_u32x4(multiple, p));
        let high = i64x2_add(acc.high, u64x2_extmul_high_u32x4(multiple, p));
        halves(low, high).1
    }
}
