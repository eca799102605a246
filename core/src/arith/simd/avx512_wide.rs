//! AVX-512DQ: eight 64-bit lanes for primes of more than 50 bits. High words of products are put together from 32-bit
//! halves, low words have an instruction; [sums of products](super::avx512_wide_sums) are a file of their own.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](super::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use super::ifma::Lanes as Words;
use super::vector::{Transpose, Vector};
use crate::arith::Shoup;
use core::arch::x86_64::*;

/// Vector operations on eight `u64`.
#[derive(Clone, Copy)]
pub(crate) struct Lanes(pub(crate) Words);

/// A Shoup factor; the quotient's high half also where `vpmuludq` reads it.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: __m512i,
    quotient: __m512i,
    quotient_high: __m512i,
}

/// Intrinsics, allowed by the token (see the module above).
macro_rules! avx512 {
    ($e:expr) => {
        // SAFETY: the token proves AVX-512F and AVX-512DQ.
        unsafe { $e }
    };
}

#[inline(always)]
fn high_half(x: __m512i) -> __m512i {
    avx512!(_mm512_srli_epi64::<32>(x))
}

/// Low word of `a w - quotient p`.
#[inline(always)]
fn remainder(a: __m512i, w: &Factor, quotient: __m512i, p: __m512i) -> __m512i {
    avx512!(_mm512_sub_epi64(_mm512_mullo_epi64(a, w.value), _mm512_mullo_epi64(quotient, p)))
}

impl Vector for Lanes {
    type Word = u64;
    type Pack = [u64; 8];
    type Reg = __m512i;
    type Factor = Factor;

    const LANES: usize = 8;
    const LAZY_BITS: u32 = 61;
    const ROUGH_BITS: u32 = 2;

    #[inline(always)]
    fn packs(self, row: &[u64]) -> (&[[u64; 8]], &[u64]) {
        self.0.packs(row)
    }
    #[inline(always)]
    fn packs_mut(self, row: &mut [u64]) -> (&mut [[u64; 8]], &mut [u64]) {
        self.0.packs_mut(row)
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        self.0.splat(x)
    }
    #[inline(always)]
    fn load(self, from: &[u64; 8]) -> __m512i {
        self.0.load(from)
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 8], x: __m512i) {
        self.0.store(to, x);
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
        Factor { value, quotient, quotient_high: high_half(quotient) }
    }
    #[inline(always)]
    fn mul_lazy(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        let a_high = high_half(a);
        let quotient = avx512!({
            let mask = _mm512_set1_epi64(0xffff_ffff);
            let carry = high_half(_mm512_mul_epu32(a, w.quotient));
            let first = _mm512_add_epi64(_mm512_mul_epu32(a_high, w.quotient), carry);
            let second =
                _mm512_add_epi64(_mm512_mul_epu32(a, w.quotient_high), _mm512_and_si512(first, mask));
            let high = _mm512_add_epi64(_mm512_mul_epu32(a_high, w.quotient_high), high_half(first));
            _mm512_add_epi64(high, high_half(second))
        });
        remainder(a, w, quotient, p)
    }
    #[inline(always)]
    fn mul_rough(self, a: __m512i, w: &Factor, p: __m512i) -> __m512i {
        // Without the product of the low halves and the carries: at most 2 less than the true quotient.
        let a_high = high_half(a);
        let quotient = avx512!({
            let first = high_half(_mm512_mul_epu32(a_high, w.quotient));
            let second = high_half(_mm512_mul_epu32(a, w.quotient_high));
            let high = _mm512_mul_epu32(a_high, w.quotient_high);
            _mm512_add_epi64(high, _mm512_add_epi64(first, second))
        });
        remainder(a, w, quotient, p)
    }
}

impl Transpose<8> for Lanes {
    #[inline(always)]
    fn transpose(self, tile: [__m512i; 8]) -> [__m512i; 8] {
        self.0.transpose(tile)
    }
}
