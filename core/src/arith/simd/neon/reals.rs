//! Four lanes of `f64`, in two registers.

use crate::arith::simd::{
    scalar::Scalar,
    vector::{Reals, registers},
};
use core::arch::aarch64::*;

/// Vector operations on four `f64`.
#[derive(Clone, Copy)]
pub(in crate::arith) struct Pairs;

impl From<Scalar<u64>> for Pairs {
    #[inline(always)]
    fn from(_: Scalar<u64>) -> Self {
        Self
    }
}

/// Four numbers.
type Pair = [float64x2_t; 2];

registers! {
    Pairs: [u64; 4] as Pair,
    |from| neon!(both(|i| vld1q_f64(from.as_ptr().cast::<f64>().add(2 * i)))),
    |to, x| neon!({
        let to = to.as_mut_ptr().cast::<f64>();
        vst1q_f64(to, x[0]);
        vst1q_f64(to.add(2), x[1]);
    })
}

/// `f(0)` and `f(1)`, for the two registers.
#[inline(always)]
fn both(f: impl Fn(usize) -> float64x2_t) -> Pair {
    [f(0), f(1)]
}

impl Reals for Pairs {
    #[inline(always)]
    fn splat(self, x: f64) -> Pair {
        neon!([vdupq_n_f64(x); 2])
    }
    #[inline(always)]
    fn add(self, a: Pair, b: Pair) -> Pair {
        neon!(both(|i| vaddq_f64(a[i], b[i])))
    }
    #[inline(always)]
    fn sub(self, a: Pair, b: Pair) -> Pair {
        neon!(both(|i| vsubq_f64(a[i], b[i])))
    }
    #[inline(always)]
    fn mul(self, a: Pair, b: Pair) -> Pair {
        neon!(both(|i| vmulq_f64(a[i], b[i])))
    }
    #[inline(always)]
    fn round(self, x: Pair) -> Pair {
        neon!(both(|i| vrndnq_f64(x[i])))
    }
    #[inline(always)]
    fn sub_mul(self, x: Pair, a: Pair, b: Pair) -> Pair {
        neon!(both(|i| vfmsq_f64(x[i], a[i], b[i])))
    }
    #[inline(always)]
    fn remainder(self, high: Pair, (a, b): (Pair, Pair), quotient: Pair, p: Pair) -> Pair {
        // The rounding error has the other sign here: the fused operation subtracts the product.
        neon!(both(|i| vsubq_f64(vfmsq_f64(high[i], quotient[i], p[i]), vfmsq_f64(high[i], a[i], b[i]))))
    }
    #[inline(always)]
    fn of_words(self, x: Pair) -> Pair {
        neon!(both(|i| vcvtq_f64_u64(vreinterpretq_u64_f64(x[i]))))
    }
    #[inline(always)]
    fn to_words(self, x: Pair, p: Pair) -> Pair {
        neon!(both(|i| {
            let correction = vandq_u64(vcltzq_f64(x[i]), vreinterpretq_u64_f64(p[i]));
            vreinterpretq_f64_u64(vcvtq_u64_f64(vaddq_f64(x[i], vreinterpretq_f64_u64(correction))))
        }))
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
