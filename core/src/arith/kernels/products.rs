//! Sums of products of rows, accumulated in double words.

use crate::arith::{Modulus, Word};

/// Words handled at a time: the double-word sums of a block stay in the first-level cache.
const BLOCK: usize = 512;

/// `out = [accumulate: out +] sum_j lhs[j] * rhs[j]`.
pub(crate) fn inner_product<W: Word>(
    m: &Modulus<W>,
    out: &mut [W],
    lhs: &[&[W]],
    rhs: &[&[W]],
    accumulate: bool,
) {
    debug_assert_eq!(lhs.len(), rhs.len());
    let largest = m.value().wrapping_sub(W::ONE);
    let lazy = W::products_per_wide(largest, largest);
    let mut sums = [W::Wide::default(); BLOCK];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let range = block * BLOCK..block * BLOCK + out.len();
        let sums = &mut sums[..out.len()];
        load(sums, out, accumulate);
        for (j, (lhs, rhs)) in lhs.iter().zip(rhs).enumerate() {
            if j != 0 && j % lazy == 0 {
                reduce(m, sums);
            }
            for ((sum, &a), &b) in sums.iter_mut().zip(&lhs[range.clone()]).zip(&rhs[range.clone()]) {
                *sum = W::wide_add(*sum, a.mul_wide(b));
            }
        }
        for (out, &sum) in out.iter_mut().zip(sums.iter()) {
            *out = m.reduce_wide(sum);
        }
    }
}

/// `out0`, `out1` = sums of products with the even and the odd rows of `key`.
pub(crate) fn key_product<W: Word>(
    m: &Modulus<W>,
    out0: &mut [W],
    out1: &mut [W],
    lhs: &[&[W]],
    key: &[W],
    accumulate: bool,
) {
    let n = out0.len();
    debug_assert_eq!((out1.len(), key.len()), (n, 2 * n * lhs.len()));
    let largest = m.value().wrapping_sub(W::ONE);
    let lazy = W::products_per_wide(largest, largest);
    let mut sums0 = [W::Wide::default(); BLOCK];
    let mut sums1 = [W::Wide::default(); BLOCK];
    for (block, (out0, out1)) in out0.chunks_mut(BLOCK).zip(out1.chunks_mut(BLOCK)).enumerate() {
        let range = block * BLOCK..block * BLOCK + out0.len();
        let (sums0, sums1) = (&mut sums0[..out0.len()], &mut sums1[..out0.len()]);
        load(sums0, out0, accumulate);
        load(sums1, out1, accumulate);
        for (j, (lhs, rows)) in lhs.iter().zip(key.chunks_exact(2 * n)).enumerate() {
            if j != 0 && j % lazy == 0 {
                reduce(m, sums0);
                reduce(m, sums1);
            }
            let (key0, key1) = rows.split_at(n);
            let keys = key0[range.clone()].iter().zip(&key1[range.clone()]);
            for (((s0, s1), &a), (&k0, &k1)) in
                sums0.iter_mut().zip(sums1.iter_mut()).zip(&lhs[range.clone()]).zip(keys)
            {
                *s0 = W::wide_add(*s0, a.mul_wide(k0));
                *s1 = W::wide_add(*s1, a.mul_wide(k1));
            }
        }
        for (out, &sum) in out0.iter_mut().zip(sums0.iter()).chain(out1.iter_mut().zip(sums1.iter())) {
            *out = m.reduce_wide(sum);
        }
    }
}

fn load<W: Word>(sums: &mut [W::Wide], out: &[W], accumulate: bool) {
    if accumulate {
        for (sum, &out) in sums.iter_mut().zip(out) {
            *sum = out.widen();
        }
    } else {
        sums.fill(W::Wide::default());
    }
}

fn reduce<W: Word>(m: &Modulus<W>, sums: &mut [W::Wide]) {
    for sum in sums {
        *sum = m.reduce_wide(*sum).widen();
    }
}
