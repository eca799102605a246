//! Sums of products of rows, accumulated in double words.

use super::pointwise::Wide;
use crate::arith::simd::{scalar::Scalar, vector::Products};
use crate::arith::{Modulus, Word};

/// Registers handled at a time, at most: long enough runs of each row for the memory to stream, short enough for
/// the double-word sums to stay close.
const BLOCK: usize = 128;

/// The same where sums are large: two blocks of sums and the rows take turns in a cache of 32 kB.
const fn block<V: Products>() -> usize {
    let fits = 8192 / size_of::<V::Acc>();
    if fits < BLOCK { fits } else { BLOCK }
}

/// `out = [accumulate: out +] sum_j lhs[j] * rhs[j]`.
#[inline(always)]
pub(crate) fn inner_product<V: Products>(
    v: V,
    m: &Modulus<V::Word>,
    out: &mut [V::Word],
    lhs: &[&[V::Word]],
    rhs: &[&[V::Word]],
    accumulate: bool,
) {
    debug_assert_eq!(lhs.len(), rhs.len());
    let (wide, lazy) = (Wide::new(v, m), terms_between_reductions(m));
    let mut buffer = [v.acc_zero(); BLOCK];
    let n = out.len();
    let (packs, rest) = v.packs_mut(out);
    for (part, out) in packs.chunks_mut(block::<V>()).enumerate() {
        let range = part * block::<V>()..part * block::<V>() + out.len();
        let sums = &mut buffer[..out.len()];
        start(v, sums, out, accumulate);
        let mut room = lazy;
        for (lhs, rhs) in lhs.chunks(2).zip(rhs.chunks(2)) {
            if room < lhs.len() {
                reduce(v, &wide, sums);
                room = lazy;
            }
            room -= lhs.len();
            let term = |j: usize| {
                let (a, b) = (v.packs(lhs[j]).0, v.packs(rhs[j]).0);
                a[range.clone()].iter().zip(&b[range.clone()])
            };
            if lhs.len() == 2 {
                for ((sum, (a, b)), (c, d)) in sums.iter_mut().zip(term(0)).zip(term(1)) {
                    let first = v.acc_mul_add(*sum, v.load(a), v.load(b));
                    *sum = v.acc_mul_add(first, v.load(c), v.load(d));
                }
            } else {
                for (sum, (a, b)) in sums.iter_mut().zip(term(0)) {
                    *sum = v.acc_mul_add(*sum, v.load(a), v.load(b));
                }
            }
        }
        finish(v, &wide, out, sums);
    }
    if V::LANES > 1 {
        let done = n - rest.len();
        for (k, out) in rest.iter_mut().enumerate() {
            let terms = lhs.iter().zip(rhs).map(|(a, b)| m.mul(a[done + k], b[done + k]));
            *out = terms.fold(if accumulate { *out } else { V::Word::ZERO }, |sum, x| m.add(sum, x));
        }
    }
}

/// `out0`, `out1` = sums of products with the even and the odd rows of `key`.
#[inline(always)]
pub(crate) fn key_product<V: Products>(
    v: V,
    m: &Modulus<V::Word>,
    out0: &mut [V::Word],
    out1: &mut [V::Word],
    lhs: &[&[V::Word]],
    key: &[V::Word],
    accumulate: bool,
) {
    let n = out0.len();
    debug_assert_eq!((out1.len(), key.len()), (n, 2 * n * lhs.len()));
    if n % V::LANES != 0 {
        return key_product(Scalar::new(), m, out0, out1, lhs, key, accumulate);
    }
    let (wide, lazy) = (Wide::new(v, m), terms_between_reductions(m));
    let mut buffers = ([v.acc_zero(); BLOCK], [v.acc_zero(); BLOCK]);
    let size = block::<V>();
    let (packs0, packs1) = (v.packs_mut(out0).0, v.packs_mut(out1).0);
    for (part, (out0, out1)) in packs0.chunks_mut(size).zip(packs1.chunks_mut(size)).enumerate() {
        let range = part * size..part * size + out0.len();
        let sums0 = &mut buffers.0[..out0.len()];
        let sums1 = &mut buffers.1[..out0.len()];
        start(v, sums0, out0, accumulate);
        start(v, sums1, out1, accumulate);
        // Two terms at a time: fewer passes over the sums, and six streams for the memory to follow.
        let mut room = lazy;
        for (lhs, rows) in lhs.chunks(2).zip(key.chunks(4 * n)) {
            if room < lhs.len() {
                reduce(v, &wide, sums0);
                reduce(v, &wide, sums1);
                room = lazy;
            }
            room -= lhs.len();
            let part = |row: usize| &v.packs(&rows[row * n..(row + 1) * n]).0[range.clone()];
            let sums = sums0.iter_mut().zip(sums1.iter_mut());
            if let [a, b] = lhs {
                let (a, b) = (&v.packs(a).0[range.clone()], &v.packs(b).0[range.clone()]);
                let first = a.iter().zip(part(0)).zip(part(1));
                let second = b.iter().zip(part(2)).zip(part(3));
                for (((s0, s1), ((a, a0), a1)), ((b, b0), b1)) in sums.zip(first).zip(second) {
                    let (a, b) = (v.load(a), v.load(b));
                    let sum = v.acc_mul_add(*s0, a, v.load(a0));
                    *s0 = v.acc_mul_add(sum, b, v.load(b0));
                    let sum = v.acc_mul_add(*s1, a, v.load(a1));
                    *s1 = v.acc_mul_add(sum, b, v.load(b1));
                }
            } else {
                let a = &v.packs(lhs[0]).0[range.clone()];
                for ((s0, s1), ((a, a0), a1)) in sums.zip(a.iter().zip(part(0)).zip(part(1))) {
                    let a = v.load(a);
                    *s0 = v.acc_mul_add(*s0, a, v.load(a0));
                    *s1 = v.acc_mul_add(*s1, a, v.load(a1));
                }
            }
        }
        finish(v, &wide, out0, sums0);
        finish(v, &wide, out1, sums1);
    }
}

/// How many products of residues fit a double word beside one residue.
pub(crate) fn terms_between_reductions<W: Word>(m: &Modulus<W>) -> usize {
    let largest = m.value().wrapping_sub(W::ONE);
    W::products_per_wide(largest, largest)
}

#[inline(always)]
fn start<V: Products>(v: V, sums: &mut [V::Acc], out: &[V::Pack], accumulate: bool) {
    for (sum, out) in sums.iter_mut().zip(out) {
        *sum = if accumulate { v.acc_from(v.load(out)) } else { v.acc_zero() };
    }
}

#[inline(always)]
fn reduce<V: Products>(v: V, wide: &Wide<V::Reg, V::Factor>, sums: &mut [V::Acc]) {
    for sum in sums {
        *sum = v.acc_from(wide.reduce(v, v.acc_split(*sum)));
    }
}

#[inline(always)]
fn finish<V: Products>(v: V, wide: &Wide<V::Reg, V::Factor>, out: &mut [V::Pack], sums: &[V::Acc]) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        v.store(out, wide.reduce(v, v.acc_split(sum)));
    }
}
