//! Base conversion in the eight 64-bit lanes of [`avx512_wide`](crate::arith::simd::avx512_wide), by columns of 52 bits.
//!
//! SAFETY, for every block here: the lanes are made of those of [`Ifma`](crate::arith::simd::ifma::Ifma), whose token is reached
//! only where the CPU has AVX-512F, AVX-512DQ and AVX-512 IFMA.

use super::wide_sums::WideSums;
use crate::arith::kernels::{convert, products::DoubleWords, products::Sums};
use crate::arith::simd::avx512_wide::Lanes;
use crate::arith::simd::avx512_wide_products::{Acc, COLUMN};
use crate::arith::simd::ifma::{self, Lanes as Words, ifma};
use crate::arith::simd::vector::{Products, Registers, Vector};
use crate::arith::{Modulus, Shoup};
use core::arch::x86_64::*;

/// [`convert::crt_combine`](crate::arith::kernels::convert::crt_combine). Sources of up to 52 bits and targets below 2^49
/// need only some of the seven instructions of a full product.
#[inline(always)]
pub(super) fn crt_combine(
    v: Lanes,
    to: &Modulus<u64>,
    out: &mut [u64],
    ys: &[&[u64]],
    w: &[Shoup<u64>],
    overflow: &[u64],
    d: &Shoup<u64>,
) {
    // A double word holds at most 64 products: these and that of the overflow.
    if ys.len() >= 64 || !out.len().is_multiple_of(Lanes::LANES) {
        return convert::crt_combine(v, to, out, ys, w, overflow, d);
    }
    if to.value_u64() >> NARROW_BITS == 0 {
        combine::<_, false>(v, to, out, (ys, w), (overflow, d), NarrowResidue::new(v.0, to));
    } else if let Some(wide) = WideSums::new(v, to) {
        combine::<_, true>(v, to, out, (ys, w), (overflow, d), wide);
    } else {
        combine::<_, true>(v, to, out, (ys, w), (overflow, d), DoubleWords::new(v, to));
    }
}

/// Reduces the columns of a sum of products to `[0, p)`.
trait Residue: Copy {
    /// The residue of a sum below 2^128.
    fn of(self, acc: Acc) -> __m512i;
}

impl<S: Sums<Acc = Acc, Reg = __m512i>> Residue for S {
    #[inline(always)]
    fn of(self, acc: Acc) -> __m512i {
        self.residue(acc)
    }
}

/// Adds up the columns of the sums and reduces each sum by `residue`; `WIDE` if the factors `w` may exceed 52 bits.
#[inline(always)]
fn combine<R: Residue, const WIDE: bool>(
    v: Lanes,
    to: &Modulus<u64>,
    out: &mut [u64],
    (ys, w): (&[&[u64]], &[Shoup<u64>]),
    (overflow, d): (&[u64], &Shoup<u64>),
    residue: R,
) {
    let minus_d = v.splat(to.neg(d.value));
    let (blocks, rest) = v.packs_mut(out).0.as_chunks_mut::<PACKS>();
    let (counts, counts_rest) = v.packs(overflow).0.as_chunks::<PACKS>();
    let done = blocks.len() * PACKS;
    for (k, (out, counts)) in blocks.iter_mut().zip(counts).enumerate() {
        combine_packs::<R, WIDE, PACKS>(v, (out, k * PACKS), (ys, w), (counts, minus_d), residue);
    }
    for (k, (out, count)) in rest.as_chunks_mut().0.iter_mut().zip(counts_rest.as_chunks().0).enumerate() {
        combine_packs::<R, WIDE, 1>(v, (out, done + k), (ys, w), (count, minus_d), residue);
    }
}

/// Registers of sums at a time: they share the factors, and hide each other's latencies.
const PACKS: usize = 4;

/// `P` packs of [`combine`], from pack `at` on.
#[inline(always)]
fn combine_packs<R: Residue, const WIDE: bool, const P: usize>(
    v: Lanes,
    (out, at): (&mut [[u64; 8]; P], usize),
    (ys, w): (&[&[u64]], &[Shoup<u64>]),
    (counts, minus_d): (&[[u64; 8]; P], __m512i),
    residue: R,
) {
    let mut sums = [v.acc_zero(); P];
    add_products::<WIDE, P>(v, &mut sums, counts, minus_d);
    for (y, w) in ys.iter().zip(w) {
        let y = v.packs(y).0[at..at + P].as_chunks().0;
        add_products::<WIDE, P>(v, &mut sums, &y[0], v.splat(w.value));
    }
    for i in 0..P {
        v.store(&mut out[i], residue.of(sums[i]));
    }
}

