//! Sums of products modulo primes of 58 to 61 bits, in the columns of
//! [`avx512_wide_products`](crate::arith::simd::avx512_wide_products). Each sum is reduced by one
//! quotient in double precision.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](crate::arith::simd::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use crate::arith::backends::macros::products_by;
use crate::arith::kernels::products::{MOST_PRODUCTS, Sums};
use crate::arith::simd::avx512_wide::Lanes;
use crate::arith::simd::avx512_wide_products::{Acc, COLUMN};
use crate::arith::simd::ifma::ifma;
use crate::arith::simd::vector::{OnLanes, Products, Vector};
use crate::arith::{MachineWord, Modulus};
use core::arch::x86_64::*;

/// Arithmetic modulo one prime, of a size in [`SUM_BITS`].
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

/// Bits of the primes of [`WideSums`]: their quotients are small enough for the precision of `f64`.
const SUM_BITS: core::ops::RangeInclusive<u32> = 58..=61;

impl WideSums {
    /// None if the size of the prime is not in [`SUM_BITS`].
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
            inverse: ifma!(_mm512_set1_pd(inverse)),
            room: u64::products_per_wide(p - 1, p - 1).min(MOST_PRODUCTS),
        })
    }
}

impl OnLanes for WideSums {
    type Lanes = Lanes;

    #[inline(always)]
    fn lanes(self) -> Lanes {
        self.lanes
    }
}

impl Sums for WideSums {
    type Acc = Acc;

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
        // The sum is below 2^128, so `high` has 24 bits. With 2^104 replaced by its residue, the sum has 105 bits.
        let (low, middle) = ifma!({
            let column = _mm512_set1_epi64((1 << COLUMN) - 1);
            let middle = _mm512_add_epi64(acc.middle, _mm512_srli_epi64::<COLUMN>(acc.low));
            let high = _mm512_add_epi64(acc.high, _mm512_srli_epi64::<COLUMN>(middle));
            let (low, middle) = (_mm512_and_si512(acc.low, column), _mm512_and_si512(middle, column));
            let low = _mm512_madd52lo_epu64(low, high, self.high[0]);
            let middle = _mm512_madd52hi_epu64(middle, high, self.high[0]);
            (low, _mm512_madd52lo_epu64(middle, high, self.high[1]))
        });
        // `middle` is below 2^53, which `f64` holds. The quotient has at most 48 bits. It is never too large, and less than
        // 3/2 too small: `low` is left out, the factor is a little too small, and there are roundings.
        let remainder = ifma!({
            let quotient = _mm512_mul_pd(_mm512_cvtepu64_pd(middle), self.inverse);
            let multiple = _mm512_mullo_epi64(_mm512_cvttpd_epu64(quotient), self.p);
            _mm512_sub_epi64(_mm512_add_epi64(low, _mm512_slli_epi64::<COLUMN>(middle)), multiple)
        });
        v.reduce_once(remainder, self.p)
    }
    #[inline(always)]
    fn room(self) -> usize {
        self.room
    }
}

products_by!(Lanes, WideSums::new);
