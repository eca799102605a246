//! Four 64-bit lanes; 64-bit products are put together from 32-bit ones.

use super::Avx2;
use crate::arith::Shoup;
use crate::arith::simd::vector::{Products, Transpose, Vector, registers};
use core::arch::x86_64::*;

lanes! {
    /// Vector operations on four `u64`.
    Avx2
}

/// A Shoup factor; the value also with its halves exchanged, the quotient's high half also where `vpmuludq` reads it.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m256i,
    value_exchanged: __m256i,
    quotient: __m256i,
    quotient_high: __m256i,
}

/// `low + 2^32 middle + 2^64 high`, where `low` and `middle` are below `2^32`.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    low: __m256i,
    middle: __m256i,
    high: __m256i,
}

/// 2^52 and 2^84.
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_84: f64 = TWO_52 * (1u64 << 32) as f64;

#[inline(always)]
fn high_half(x: __m256i) -> __m256i {
    avx2!(_mm256_srli_epi64::<32>(x))
}

#[inline(always)]
fn low_half(x: __m256i) -> __m256i {
    avx2!(_mm256_blend_epi32::<0xaa>(x, _mm256_setzero_si256()))
}

#[inline(always)]
fn exchange_halves(x: __m256i) -> __m256i {
    avx2!(_mm256_shuffle_epi32::<0xb1>(x))
}

/// Low word of `a w - quotient p`.
#[inline(always)]
fn remainder(a: __m256i, w: &Factor, quotient: __m256i, p: __m256i) -> __m256i {
    avx2!({
        let low = _mm256_sub_epi64(_mm256_mul_epu32(a, w.value), _mm256_mul_epu32(quotient, p));
        // The cross products' low halves, one in each half of a lane; their sum goes to the high half.
        let cross = _mm256_mullo_epi32(a, w.value_exchanged);
        let cross = _mm256_sub_epi32(cross, _mm256_mullo_epi32(quotient, exchange_halves(p)));
        let sum = _mm256_add_epi32(cross, _mm256_slli_epi64::<32>(cross));
        _mm256_add_epi64(low, _mm256_and_si256(sum, _mm256_set1_epi64x(!0xffff_ffff)))
    })
}

/// High word of the product.
#[inline(always)]
fn mul_hi(a: __m256i, a_high: __m256i, b: __m256i, b_high: __m256i) -> __m256i {
    avx2!({
        let mask = _mm256_set1_epi64x(0xffff_ffff);
        let carry = high_half(_mm256_mul_epu32(a, b));
        let first = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), carry);
        let second = _mm256_add_epi64(_mm256_mul_epu32(a, b_high), _mm256_and_si256(first, mask));
        let high = _mm256_add_epi64(_mm256_mul_epu32(a_high, b_high), high_half(first));
        _mm256_add_epi64(high, high_half(second))
    })
}

registers! {
    Lanes: [u64; 4] as __m256i,
    |from| avx2!(_mm256_loadu_si256(from.as_ptr().cast())),
    |to, x| avx2!(_mm256_storeu_si256(to.as_mut_ptr().cast(), x))
}

impl Vector for Lanes {
    type Factor = Factor;

    // Comparisons are signed, so words stay below 2^63.
    const LAZY_BITS: u32 = 60;
    const ROUGH_BITS: u32 = 2;

    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        avx2!(_mm256_set1_epi64x(x as i64))
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_add_epi64(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_sub_epi64(a, b))
    }
    #[inline(always)]
    fn reduce_once(self, x: __m256i, c: __m256i) -> __m256i {
        let difference = self.sub(x, c);
        pick(difference, x, difference)
    }
    #[inline(always)]
    fn correct(self, d: __m256i, c: __m256i) -> __m256i {
        pick(d, self.add(d, c), d)
    }
    #[inline(always)]
    fn add_if_greater(self, x: __m256i, bound: __m256i, addend: __m256i) -> __m256i {
        avx2!(_mm256_add_epi64(x, _mm256_and_si256(_mm256_cmpgt_epi64(x, bound), addend)))
    }
    #[inline(always)]
    fn shift_right(self, x: __m256i, bits: u32) -> __m256i {
        avx2!(_mm256_srl_epi64(x, _mm_cvtsi32_si128(bits as i32)))
    }
    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_and_si256(a, b))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor {
        self.factors(self.splat(w.value), self.splat(w.quotient))
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m256i, w: &Factor, p: __m256i) -> __m256i {
        let quotient = mul_hi(a, high_half(a), w.quotient, w.quotient_high);
        remainder(a, w, quotient, p)
    }
    #[inline(always)]
    fn factors(self, value: __m256i, quotient: __m256i) -> Factor {
        Factor {
            value,
            value_exchanged: exchange_halves(value),
            quotient,
            quotient_high: high_half(quotient),
        }
    }
    #[inline(always)]
    fn mul_rough(self, a: __m256i, w: &Factor, p: __m256i) -> __m256i {
        // Without the product of the low halves and the carries: at most 2 less than the true quotient.
        let a_high = high_half(a);
        let quotient = avx2!({
            let first = high_half(_mm256_mul_epu32(a_high, w.quotient));
            let second = high_half(_mm256_mul_epu32(a, w.quotient_high));
            let high = _mm256_mul_epu32(a_high, w.quotient_high);
            _mm256_add_epi64(high, _mm256_add_epi64(first, second))
        });
        remainder(a, w, quotient, p)
    }
}

