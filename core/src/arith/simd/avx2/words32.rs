//! Eight 32-bit lanes.

use super::Avx2;
use crate::arith::Shoup;
use crate::arith::simd::vector::{Products, Redc, Registers, Transpose, Vector, registers};
use core::arch::x86_64::*;

lanes! {
    /// Vector operations on eight `u32`.
    Avx2
}

/// A Shoup factor; the odd lanes' quotients also where `vpmuludq` reads them.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m256i,
    quotient: __m256i,
    quotient_odd: __m256i,
}

/// The double words of the even and of the odd lanes.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    even: __m256i,
    odd: __m256i,
}

/// The odd 32-bit lanes moved to the even ones.
#[inline(always)]
fn odd(x: __m256i) -> __m256i {
    avx2!(_mm256_srli_epi64::<32>(x))
}

registers! {
    Lanes: [u32; 8] as __m256i,
    |from| avx2!(_mm256_loadu_si256(from.as_ptr().cast())),
    |to, x| avx2!(_mm256_storeu_si256(to.as_mut_ptr().cast(), x))
}

impl Vector for Lanes {
    type Factor = Factor;

    const LAZY_BITS: u32 = 30;

    #[inline(always)]
    fn splat(self, x: u32) -> __m256i {
        avx2!(_mm256_set1_epi32(x as i32))
    }
    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_add_epi32(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_sub_epi32(a, b))
    }
    #[inline(always)]
    fn reduce_once(self, x: __m256i, c: __m256i) -> __m256i {
        avx2!(_mm256_min_epu32(x, _mm256_sub_epi32(x, c)))
    }
    #[inline(always)]
    fn correct(self, d: __m256i, c: __m256i) -> __m256i {
        avx2!(_mm256_min_epu32(d, _mm256_add_epi32(d, c)))
    }
    #[inline(always)]
    fn add_if_greater(self, x: __m256i, bound: __m256i, addend: __m256i) -> __m256i {
        avx2!(_mm256_add_epi32(x, _mm256_and_si256(_mm256_cmpgt_epi32(x, bound), addend)))
    }
    #[inline(always)]
    fn shift_right(self, x: __m256i, bits: u32) -> __m256i {
        avx2!(_mm256_srl_epi32(x, _mm_cvtsi32_si128(bits as i32)))
    }
    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        avx2!(_mm256_and_si256(a, b))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u32>) -> Factor {
        let quotient = self.splat(w.quotient);
        Factor { value: self.splat(w.value), quotient, quotient_odd: quotient }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m256i, w: &Factor, p: __m256i) -> __m256i {
        avx2!({
            let even = _mm256_mul_epu32(a, w.quotient);
            let odd = _mm256_mul_epu32(odd(a), w.quotient_odd);
            let high = _mm256_blend_epi32::<0xaa>(_mm256_srli_epi64::<32>(even), odd);
            _mm256_sub_epi32(_mm256_mullo_epi32(a, w.value), _mm256_mullo_epi32(high, p))
        })
    }
    #[inline(always)]
    fn factors(self, value: __m256i, quotient: __m256i) -> Factor {
        Factor { value, quotient, quotient_odd: odd(quotient) }
    }
}

#[inline(always)]
fn words(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    avx2!((_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)))
}

#[inline(always)]
fn pairs(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    avx2!((_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)))
}

#[inline(always)]
fn low(a: __m256i, b: __m256i) -> __m256i {
    avx2!(_mm256_permute2x128_si256::<0x20>(a, b))
}

#[inline(always)]
fn high(a: __m256i, b: __m256i) -> __m256i {
    avx2!(_mm256_permute2x128_si256::<0x31>(a, b))
}

impl Transpose<8> for Lanes {
    #[inline(always)]
    fn transpose(self, [a, b, c, d, e, f, g, h]: [__m256i; 8]) -> [__m256i; 8] {
        let (((ab0, ab1), (cd0, cd1)), ((ef0, ef1), (gh0, gh1))) =
            ((words(a, b), words(c, d)), (words(e, f), words(g, h)));
        let ((abcd0, abcd1), (abcd2, abcd3)) = (pairs(ab0, cd0), pairs(ab1, cd1));
        let ((efgh0, efgh1), (efgh2, efgh3)) = (pairs(ef0, gh0), pairs(ef1, gh1));
        [
            low(abcd0, efgh0),
            low(abcd1, efgh1),
            low(abcd2, efgh2),
            low(abcd3, efgh3),
            high(abcd0, efgh0),
            high(abcd1, efgh1),
            high(abcd2, efgh2),
            high(abcd3, efgh3),
        ]
    }
}

