//! Products with the keys of DM/CGGI: the transform before them need not reduce, and there is one Montgomery
//! reduction for every sum.

use super::butterfly::Words;
use super::ntt;
use crate::arith::simd::prefetch::prefetch;
use crate::arith::simd::vector::{Redc, Transpose, Vector};
use crate::arith::{MachineWord, Modulus, NttTable};

/// Most terms of a product.
pub(crate) const MAX_TERMS: usize = 128;

/// Words of a run of the prepared key: as many as the widest register has lanes.
const RUN: usize = 16;

/// Largest word that a transform of degree `n` without reductions makes of residues modulo `p`, if it is
/// below 2^32: every stage adds at most `2p`.
pub fn rough_bound(p: u64, n: usize) -> Option<u64> {
    let bound = p.checked_mul(1 + 2 * u64::from(n.trailing_zeros()))?;
    (bound >> 32 == 0).then_some(bound)
}

/// Whether sums of `terms` products fit, of residues or, if `rough`, of words below [`rough_bound`]. For
/// words of 64 bits, up to 128 terms of residues do, and no `rough` words.
pub fn product_fits<W: MachineWord>(p: u64, n: usize, terms: usize, rough: bool) -> bool {
    terms <= MAX_TERMS
        && match (W::BITS, rough) {
            (32, true) => rough_bound(p, n).is_some_and(|largest| doublings(32, p, largest, terms).is_some()),
            (32, false) => doublings(32, p, p, terms).is_some(),
            (_, rough) => !rough,
        }
}

/// The number of conditional subtractions, of `p` times powers of two, that bring a sum below `p` after its Montgomery
/// reduction by a radix of `radix_bits` bits.
pub(crate) fn doublings(radix_bits: u32, p: u64, largest: u64, terms: usize) -> Option<u32> {
    // The reduction takes a sum below `terms largest p` to one below `times p`.
    let times = (terms as u128 * u128::from(largest)).div_ceil(1 << radix_bits) as u64 + 1;
    // The double word, multiples of p added, and the largest number that is subtracted have to fit.
    let fits = times.checked_mul(p).is_some_and(|sum| sum >> radix_bits == 0);
    [2, 3].into_iter().find(|&k| fits && times <= 1 << k && (p << (k - 1)) >> radix_bits == 0)
}

/// See [`GateKernels::ntt_forward_rough`](super::gates::GateKernels).
#[inline(always)]
pub(crate) fn forward<const R: usize, V: Transpose<R>>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    debug_assert!(rough_bound(t.modulus().value_u64(), t.n()).is_some());
    ntt::transform::<R, _, true>(Words::<V, true, true>::new(v, t), t, row, |_| ());
}

/// Whether a backend has an order of its own for the rows of a table: evaluations in transposed squares.
#[inline(always)]
pub(crate) fn has_own_order<const R: usize, V: Transpose<R>>(_v: V, t: &NttTable<V::Word>) -> bool {
    let lazy = t.modulus().value_u64() >> V::LAZY_BITS == 0;
    V::LANES > 1
        && lazy
        && t.forward().narrow(V::LANES).is_some()
        && ntt::has_tiles::<R, Words<V, true>>(t.n())
}

/// See [`GateKernels::evaluate`](super::gates::GateKernels), where the backend has its own order.
#[inline(always)]
pub(crate) fn evaluate<const R: usize, V: Transpose<R>>(
    v: V,
    t: &NttTable<V::Word>,
    row: &mut [V::Word],
    rough: bool,
    near: &[V::Word],
) {
    if !has_own_order::<R, V>(v, t) {
        return;
    }
    let n = row.len();
    let meanwhile = |done: usize| bring_near(near, done, R * V::LANES, n);
    if rough {
        ntt::transform::<R, _, true>(Words::<V, true, true, true>::new(v, t), t, row, meanwhile);
    } else {
        ntt::transform::<R, _, true>(Words::<V, true, false, true>::new(v, t), t, row, meanwhile);
    }
}

/// See [`GateKernels::interpolate`](super::gates::GateKernels), where the backend has its own order.
#[inline(always)]
pub(crate) fn interpolate<const R: usize, V: Transpose<R>>(
    v: V,
    t: &NttTable<V::Word>,
    row: &mut [V::Word],
    near: &[V::Word],
) {
    if has_own_order::<R, V>(v, t) {
        let n = row.len();
        let meanwhile = |done: usize| bring_near(near, done, R * V::LANES, n);
        ntt::transform::<R, _, false>(Words::<V, true, false, true>::new(v, t), t, row, meanwhile);
    }
}

/// Prefetches the part of `near` that goes with `count` words from word `done` of a row of `n`. All of `near` at once would
/// be waited for.
#[inline(always)]
fn bring_near<W>(near: &[W], done: usize, count: usize, n: usize) {
    let part = done * near.len() / n..(done + count) * near.len() / n;
    prefetch(near.get(part).unwrap_or_default());
}