impl Transpose<4> for Lanes {
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        avx2!({
            let (ab0, ab1) = (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
            let (cd0, cd1) = (_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
            [
                _mm256_permute2x128_si256::<0x20>(ab0, cd0),
                _mm256_permute2x128_si256::<0x20>(ab1, cd1),
                _mm256_permute2x128_si256::<0x31>(ab0, cd0),
                _mm256_permute2x128_si256::<0x31>(ab1, cd1),
            ]
        })
    }
}

impl Products for Lanes {
    type Acc = Acc;
    type Real = __m256d;

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        let zero = avx2!(_mm256_setzero_si256());
        Acc { low: zero, middle: zero, high: zero }
    }
    #[inline(always)]
    fn acc_from(self, x: __m256i) -> Acc {
        Acc { low: low_half(x), middle: high_half(x), high: avx2!(_mm256_setzero_si256()) }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: __m256i, b: __m256i) -> Acc {
        let (a_high, b_high) = (high_half(a), high_half(b));
        avx2!({
            // Factors are below 2^61, so the cross products and two carries stay below 2^63.
            let low = _mm256_add_epi64(acc.low, _mm256_mul_epu32(a, b));
            let cross = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_mul_epu32(a, b_high));
            let middle = _mm256_add_epi64(_mm256_add_epi64(acc.middle, high_half(low)), cross);
            let high = _mm256_add_epi64(acc.high, _mm256_mul_epu32(a_high, b_high));
            let high = _mm256_add_epi64(high, high_half(middle));
            Acc { low: low_half(low), middle: low_half(middle), high }
        })
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (__m256i, __m256i) {
        (avx2!(_mm256_or_si256(acc.low, _mm256_slli_epi64::<32>(acc.middle))), acc.high)
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (__m256i, __m256i) {
        let x: &[i64; 4] = &x.as_chunks().0[0];
        avx2!({
            let x = _mm256_loadu_si256(x.as_ptr().cast());
            (_mm256_add_epi64(x, self.splat(bias)), _mm256_setzero_si256())
        })
    }
    #[inline(always)]
    fn real_zero(self) -> __m256d {
        avx2!(_mm256_setzero_pd())
    }
    #[inline(always)]
    fn real_mul_add(self, sum: __m256d, y: __m256i, factor: f64) -> __m256d {
        avx2!({
            // The halves in the last places of 2^84 and 2^52: only their sum is rounded.
            let (high_magic, low_magic) = (_mm256_set1_pd(TWO_84), _mm256_set1_pd(TWO_52));
            let high = _mm256_or_pd(_mm256_castsi256_pd(high_half(y)), high_magic);
            let low = _mm256_or_pd(_mm256_castsi256_pd(low_half(y)), low_magic);
            let y = _mm256_add_pd(_mm256_sub_pd(high, _mm256_set1_pd(TWO_84 + TWO_52)), low);
            _mm256_add_pd(sum, _mm256_mul_pd(y, _mm256_set1_pd(factor)))
        })
    }
    #[inline(always)]
    fn real_round(self, x: __m256d) -> __m256i {
        avx2!(_mm256_cvtepi32_epi64(_mm256_cvttpd_epi32(_mm256_add_pd(x, _mm256_set1_pd(0.5)))))
    }
    #[inline(always)]
    fn gather(self, x: &[u64], perm: &[u32], origin: u32) -> __m256i {
        avx2!(_mm256_setr_epi64x(
            x[perm[0].wrapping_sub(origin) as usize] as i64,
            x[perm[1].wrapping_sub(origin) as usize] as i64,
            x[perm[2].wrapping_sub(origin) as usize] as i64,
            x[perm[3].wrapping_sub(origin) as usize] as i64,
        ))
    }
}

/// `negative < 0 ? yes : no`, lane by lane, signed.
#[inline(always)]
fn pick(negative: __m256i, yes: __m256i, no: __m256i) -> __m256i {
    avx2!(_mm256_castpd_si256(_mm256_blendv_pd(
        _mm256_castsi256_pd(no),
        _mm256_castsi256_pd(yes),
        _mm256_castsi256_pd(negative),
    )))
}