#[inline(always)]
fn add_products<const WIDE: bool, const P: usize>(
    v: Lanes,
    sums: &mut [Acc; P],
    a: &[[u64; 8]; P],
    b: __m512i,
) {
    let b_high = v.shift_right(b, COLUMN);
    let (mut words, mut highs) = ([v.splat(0); P], [v.splat(0); P]);
    let mut any = v.splat(0);
    for i in 0..P {
        words[i] = v.load(&a[i]);
        highs[i] = v.shift_right(words[i], COLUMN);
        any = ifma!(_mm512_or_si512(any, highs[i]));
    }
    ifma!({
        for (sum, &a) in sums.iter_mut().zip(&words) {
            sum.low = _mm512_madd52lo_epu64(sum.low, a, b);
            sum.middle = _mm512_madd52hi_epu64(sum.middle, a, b);
            if WIDE {
                sum.middle = _mm512_madd52lo_epu64(sum.middle, a, b_high);
                sum.high = _mm512_madd52hi_epu64(sum.high, a, b_high);
            }
        }
        // Each row holds residues of one prime, so the branch goes the same way for a whole row.
        if _mm512_test_epi64_mask(any, any) != 0 {
            for (sum, &a_high) in sums.iter_mut().zip(&highs) {
                sum.middle = _mm512_madd52lo_epu64(sum.middle, a_high, b);
                sum.high = _mm512_madd52hi_epu64(sum.high, a_high, b);
                if WIDE {
                    sum.high = _mm512_madd52lo_epu64(sum.high, a_high, b_high);
                }
            }
        }
    });
}

/// Bits of the largest primes of [`NarrowResidue`]: six times such a prime is below 2^52.
const NARROW_BITS: u32 = 49;

/// Residues of columns modulo a prime of up to [`NARROW_BITS`].
#[derive(Clone, Copy)]
struct NarrowResidue {
    words: Words,
    p: __m512i,
    twice: __m512i,
    fourfold: __m512i,
    /// 2^52 - p.
    minus_p: __m512i,
    /// floor(2^52 / p).
    one: __m512i,
    /// 2^52 and 2^104 modulo p.
    columns: [ifma::Factor; 2],
}

impl NarrowResidue {
    #[inline(always)]
    fn new(words: Words, m: &Modulus<u64>) -> Self {
        let p = words.splat(m.value());
        let twice = words.add(p, p);
        let column = m.reduce_u64(1 << COLUMN);
        let factor = |x: u64| words.factor(&m.shoup(x));
        Self {
            words,
            p,
            twice,
            fourfold: words.add(twice, twice),
            minus_p: words.splat((1 << COLUMN) - m.value()),
            one: words.splat((1 << COLUMN) / m.value()),
            columns: [factor(column), factor(m.mul(column, column))],
        }
    }
}

impl Residue for NarrowResidue {
    #[inline(always)]
    fn of(self, Acc { low, middle, high }: Acc) -> __m512i {
        // The products read only the low 52 bits of a column; the mask removes what is above them in `low`. Each of the
        // three quotients is at most 2 less than the true one.
        let v = self.words;
        let [second, third] = &self.columns;
        let remainder = ifma!({
            let middle = _mm512_add_epi64(middle, _mm512_srli_epi64::<COLUMN>(low));
            let high = _mm512_add_epi64(high, _mm512_srli_epi64::<COLUMN>(middle));
            let quotient = _mm512_madd52hi_epu64(_mm512_setzero_si512(), high, third.quotient);
            let quotient = _mm512_madd52hi_epu64(quotient, middle, second.quotient);
            let quotient = _mm512_madd52hi_epu64(quotient, low, self.one);
            let sum = _mm512_madd52lo_epu64(low, high, third.value);
            let sum = _mm512_madd52lo_epu64(sum, middle, second.value);
            _mm512_madd52lo_epu64(sum, quotient, self.minus_p)
        });
        // Below 6 p.
        let remainder = v.and(remainder, v.splat((1 << COLUMN) - 1));
        let remainder = v.reduce_once(remainder, self.fourfold);
        v.reduce_once(v.reduce_once(remainder, self.twice), self.p)
    }
}
