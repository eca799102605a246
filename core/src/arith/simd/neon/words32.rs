//! Four 32-bit lanes.

use super::Neon;
use crate::arith::Shoup;
use crate::arith::simd::vector::{Products, Redc, Registers, Transpose, Vector, registers};
use core::arch::aarch64::*;

/// A Shoup factor.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    value: uint32x4_t,
    quotient: uint32x4_t,
}

/// The double words of the lower and of the upper lanes.
#[derive(Clone, Copy)]
pub(crate) struct Acc {
    low: uint64x2_t,
    high: uint64x2_t,
}

impl Acc {
    /// The low and the high words of the lanes.
    #[inline(always)]
    fn words(self) -> (uint32x4_t, uint32x4_t) {
        halves(self.low, self.high)
    }
}

/// The low and the high words.
#[inline(always)]
pub(in crate::arith) fn halves(a: uint64x2_t, b: uint64x2_t) -> (uint32x4_t, uint32x4_t) {
    neon!({
        let (a, b) = (vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
        (vuzp1q_u32(a, b), vuzp2q_u32(a, b))
    })
}

registers! {
    Neon: [u32; 4] as uint32x4_t,
    |from| neon!(vld1q_u32(from.as_ptr())),
    |to, x| neon!(vst1q_u32(to.as_mut_ptr(), x))
}

impl Vector for Neon {
    type Factor = Factor;

    const LAZY_BITS: u32 = 30;

    #[inline(always)]
    fn splat(self, x: u32) -> uint32x4_t {
        neon!(vdupq_n_u32(x))
    }
    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        neon!(vaddq_u32(a, b))
    }
    #[inline(always)]
    fn sub(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        neon!(vsubq_u32(a, b))
    }
    #[inline(always)]
    fn reduce_once(self, x: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        neon!(vminq_u32(x, vsubq_u32(x, c)))
    }
    #[inline(always)]
    fn correct(self, d: uint32x4_t, c: uint32x4_t) -> uint32x4_t {
        neon!(vminq_u32(d, vaddq_u32(d, c)))
    }
    #[inline(always)]
    fn add_if_greater(self, x: uint32x4_t, bound: uint32x4_t, addend: uint32x4_t) -> uint32x4_t {
        neon!(vaddq_u32(x, vandq_u32(vcgtq_u32(x, bound), addend)))
    }
    #[inline(always)]
    fn shift_right(self, x: uint32x4_t, bits: u32) -> uint32x4_t {
        neon!({
            // To the left by a negative distance: only left shifts take a distance that is not a constant.
            vshlq_u32(x, vdupq_n_s32(-(bits as i32)))
        })
    }
    #[inline(always)]
    fn and(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        neon!(vandq_u32(a, b))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u32>) -> Factor {
        Factor { value: self.splat(w.value), quotient: self.splat(w.quotient) }
    }
    #[inline(always)]
    fn factors(self, value: uint32x4_t, quotient: uint32x4_t) -> Factor {
        Factor { value, quotient }
    }
    #[inline(always)]
    fn mul_lazy(self, a: uint32x4_t, w: &Factor, p: uint32x4_t) -> uint32x4_t {
        neon!({
            let quotient = self.acc_mul_add(self.acc_zero(), a, w.quotient).words().1;
            vmlsq_u32(vmulq_u32(a, w.value), quotient, p)
        })
    }
}

impl Transpose<8> for Neon {
    #[inline(always)]
    fn transpose(self, [a, b, c, d, e, f, g, h]: [uint32x4_t; 8]) -> [uint32x4_t; 8] {
        let ([a, b, c, d], [e, f, g, h]) = (transpose([a, b, c, d]), transpose([e, f, g, h]));
        [a, b, c, d, e, f, g, h]
    }
}

