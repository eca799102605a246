//! Transforms modulo a prime below 2^30 on signed residues, four 32-bit lanes: a product by a fixed factor takes three instructions.
//!
//! The quotient of `a w` by `p` is the rounded high half of twice `a` times `w 2^31/p`, itself rounded (`sqrdmulh`). The remainder is
//! then at most `p/2 + |a| p/2^32` in size (Becker, Hwang, Kannwischer, Yang and Yang, "Neon NTT", 2022, section 2.4). A product with
//! the factor 1 brings a sum back to that size. Lanes hold less than `2p` in size for primes below 2^30, and less than `8p` for primes
//! below 2^28, which those of most parameter sets are:
//!
//! | primes | transform | sums are brought back | largest, in units of `p` |
//! | --- | --- | --- | --- |
//! | below 2^30 | forward | before each butterfly | 2 |
//! | below 2^30 | inverse | in each butterfly | 2 |
//! | below 2^28 | forward | before every two stages, in the register that neither of them multiplies | 2.9 |
//! | below 2^28 | inverse | after every two stages, in the register that neither of them has multiplied | 5.4 |
//!
//! Let the inputs be at most `b p`. In the first row the results are below `(1 + b/2) p`, thus below `2p` throughout if the first inputs
//! are below `p`. In the second, two residues below `p` have a sum and a difference below `2p`, and both results are below `p` again. In
//! the third, nothing is brought back before the first two stages, which take residues below `p` to at most 2.17; every later two stages
//! take `b` to at most `1.54 + 0.192 b`, which stays below that. In the last, two stages take `b` to at most `1 + b/4`, below 4/3, and a
//! sum of four is below 16/3.

use crate::arith::kernels::{butterfly::Butterfly, ntt};
use crate::arith::ntt::{Factors, Twiddles};
use crate::arith::simd::neon::{Neon, neon, words32::transpose};
use crate::arith::simd::vector::{OnLanes, Registers, registers};
use crate::arith::{Modulus, NttTable, Shoup};
use core::arch::aarch64::*;

/// Bits of primes whose sums have room for two stages.
const ROOMY_BITS: u32 = 28;
/// Bits of primes whose doubles fit a lane.
const BITS: u32 = 30;

/// Natural to bit-reversed order.
#[inline(always)]
pub(super) fn forward(v: Neon, t: &NttTable<u32>, row: &mut [u32]) {
    let (m, p) = (t.modulus(), t.modulus().value());
    if p >> ROOMY_BITS == 0 {
        ntt::transform::<8, _, true>(Signed::<true>::new(m), t, row, |_| ());
    } else if p >> BITS == 0 {
        ntt::transform::<8, _, true>(Signed::<false>::new(m), t, row, |_| ());
    } else {
        ntt::forward::<8, _>(v, t, row);
    }
}

/// Bit-reversed to natural order, times `1/n`.
#[inline(always)]
pub(super) fn inverse(v: Neon, t: &NttTable<u32>, row: &mut [u32]) {
    let (m, p) = (t.modulus(), t.modulus().value());
    if p >> ROOMY_BITS == 0 {
        ntt::transform::<8, _, false>(Signed::<true>::new(m), t, row, |_| ());
    } else if p >> BITS == 0 {
        ntt::transform::<8, _, false>(Signed::<false>::new(m), t, row, |_| ());
    } else {
        ntt::inverse::<8, _>(v, t, row);
    }
}

/// Four signed words.
#[derive(Clone, Copy)]
struct Lanes;

/// Arithmetic modulo one prime; `ROOMY` if it is below 2^28.
#[derive(Clone, Copy)]
struct Signed<const ROOMY: bool> {
    p: int32x4_t,
    /// `2^31/p`, rounded.
    inverse: int32x4_t,
}

/// `w` in `[0, p)`, and `w 2^31/p`, rounded.
#[derive(Clone, Copy)]
struct Factor {
    value: int32x4_t,
    ratio: int32x4_t,
}

impl Factor {
    /// From Shoup forms: their quotients are `w 2^32/p`, rounded down, at most `2^32 - 4`.
    #[inline(always)]
    fn of(values: uint32x4_t, quotients: uint32x4_t) -> Self {
        neon!(Self {
            value: vreinterpretq_s32_u32(values),
            ratio: vreinterpretq_s32_u32(vrshrq_n_u32::<1>(quotients)),
        })
    }
}

impl<const ROOMY: bool> Signed<ROOMY> {
    #[inline(always)]
    fn new(m: &Modulus<u32>) -> Self {
        let one = m.shoup(1);
        neon!({
            let one = Factor::of(vdupq_n_u32(one.value), vdupq_n_u32(one.quotient));
            Self { p: vdupq_n_s32(m.value() as i32), inverse: one.ratio }
        })
    }

