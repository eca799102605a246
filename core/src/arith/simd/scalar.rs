//! Portable instructions: registers of one word.

use super::vector::{Products, Redc, Registers, Transpose, Vector};
use crate::arith::{MachineWord, Shoup};
use core::marker::PhantomData;

/// Plain words; needs no CPU feature.
pub(crate) struct Scalar<W>(PhantomData<fn() -> W>);

impl<W> Scalar<W> {
    /// The portable instructions.
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<W> Clone for Scalar<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Scalar<W> {}

impl<W: MachineWord> Registers for Scalar<W> {
    type Word = W;
    type Pack = W;
    type Reg = W;

    const LANES: usize = 1;

    #[inline(always)]
    fn load(self, from: &W) -> W {
        *from
    }
    #[inline(always)]
    fn store(self, to: &mut W, x: W) {
        *to = x;
    }
}

impl<W: MachineWord> Vector for Scalar<W> {
    type Factor = Shoup<W>;

    const LAZY_BITS: u32 = W::BITS - 2;

    #[inline(always)]
    fn splat(self, x: W) -> W {
        x
    }
    #[inline(always)]
    fn add(self, a: W, b: W) -> W {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn sub(self, a: W, b: W) -> W {
        a.wrapping_sub(b)
    }
    #[inline(always)]
    fn reduce_once(self, x: W, c: W) -> W {
        x.min(x.wrapping_sub(c))
    }
    #[inline(always)]
    fn correct(self, d: W, c: W) -> W {
        d.min(d.wrapping_add(c))
    }
    #[inline(always)]
    fn add_if_greater(self, x: W, bound: W, addend: W) -> W {
        // The top bit of the difference says which is greater; spread it over the word.
        let greater = bound.wrapping_sub(x).mul_hi(W::ONE.wrapping_add(W::ONE));
        x.wrapping_add(addend.mul_lo(greater))
    }
    #[inline(always)]
    fn shift_right(self, x: W, bits: u32) -> W {
        W::from_u64(x.to_u64() >> bits)
    }
    #[inline(always)]
    fn and(self, a: W, b: W) -> W {
        W::from_u64(a.to_u64() & b.to_u64())
    }
    #[inline(always)]
    fn factor(self, w: &Shoup<W>) -> Shoup<W> {
        *w
    }
    #[inline(always)]
    fn mul_lazy(self, a: W, w: &Shoup<W>, p: W) -> W {
        a.mul_lo(w.value).wrapping_sub(a.mul_hi(w.quotient).mul_lo(p))
    }
    #[inline(always)]
    fn factors(self, value: W, quotient: W) -> Shoup<W> {
        Shoup { value, quotient }
    }
}

/// Squares of one word.
impl<const R: usize, W: MachineWord> Transpose<R> for Scalar<W> {
    #[inline(always)]
    fn transpose(self, tile: [W; R]) -> [W; R] {
        tile
    }
}

impl<W: MachineWord> Products for Scalar<W> {
    type Acc = W::Wide;
    type Real = f64;

    #[inline(always)]
    fn acc_zero(self) -> W::Wide {
        W::Wide::default()
    }
    #[inline(always)]
    fn acc_from(self, x: W) -> W::Wide {
        x.widen()
    }
    #[inline(always)]
    fn acc_mul_add(self, acc: W::Wide, a: W, b: W) -> W::Wide {
        W::wide_add(acc, a.mul_wide(b))
    }
    #[inline(always)]
    fn acc_split(self, acc: W::Wide) -> (W, W) {
        W::wide_split(acc)
    }
    #[inline(always)]
    fn split_biased(self, x: &[i64], bias: u64) -> (W, W) {
        let sum = (x[0] as u64).wrapping_add(bias);
        if W::BITS == 64 {
            (W::from_u64(sum), W::ZERO)
        } else {
            (W::from_u64(sum & 0xffff_ffff), W::from_u64(sum >> 32))
        }
    }
    #[inline(always)]
    fn real_zero(self) -> f64 {
        0.0
    }
    #[inline(always)]
    fn real_mul_add(self, sum: f64, y: W, factor: f64) -> f64 {
        sum + y.to_u64() as f64 * factor
    }
    #[inline(always)]
    fn real_round(self, x: f64) -> W {
        W::from_u64((x + 0.5) as u64)
    }
    #[inline(always)]
    fn gather(self, x: &[W], perm: &[u32], origin: u32) -> W {
        x[perm[0].wrapping_sub(origin) as usize]
    }
}

impl Redc for Scalar<u32> {
    #[inline(always)]
    fn acc_redc(self, acc: u64, negative_inverse: u32, p: u32) -> u32 {
        let multiple = (acc as u32).wrapping_mul(negative_inverse);
        ((acc + u64::from(multiple) * u64::from(p)) >> 32) as u32
    }
}
