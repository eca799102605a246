//! Sums of products of the eight 64-bit lanes of [`avx512_wide`](super::avx512_wide), by IFMA's products of 52 bits.
//!
//! A word is a + 2^52 a', where a' has nine bits; the instructions read a without being told. A product is seven of them,
//! and the three columns of a sum, at 1, 2^52 and 2^104, need no carries before the end.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](super::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use super::avx512_wide::Lanes;
use super::vector::{Products, Vector};
use crate::arith::kernels::{KeyProduct, key_products as keys, products, products::Sums};
use crate::arith::{Modulus, Word};
use core::arch::x86_64::*;

/// `low + 2^52 middle + 2^104 high`.
///
/// A product adds less than 2^52 to `low` and less than 2^54 to `middle`; words and sums of as many products as a double
/// word has room for, 64 of residues of 61 bits, leave all three below 2^64.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    pub(super) low: __m512i,
    pub(super) middle: __m512i,
    pub(super) high: __m512i,
}

/// Bits of a column.
pub(super) const COLUMN: u32 = 52;

/// Intrinsics, allowed by the token (see the module above).
macro_rules! avx512 {
    ($e:expr) => {
        // SAFETY: the token proves AVX-512F, AVX-512DQ and AVX-512 IFMA.
        unsafe { $e }
    };
}

