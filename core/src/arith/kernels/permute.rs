//! Permutations of rows.

use crate::arith::Modulus;
use crate::arith::simd::vector::Products;

/// `out[j] = x[perm[j]]`.
#[inline(always)]
pub(crate) fn permute<V: Products>(v: V, out: &mut [V::Word], x: &[V::Word], perm: &[u32]) {
    debug_assert!(out.len() == x.len() && x.len() == perm.len());
    let (out, out_rest) = v.packs_mut(out);
    let mut indices = perm.chunks_exact(V::LANES);
    for (out, indices) in out.iter_mut().zip(&mut indices) {
        v.store(out, v.gather(x, indices));
    }
    if V::LANES > 1 {
        for (out, &j) in out_rest.iter_mut().zip(indices.remainder()) {
            *out = x[j as usize];
        }
    }
}

/// `out[j] += x[perm[j]]`.
#[inline(always)]
pub(crate) fn permute_add_assign<V: Products>(
    v: V,
    m: &Modulus<V::Word>,
    out: &mut [V::Word],
    x: &[V::Word],
    perm: &[u32],
) {
    debug_assert!(out.len() == x.len() && x.len() == perm.len());
    let p = v.splat(m.value());
    let (out, out_rest) = v.packs_mut(out);
    let mut indices = perm.chunks_exact(V::LANES);
    for (out, indices) in out.iter_mut().zip(&mut indices) {
        v.store(out, v.reduce_once(v.add(v.load(out), v.gather(x, indices)), p));
    }
    if V::LANES > 1 {
        for (out, &j) in out_rest.iter_mut().zip(indices.remainder()) {
            *out = m.add(*out, x[j as usize]);
        }
    }
}
