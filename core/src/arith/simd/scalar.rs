//! The portable backend.

use crate::arith::kernels::{convert, ntt, permute, pointwise, products};
use crate::arith::{Kernels, Modulus, NttTable, Shoup, Word};

/// Row operations in plain Rust.
pub(crate) struct Scalar;

impl<W: Word> Kernels<W> for Scalar {
    fn name(&self) -> &'static str {
        "scalar"
    }
    fn ntt_forward(&self, t: &NttTable<W>, row: &mut [W]) {
        ntt::forward(t, row);
    }
    fn ntt_inverse(&self, t: &NttTable<W>, row: &mut [W]) {
        ntt::inverse(t, row);
    }
    fn add_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]) {
        pointwise::add_assign(m, a, b);
    }
    fn sub_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]) {
        pointwise::sub_assign(m, a, b);
    }
    fn neg_assign(&self, m: &Modulus<W>, a: &mut [W]) {
        pointwise::neg_assign(m, a);
    }
    fn mul_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]) {
        pointwise::mul_assign(m, a, b);
    }
    fn mul_scalar_assign(&self, m: &Modulus<W>, a: &mut [W], s: &Shoup<W>) {
        pointwise::mul_scalar_assign(m, a, s);
    }
    fn mul_scalar_add_assign(&self, m: &Modulus<W>, acc: &mut [W], a: &[W], s: &Shoup<W>) {
        pointwise::mul_scalar_add_assign(m, acc, a, s);
    }
    fn sub_mul_scalar_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W], s: &Shoup<W>) {
        pointwise::sub_mul_scalar_assign(m, a, b, s);
    }
    fn inner_product(
        &self,
        m: &Modulus<W>,
        out: &mut [W],
        lhs: &[&[W]],
        rhs: &[&[W]],
        accumulate: bool,
    ) {
        products::inner_product(m, out, lhs, rhs, accumulate);
    }
    fn key_product(
        &self,
        m: &Modulus<W>,
        out0: &mut [W],
        out1: &mut [W],
        lhs: &[&[W]],
        key: &[W],
        accumulate: bool,
    ) {
        products::key_product(m, out0, out1, lhs, key, accumulate);
    }
    fn permute(&self, out: &mut [W], x: &[W], perm: &[u32]) {
        permute::permute(out, x, perm);
    }
    fn permute_add_assign(&self, m: &Modulus<W>, out: &mut [W], x: &[W], perm: &[u32]) {
        permute::permute_add_assign(m, out, x, perm);
    }
    fn lift_centered(&self, from: &Modulus<W>, to: &Modulus<W>, out: &mut [W], x: &[W]) {
        convert::lift_centered(from, to, out, x);
    }
    fn crt_overflow(&self, v: &mut [W], ys: &[&[W]], inv_d: &[f64]) {
        convert::crt_overflow(v, ys, inv_d);
    }
    fn crt_combine(
        &self,
        to: &Modulus<W>,
        out: &mut [W],
        ys: &[&[W]],
        w: &[Shoup<W>],
        v: &[W],
        d: &Shoup<W>,
    ) {
        convert::crt_combine(to, out, ys, w, v, d);
    }
    fn reduce_i64(&self, m: &Modulus<W>, out: &mut [W], x: &[i64]) {
        convert::reduce_i64(m, out, x);
    }
}
