//! Permutations of rows.

use super::key_products::line;
use crate::arith::Modulus;
use crate::arith::simd::vector::Products;

/// `out[j] = x[perm[j]]`.
#[inline(always)]
pub(crate) fn permute<V: Products>(v: V, out: &mut [V::Word], x: &[V::Word], perm: &[u32]) {
    permute_from(v, out, x, perm, 0);
}

/// `out[j] = x[perm[j] - origin]`.
#[inline(always)]
fn permute_from<V: Products>(v: V, out: &mut [V::Word], x: &[V::Word], perm: &[u32], origin: u32) {
    debug_assert!(out.len() == perm.len());
    let (out, out_rest) = v.packs_mut(out);
    let mut indices = perm.chunks_exact(V::LANES);
    for (out, indices) in out.iter_mut().zip(&mut indices) {
        v.store(out, v.gather(x, indices, origin));
    }
    if V::LANES > 1 {
        for (out, &j) in out_rest.iter_mut().zip(indices.remainder()) {
            *out = x[j.wrapping_sub(origin) as usize];
        }
    }
}

/// `x[perm[j] - origin]` for all j, put where [`row_to_lines`](super::row_to_lines) puts row `place.0` of `place.1`.
#[inline(always)]
pub(crate) fn permute_to_lines<V: Products>(
    v: V,
    out: &mut [V::Word],
    place: (usize, usize),
    x: &[V::Word],
    perm: &[u32],
    origin: u32,
) {
    let size = const { line::<V::Word>() }.min(perm.len()).max(1);
    let lines = out.chunks_exact_mut(size * place.1).zip(perm.chunks_exact(size));
    for (line, perm) in lines {
        permute_from(v, &mut line[place.0 * size..(place.0 + 1) * size], x, perm, origin);
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
    debug_assert!(out.len() == perm.len());
    let p = v.splat(m.value());
    let (out, out_rest) = v.packs_mut(out);
    let mut indices = perm.chunks_exact(V::LANES);
    for (out, indices) in out.iter_mut().zip(&mut indices) {
        v.store(out, v.reduce_once(v.add(v.load(out), v.gather(x, indices, 0)), p));
    }
    if V::LANES > 1 {
        for (out, &j) in out_rest.iter_mut().zip(indices.remainder()) {
            *out = m.add(*out, x[j as usize]);
        }
    }
}