impl Products for Lanes {
    type Acc = Acc;
    type Real = __m512d;

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        let zero = avx512!(_mm512_setzero_si512());
        Acc { low: zero, middle: zero, high: zero }
    }
    #[inline(always)]
    fn acc_from(self, x: __m512i) -> Acc {
        let zero = avx512!(_mm512_setzero_si512());
        // A whole word would leave `low` no room.
        let low = self.and(x, self.splat((1 << COLUMN) - 1));
        Acc { low, middle: avx512!(_mm512_srli_epi64::<COLUMN>(x)), high: zero }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: __m512i, b: __m512i) -> Acc {
        avx512!({
            let (a_high, b_high) = (_mm512_srli_epi64::<COLUMN>(a), _mm512_srli_epi64::<COLUMN>(b));
            let low = _mm512_madd52lo_epu64(acc.low, a, b);
            let middle = _mm512_madd52hi_epu64(acc.middle, a, b);
            let middle = _mm512_madd52lo_epu64(middle, a, b_high);
            let middle = _mm512_madd52lo_epu64(middle, a_high, b);
            let high = _mm512_madd52hi_epu64(acc.high, a, b_high);
            let high = _mm512_madd52hi_epu64(high, a_high, b);
            let high = _mm512_madd52lo_epu64(high, a_high, b_high);
            Acc { low, middle, high }
        })
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (__m512i, __m512i) {
        avx512!({
            let column = _mm512_set1_epi64((1 << COLUMN) - 1);
            let middle = _mm512_add_epi64(acc.middle, _mm512_srli_epi64::<COLUMN>(acc.low));
            let low = _mm512_and_si512(acc.low, column);
            // Bits 52 to 63 of the low word are the lowest twelve of the middle column.
            let low = _mm512_or_si512(low, _mm512_slli_epi64::<COLUMN>(middle));
            let high = _mm512_add_epi64(_mm512_srli_epi64::<12>(middle), _mm512_slli_epi64::<40>(acc.high));
            (low, high)
        })
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (__m512i, __m512i) {
        let x: &[i64; 8] = &x.as_chunks().0[0];
        avx512!({
            let x = _mm512_loadu_si512(x.as_ptr().cast());
            (_mm512_add_epi64(x, self.splat(bias)), _mm512_setzero_si512())
        })
    }
    #[inline(always)]
    fn real_zero(self) -> __m512d {
        avx512!(_mm512_setzero_pd())
    }
    #[inline(always)]
    fn real_mul_add(self, sum: __m512d, y: __m512i, factor: f64) -> __m512d {
        avx512!(_mm512_add_pd(sum, _mm512_mul_pd(_mm512_cvtepu64_pd(y), _mm512_set1_pd(factor))))
    }
    #[inline(always)]
    fn real_round(self, x: __m512d) -> __m512i {
        avx512!(_mm512_cvttpd_epu64(_mm512_add_pd(x, _mm512_set1_pd(0.5))))
    }
    #[inline(always)]
    fn gather(self, x: &[u64], perm: &[u32], origin: u32) -> __m512i {
        let perm: &[u32; 8] = &perm.as_chunks().0[0];
        let pack = perm[0].wrapping_sub(origin) as usize / 8;
        if let Some(words) = self.packs(x).0.get(pack) {
            let lanes = avx512!(_mm512_cvtepu32_epi64(_mm256_loadu_si256(perm.as_ptr().cast())));
            let from =
                avx512!(_mm512_sub_epi64(lanes, _mm512_set1_epi64((8 * pack) as i64 + i64::from(origin))));
            if avx512!(_mm512_cmpgt_epu64_mask(from, _mm512_set1_epi64(7))) == 0 {
                return avx512!(_mm512_permutexvar_epi64(from, self.load(words)));
            }
        }
        avx512!(_mm512_setr_epi64(
            x[perm[0].wrapping_sub(origin) as usize] as i64,
            x[perm[1].wrapping_sub(origin) as usize] as i64,
            x[perm[2].wrapping_sub(origin) as usize] as i64,
            x[perm[3].wrapping_sub(origin) as usize] as i64,
            x[perm[4].wrapping_sub(origin) as usize] as i64,
            x[perm[5].wrapping_sub(origin) as usize] as i64,
            x[perm[6].wrapping_sub(origin) as usize] as i64,
            x[perm[7].wrapping_sub(origin) as usize] as i64,
        ))
    }
}

/// Arithmetic modulo one prime of [`SUM_BITS`].
#[derive(Clone, Copy)]
pub(super) struct WideSums {
    lanes: Lanes,
    p: __m512i,
    /// 2^104 modulo p, in two columns.
    high: [__m512i; 2],
    /// 2^52 / p, or a little less.
    inverse: __m512d,
    room: usize,
}

/// Sizes of the primes of [`WideSums`]: quotients are small enough for the precision of `f64`.
const SUM_BITS: core::ops::RangeInclusive<u32> = 58..=61;

impl WideSums {
    /// None if the prime is not of [`SUM_BITS`].
    #[inline(always)]
    pub(super) fn new(lanes: Lanes, m: &Modulus<u64>) -> Option<Self> {
        let p = m.value();
        if !SUM_BITS.contains(&(u64::BITS - p.leading_zeros())) {
            return None;
        }
        let column = m.reduce_u64(1 << COLUMN);
        let high = m.mul(column, column);
        let inverse = (1u64 << COLUMN) as f64 / p as f64 * (1.0 - 4.0 * f64::EPSILON);
        Some(Self {
            lanes,
            p: lanes.splat(p),
            high: [lanes.splat(high & ((1 << COLUMN) - 1)), lanes.splat(high >> COLUMN)],
            inverse: avx512!(_mm512_set1_pd(inverse)),
            room: u64::products_per_wide(p - 1, p - 1),
        })
    }
}

impl Sums for WideSums {
    type Word = u64;
    type Pack = [u64; 8];
    type Reg = __m512i;
    type Acc = Acc;

    const LANES: usize = 8;

    #[inline(always)]
    fn packs(self, row: &[u64]) -> (&[[u64; 8]], &[u64]) {
        self.lanes.packs(row)
    }
    #[inline(always)]
    fn packs_mut(self, row: &mut [u64]) -> (&mut [[u64; 8]], &mut [u64]) {
        self.lanes.packs_mut(row)
    }
    #[inline(always)]
    fn load(self, from: &[u64; 8]) -> __m512i {
        self.lanes.load(from)
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 8], x: __m512i) {
        self.lanes.store(to, x);
    }
    #[inline(always)]
    fn zero(self) -> Acc {
        self.lanes.acc_zero()
    }
    #[inline(always)]
    fn of(self, x: __m512i) -> Acc {
        self.lanes.acc_from(x)
    }
    #[inline(always)]
    fn mul_add(self, acc: Acc, a: __m512i, b: __m512i) -> Acc {
        self.lanes.acc_mul_add(acc, a, b)
    }
    #[inline(always)]
    fn residue(self, acc: Acc) -> __m512i {
        let v = self.lanes;
        // Below 2^128: `high` has 24 bits, and so the sum without it, 2^104 replaced by its residue, 105.
        let (low, middle) = avx512!({
            let column = _mm512_set1_epi64((1 << COLUMN) - 1);
            let middle = _mm512_add_epi64(acc.middle, _mm512_srli_epi64::<COLUMN>(acc.low));
            let high = _mm512_add_epi64(acc.high, _mm512_srli_epi64::<COLUMN>(middle));
            let (low, middle) = (_mm512_and_si512(acc.low, column), _mm512_and_si512(middle, column));
            let low = _mm512_madd52lo_epu64(low, high, self.high[0]);
            let middle = _mm512_madd52hi_epu64(middle, high, self.high[0]);
            (low, _mm512_madd52lo_epu64(middle, high, self.high[1]))
        });
        // `middle` is below 2^53, which `f64` holds. Leaving `low` out, the factor that is too small, and roundings make the
        // quotient of at most 48 bits less than 3/2 too small, and never too large.
        let remainder = avx512!({
            let quotient = _mm512_mul_pd(_mm512_cvtepu64_pd(middle), self.inverse);
            let multiple = _mm512_mullo_epi64(_mm512_cvttpd_epu64(quotient), self.p);
            _mm512_sub_epi64(_mm512_add_epi64(low, _mm512_slli_epi64::<COLUMN>(middle)), multiple)
        });
        v.reduce_once(remainder, self.p)
    }
    #[inline(always)]
    fn shrink(self, acc: Acc) -> Acc {
        self.of(self.residue(acc))
    }
    #[inline(always)]
    fn room(self) -> usize {
        self.room
    }
}

/// [`products::mul_assign`], by [`WideSums`] where they serve.
#[inline(always)]
pub(super) fn mul_assign(v: Lanes, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
    match WideSums::new(v, m) {
        Some(sums) => products::mul_assign_by(sums, m, a, b),
        None => products::mul_assign(v, m, a, b),
    }
}

/// [`products::inner_product`], by [`WideSums`] where they serve.
#[inline(always)]
pub(super) fn inner_product(
    v: Lanes,
    m: &Modulus<u64>,
    out: &mut [u64],
    lhs: &[&[u64]],
    rhs: &[&[u64]],
    accumulate: bool,
) {
    match WideSums::new(v, m) {
        Some(sums) => products::inner_product_by(sums, m, out, lhs, rhs, accumulate),
        None => products::inner_product(v, m, out, lhs, rhs, accumulate),
    }
}

/// [`keys::key_products`], by [`WideSums`] where they serve.
#[inline(always)]
pub(super) fn key_products(
    v: Lanes,
    m: &Modulus<u64>,
    products: &mut [KeyProduct<'_, u64>],
    accumulate: bool,
) {
    match WideSums::new(v, m) {
        Some(sums) => keys::key_products_by(sums, m, products, accumulate),
        None => keys::key_products(v, m, products, accumulate),
    }
}
