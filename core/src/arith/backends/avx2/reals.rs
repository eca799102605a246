//! Transforms modulo a prime below 2^50 in double precision with fused multiply-add, four lanes.
//!
//! Residues are signed integers of at most 2^53, which `f64` holds exactly. The product `a w` is the sum of its rounding `h`
//! and the rounding error, which one fused operation gives. With `q` the integer next to `a (w/p)`, both `h - q p` and its
//! sum with the error are integers below 2^53, hence exact, whatever `q` is; a rounded `q` only makes the remainder larger.
//! If `|w| <= p/2`, the ratio `w/p` is rounded once and `|a| <= k p`, the remainder is at most `(1/2 + k/8) p`.
//!
//! Two forward stages take words of at most `b p` to words of at most `(1.6 + 0.27 b) p`, where the first of four words is
//! brought to `p/2` before them: at most `2.2 p` in all. In two stages of the inverse, a word of at most `b p` takes part in
//! sums of four, at most `4 b p`. These are brought to `p/2` or multiplied (at most `(1/2 + b/2) p`), and sums of two products
//! are at most `(1 + b/2) p`: with `b <= 2` never more than `8 p`.
//!
//! In sums of products both factors vary, and `q` comes from `h/p`, by a rounded `1/p`. Three roundings make the
//! remainder at most `7/8 p`, so eight remainders and a residue add up to less than `8 p`.
//!
//! SAFETY, for every block here: [`Lanes`] are made from the token of AVX2, which is there only where the CPU has AVX2 and FMA;
//! loads and stores go through references to whole packs and are unaligned.

use crate::arith::backends::macros::products_by;
use crate::arith::kernels::{butterfly::Butterfly, ntt, products::Sums};
use crate::arith::ntt::{Factors, REAL_BITS, Twiddles};
use crate::arith::simd::{
    avx2::{avx2, words64::Lanes},
    vector::Transpose,
};
use crate::arith::{Modulus, NttTable, Shoup};
use core::arch::x86_64::*;

/// 2^52: the low bits of its sum with a small integer are the bits of that integer.
const MAGIC: f64 = (1u64 << 52) as f64;

/// Natural to bit-reversed order.
#[inline(always)]
pub(crate) fn forward(v: Lanes, t: &NttTable<u64>, row: &mut [u64]) {
    if t.forward().real().is_some() {
        ntt::transform::<8, _, true>(Reals::new(v, t.modulus()), t, row, |_| ());
    } else {
        ntt::forward::<4, _>(v, t, row);
    }
}

/// Bit-reversed to natural order, times `1/n`.
#[inline(always)]
pub(crate) fn inverse(v: Lanes, t: &NttTable<u64>, row: &mut [u64]) {
    if t.inverse().real().is_some() {
        ntt::transform::<8, _, false>(Reals::new(v, t.modulus()), t, row, |_| ());
    } else {
        ntt::inverse::<4, _>(v, t, row);
    }
}

products_by!(Lanes, Reals::fitting);

/// Arithmetic modulo one prime.
#[derive(Clone, Copy)]
struct Reals {
    lanes: Lanes,
    p: __m256d,
    inverse: __m256d,
}

/// `w`, at most `p/2` in size, and `w/p`.
#[derive(Clone, Copy)]
struct Factor {
    value: __m256d,
    ratio: __m256d,
}

impl Reals {
    #[inline(always)]
    fn new(lanes: Lanes, m: &Modulus<u64>) -> Self {
        let p = m.value_u64() as f64;
        Self { lanes, p: avx2!(_mm256_set1_pd(p)), inverse: avx2!(_mm256_set1_pd(1.0 / p)) }
    }

    /// None if the prime is too large.
    #[inline(always)]
    fn fitting(lanes: Lanes, m: &Modulus<u64>) -> Option<Self> {
        if m.value_u64() >> REAL_BITS == 0 { Some(Self::new(lanes, m)) } else { None }
    }

    #[inline(always)]
    fn mul(self, a: __m256d, w: &Factor) -> __m256d {
        avx2!({
            let high = _mm256_mul_pd(a, w.value);
            let error = _mm256_fmsub_pd(a, w.value, high);
            let quotient = round(_mm256_mul_pd(a, w.ratio));
            _mm256_add_pd(_mm256_fnmadd_pd(quotient, self.p, high), error)
        })
    }
}

#[inline(always)]
fn round(x: __m256d) -> __m256d {
    avx2!(_mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x))
}

impl Butterfly<8> for Reals {
    type Word = u64;
    type Pack = [u64; 4];
    type Reg = __m256d;
    type Factor = Factor;

    const LANES: usize = 4;
    const SQUARE: usize = 4;