impl Products for Lanes {
    type Acc = Acc;
    type Real = [__m256d; 2];

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        let zero = avx2!(_mm256_setzero_si256());
        Acc { even: zero, odd: zero }
    }
    #[inline(always)]
    fn acc_from(self, x: __m256i) -> Acc {
        let even = avx2!(_mm256_blend_epi32::<0xaa>(x, _mm256_setzero_si256()));
        Acc { even, odd: odd(x) }
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: __m256i, b: __m256i) -> Acc {
        avx2!(Acc {
            even: _mm256_add_epi64(acc.even, _mm256_mul_epu32(a, b)),
            odd: _mm256_add_epi64(acc.odd, _mm256_mul_epu32(odd(a), odd(b))),
        })
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (__m256i, __m256i) {
        avx2!((
            _mm256_blend_epi32::<0xaa>(acc.even, _mm256_slli_epi64::<32>(acc.odd)),
            _mm256_blend_epi32::<0xaa>(odd(acc.even), acc.odd),
        ))
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (__m256i, __m256i) {
        let x: &[i64; 8] = &x.as_chunks().0[0];
        avx2!({
            let bias = _mm256_set1_epi64x(bias as i64);
            let a = _mm256_add_epi64(_mm256_loadu_si256(x.as_ptr().cast()), bias);
            let b = _mm256_add_epi64(_mm256_loadu_si256(x.as_ptr().add(4).cast()), bias);
            let (a, b) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let low = _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(a, b));
            let high = _mm256_castps_si256(_mm256_shuffle_ps::<0xdd>(a, b));
            (_mm256_permute4x64_epi64::<0xd8>(low), _mm256_permute4x64_epi64::<0xd8>(high))
        })
    }
    #[inline(always)]
    fn real_zero(self) -> [__m256d; 2] {
        [avx2!(_mm256_setzero_pd()); 2]
    }
    #[inline(always)]
    fn real_mul_add(self, sum: [__m256d; 2], y: __m256i, factor: f64) -> [__m256d; 2] {
        avx2!({
            let factor = _mm256_set1_pd(factor);
            let low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(y));
            let high = _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(y));
            [
                _mm256_add_pd(sum[0], _mm256_mul_pd(low, factor)),
                _mm256_add_pd(sum[1], _mm256_mul_pd(high, factor)),
            ]
        })
    }
    #[inline(always)]
    fn real_round(self, x: [__m256d; 2]) -> __m256i {
        avx2!({
            let half = _mm256_set1_pd(0.5);
            let low = _mm256_cvttpd_epi32(_mm256_add_pd(x[0], half));
            let high = _mm256_cvttpd_epi32(_mm256_add_pd(x[1], half));
            _mm256_set_m128i(high, low)
        })
    }
    #[inline(always)]
    fn gather(self, x: &[u32], perm: &[u32], origin: u32) -> __m256i {
        let perm: &[u32; 8] = &perm.as_chunks().0[0];
        let pack = perm[0].wrapping_sub(origin) as usize / 8;
        if let Some(words) = self.packs(x).0.get(pack) {
            let from = self.sub(self.load(perm), self.splat(8 * pack as u32 + origin));
            let outside = avx2!(_mm256_srli_epi32::<3>(from));
            if avx2!(_mm256_testz_si256(outside, outside)) == 1 {
                return avx2!(_mm256_permutevar8x32_epi32(self.load(words), from));
            }
        }
        avx2!(_mm256_setr_epi32(
            x[perm[0].wrapping_sub(origin) as usize] as i32,
            x[perm[1].wrapping_sub(origin) as usize] as i32,
            x[perm[2].wrapping_sub(origin) as usize] as i32,
            x[perm[3].wrapping_sub(origin) as usize] as i32,
            x[perm[4].wrapping_sub(origin) as usize] as i32,
            x[perm[5].wrapping_sub(origin) as usize] as i32,
            x[perm[6].wrapping_sub(origin) as usize] as i32,
            x[perm[7].wrapping_sub(origin) as usize] as i32,
        ))
    }
}

impl Redc for Lanes {
    #[inline(always)]
    fn acc_redc(self, acc: Acc, negative_inverse: __m256i, p: __m256i) -> __m256i {
        avx2!({
            let even = _mm256_mul_epu32(_mm256_mul_epu32(acc.even, negative_inverse), p);
            let odd_lanes = _mm256_mul_epu32(_mm256_mul_epu32(acc.odd, negative_inverse), p);
            let even = _mm256_add_epi64(acc.even, even);
            let odd_lanes = _mm256_add_epi64(acc.odd, odd_lanes);
            _mm256_blend_epi32::<0xaa>(odd(even), odd_lanes)
        })
    }
}