    /// `a w`, at most `p/2 + |a| p/2^32` in size.
    #[inline(always)]
    fn mul(self, a: int32x4_t, w: &Factor) -> int32x4_t {
        neon!(vmlsq_s32(vmulq_s32(a, w.value), vqrdmulhq_s32(a, w.ratio), self.p))
    }

    /// `x`, at most `p/2 + |x| p/2^32` in size.
    #[inline(always)]
    fn reduce(self, x: int32x4_t) -> int32x4_t {
        neon!(vmlsq_s32(x, vqrdmulhq_s32(x, self.inverse), self.p))
    }

    /// The residue in `[0, p)` of an `x` less than `p` in size: the smaller of `x` and `x + p` as unsigned words, where negative numbers
    /// are large.
    #[inline(always)]
    fn residue(self, x: int32x4_t) -> int32x4_t {
        neon!({
            let other = vaddq_s32(x, self.p);
            vreinterpretq_s32_u32(vminq_u32(vreinterpretq_u32_s32(x), vreinterpretq_u32_s32(other)))
        })
    }
}

registers! {
    Lanes: [u32; 4] as int32x4_t,
    |from| neon!(vld1q_s32(from.as_ptr().cast())),
    |to, x| neon!(vst1q_s32(to.as_mut_ptr().cast(), x))
}

impl<const ROOMY: bool> OnLanes for Signed<ROOMY> {
    type Lanes = Lanes;

    #[inline(always)]
    fn lanes(self) -> Lanes {
        Lanes
    }
}

impl<const ROOMY: bool> Butterfly<8> for Signed<ROOMY> {
    type Factor = Factor;

    const SQUARE: usize = 4;

    #[inline(always)]
    fn tables(self, w: &Twiddles<u32>) -> Option<[&Factors<u32>; 2]> {
        w.narrow(Self::LANES).map(|narrow| [w.natural(), narrow])
    }
    #[inline(always)]
    fn enter(self, x: int32x4_t) -> int32x4_t {
        x
    }
    #[inline(always)]
    fn leave(self, x: int32x4_t) -> int32x4_t {
        self.residue(self.reduce(x))
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<u32>) -> Factor {
        neon!(Factor::of(vdupq_n_u32(w.value), vdupq_n_u32(w.quotient)))
    }
    #[inline(always)]
    fn broadcast(self, w: &Factors<u32>, index: usize) -> Factor {
        Butterfly::factor(self, &w.get(index))
    }
    #[inline(always)]
    fn consecutive(self, w: &Factors<u32>, run: usize) -> Factor {
        let (values, quotients) = (w.values.as_chunks::<4>().0, w.quotients.as_chunks::<4>().0);
        neon!(Factor::of(vld1q_u32(values[run].as_ptr()), vld1q_u32(quotients[run].as_ptr())))
    }
    #[inline(always)]
    fn settle(self, x: int32x4_t) -> int32x4_t {
        if ROOMY { self.reduce(x) } else { x }
    }
    #[inline(always)]
    fn scale(self, x: int32x4_t, w: &Factor) -> int32x4_t {
        self.residue(self.mul(x, w))
    }
    #[inline(always)]
    fn forward(self, w: &Factor, (x, y): (int32x4_t, int32x4_t)) -> (int32x4_t, int32x4_t) {
        let x = if ROOMY { x } else { self.reduce(x) };
        self.sum_and_difference((x, self.mul(y, w)))
    }
    #[inline(always)]
    fn inverse(self, w: &Factor, pair: (int32x4_t, int32x4_t)) -> (int32x4_t, int32x4_t) {
        let (sum, difference) = self.sum_and_difference(pair);
        let sum = if ROOMY { sum } else { self.reduce(sum) };
        (sum, self.mul(difference, w))
    }
    #[inline(always)]
    fn sum_and_difference(self, (x, y): (int32x4_t, int32x4_t)) -> (int32x4_t, int32x4_t) {
        neon!((vaddq_s32(x, y), vsubq_s32(x, y)))
    }
    #[inline(always)]
    fn transpose(self, tile: [int32x4_t; 8]) -> [int32x4_t; 8] {
        neon!({
            let [a, b, c, d, e, f, g, h] = tile;
            let words = |x| vreinterpretq_u32_s32(x);
            let signed = |x| vreinterpretq_s32_u32(x);
            let [a, b, c, d] = transpose([words(a), words(b), words(c), words(d)]);
            let [e, f, g, h] = transpose([words(e), words(f), words(g), words(h)]);
            [signed(a), signed(b), signed(c), signed(d), signed(e), signed(f), signed(g), signed(h)]
        })
    }
}
