//! AVX-512: eight 64-bit lanes for primes of more than 50 bits. Low words of products have an instruction (AVX-512DQ); high words are
//! put together from products of 52 bits (IFMA). [Sums of products](super::avx512_wide_products) have a file of their own.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](super::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use super::ifma::{Ifma, Lanes as Words, ifma};
use super::vector::{OnLanes, Transpose, Vector};
use crate::arith::Shoup;
use core::arch::x86_64::*;

/// Vector operations on eight `u64`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(pub(in crate::arith) Words);

impl From<Ifma> for Lanes {
    #[inline(always)]
    fn from(token: Ifma) -> Self {
        Self(token.into())
    }
}

/// A factor and its Shoup quotient, floor(value 2^64 / p), in two parts: `quotient` has its upper 52 bits, and `fraction` its
/// lower 12, as the upper ones of the 52 bits that a product reads.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m512i,
    quotient: __m512i,
    fraction: __m512i,
}

impl OnLanes for Lanes {
    type Lanes = Words;

    #[inline(always)]
    fn lanes(self) -> Words {
        self.0
    }
}

impl Vector for Lanes {
    type Factor = Factor;

    const LAZY_BITS: u32 = 61;
    const ROUGH_BITS: u32 = 2;

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        self.0.splat(x)
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        self.0.add(a, b)
    }
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        self.0.sub(a, b)
    }
    #[inline(always)]
    fn reduce_once(self, x: __m512i, c: __m512i) -> __m512i {
        self.0.reduce_once(x, c)
    }
    #[inline(always)]
    fn correct(self, d: __m512i, c: __m512i) -> __m512i {
        self.0.correct(d, c)
    }
    #[inline(always)]
    fn add_if_greater(self, x: __m512i, bound: __m512i, addend: __m512i) -> __m512i {
        self.0.add_if_greater(x, bound, addend)
    }
    #[inline(always)]
    fn shift_right(self, x: __m512i, bits: u32) -> __m512i {
        self.0.shift_right(x, bits)
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        self.0.and(a, b)
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor {
        self.factors(self.splat(w.value), self.splat(w.quotient))
    }
    #[inline(always)]
    fn factors(self, value: __m512i, quotient: __m512i) -> Factor {
        ifma!(Factor {
            value,
            quotient: _mm512_srli_epi64::<12>(quotient),
            fraction: _mm512_slli_epi64::<40>(quotient)
        })
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        self.reduce_once(self.mul_rough(a, w, p), self.add(p, p))
    }
    #[inline(always)]
    fn mul_rough(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        // a = 2^52 h + l, with l the part of `a` that these instructions read, and 2^52 w / p = Q + f, with f < 1 known to
        // 12 bits: the quotient a w / p is h Q + h f + l (Q + f) / 2^52. What is left out is below 1 + 1 for h f, since
        // h < 2^12, and below 1 + 1 for the last: the sum is at most 3 less than the floor of the true quotient.
        ifma!({
            let high = _mm512_srli_epi64::<52>(a);
            let quotient = _mm512_mullo_epi64(high, w.quotient);
            let quotient = _mm512_madd52hi_epu64(quotient, high, w.fraction);
            let quotient = _mm512_madd52hi_epu64(quotient, a, w.quotient);
            _mm512_sub_epi64(_mm512_mullo_epi64(a, w.value), _mm512_mullo_epi64(quotient, p))
        })
    }
}

impl<const R: usize> Transpose<R> for Lanes
where
    Words: Transpose<R>,
{
    #[inline(always)]
    fn transpose(self, tile: [__m512i; R]) -> [__m512i; R] {
        Transpose::transpose(self.0, tile)
    }
}
