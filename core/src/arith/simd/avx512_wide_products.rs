//! Products of the eight 64-bit lanes of [`avx512_wide`](super::avx512_wide), by IFMA's products of 52 bits.
//!
//! A word is a + 2^52 a', where a' has nine bits; the instructions read a alone. A product takes seven of them, and the
//! three columns of a sum, at 1, 2^52 and 2^104, need no carries before the end.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](super::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use super::avx512_wide::Lanes;
use super::ifma::ifma;
use super::vector::{Products, Registers, Vector};
use core::arch::x86_64::*;

/// `low + 2^52 middle + 2^104 high`.
///
/// A product adds less than 2^52 to `low` and less than 3 2^52 to `middle`. A word and the products that a double word has room
/// for, 64 of residues of 61 bits or at most 1024 of smaller ones, leave all three below 2^64.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    pub(in crate::arith) low: __m512i,
    pub(in crate::arith) middle: __m512i,
    pub(in crate::arith) high: __m512i,
}

/// Bits of a column.
pub(in crate::arith) const COLUMN: u32 = 52;

impl Products for Lanes {
    type Acc = Acc;
    type Real = __m512d;

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        let zero = ifma!(_mm512_setzero_si512());
        Acc { low: zero, middle: zero, high: zero }
    }
    #[inline(always)]
    fn acc_from(self, x: __m512i) -> Acc {
        let zero = ifma!(_mm512_setzero_si512());
        // A whole word would leave `low` no room.
        let low = self.and(x, self.splat((1 << COLUMN) - 1));
        Acc { low, middle: ifma!(_mm512_srli_epi64::<COLUMN>(x)), high: zero }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: __m512i, b: __m512i) -> Acc {
        ifma!({
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
        ifma!({
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
        ifma!({
            let x = _mm512_loadu_si512(x.as_ptr().cast());
            (_mm512_add_epi64(x, self.splat(bias)), _mm512_setzero_si512())
        })
    }
    #[inline(always)]
    fn real_zero(self) -> __m512d {
        ifma!(_mm512_setzero_pd())
    }
    #[inline(always)]
    fn real_mul_add(self, sum: __m512d, y: __m512i, factor: f64) -> __m512d {
        ifma!(_mm512_add_pd(sum, _mm512_mul_pd(_mm512_cvtepu64_pd(y), _mm512_set1_pd(factor))))
    }
    #[inline(always)]
    fn real_round(self, x: __m512d) -> __m512i {
        ifma!(_mm512_cvttpd_epu64(_mm512_add_pd(x, _mm512_set1_pd(0.5))))
    }
    #[inline(always)]
    fn gather(self, x: &[u64], perm: &[u32], origin: u32) -> __m512i {
        let perm: &[u32; 8] = &perm.as_chunks().0[0];
        let pack = perm[0].wrapping_sub(origin) as usize / 8;
        if let Some(words) = self.packs(x).0.get(pack) {
            let lanes = ifma!(_mm512_cvtepu32_epi64(_mm256_loadu_si256(perm.as_ptr().cast())));
            let from =
                ifma!(_mm512_sub_epi64(lanes, _mm512_set1_epi64((8 * pack) as i64 + i64::from(origin))));
            if ifma!(_mm512_cmpgt_epu64_mask(from, _mm512_set1_epi64(7))) == 0 {
                return ifma!(_mm512_permutexvar_epi64(from, self.load(words)));
            }
        }
        ifma!(_mm512_setr_epi64(
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
