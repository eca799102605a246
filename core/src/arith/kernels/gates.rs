//! The row operations of DM/CGGI, with the kernels for digits of an accumulator that is being turned and for
//! sums of rows of a key-switching key.

pub use super::gate_product::{product_fits, rough_bound};
pub use super::unrolled_product::{PAIR_KEYS, TURN_RUN, Turns, unrolled_fits};
use crate::arith::simd::{scalar::Scalar, vector::Vector};
use crate::arith::{MachineWord, Modulus, NttTable};

/// The row operations of DM/CGGI of one backend.
///
/// Rows are residues in `[0, p)`, on input and on output. All backends give the same words, bit for bit.
pub trait GateKernels<W: MachineWord>: Send + Sync {
    /// Name of the backend, as in [`Kernels`](super::Kernels).
    fn name(&self) -> &'static str;

    /// Tells the caches that the words will be read soon; nothing else happens.
    fn prefetch(&self, words: &[W]);

    /// The digits of `x`, `[digit][n]`, as residues.
    fn digits(&self, cut: &DigitCut<W>, out: &mut [W], x: &[W]);

    /// The digits of `(X^exponent - 1) x` modulo `X^n + 1`, `[digit][n]`, as residues. `mirrored` is `x`,
    /// `-x` and `x` again, `3n` words; the exponent is at most `2n`.
    fn turned_digits(&self, cut: &DigitCut<W>, out: &mut [W], mirrored: &[W], exponent: usize);

    /// `x += y`, where `mirrored` is `x`, `-x` and `x` again.
    fn add_mirrored(&self, m: &Modulus<W>, mirrored: &mut [W], y: &[W]);

    /// Coefficients to evaluations up to multiples of `p`: words of at most [`rough_bound`], below `2^BITS`. Only for
    /// primes that have such a bound.
    fn ntt_forward_rough(&self, t: &NttTable<W>, row: &mut [W]);

    /// As [`ntt_forward_rough`](Self::ntt_forward_rough), or without `rough` as `Kernels::ntt_forward`, but to
    /// evaluations in the backend's own order. Meanwhile the words of `near` are prefetched.
    fn evaluate(&self, t: &NttTable<W>, row: &mut [W], rough: bool, near: &[W]);

    /// Residues in the backend's own order of evaluations to coefficients. Meanwhile the words of `near` are prefetched.
    fn interpolate(&self, t: &NttTable<W>, row: &mut [W], near: &[W]);

    /// Evaluations in bit-reversed order to the backend's own order.
    fn reorder(&self, t: &NttTable<W>, row: &mut [W]);

    /// Brings a key, `[terms][columns][n]` residues in evaluation domain, `rows = terms columns`, into the form that
    /// [`gate_product`](Self::gate_product) reads; `n` is a multiple of 16, `columns` 1 or 2.
    fn prepare_key(&self, m: &Modulus<W>, out: &mut [W], key: &[W], rows: usize);

    /// `out[i] = sum_j rows[j] key[j][i]` for each of the key's columns, 1 or 2: `rows` is `[terms][n]`, residues or, if
    /// `rough`, outputs of [`ntt_forward_rough`](Self::ntt_forward_rough); `key` is prepared. [`product_fits`] says for
    /// how many terms.
    fn gate_product(&self, m: &Modulus<W>, out: &mut [&mut [W]], rows: &[W], key: &[W], rough: bool);

    /// Brings the keys of a pair of coordinates, `[4][terms][2][n]` residues in the backend's own order, into the form
    /// that [`unrolled_product`](Self::unrolled_product) reads.
    fn prepare_unrolled(&self, m: &Modulus<W>, n: usize, out: &mut [W], key: &[W]);

    /// `out[i] = sum_j rows[j] (K0[j][i] + X^e1 K1[j][i] + X^e2 K2[j][i] + X^(e1 + e2) K3[j][i])`: `rows` is
    /// `[terms][n]` as of [`gate_product`](Self::gate_product), the four keys are prepared, and the powers of X are `turns`
    /// in the same order as rows and keys. [`unrolled_fits`] says for how many terms.
    fn unrolled_product(
        &self,
        m: &Modulus<W>,
        out: [&mut [W]; 2],
        rows: &[W],
        key: &[W],
        turns: &Turns<W>,
        rough: bool,
    );

    /// `sum += factor row` modulo 2^16 for each of the `chosen` rows (number and factor) of the matrix `rows`, which is as
    /// wide as `sum`. Panics for a row that is not there.
    fn add_rows_narrow(&self, sum: &mut [u16], rows: &[u16], chosen: &[(u32, i16)]);

