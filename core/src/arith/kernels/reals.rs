//! Transforms and products modulo a prime below 2^50 in double precision with fused multiply-add.
//!
//! Residues are signed integers of at most 2^53, which `f64` holds exactly. The product `a w` is the sum of its rounding `h`
//! and the rounding error, which one fused operation gives. With `q` the integer next to `a (w/p)`, both `h - q p` and its
//! sum with the error are integers below 2^53, hence exact, whatever `q` is; a rounded `q` only makes the remainder larger.
//! If `|w| <= p/2`, the ratio `w/p` is rounded once and `|a| <= k p`, the remainder is at most `(1/2 + k/8) p`.
//!
//! Two forward stages take words of at most `b p` to words of at most `(1.6 + 0.27 b) p`, where the first of four words is
//! brought to `p/2` before them: at most `2.2 p` in all. In two stages of the inverse, a word of at most `b p` takes part in
//! sums of four, at most `4 b p`. These are brought to `p/2` or multiplied (at most `(1/2 + b/2) p`), and sums of two products
//! are at most `(1 + b/2) p`: with `b <= 2` never more than `8 p`.
//!
//! In sums of products both factors vary, and `q` comes from `h/p`, by a rounded `1/p`. Three roundings make the
//! remainder at most `7/8 p`, so eight remainders and a residue add up to less than `8 p`.

use super::{butterfly::Butterfly, ntt, products::Sums};
use crate::arith::ntt::{Factors, REAL_BITS, Twiddles};
use crate::arith::simd::vector::{OnLanes, Reals, Registers, Transpose};
use crate::arith::{Modulus, NttTable, Shoup};

/// Natural to bit-reversed order, by `F` where the prime is small enough.
#[inline(always)]
pub(crate) fn forward<const R: usize, F: Reals + From<V>, V: Transpose<R, Word = u64>>(
    v: V,
    t: &NttTable<u64>,
    row: &mut [u64],
) {
    if t.forward().real().is_some() {
        ntt::transform::<8, _, true>(Residues::<F>::new(v.into(), t.modulus()), t, row, |_| ());
    } else {
        ntt::forward::<R, _>(v, t, row);
    }
}

/// Bit-reversed to natural order, times `1/n`, by `F` where the prime is small enough.
#[inline(always)]
pub(crate) fn inverse<const R: usize, F: Reals + From<V>, V: Transpose<R, Word = u64>>(
    v: V,
    t: &NttTable<u64>,
    row: &mut [u64],
) {
    if t.inverse().real().is_some() {
        ntt::transform::<8, _, false>(Residues::<F>::new(v.into(), t.modulus()), t, row, |_| ());
    } else {
        ntt::inverse::<R, _>(v, t, row);
    }
}

/// Whether the prime is small enough.
pub(crate) fn fits(m: &Modulus<u64>) -> bool {
    m.value_u64() >> REAL_BITS == 0
}

/// Arithmetic modulo one prime.
#[derive(Clone, Copy)]
pub(crate) struct Residues<F: Reals> {
    reals: F,
    prime: f64,
    p: F::Reg,
    inverse: F::Reg,
}

/// `w`, at most `p/2` in size, and `w/p`.
#[derive(Clone, Copy)]
pub(crate) struct Factor<F: Reals> {
    value: F::Reg,
    ratio: F::Reg,
}

impl<F: Reals> Residues<F> {
    #[inline(always)]
    pub(crate) fn new(reals: F, m: &Modulus<u64>) -> Self {
        let prime = m.value_u64() as f64;
        Self { reals, prime, p: reals.splat(prime), inverse: reals.splat(1.0 / prime) }
    }

    /// `a w`, not far from `[-p, p]`.
    #[inline(always)]
    pub(crate) fn mul(self, a: F::Reg, w: &Factor<F>) -> F::Reg {
        let v = self.reals;
        v.remainder(v.mul(a, w.value), (a, w.value), v.round(v.mul(a, w.ratio)), self.p)
    }
}

