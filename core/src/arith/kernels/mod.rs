//! Operations on rows of residues, written once over vector operations of any width: their algorithms, and the trait that backends
//! implement.

pub(crate) mod butterfly;
pub(crate) mod convert;
pub(crate) mod gate_product;
pub(crate) mod gates;
pub(crate) mod key_products;
pub(crate) mod ntt;
pub(crate) mod permute;
pub(crate) mod pointwise;
pub(crate) mod products;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little")
))]
pub(crate) mod reals;
pub(crate) mod unrolled_product;

pub use key_products::{
    KeyProduct, KeyRows, LeftRows, in_lines, key_tile, line, row_to_lines, to_lines, whole_row,
};

use super::{MachineWord, Modulus, NttTable, Shoup};

/// The row operations of one backend.
///
/// Rows are residues in `[0, p)`, on input and on output, unless said otherwise, and all rows of
/// one call have the same length (checked in debug builds; in release builds the surplus of a longer
/// row is left alone or the call panics; memory is safe in any case). All backends give the same
/// words, bit for bit.
pub trait Kernels<W: MachineWord>: Send + Sync {
    /// Name of the backend: `"scalar"`, `"avx2"`, `"avx512"`, `"neon"` or `"simd128"`.
    fn name(&self) -> &'static str;

    /// Coefficients to evaluations, in place, in the order documented at [`NttTable`].
    fn ntt_forward(&self, t: &NttTable<W>, row: &mut [W]);

    /// Evaluations to coefficients, in place, including the factor `1/n`.
    fn ntt_inverse(&self, t: &NttTable<W>, row: &mut [W]);

    /// `a += b`.
    fn add_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]);

    /// `a -= b`.
    fn sub_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]);

    /// `a = -a`.
    fn neg_assign(&self, m: &Modulus<W>, a: &mut [W]);

    /// `a *= b`.
    fn mul_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W]);

    /// `a *= s`; `a` may hold any words.
    fn mul_scalar_assign(&self, m: &Modulus<W>, a: &mut [W], s: &Shoup<W>);

    /// `acc += a s`; `a` may hold any words.
    fn mul_scalar_add_assign(&self, m: &Modulus<W>, acc: &mut [W], a: &[W], s: &Shoup<W>);

    /// `acc += sum_j terms[j] * scalars[j]`, for any number of terms.
    fn add_multiples(&self, m: &Modulus<W>, acc: &mut [W], terms: &[&[W]], scalars: &[Shoup<W>]) {
        debug_assert_eq!(terms.len(), scalars.len());
        // Words of the sum that all terms are added to before the next ones have their turn: they stay in a cache.
        let block = 2048;
        for (start, acc) in (0..).step_by(block).zip(acc.chunks_mut(block)) {
            for (x, s) in terms.iter().zip(scalars) {
                self.mul_scalar_add_assign(m, acc, &x[start..start + acc.len()], s);
            }
        }
    }

    /// `a = (a - b) s`.
    fn sub_mul_scalar_assign(&self, m: &Modulus<W>, a: &mut [W], b: &[W], s: &Shoup<W>);

    /// `out = [accumulate: out +] sum_j lhs[j] * rhs[j]`, for any number of terms.
    fn inner_product(&self, m: &Modulus<W>, out: &mut [W], lhs: &[&[W]], rhs: &[&[W]], accumulate: bool);

    /// For every product `out[c] = [accumulate: out[c] +] sum_j lhs[j] * key[j][c]`. Products that
    /// have a key, or rows of their left sides, in common read these from memory once.
    fn key_products(&self, m: &Modulus<W>, products: &mut [KeyProduct<'_, W>], accumulate: bool);

    /// One of the [`key_products`](Self::key_products), by a key of whole rows, shape `[lhs.len()][2][n]`.
    fn key_product(
        &self,
        m: &Modulus<W>,
        out0: &mut [W],
        out1: &mut [W],
        lhs: &[&[W]],
        key: &[W],
        accumulate: bool,
    ) {
        let key = KeyRows::new(key, out0.len(), lhs.len());
        let lhs = LeftRows::whole(lhs);
        self.key_products(m, &mut [KeyProduct { out: [out0, out1], lhs, key }], accumulate);
    }

    /// `out[j] = x[perm[j]]`, for any length of `x`. Panics when `perm` holds an index outside `x`.
    fn permute(&self, out: &mut [W], x: &[W], perm: &[u32]);

    /// Puts `x[perm[j] - origin]`, for all j, where [`row_to_lines`] puts row `place.0` of `place.1`; the number of
    /// words is a power of two. Panics when `perm` leads outside `x`.
    fn permute_to_lines(&self, out: &mut [W], place: (usize, usize), x: &[W], perm: &[u32], origin: u32);

    /// `out[j] += x[perm[j]]`, for any length of `x`. Panics when `perm` holds an index outside `x`.
    fn permute_add_assign(&self, m: &Modulus<W>, out: &mut [W], x: &[W], perm: &[u32]);

    /// `out = x mod to`, where the residues `x` modulo `from` stand for integers in `(-from/2, from/2]`.
    fn lift_centered(&self, from: &Modulus<W>, to: &Modulus<W>, out: &mut [W], x: &[W]);

    /// `v = floor(sum_i ys[i] * inv_d[i] + 1/2)`: how many times the product `D` of the moduli `d_i`
    /// is contained in the sum of `y_i D / d_i`, where `y_i = [x (D/d_i)^-1]` modulo `d_i` and `inv_d[i] = 1/d_i`.
    ///
    /// The sum is taken in `f64` in the order `i = 0, 1, …`, without fused operations, in every backend.
    /// Words of `ys` are below `2^MAX_MODULUS_BITS` and the sum below `2^31`.
    fn crt_overflow(&self, v: &mut [W], ys: &[&[W]], inv_d: &[f64]);

    /// `out = sum_i ys[i] * w[i] - v * d` modulo `to`, with `w[i] = D/d_i mod to` and `d = D mod to`.
    /// Words of `ys` and `v` are below `2^MAX_MODULUS_BITS`, and may exceed `to`.
    fn crt_combine(&self, to: &Modulus<W>, out: &mut [W], ys: &[&[W]], w: &[Shoup<W>], v: &[W], d: &Shoup<W>);

    /// `out = x mod p` for signed integers `|x| < 2^62`.
    fn reduce_i64(&self, m: &Modulus<W>, out: &mut [W], x: &[i64]);
}