#[inline(always)]
pub(in crate::arith) fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    neon!({
        let (even, odd) = ((vtrn1q_u32(a, b), vtrn2q_u32(a, b)), (vtrn1q_u32(c, d), vtrn2q_u32(c, d)));
        let first =
            |x, y| vreinterpretq_u32_u64(vtrn1q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
        let second =
            |x, y| vreinterpretq_u32_u64(vtrn2q_u64(vreinterpretq_u64_u32(x), vreinterpretq_u64_u32(y)));
        [first(even.0, odd.0), first(even.1, odd.1), second(even.0, odd.0), second(even.1, odd.1)]
    })
}

impl Products for Neon {
    type Acc = Acc;
    type Real = [float64x2_t; 2];

    #[inline(always)]
    fn acc_zero(self) -> Acc {
        neon!(Acc { low: vdupq_n_u64(0), high: vdupq_n_u64(0) })
    }
    #[inline(always)]
    fn acc_from(self, x: uint32x4_t) -> Acc {
        neon!(Acc { low: vmovl_u32(vget_low_u32(x)), high: vmovl_high_u32(x) })
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: Acc, a: uint32x4_t, b: uint32x4_t) -> Acc {
        neon!({
            Acc {
                low: vmlal_u32(acc.low, vget_low_u32(a), vget_low_u32(b)),
                high: vmlal_high_u32(acc.high, a, b),
            }
        })
    }
    #[inline(always)]
    fn acc_split(self, acc: Acc) -> (uint32x4_t, uint32x4_t) {
        acc.words()
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (uint32x4_t, uint32x4_t) {
        neon!({
            let x: &[i64; 4] = &x.as_chunks().0[0];
            let word = |i: usize| (x[i] as u64).wrapping_add(bias);
            let words = [word(0), word(1), word(2), word(3)];
            halves(vld1q_u64(words.as_ptr()), vld1q_u64(words.as_ptr().add(2)))
        })
    }
    #[inline(always)]
    fn real_zero(self) -> [float64x2_t; 2] {
        neon!([vdupq_n_f64(0.0); 2])
    }
    #[inline(always)]
    fn real_mul_add(self, [low, high]: [float64x2_t; 2], y: uint32x4_t, factor: f64) -> [float64x2_t; 2] {
        neon!({
            let (y, factor) = (self.acc_from(y), vdupq_n_f64(factor));
            [
                vaddq_f64(low, vmulq_f64(vcvtq_f64_u64(y.low), factor)),
                vaddq_f64(high, vmulq_f64(vcvtq_f64_u64(y.high), factor)),
            ]
        })
    }
    #[inline(always)]
    fn real_round(self, [low, high]: [float64x2_t; 2]) -> uint32x4_t {
        neon!({
            let half = vdupq_n_f64(0.5);
            halves(vcvtq_u64_f64(vaddq_f64(low, half)), vcvtq_u64_f64(vaddq_f64(high, half))).0
        })
    }
    #[inline(always)]
    fn gather(self, x: &[u32], perm: &[u32], origin: u32) -> uint32x4_t {
        neon!({
            let perm: &[u32; 4] = &perm.as_chunks().0[0];
            let pack = perm[0].wrapping_sub(origin) / 4;
            if let Some(words) = self.packs(x).0.get(pack as usize) {
                let from = vsubq_u32(self.load(perm), self.splat((4 * pack).wrapping_add(origin)));
                if vmaxvq_u32(from) < 4 {
                    // Byte b of word w is byte 4 w + b.
                    let bytes = vmlaq_u32(self.splat(0x0302_0100), from, self.splat(0x0404_0404));
                    let words = vreinterpretq_u8_u32(self.load(words));
                    return vreinterpretq_u32_u8(vqtbl1q_u8(words, vreinterpretq_u8_u32(bytes)));
                }
            }
            let word = |j: usize| x[perm[j].wrapping_sub(origin) as usize];
            self.load(&[word(0), word(1), word(2), word(3)])
        })
    }
}

impl Redc for Neon {
    #[inline(always)]
    fn acc_redc(self, acc: Acc, negative_inverse: uint32x4_t, p: uint32x4_t) -> uint32x4_t {
        neon!({
            let multiple = vmulq_u32(acc.words().0, negative_inverse);
            self.acc_mul_add(acc, multiple, p).words().1
        })
    }
}