    #[inline(always)]
    fn load(self, from: &[u64; 4]) -> __m256d {
        avx2!(_mm256_loadu_pd(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4], x: __m256d) {
        avx2!(_mm256_storeu_pd(to.as_mut_ptr().cast(), x));
    }
    #[inline(always)]
    fn tables(self, w: &Twiddles<u64>) -> Option<[&Factors<u64>; 2]> {
        w.real()
    }
    #[inline(always)]
    fn enter(self, x: __m256d) -> __m256d {
        avx2!({
            let magic = _mm256_set1_pd(MAGIC);
            _mm256_sub_pd(_mm256_or_pd(x, magic), magic)
        })
    }
    #[inline(always)]
    fn leave(self, x: __m256d) -> __m256d {
        let x = self.settle(x);
        avx2!({
            let magic = _mm256_set1_pd(MAGIC);
            let negative = _mm256_cmp_pd::<_CMP_LT_OQ>(x, _mm256_setzero_pd());
            let x = _mm256_add_pd(x, _mm256_and_pd(negative, self.p));
            _mm256_xor_pd(_mm256_add_pd(x, magic), magic)
        })
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor {
        avx2!({
            // At most p/2 in size, exactly; the division rounds once.
            let value = self.enter(_mm256_castsi256_pd(_mm256_set1_epi64x(w.value as i64)));
            let half = _mm256_mul_pd(self.p, _mm256_set1_pd(0.5));
            let above = _mm256_cmp_pd::<_CMP_GT_OQ>(value, half);
            let value = _mm256_sub_pd(value, _mm256_and_pd(above, self.p));
            Factor { value, ratio: _mm256_div_pd(value, self.p) }
        })
    }
    #[inline(always)]
    fn broadcast(self, w: &Factors<u64>, index: usize) -> Factor {
        let w = w.get(index);
        avx2!(Factor {
            value: _mm256_set1_pd(f64::from_bits(w.value)),
            ratio: _mm256_set1_pd(f64::from_bits(w.quotient)),
        })
    }
    #[inline(always)]
    fn consecutive(self, w: &Factors<u64>, run: usize) -> Factor {
        Factor {
            value: Butterfly::load(self, &w.values.as_chunks().0[run]),
            ratio: Butterfly::load(self, &w.quotients.as_chunks().0[run]),
        }
    }
    #[inline(always)]
    fn settle(self, x: __m256d) -> __m256d {
        avx2!(_mm256_fnmadd_pd(round(_mm256_mul_pd(x, self.inverse)), self.p, x))
    }
    #[inline(always)]
    fn scale(self, x: __m256d, w: &Factor) -> __m256d {
        self.leave(self.mul(x, w))
    }
    #[inline(always)]
    fn forward(self, w: &Factor, (x, y): (__m256d, __m256d)) -> (__m256d, __m256d) {
        self.sum_and_difference((x, self.mul(y, w)))
    }
    #[inline(always)]
    fn inverse(self, w: &Factor, pair: (__m256d, __m256d)) -> (__m256d, __m256d) {
        let (sum, difference) = self.sum_and_difference(pair);
        (sum, self.mul(difference, w))
    }
    #[inline(always)]
    fn sum_and_difference(self, (x, y): (__m256d, __m256d)) -> (__m256d, __m256d) {
        avx2!((_mm256_add_pd(x, y), _mm256_sub_pd(x, y)))
    }
    #[inline(always)]
    fn transpose(self, tile: [__m256d; 8]) -> [__m256d; 8] {
        // Not `array::map`: its closures may end up outside the code that is compiled for AVX2.
        let [a, b, c, d, e, f, g, h] = tile;
        let [a, b, c, d] = self.lanes.transpose([bits(a), bits(b), bits(c), bits(d)]);
        let [e, f, g, h] = self.lanes.transpose([bits(e), bits(f), bits(g), bits(h)]);
        [reals(a), reals(b), reals(c), reals(d), reals(e), reals(f), reals(g), reals(h)]
    }
}

impl Sums for Reals {
    type Word = u64;
    type Pack = [u64; 4];
    type Reg = __m256d;
    type Acc = __m256d;

    const LANES: usize = 4;

    #[inline(always)]
    fn load(self, from: &[u64; 4]) -> __m256d {
        Butterfly::load(self, from)
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4], x: __m256d) {
        Butterfly::store(self, to, x);
    }
    #[inline(always)]
    fn zero(self) -> __m256d {
        avx2!(_mm256_setzero_pd())
    }
    #[inline(always)]
    fn of(self, x: __m256d) -> __m256d {
        self.enter(x)
    }
    #[inline(always)]
    fn mul_add(self, acc: __m256d, a: __m256d, b: __m256d) -> __m256d {
        let (a, b) = (self.enter(a), self.enter(b));
        avx2!({
            let high = _mm256_mul_pd(a, b);
            let error = _mm256_fmsub_pd(a, b, high);
            let quotient = round(_mm256_mul_pd(high, self.inverse));
            let remainder = _mm256_add_pd(_mm256_fnmadd_pd(quotient, self.p, high), error);
            _mm256_add_pd(acc, remainder)
        })
    }
    #[inline(always)]
    fn residue(self, acc: __m256d) -> __m256d {
        self.leave(acc)
    }
    #[inline(always)]
    fn shrink(self, acc: __m256d) -> __m256d {
        self.settle(acc)
    }
    #[inline(always)]
    fn room(self) -> usize {
        8
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
