//! Changes of modulus.

use crate::arith::{Modulus, Shoup, Word};

/// Centred residues modulo `from` to residues modulo `to`.
pub(crate) fn lift_centered<W: Word>(from: &Modulus<W>, to: &Modulus<W>, out: &mut [W], x: &[W]) {
    debug_assert_eq!(out.len(), x.len());
    for (out, &x) in out.iter_mut().zip(x) {
        *out = to.reduce_i64(from.centered(x));
    }
}

/// `v = floor(sum_i ys[i] * inv_d[i] + 1/2)`.
pub(crate) fn crt_overflow<W: Word>(v: &mut [W], ys: &[&[W]], inv_d: &[f64]) {
    debug_assert_eq!(ys.len(), inv_d.len());
    for (k, v) in v.iter_mut().enumerate() {
        let mut sum = 0.0;
        for (y, &inv_d) in ys.iter().zip(inv_d) {
            sum += y[k].to_u64() as f64 * inv_d;
        }
        *v = W::from_u64((sum + 0.5) as u64);
    }
}

/// `out = sum_i ys[i] * w[i] - v * d` modulo `to`.
pub(crate) fn crt_combine<W: Word>(
    to: &Modulus<W>,
    out: &mut [W],
    ys: &[&[W]],
    w: &[Shoup<W>],
    v: &[W],
    d: &Shoup<W>,
) {
    debug_assert_eq!(ys.len(), w.len());
    for (out, &v) in out.iter_mut().zip(v) {
        *out = to.neg(to.mul_shoup(v, d));
    }
    for (y, w) in ys.iter().zip(w) {
        super::pointwise::mul_scalar_add_assign(to, out, y, w);
    }
}

/// `out = x mod p`.
pub(crate) fn reduce_i64<W: Word>(m: &Modulus<W>, out: &mut [W], x: &[i64]) {
    debug_assert_eq!(out.len(), x.len());
    for (out, &x) in out.iter_mut().zip(x) {
        *out = m.reduce_i64(x);
    }
}
