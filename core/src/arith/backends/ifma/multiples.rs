//! Sums of multiples of rows: they stay in registers, and every word of the result is read and written once.

use super::sums::IfmaSums;
use super::wide_sums::WideSums;
use crate::arith::kernels::pointwise;
use crate::arith::kernels::products::{DoubleWords, Sums};
use crate::arith::simd::avx512_wide;
use crate::arith::simd::ifma::Lanes;
use crate::arith::simd::vector::{Pack, Vector};
use crate::arith::{Modulus, Shoup};
use core::arch::x86_64::__m512i;

/// Registers of sums at a time: they share the scalars, and hide each other's latencies.
const PACKS: usize = 4;

/// `acc += sum_j terms[j] * scalars[j]` modulo a prime below 2^50.
#[inline(always)]
pub(super) fn narrow(v: Lanes, m: &Modulus<u64>, acc: &mut [u64], terms: &[&[u64]], scalars: &[Shoup<u64>]) {
    if let ([x], [s]) = (terms, scalars) {
        pointwise::mul_scalar_add_assign(v, m, acc, x, s);
    } else {
        sums_of_multiples(v, IfmaSums::new(v, m), m, acc, terms, scalars);
    }
}

/// `acc += sum_j terms[j] * scalars[j]` modulo any prime.
#[inline(always)]
pub(super) fn wide(
    v: avx512_wide::Lanes,
    m: &Modulus<u64>,
    acc: &mut [u64],
    terms: &[&[u64]],
    scalars: &[Shoup<u64>],
) {
    if let ([x], [s]) = (terms, scalars) {
        pointwise::mul_scalar_add_assign(v, m, acc, x, s);
    } else if let Some(sums) = WideSums::new(v, m) {
        sums_of_multiples(v.0, sums, m, acc, terms, scalars);
    } else {
        sums_of_multiples(v.0, DoubleWords::new(v, m), m, acc, terms, scalars);
    }
}

#[inline(always)]
fn sums_of_multiples<S: Sums<Word = u64, Reg = __m512i>>(
    v: Lanes,
    s: S,
    m: &Modulus<u64>,
    acc: &mut [u64],
    terms: &[&[u64]],
    scalars: &[Shoup<u64>],
) {
    debug_assert_eq!(terms.len(), scalars.len());
    let (packs, rest) = S::Pack::packs_mut(acc);
    let (blocks, few) = packs.as_chunks_mut::<PACKS>();
    let done = blocks.len() * PACKS;
    for (k, block) in blocks.iter_mut().enumerate() {
        add_packs(v, s, (block, k * PACKS), terms, scalars);
    }
    for (k, pack) in few.as_chunks_mut::<1>().0.iter_mut().enumerate() {
        add_packs(v, s, (pack, done + k), terms, scalars);
    }
    let start = (done + few.len()) * S::LANES;
    for (k, word) in rest.iter_mut().enumerate() {
        *word = terms.iter().zip(scalars).fold(*word, |sum, (x, s)| m.add(sum, m.mul_shoup(x[start + k], s)));
    }
}

/// `P` packs of [`sums_of_multiples`], from pack `at` on.
#[inline(always)]
fn add_packs<S: Sums<Word = u64, Reg = __m512i>, const P: usize>(
    v: Lanes,
    s: S,
    (out, at): (&mut [S::Pack; P], usize),
    terms: &[&[u64]],
    scalars: &[Shoup<u64>],
) {
    let mut sums = [s.zero(); P];
    for (sum, out) in sums.iter_mut().zip(&*out) {
        *sum = s.of(s.load(out));
    }
    let mut left = s.room();
    for (x, factor) in terms.iter().zip(scalars) {
        if left == 0 {
            // A closure would be a function of its own, compiled without the CPU features of this one.
            for sum in &mut sums {
                *sum = s.shrink(*sum);
            }
            left = s.room();
        }
        left -= 1;
        let factor = v.splat(factor.value);
        for (sum, x) in sums.iter_mut().zip(&S::Pack::packs(x).0[at..at + P]) {
            *sum = s.mul_add(*sum, s.load(x), factor);
        }
    }
    for (out, sum) in out.iter_mut().zip(sums) {
        s.store(out, s.residue(sum));
    }
}
