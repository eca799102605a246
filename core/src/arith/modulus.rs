//! One odd modulus, or a power of two, and arithmetic on single residues.

use super::{MachineWord, Montgomery};
use crate::error::Error;
use alloc::format;

/// An odd modulus `p`, `3 <= p < 2^MachineWord::MAX_MODULUS_BITS`, with the constants of Barrett reduction; or a power of two, which only
/// [`PrimePower`](super::PrimePower) makes, and which has no [`Self::pow`] and no [`Self::inv`].
///
/// Residues are words in `[0, p)`. No operation branches on a residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulus<W> {
    p: W,
    /// `floor((2^64 - 1) / p)`.
    barrett: u64,
    /// `floor((2^128 - 1) / p)`, low and high word.
    barrett_wide: [u64; 2],
    /// Shoup form of 1, which reduces any word.
    one: Shoup<W>,
    /// Shoup form of `2^BITS mod p`, which reduces high words.
    word_size: Shoup<W>,
}

/// A fixed factor `value < p` with `quotient = floor(value * 2^BITS / p)`: multiplying by it costs
/// one high and two low products (Shoup; Harvey, "Faster arithmetic for number-theoretic
/// transforms", section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shoup<W> {
    /// The factor, a residue.
    pub value: W,
    /// `floor(value * 2^BITS / p)`.
    pub quotient: W,
}

impl<W: MachineWord> Modulus<W> {
    /// The modulus `p`: odd, at least 3, below `2^W::MAX_MODULUS_BITS`.
    pub fn new(p: u64) -> Result<Self, Error> {
        if p < 3 || p.is_multiple_of(2) || p >> W::MAX_MODULUS_BITS != 0 {
            return Err(Error::InvalidArgument(format!(
                "modulus {p} is not an odd number in [3, 2^{}); choose another prime{}",
                W::MAX_MODULUS_BITS,
                if W::BITS == 32 { " or 64-bit words" } else { "" }
            )));
        }
        Ok(Self::with_constants(p))
    }

    /// 2^`exponent`, below `2^W::MAX_MODULUS_BITS`: sums and products are those of any modulus, and there is no [`Self::pow`].
    pub(super) fn power_of_two(exponent: u32) -> Result<Self, Error> {
        if exponent == 0 || exponent >= W::MAX_MODULUS_BITS {
            return Err(Error::InvalidArgument(format!(
                "modulus 2^{exponent}; take an exponent from 1 to {}",
                W::MAX_MODULUS_BITS - 1
            )));
        }
        Ok(Self::with_constants(1 << exponent))
    }

    fn with_constants(p: u64) -> Self {
        // An odd p divides neither 2^64 nor 2^128, and the floors are those of MAX / p. For a power of two they are one less, which
        // makes the quotients of reductions at most one too small; reductions allow for that.
        let wide = u128::MAX / u128::from(p);
        let word = W::from_u64(p);
        let word_size = W::from_u64(((1u128 << W::BITS) % u128::from(p)) as u64);
        Self {
            p: word,
            barrett: u64::MAX / p,
            barrett_wide: [wide as u64, (wide >> 64) as u64],
            one: Shoup { value: W::ONE, quotient: W::ONE.shoup_quotient(word) },
            word_size: Shoup { value: word_size, quotient: word_size.shoup_quotient(word) },
        }
    }

    /// The modulus as a word.
    #[inline(always)]
    pub fn value(&self) -> W {
        self.p
    }

    /// The modulus as `u64`.
    #[inline(always)]
    pub fn value_u64(&self) -> u64 {
        self.p.to_u64()
    }

    /// Base-2 logarithm of the modulus.
    pub fn log2(&self) -> f64 {
        libm::log2(self.value_u64() as f64)
    }

    /// `a + b mod p`.
    #[inline(always)]
    pub fn add(&self, a: W, b: W) -> W {
        self.reduce_once(a.wrapping_add(b))
    }

    /// `a - b mod p`.
    #[inline(always)]
    pub fn sub(&self, a: W, b: W) -> W {
        let difference = a.wrapping_sub(b);
        difference.min(difference.wrapping_add(self.p))
    }

    /// `-a mod p`.
    #[inline(always)]
    pub fn neg(&self, a: W) -> W {
        self.sub(W::ZERO, a)
    }

    /// `a b mod p`.
    #[inline(always)]
    pub fn mul(&self, a: W, b: W) -> W {
        self.reduce_wide(a.mul_wide(b))
    }

