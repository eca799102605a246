//! Changes of modulus.

use super::pointwise::Wide;
use crate::arith::simd::{
    scalar::Scalar,
    vector::{Products, Vector},
};
use crate::arith::{MachineWord, Modulus, Shoup};

/// Centred residues modulo `from` to residues modulo `to`.
#[inline(always)]
pub(crate) fn lift_centered<V: Vector>(
    v: V,
    from: &Modulus<V::Word>,
    to: &Modulus<V::Word>,
    out: &mut [V::Word],
    x: &[V::Word],
) {
    debug_assert_eq!(out.len(), x.len());
    let half = from.value_u64() / 2;
    let bound = v.splat(V::Word::from_u64(half));
    let p = v.splat(to.value());
    // -from mod to, or to - from as a wrapping word where that suffices.
    let near = half < to.value_u64();
    let shift = v.splat(if near {
        to.value().wrapping_sub(from.value())
    } else {
        to.neg(to.reduce_u64(from.value_u64()))
    });
    let one = v.factor(to.one());
    let ((out, out_rest), (x, x_rest)) = (v.packs_mut(out), v.packs(x));
    if near {
        for (out, x) in out.iter_mut().zip(x) {
            v.store(out, v.add_if_greater(v.load(x), bound, shift));
        }
    } else {
        for (out, x) in out.iter_mut().zip(x) {
            let x = v.load(x);
            let residue = v.reduce_once(v.mul_lazy(x, &one, p), p);
            let correction = v.sub(v.add_if_greater(x, bound, shift), x);
            v.store(out, v.reduce_once(v.add(residue, correction), p));
        }
    }
    if V::LANES > 1 {
        lift_centered(Scalar::new(), from, to, out_rest, x_rest);
    }
}

/// `v = floor(sum_i ys[i] * inv_d[i] + 1/2)`.
#[inline(always)]
pub(crate) fn crt_overflow<V: Products>(v: V, overflow: &mut [V::Word], ys: &[&[V::Word]], inv_d: &[f64]) {
    debug_assert_eq!(ys.len(), inv_d.len());
    let n = overflow.len();
    let (packs, rest) = v.packs_mut(overflow);
    for (k, overflow) in packs.iter_mut().enumerate() {
        let mut sum = v.real_zero();
        for (y, &inv_d) in ys.iter().zip(inv_d) {
            sum = v.real_mul_add(sum, v.load(&v.packs(y).0[k]), inv_d);
        }
        v.store(overflow, v.real_round(sum));
    }
    if V::LANES > 1 {
        let done = n - rest.len();
        for (k, overflow) in rest.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (y, &inv_d) in ys.iter().zip(inv_d) {
                sum += y[done + k].to_u64() as f64 * inv_d;
            }
            *overflow = V::Word::from_u64((sum + 0.5) as u64);
        }
    }
}

/// `out = sum_i ys[i] * w[i] - v * d` modulo `to`.
#[inline(always)]
pub(crate) fn crt_combine<V: Products>(
    v: V,
    to: &Modulus<V::Word>,
    out: &mut [V::Word],
    ys: &[&[V::Word]],
    w: &[Shoup<V::Word>],
    overflow: &[V::Word],
    d: &Shoup<V::Word>,
) {
    debug_assert_eq!((ys.len(), out.len()), (w.len(), overflow.len()));
    let wide = Wide::new(v, to);
    let largest = V::Word::from_u64((1 << V::Word::MAX_MODULUS_BITS) - 1);
    let lazy = V::Word::products_per_wide(largest, to.value().wrapping_sub(V::Word::ONE));
    let minus_d = v.splat(to.neg(d.value));
    let n = out.len();
    let ((out, out_rest), (counts, _)) = (v.packs_mut(out), v.packs(overflow));
    for (k, (out, count)) in out.iter_mut().zip(counts).enumerate() {
        let mut sum = v.acc_mul_add(v.acc_zero(), v.load(count), minus_d);
        let mut room = lazy - 1;
        for (y, w) in ys.iter().zip(w) {
            if room == 0 {
                sum = v.acc_from(wide.reduce(v, v.acc_split(sum)));
                room = lazy;
            }
            room -= 1;
            sum = v.acc_mul_add(sum, v.load(&v.packs(y).0[k]), v.splat(w.value));
        }
        v.store(out, wide.reduce(v, v.acc_split(sum)));
    }
    if V::LANES > 1 {
        let done = n - out_rest.len();
        for (k, out) in out_rest.iter_mut().enumerate() {
            let start = to.neg(to.mul_shoup(overflow[done + k], d));
            let terms = ys.iter().zip(w).map(|(y, w)| to.mul_shoup(y[done + k], w));
            *out = terms.fold(start, |sum, x| to.add(sum, x));
        }
    }
}

/// `out = x mod p` for `|x| < 2^62`.
#[inline(always)]
pub(crate) fn reduce_i64<V: Products>(v: V, m: &Modulus<V::Word>, out: &mut [V::Word], x: &[i64]) {
    debug_assert_eq!(out.len(), x.len());
    let wide = Wide::new(v, m);
    // A multiple of p above 2^62 makes every integer positive.
    let p = m.value_u64();
    let bias = (1u64 << 62).div_ceil(p) * p;
    let (out, out_rest) = v.packs_mut(out);
    let mut chunks = x.chunks_exact(V::LANES);
    for (out, x) in out.iter_mut().zip(&mut chunks) {
        v.store(out, wide.reduce(v, v.split_biased(x, bias)));
    }
    if V::LANES > 1 {
        for (out, &x) in out_rest.iter_mut().zip(chunks.remainder()) {
            *out = m.reduce_i64(x);
        }
    }
}
