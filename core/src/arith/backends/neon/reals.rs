//! Transforms and products modulo a prime below 2^50 in double precision with fused multiply-add, four words in two registers.
//!
//! Residues are signed integers of at most 2^53, which `f64` holds exactly. The operations are those of AVX2, whose module says why no
//! rounding here matters: `a w` is the sum of its rounding and the rounding error, and a multiple of p is subtracted from it. The error
//! has the other sign here, as the fused operation subtracts the product.

use crate::arith::kernels::{
    butterfly::Butterfly,
    ntt,
    products::{self, Sums},
};
use crate::arith::ntt::{Factors, REAL_BITS, Twiddles};
use crate::arith::simd::{neon::neon, scalar::Scalar};
use crate::arith::{Modulus, NttTable, Shoup};
use core::arch::aarch64::*;

/// Four words.
pub(super) type Pair = [float64x2_t; 2];

/// Natural to bit-reversed order.
#[inline(always)]
pub(crate) fn forward(v: Scalar<u64>, t: &NttTable<u64>, row: &mut [u64]) {
    if t.forward().real().is_some() {
        ntt::transform::<8, _, true>(Reals::new(t.modulus()), t, row, |_| ());
    } else {
        ntt::forward::<8, _>(v, t, row);
    }
}

/// Bit-reversed to natural order, times `1/n`.
#[inline(always)]
pub(crate) fn inverse(v: Scalar<u64>, t: &NttTable<u64>, row: &mut [u64]) {
    if t.inverse().real().is_some() {
        ntt::transform::<8, _, false>(Reals::new(t.modulus()), t, row, |_| ());
    } else {
        ntt::inverse::<8, _>(v, t, row);
    }
}

/// `a *= b`.
#[inline(always)]
pub(crate) fn mul_assign(v: Scalar<u64>, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
    if fits(m) {
        products::mul_assign_by(Reals::new(m), m, a, b);
    } else {
        products::mul_assign(v, m, a, b);
    }
}

/// Whether the prime is small enough.
pub(super) fn fits(m: &Modulus<u64>) -> bool {
    m.value_u64() >> REAL_BITS == 0
}

/// Arithmetic modulo one prime.
#[derive(Clone, Copy)]
pub(super) struct Reals {
    p: float64x2_t,
    inverse: float64x2_t,
}

/// `w`, at most `p/2` in size, and `w/p`.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    value: Pair,
    ratio: Pair,
}

/// `f(0)` and `f(1)`, for the two registers.
#[inline(always)]
fn both(f: impl Fn(usize) -> float64x2_t) -> Pair {
    [f(0), f(1)]
}

#[inline(always)]
fn splat(x: f64) -> Pair {
    neon!([vdupq_n_f64(x); 2])
}

impl Reals {
    #[inline(always)]
    pub(super) fn new(m: &Modulus<u64>) -> Self {
        neon!({
            let p = m.value_u64() as f64;
            Self { p: vdupq_n_f64(p), inverse: vdupq_n_f64(1.0 / p) }
        })
    }

    /// `a w`, not far from `[-p, p]`.
    #[inline(always)]
    pub(super) fn mul(self, a: Pair, w: &Factor) -> Pair {
        neon!({
            both(|i| {
                let high = vmulq_f64(a[i], w.value[i]);
                let error = vfmsq_f64(high, a[i], w.value[i]);
                let quotient = vrndnq_f64(vmulq_f64(a[i], w.ratio[i]));
                vsubq_f64(vfmsq_f64(high, quotient, self.p), error)
            })
        })
    }
}

impl Butterfly<8> for Reals {
    type Word = u64;
    type Pack = [u64; 4];
    type Reg = Pair;
    type Factor = Factor;

    const LANES: usize = 4;
    const SQUARE: usize = 4;