    /// `a^e mod p`.
    pub fn pow(&self, a: W, e: u64) -> W {
        Montgomery::new(self).pow(a, e)
    }

    /// `a^-1 mod p` for a prime `p` (Fermat); `None` for zero.
    pub fn inv(&self, a: W) -> Option<W> {
        (a != W::ZERO).then(|| self.pow(a, self.value_u64() - 2))
    }

    /// `x mod p`.
    #[inline(always)]
    pub fn reduce_u64(&self, x: u64) -> W {
        let p = self.value_u64();
        let quotient = x.mul_hi(self.barrett);
        let r = x.wrapping_sub(quotient.wrapping_mul(p));
        W::from_u64(r.min(r.wrapping_sub(p)))
    }

    /// `x mod p`.
    #[inline(always)]
    pub fn reduce_u128(&self, x: u128) -> W {
        let p = self.value_u64();
        let (x0, x1) = (u128::from(x as u64), x >> 64);
        let [r0, r1] = self.barrett_wide.map(u128::from);
        let mid = x0 * r1 + ((x0 * r0) >> 64);
        let low = x1 * r0 + u128::from(mid as u64);
        // Only the low word of the quotient matters: the remainder is below 2p.
        let quotient = ((x1 * r1) as u64).wrapping_add((mid >> 64) as u64).wrapping_add((low >> 64) as u64);
        let r = (x as u64).wrapping_sub(quotient.wrapping_mul(p));
        W::from_u64(r.min(r.wrapping_sub(p)))
    }

    /// Least non-negative residue of `x`.
    #[inline(always)]
    pub fn reduce_i64(&self, x: i64) -> W {
        self.negate_if(x < 0, self.reduce_u64(x.unsigned_abs()))
    }

    /// Least non-negative residue of `x`.
    #[inline(always)]
    pub fn reduce_i128(&self, x: i128) -> W {
        self.negate_if(x < 0, self.reduce_u128(x.unsigned_abs()))
    }

    /// The representative of `x` in `(-p/2, p/2]`.
    #[inline(always)]
    pub fn centered(&self, x: W) -> i64 {
        let (x, p) = (x.to_u64() as i64, self.value_u64() as i64);
        // All ones where x > p/2, that is, where (p-1)/2 - x is negative.
        x - (p & ((p / 2 - x) >> 63))
    }

    /// The Shoup form of the residue `w`.
    #[inline(always)]
    pub fn shoup(&self, w: W) -> Shoup<W> {
        Shoup { value: w, quotient: w.shoup_quotient(self.p) }
    }

    /// `a w mod p` for any word `a`.
    #[inline(always)]
    pub fn mul_shoup(&self, a: W, w: &Shoup<W>) -> W {
        self.reduce_once(self.mul_shoup_lazy(a, w))
    }

    /// A word in `[0, 2p)` congruent to `a w`, for any word `a`.
    #[inline(always)]
    pub(crate) fn mul_shoup_lazy(&self, a: W, w: &Shoup<W>) -> W {
        let quotient = a.mul_hi(w.quotient);
        a.mul_lo(w.value).wrapping_sub(quotient.mul_lo(self.p))
    }

    /// Shoup form of 1: multiplying by it reduces any word.
    #[inline(always)]
    pub(crate) fn one(&self) -> &Shoup<W> {
        &self.one
    }

    /// Shoup form of `2^BITS mod p`: multiplying by it reduces the high word of a double word.
    #[inline(always)]
    pub(crate) fn word_size(&self) -> &Shoup<W> {
        &self.word_size
    }

    /// `x mod p` for a double word.
    #[inline(always)]
    pub(crate) fn reduce_wide(&self, x: W::Wide) -> W {
        let (low, high) = W::wide_split(x);
        if W::BITS == 32 {
            self.reduce_u64((high.to_u64() << 32) | low.to_u64())
        } else {
            self.reduce_u128((u128::from(high.to_u64()) << 64) | u128::from(low.to_u64()))
        }
    }

    /// `x mod p` for `x < 2p`.
    #[inline(always)]
    fn reduce_once(&self, x: W) -> W {
        x.min(x.wrapping_sub(self.p))
    }

    #[inline(always)]
    fn negate_if(&self, negative: bool, r: W) -> W {
        let negated = self.neg(r).to_u64();
        let mask = u64::from(negative).wrapping_neg();
        W::from_u64((r.to_u64() & !mask) | (negated & mask))
    }
}