impl<F: Reals> OnLanes for Residues<F> {
    type Lanes = F;

    #[inline(always)]
    fn lanes(self) -> F {
        self.reals
    }
}

impl<F: Reals> Butterfly<8> for Residues<F> {
    type Factor = Factor<F>;

    const SQUARE: usize = 4;

    #[inline(always)]
    fn tables(self, w: &Twiddles<u64>) -> Option<[&Factors<u64>; 2]> {
        w.real()
    }
    #[inline(always)]
    fn enter(self, x: F::Reg) -> F::Reg {
        self.reals.of_words(x)
    }
    #[inline(always)]
    fn leave(self, x: F::Reg) -> F::Reg {
        self.reals.to_words(self.settle(x), self.p)
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor<F> {
        // At most p/2 in size, exactly; the division rounds once.
        let value = w.value as f64;
        let value = if value > self.prime * 0.5 { value - self.prime } else { value };
        Factor { value: self.reals.splat(value), ratio: self.reals.splat(value / self.prime) }
    }
    #[inline(always)]
    fn broadcast(self, w: &Factors<u64>, index: usize) -> Factor<F> {
        let w = w.get(index);
        Factor {
            value: self.reals.splat(f64::from_bits(w.value)),
            ratio: self.reals.splat(f64::from_bits(w.quotient)),
        }
    }
    #[inline(always)]
    fn consecutive(self, w: &Factors<u64>, run: usize) -> Factor<F> {
        Factor {
            value: self.load(&self.packs(&w.values).0[run]),
            ratio: self.load(&self.packs(&w.quotients).0[run]),
        }
    }
    #[inline(always)]
    fn settle(self, x: F::Reg) -> F::Reg {
        let v = self.reals;
        v.sub_mul(x, v.round(v.mul(x, self.inverse)), self.p)
    }
    #[inline(always)]
    fn scale(self, x: F::Reg, w: &Factor<F>) -> F::Reg {
        self.leave(self.mul(x, w))
    }
    #[inline(always)]
    fn forward(self, w: &Factor<F>, (x, y): (F::Reg, F::Reg)) -> (F::Reg, F::Reg) {
        self.sum_and_difference((x, self.mul(y, w)))
    }
    #[inline(always)]
    fn inverse(self, w: &Factor<F>, pair: (F::Reg, F::Reg)) -> (F::Reg, F::Reg) {
        let (sum, difference) = self.sum_and_difference(pair);
        (sum, self.mul(difference, w))
    }
    #[inline(always)]
    fn sum_and_difference(self, (x, y): (F::Reg, F::Reg)) -> (F::Reg, F::Reg) {
        (self.reals.add(x, y), self.reals.sub(x, y))
    }
    #[inline(always)]
    fn transpose(self, tile: [F::Reg; 8]) -> [F::Reg; 8] {
        self.reals.transpose(tile)
    }
}

impl<F: Reals> Sums for Residues<F> {
    type Acc = F::Reg;

    #[inline(always)]
    fn zero(self) -> F::Reg {
        self.reals.splat(0.0)
    }
    #[inline(always)]
    fn of(self, x: F::Reg) -> F::Reg {
        self.enter(x)
    }
    #[inline(always)]
    fn mul_add(self, acc: F::Reg, a: F::Reg, b: F::Reg) -> F::Reg {
        let v = self.reals;
        let (a, b) = (self.enter(a), self.enter(b));
        let high = v.mul(a, b);
        v.add(acc, v.remainder(high, (a, b), v.round(v.mul(high, self.inverse)), self.p))
    }
    #[inline(always)]
    fn residue(self, acc: F::Reg) -> F::Reg {
        self.leave(acc)
    }
    #[inline(always)]
    fn shrink(self, acc: F::Reg) -> F::Reg {
        self.settle(acc)
    }
    #[inline(always)]
    fn room(self) -> usize {
        8
    }
}