    #[inline(always)]
    fn load(self, from: &[u64; 4]) -> Pair {
        neon!(both(|i| vld1q_f64(from.as_ptr().cast::<f64>().add(2 * i))))
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4], x: Pair) {
        neon!({
            let to = to.as_mut_ptr().cast::<f64>();
            vst1q_f64(to, x[0]);
            vst1q_f64(to.add(2), x[1]);
        });
    }
    #[inline(always)]
    fn tables(self, w: &Twiddles<u64>) -> Option<[&Factors<u64>; 2]> {
        w.real()
    }
    #[inline(always)]
    fn enter(self, x: Pair) -> Pair {
        neon!(both(|i| vcvtq_f64_u64(vreinterpretq_u64_f64(x[i]))))
    }
    #[inline(always)]
    fn leave(self, x: Pair) -> Pair {
        neon!({
            let x = self.settle(x);
            both(|i| {
                let negative = vcltzq_f64(x[i]);
                let correction = vandq_u64(negative, vreinterpretq_u64_f64(self.p));
                vreinterpretq_f64_u64(vcvtq_u64_f64(vaddq_f64(x[i], vreinterpretq_f64_u64(correction))))
            })
        })
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u64>) -> Factor {
        neon!({
            // At most p/2 in size, exactly; the division rounds once.
            let p = vgetq_lane_f64::<0>(self.p);
            let value = w.value as f64;
            let value = if value > p * 0.5 { value - p } else { value };
            Factor { value: splat(value), ratio: splat(value / p) }
        })
    }
    #[inline(always)]
    fn broadcast(self, w: &Factors<u64>, index: usize) -> Factor {
        let w = w.get(index);
        Factor { value: splat(f64::from_bits(w.value)), ratio: splat(f64::from_bits(w.quotient)) }
    }
    #[inline(always)]
    fn consecutive(self, w: &Factors<u64>, run: usize) -> Factor {
        Factor {
            value: Butterfly::load(self, &w.values.as_chunks().0[run]),
            ratio: Butterfly::load(self, &w.quotients.as_chunks().0[run]),
        }
    }
    #[inline(always)]
    fn settle(self, x: Pair) -> Pair {
        neon!(both(|i| vfmsq_f64(x[i], vrndnq_f64(vmulq_f64(x[i], self.inverse)), self.p)))
    }
    #[inline(always)]
    fn scale(self, x: Pair, w: &Factor) -> Pair {
        self.leave(self.mul(x, w))
    }
    #[inline(always)]
    fn forward(self, w: &Factor, (x, y): (Pair, Pair)) -> (Pair, Pair) {
        self.sum_and_difference((x, self.mul(y, w)))
    }
    #[inline(always)]
    fn inverse(self, w: &Factor, pair: (Pair, Pair)) -> (Pair, Pair) {
        let (sum, difference) = self.sum_and_difference(pair);
        (sum, self.mul(difference, w))
    }
    #[inline(always)]
    fn sum_and_difference(self, (x, y): (Pair, Pair)) -> (Pair, Pair) {
        neon!((both(|i| vaddq_f64(x[i], y[i])), both(|i| vsubq_f64(x[i], y[i]))))
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d, e, f, g, h]: [Pair; 8]) -> [Pair; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
        [a, b, c, d, e, f, g, h]
    }
}

#[inline(always)]
fn transpose([a, b, c, d]: [Pair; 4]) -> [Pair; 4] {
    neon!({
        [
            [vtrn1q_f64(a[0], b[0]), vtrn1q_f64(c[0], d[0])],
            [vtrn2q_f64(a[0], b[0]), vtrn2q_f64(c[0], d[0])],
            [vtrn1q_f64(a[1], b[1]), vtrn1q_f64(c[1], d[1])],
            [vtrn2q_f64(a[1], b[1]), vtrn2q_f64(c[1], d[1])],
        ]
    })
}

impl Sums for Reals {
    type Word = u64;
    type Pack = [u64; 4];
    type Reg = Pair;
    type Acc = Pair;

    const LANES: usize = 4;

    #[inline(always)]
    fn load(self, from: &[u64; 4]) -> Pair {
        Butterfly::load(self, from)
    }
    #[inline(always)]
    fn store(self, to: &mut [u64; 4], x: Pair) {
        Butterfly::store(self, to, x);
    }
    #[inline(always)]
    fn zero(self) -> Pair {
        splat(0.0)
    }
    #[inline(always)]
    fn of(self, x: Pair) -> Pair {
        self.enter(x)
    }
    #[inline(always)]
    fn mul_add(self, acc: Pair, a: Pair, b: Pair) -> Pair {
        neon!({
            let (a, b) = (self.enter(a), self.enter(b));
            both(|i| {
                let high = vmulq_f64(a[i], b[i]);
                let error = vfmsq_f64(high, a[i], b[i]);
                let quotient = vrndnq_f64(vmulq_f64(high, self.inverse));
                vaddq_f64(acc[i], vsubq_f64(vfmsq_f64(high, quotient, self.p), error))
            })
        })
    }
    #[inline(always)]
    fn residue(self, acc: Pair) -> Pair {
        self.leave(acc)
    }
    #[inline(always)]
    fn shrink(self, acc: Pair) -> Pair {
        self.settle(acc)
    }
    #[inline(always)]
    fn room(self) -> usize {
        8
    }
}
