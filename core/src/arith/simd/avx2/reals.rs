//! Four lanes of `f64`.

use super::words64;
use crate::arith::simd::vector::{Reals, Transpose, registers};
use core::arch::x86_64::*;

/// Vector operations on four `f64`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(words64::Lanes);

impl From<words64::Lanes> for Lanes {
    #[inline(always)]
    fn from(words: words64::Lanes) -> Self {
        Self(words)
    }
}

/// 2^52: the low bits of its sum with a small integer are the bits of that integer.
const MAGIC: f64 = (1u64 << 52) as f64;

registers! {
    Lanes: [u64; 4] as __m256d,
    |from| avx2!(_mm256_loadu_pd(from.as_ptr().cast())),
    |to, x| avx2!(_mm256_storeu_pd(to.as_mut_ptr().cast(), x))
}

impl Reals for Lanes {
    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        avx2!(_mm256_set1_pd(x))
    }
    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_add_pd(a, b))
    }
    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_sub_pd(a, b))
    }
    #[inline(always)]
    fn mul(self, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_mul_pd(a, b))
    }
    #[inline(always)]
    fn round(self, x: __m256d) -> __m256d {
        avx2!(_mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x))
    }
    #[inline(always)]
    fn sub_mul(self, x: __m256d, a: __m256d, b: __m256d) -> __m256d {
        avx2!(_mm256_fnmadd_pd(a, b, x))
    }
    #[inline(always)]
    fn remainder(self, high: __m256d, (a, b): (__m256d, __m256d), quotient: __m256d, p: __m256d) -> __m256d {
        avx2!(_mm256_add_pd(_mm256_fnmadd_pd(quotient, p, high), _mm256_fmsub_pd(a, b, high)))
    }
    #[inline(always)]
    fn of_words(self, x: __m256d) -> __m256d {
        avx2!({
            let magic = _mm256_set1_pd(MAGIC);
            _mm256_sub_pd(_mm256_or_pd(x, magic), magic)
        })
    }
    #[inline(always)]
    fn to_words(self, x: __m256d, p: __m256d) -> __m256d {
        avx2!({
            let magic = _mm256_set1_pd(MAGIC);
            let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
            let x = _mm256_add_pd(x, _mm256_and_pd(negative, p));
            _mm256_xor_pd(_mm256_add_pd(x, magic), magic)
        })
    }
    #[inline(always)]
    fn transpose(self, tile: [__m256d; 8]) -> [__m256d; 8] {
        // Not `array::map`: its closures may end up outside the code that is compiled for AVX2.
        let [a, b, c, d, e, f, g, h] = tile;
        let [a, b, c, d] = self.0.transpose([bits(a), bits(b), bits(c), bits(d)]);
        let [e, f, g, h] = self.0.transpose([bits(e), bits(f), bits(g), bits(h)]);
        [reals(a), reals(b), reals(c), reals(d), reals(e), reals(f), reals(g), reals(h)]
    }
}

#[inline(always)]
fn bits(x: __m256d) -> __m256i {
    avx2!(_mm256_castpd_si256(x))
}

#[inline(always)]
fn reals(x: __m256i) -> __m256d {
    avx2!(_mm256_castsi256_pd(x))
}