    /// `sum += factor row` modulo 2^32 for each of the `chosen` rows (number and factor) of the matrix `rows`, which is as
    /// wide as `sum`. Panics for a row that is not there.
    fn add_rows_wide(&self, sum: &mut [u32], rows: &[u32], chosen: &[(u32, i16)]);
}

/// How digits are cut from a residue `x`: digit `k` is
/// `((x' + bias) >> (drop + k base_log)) mod 2^base_log - 2^(base_log - 1)` with `x'` the residue of `x + half`;
/// the last digit takes all the bits above.
#[derive(Debug, Clone, Copy)]
pub struct DigitCut<W> {
    /// The modulus `p`.
    pub p: W,
    /// `floor(p / 2)`.
    pub half: W,
    /// Added before cutting; the sum fits a word.
    pub bias: W,
    /// Bits below the lowest digit.
    pub drop: u32,
    /// Bits of a digit.
    pub base_log: u32,
    /// Number of digits.
    pub digits: usize,
}

/// The constants in every lane.
#[derive(Clone, Copy)]
struct Constants<V: Vector> {
    v: V,
    p: V::Reg,
    half: V::Reg,
    bias: V::Reg,
    half_base: V::Reg,
}

impl<V: Vector> Constants<V> {
    #[inline(always)]
    fn new(v: V, cut: &DigitCut<V::Word>) -> Self {
        let half_base = V::Word::from_u64(1 << (cut.base_log - 1));
        Self {
            v,
            p: v.splat(cut.p),
            half: v.splat(cut.half),
            bias: v.splat(cut.bias),
            half_base: v.splat(half_base),
        }
    }

    /// The number that digits are cut from.
    #[inline(always)]
    fn biased(self, x: V::Reg) -> V::Reg {
        let v = self.v;
        v.add(v.reduce_once(v.add(x, self.half), self.p), self.bias)
    }

    #[inline(always)]
    fn digit(self, biased: V::Reg, (shift, mask): (u32, V::Reg)) -> V::Reg {
        let v = self.v;
        v.correct(v.sub(v.and(v.shift_right(biased, shift), mask), self.half_base), self.p)
    }

    /// Shift and mask of digit `k`.
    #[inline(always)]
    fn place(self, cut: &DigitCut<V::Word>, k: usize) -> (u32, V::Reg) {
        let all = u64::MAX >> (64 - V::Word::BITS);
        let mask = if k + 1 == cut.digits { all } else { (1 << cut.base_log) - 1 };
        (cut.drop + k as u32 * cut.base_log, self.v.splat(V::Word::from_u64(mask)))
    }
}

/// The digits of `x - y`, or of `x` alone: one or two digits at a time.
#[inline(always)]
fn cut_digits<V: Vector, const DIFFERENCE: bool>(
    v: V,
    cut: &DigitCut<V::Word>,
    out: &mut [V::Word],
    x: &[V::Word],
    y: &[V::Word],
) {
    let n = x.len();
    debug_assert!(out.len() == cut.digits * n && y.len() == n);
    let c = Constants::new(v, cut);
    for (pair, out) in out.chunks_mut(2 * n).enumerate() {
        let (low, high) = out.split_at_mut(n);
        let first = c.place(cut, 2 * pair);
        let second = c.place(cut, 2 * pair + 1);
        let ((low, low_rest), (x, x_rest), (y, y_rest)) = (v.packs_mut(low), v.packs(x), v.packs(y));
        if high.is_empty() {
            for ((low, x), y) in low.iter_mut().zip(x).zip(y) {
                let x = v.load(x);
                let biased = c.biased(if DIFFERENCE { v.correct(v.sub(x, v.load(y)), c.p) } else { x });
                v.store(low, c.digit(biased, first));
            }
        } else {
            let (high, high_rest) = v.packs_mut(high);
            for (((low, high), x), y) in low.iter_mut().zip(high).zip(x).zip(y) {
                let x = v.load(x);
                let biased = c.biased(if DIFFERENCE { v.correct(v.sub(x, v.load(y)), c.p) } else { x });
                v.store(low, c.digit(biased, first));
                v.store(high, c.digit(biased, second));
            }
            if V::LANES > 1 {
                rest::<V, DIFFERENCE>(cut, 2 * pair + 1, high_rest, x_rest, y_rest);
            }
        }
        if V::LANES > 1 {
            rest::<V, DIFFERENCE>(cut, 2 * pair, low_rest, x_rest, y_rest);
        }
    }
}

