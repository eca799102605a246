//! Products of rows modulo a prime below 2^50: single ones in `f64`, sums of them in halves. In a sum each factor is cut in two, and the
//! four products of halves are summed separately, two words an instruction.
//!
//! The left factor is cut into 25 and 25 bits, the right one into 32 and 18, as it lies in memory. The largest product of halves is
//! below 2^57, so that 62 of each, and a residue to begin with, are below 2^63. The sum of all four, each at its place, is below
//! 2^106; its two halves are reduced in double precision.

use crate::arith::Modulus;
use crate::arith::kernels::butterfly::Butterfly;
use crate::arith::kernels::{
    KeyProduct, key_products,
    products::{self, Sums},
    reals::{Factor, Residues, fits},
};
use crate::arith::simd::neon::{neon, reals::Pairs, words32::halves};
use crate::arith::simd::scalar::Scalar;
use crate::arith::simd::vector::{OnLanes, registers};
use core::arch::aarch64::*;

/// Bits of the low half of a left factor.
const CUT: i32 = 25;
/// Bits of each half of a sum: what `f64` holds exactly.
const HALF: i32 = 53;
/// Products that a sum holds beside a residue.
const ROOM: usize = 62;

/// `a *= b`, in `f64`.
#[inline(always)]
pub(crate) fn mul_assign(v: Scalar<u64>, m: &Modulus<u64>, a: &mut [u64], b: &[u64]) {
    if fits(m) {
        products::mul_assign_by(Residues::new(Pairs, m), m, a, b);
    } else {
        products::mul_assign(v, m, a, b);
    }
}

/// `out = [accumulate: out +] sum_j lhs[j] * rhs[j]`.
#[inline(always)]
pub(crate) fn inner_product(
    v: Scalar<u64>,
    m: &Modulus<u64>,
    out: &mut [u64],
    lhs: &[&[u64]],
    rhs: &[&[u64]],
    accumulate: bool,
) {
    if fits(m) {
        products::inner_product_by(Halves::new(m), m, out, lhs, rhs, accumulate);
    } else {
        products::inner_product(v, m, out, lhs, rhs, accumulate);
    }
}

/// The sums of products of left sides with the first and the second rows of their keys.
#[inline(always)]
pub(crate) fn key_products(
    v: Scalar<u64>,
    m: &Modulus<u64>,
    products: &mut [KeyProduct<'_, u64>],
    accumulate: bool,
) {
    if fits(m) {
        key_products::key_products_by(Halves::new(m), m, products, accumulate);
    } else {
        key_products::key_products(v, m, products, accumulate);
    }
}

/// Four words, each in two halves.
#[derive(Clone, Copy)]
struct Lanes;

/// Arithmetic modulo one prime.
#[derive(Clone, Copy)]
struct Halves {
    reals: Residues<Pairs>,
    /// 2^53 modulo p.
    high: Factor<Pairs>,
}

/// Four words: their low and their high 32 bits.
type Words = uint32x4x2_t;

/// Four sums: of the first two words, and of the others.
type Sum = [uint64x2_t; 2];

/// `low + 2^25 left + 2^32 right + 2^57 both`: sums of the products of low halves, of the high half of the left factor and the low
/// one of the right, of the low half of the left and the high one of the right, and of high halves.
#[derive(Clone, Copy)]
struct Acc {
    low: Sum,
    left: Sum,
    right: Sum,
    both: Sum,
}

impl Halves {
    #[inline(always)]
    fn new(m: &Modulus<u64>) -> Self {
        let reals = Residues::new(Pairs, m);
        Self { reals, high: reals.factor(&m.shoup(m.reduce_u64(1 << HALF))) }
    }
}

#[inline(always)]
fn widened(x: uint32x4_t) -> Sum {
    neon!([vmovl_u32(vget_low_u32(x)), vmovl_high_u32(x)])
}

#[inline(always)]
fn mul_add(sum: Sum, a: uint32x4_t, b: uint32x4_t) -> Sum {
    neon!([vmlal_u32(sum[0], vget_low_u32(a), vget_low_u32(b)), vmlal_high_u32(sum[1], a, b)])
}

registers! {
    Lanes: [u64; 4] as Words,
    |from| neon!(vld2q_u32(from.as_ptr().cast())),
    |to, x| neon!(vst2q_u32(to.as_mut_ptr().cast(), x))
}

impl OnLanes for Halves {
    type Lanes = Lanes;

    #[inline(always)]
    fn lanes(self) -> Lanes {
        Lanes
    }
}

impl Sums for Halves {
    type Acc = Acc;

    // The sums of a pack for both rows of a key take half of the registers.
    const PACKS: usize = 1;

    #[inline(always)]
    fn zero(self) -> Acc {
        neon!({
            let zero = [vdupq_n_u64(0); 2];
            Acc { low: zero, left: zero, right: zero, both: zero }
        })
    }
    #[inline(always)]
    fn of(self, x: Words) -> Acc {
        Acc { low: widened(x.0), right: widened(x.1), ..self.zero() }
    }
    #[inline(always)]
    fn mul_add(self, acc: Acc, a: Words, b: Words) -> Acc {
        neon!({
            let low = vandq_u32(a.0, vdupq_n_u32((1 << CUT) - 1));
            let high = vsliq_n_u32::<{ 32 - CUT }>(vshrq_n_u32::<CUT>(a.0), a.1);
            Acc {
                low: mul_add(acc.low, low, b.0),
                left: mul_add(acc.left, high, b.0),
                right: mul_add(acc.right, low, b.1),
                both: mul_add(acc.both, high, b.1),
            }
        })
    }
    #[inline(always)]
    fn residue(self, acc: Acc) -> Words {
        neon!({
            let cut = |i: usize| {
                // All but `both` is 2^25 times `middle`, plus the low 25 bits of `acc.low`.
                let middle = vaddq_u64(acc.left[i], vshlq_n_u64::<{ 32 - CUT }>(acc.right[i]));
                let middle = vsraq_n_u64::<CUT>(middle, acc.low[i]);
                let low = vsliq_n_u64::<CUT>(acc.low[i], middle);
                let low = vandq_u64(low, vdupq_n_u64((1 << HALF) - 1));
                let high = vshlq_n_u64::<{ 32 + CUT - HALF }>(acc.both[i]);
                (low, vsraq_n_u64::<{ HALF - CUT }>(high, middle))
            };
            let (first, second) = (cut(0), cut(1));
            let low = self.reals.settle([vcvtq_f64_u64(first.0), vcvtq_f64_u64(second.0)]);
            let high = self.reals.mul([vcvtq_f64_u64(first.1), vcvtq_f64_u64(second.1)], &self.high);
            let [x, y] = self.reals.leave([vaddq_f64(low[0], high[0]), vaddq_f64(low[1], high[1])]);
            let (low, high) = halves(vreinterpretq_u64_f64(x), vreinterpretq_u64_f64(y));
            uint32x4x2_t(low, high)
        })
    }
    #[inline(always)]
    fn room(self) -> usize {
        ROOM
    }
}