/// See [`GateKernels::reorder`](super::gates::GateKernels).
#[inline(always)]
pub(crate) fn reorder<const R: usize, V: Transpose<R>>(v: V, t: &NttTable<V::Word>, row: &mut [V::Word]) {
    if has_own_order::<R, V>(v, t) {
        for square in row.chunks_exact_mut(V::LANES * V::LANES) {
            for i in 0..V::LANES {
                for j in 0..i {
                    square.swap(i * V::LANES + j, j * V::LANES + i);
                }
            }
        }
    }
}

/// Multiplies a key by 2^32 and lays it out in runs, `[n / RUN][terms][columns][RUN]`, so that a product
/// reads one stream. `key` has `rows = terms columns` rows.
pub(crate) fn prepare(m: &Modulus<u32>, out: &mut [u32], key: &[u32], rows: usize) {
    debug_assert!(out.len() == key.len() && key.len().is_multiple_of(rows * RUN));
    let n = key.len() / rows;
    for (row, words) in key.chunks_exact(n).enumerate() {
        for (run, words) in words.chunks_exact(RUN).enumerate() {
            let start = (run * rows + row) * RUN;
            for (out, &x) in out[start..start + RUN].iter_mut().zip(words) {
                *out = m.mul_shoup(x, m.word_size());
            }
        }
    }
}

/// See [`GateKernels::gate_product`](super::gates::GateKernels).
#[inline(always)]
pub(crate) fn product<V: Redc + Vector<Word = u32>>(
    v: V,
    m: &Modulus<u32>,
    out: &mut [&mut [u32]],
    rows: &[u32],
    key: &[u32],
    rough: bool,
) {
    match out {
        [out] => product_of::<V, 1>(v, m, [out], rows, key, rough),
        [out0, out1] => product_of::<V, 2>(v, m, [out0, out1], rows, key, rough),
        _ => debug_assert!(false, "one or two columns"),
    }
}

#[inline(always)]
fn product_of<V: Redc + Vector<Word = u32>, const COLUMNS: usize>(
    v: V,
    m: &Modulus<u32>,
    out: [&mut [u32]; COLUMNS],
    rows: &[u32],
    key: &[u32],
    rough: bool,
) {
    let n = out[0].len();
    let p = m.value_u64();
    let largest = if rough { rough_bound(p, n).unwrap_or(p) } else { p };
    if doublings(32, p, largest, rows.len() / n) == Some(2) {
        product_by::<V, 2, COLUMNS>(v, m, out, rows, key);
    } else {
        product_by::<V, 3, COLUMNS>(v, m, out, rows, key);
    }
}

#[inline(always)]
fn product_by<V: Redc + Vector<Word = u32>, const DOUBLINGS: u32, const COLUMNS: usize>(
    v: V,
    m: &Modulus<u32>,
    mut out: [&mut [u32]; COLUMNS],
    rows: &[u32],
    key: &[u32],
) {
    let n = out[0].len();
    let (terms, per_row, per_run) = (rows.len() / n, n / V::LANES, RUN / V::LANES);
    let (p, inverse) = (v.splat(m.value()), v.splat(negative_inverse(m.value_u64(), u32::BITS) as u32));
    let (rows, key) = (v.packs(rows).0, v.packs(key).0);
    for (run, key) in key.chunks_exact(COLUMNS * terms * per_run).enumerate() {
        for lane in 0..per_run {
            let mut sums = [v.acc_zero(); COLUMNS];
            let mut at = run * per_run + lane;
            for key in key.chunks_exact(COLUMNS * per_run) {
                let x = v.load(&rows[at]);
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = v.acc_mul_add(*sum, x, v.load(&key[column * per_run + lane]));
                }
                at += per_row;
            }
            for (out, sum) in out.iter_mut().zip(sums) {
                let out = &mut v.packs_mut(out).0[run * per_run + lane];
                v.store(out, reduce::<V, DOUBLINGS>(v, v.acc_redc(sum, inverse, p), m));
            }
        }
    }
}

/// To `[0, p)` from below `2^DOUBLINGS p`.
#[inline(always)]
pub(crate) fn reduce<V: Vector, const DOUBLINGS: u32>(v: V, x: V::Reg, m: &Modulus<V::Word>) -> V::Reg {
    let p = v.splat(m.value());
    let twice = v.add(p, p);
    let x = if DOUBLINGS == 3 { v.reduce_once(x, v.add(twice, twice)) } else { x };
    v.reduce_once(v.reduce_once(x, twice), p)
}

/// -1 / p modulo 2^bits.
pub(crate) fn negative_inverse(p: u64, bits: u32) -> u64 {
    // Newton: each step doubles the number of correct low bits; p is its own inverse modulo 8.
    let inverse =
        (0..5).fold(p, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(inverse))));
    inverse.wrapping_neg() & (u64::MAX >> (64 - bits))
}