/// Digit `k` of the words left over.
#[inline(always)]
fn rest<V: Vector, const DIFFERENCE: bool>(
    cut: &DigitCut<V::Word>,
    k: usize,
    out: &mut [V::Word],
    x: &[V::Word],
    y: &[V::Word],
) {
    let c = Constants::new(Scalar::<V::Word>::new(), cut);
    let place = c.place(cut, k);
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        let x = if DIFFERENCE { c.v.correct(c.v.sub(x, y), c.p) } else { x };
        *out = c.digit(c.biased(x), place);
    }
}

/// See [`GateKernels::digits`].
#[inline(always)]
pub(crate) fn digits<V: Vector>(v: V, cut: &DigitCut<V::Word>, out: &mut [V::Word], x: &[V::Word]) {
    cut_digits::<V, false>(v, cut, out, x, x);
}

/// See [`GateKernels::turned_digits`].
#[inline(always)]
pub(crate) fn turned_digits<V: Vector>(
    v: V,
    cut: &DigitCut<V::Word>,
    out: &mut [V::Word],
    mirrored: &[V::Word],
    exponent: usize,
) {
    let n = mirrored.len() / 3;
    // Coefficient j of X^e x is x_(j - e), or its negative: entry 2n + j - e.
    cut_digits::<V, true>(v, cut, out, &mirrored[2 * n - exponent..][..n], &mirrored[..n]);
}

/// See [`GateKernels::add_mirrored`].
#[inline(always)]
pub(crate) fn add_mirrored<V: Vector>(v: V, m: &Modulus<V::Word>, mirrored: &mut [V::Word], y: &[V::Word]) {
    let p = v.splat(m.value());
    let (first, others) = mirrored.split_at_mut(y.len());
    let (negative, last) = others.split_at_mut(y.len());
    let ((first, first_rest), (negative, negative_rest)) = (v.packs_mut(first), v.packs_mut(negative));
    let ((last, last_rest), (y, y_rest)) = (v.packs_mut(last), v.packs(y));
    for (((first, negative), last), y) in first.iter_mut().zip(negative).zip(last).zip(y) {
        let sum = v.reduce_once(v.add(v.load(first), v.load(y)), p);
        v.store(first, sum);
        v.store(negative, v.reduce_once(v.sub(p, sum), p));
        v.store(last, sum);
    }
    if V::LANES > 1 {
        for (((first, negative), last), &y) in
            first_rest.iter_mut().zip(negative_rest).zip(last_rest).zip(y_rest)
        {
            *first = m.add(*first, y);
            *negative = m.neg(*first);
            *last = *first;
        }
    }
}

/// Rows added in one pass over the sum.
const ROWS: usize = 8;

// The compiler vectorises these loops for the features of the function they are inlined into.
macro_rules! add_rows {
    ($name:ident, $lane:ty) => {
        /// See [`GateKernels`].
        #[inline(always)]
        pub(crate) fn $name<V: Vector>(_v: V, sum: &mut [$lane], rows: &[$lane], chosen: &[(u32, i16)]) {
            let n = sum.len();
            let row = |&(row, factor): &(u32, i16)| (&rows[row as usize * n..][..n], factor as $lane);
            let (groups, rest) = chosen.as_chunks::<ROWS>();
            for group in groups {
                let [(r0, f0), (r1, f1), (r2, f2), (r3, f3), (r4, f4), (r5, f5), (r6, f6), (r7, f7)] =
                    [0, 1, 2, 3, 4, 5, 6, 7].map(|i| row(&group[i]));
                for j in 0..n {
                    let low = r0[j].wrapping_mul(f0).wrapping_add(r1[j].wrapping_mul(f1));
                    let low = low.wrapping_add(r2[j].wrapping_mul(f2)).wrapping_add(r3[j].wrapping_mul(f3));
                    let high = r4[j].wrapping_mul(f4).wrapping_add(r5[j].wrapping_mul(f5));
                    let high = high.wrapping_add(r6[j].wrapping_mul(f6)).wrapping_add(r7[j].wrapping_mul(f7));
                    sum[j] = sum[j].wrapping_add(low.wrapping_add(high));
                }
            }
            for one in rest {
                let (row, factor) = row(one);
                for (sum, &x) in sum.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(x.wrapping_mul(factor));
                }
            }
        }
    };
}

add_rows!(add_rows_narrow, u16);
add_rows!(add_rows_wide, u32);
