//! Permutations of rows.

use crate::arith::{Modulus, Word};

/// `out[j] = x[perm[j]]`.
pub(crate) fn permute<W: Word>(out: &mut [W], x: &[W], perm: &[u32]) {
    debug_assert!(out.len() == x.len() && x.len() == perm.len());
    for (out, &j) in out.iter_mut().zip(perm) {
        *out = x[j as usize];
    }
}

/// `out[j] += x[perm[j]]`.
pub(crate) fn permute_add_assign<W: Word>(m: &Modulus<W>, out: &mut [W], x: &[W], perm: &[u32]) {
    debug_assert!(out.len() == x.len() && x.len() == perm.len());
    for (out, &j) in out.iter_mut().zip(perm) {
        *out = m.add(*out, x[j as usize]);
    }
}
