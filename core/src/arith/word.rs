//! Machine words that hold residues: `u32` and `u64`.

use core::fmt::{Debug, Display};
use core::hash::Hash;

/// Arithmetic on a machine word: what [`Word`](super::Word) is built on, and what the kernels are written in.
///
/// The trait is implemented for `u32` and `u64` and is not meant for other types.
pub trait MachineWord:
    Copy + Eq + Ord + Hash + Debug + Display + Default + Send + Sync + zeroize::DefaultIsZeroes + 'static
{
    /// A word twice as wide, for sums of products.
    type Wide: Copy + Default + Send + Sync;
    /// Number of bits of the word.
    const BITS: u32;
    /// The word 0.
    const ZERO: Self;
    /// The word 1.
    const ONE: Self;
    /// Moduli are below `2^MAX_MODULUS_BITS`: 31 for `u32`, 61 for `u64`.
    const MAX_MODULUS_BITS: u32;

    /// The word of value `x`, which must fit (checked in debug builds).
    fn from_u64(x: u64) -> Self;
    /// The value as `u64`.
    fn to_u64(self) -> u64;

    /// Fills a row with uniform residues modulo `p` from a stream (public data).
    fn fill_uniform(stream: &mut crate::random::Stream, p: u64, out: &mut [Self]);

    /// Sum modulo `2^BITS`.
    #[must_use]
    fn wrapping_add(self, other: Self) -> Self;
    /// Difference modulo `2^BITS`.
    #[must_use]
    fn wrapping_sub(self, other: Self) -> Self;
    /// Low word of the product.
    #[must_use]
    fn mul_lo(self, other: Self) -> Self;
    /// High word of the product.
    #[must_use]
    fn mul_hi(self, other: Self) -> Self;
    /// `floor(self * 2^BITS / p)` for `self < p`.
    #[must_use]
    fn shoup_quotient(self, p: Self) -> Self;
    /// The whole product.
    fn mul_wide(self, other: Self) -> Self::Wide;
    /// The word as a double word.
    fn widen(self) -> Self::Wide;
    /// Sum of double words modulo `2^(2 BITS)`.
    fn wide_add(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Low and high word.
    fn wide_split(x: Self::Wide) -> (Self, Self);
    /// How many products of words at most `a` and at most `b` fit a double word beside one word.
    fn products_per_wide(a: Self, b: Self) -> usize;
}

macro_rules! word {
    ($word:ty, $wide:ty, $max_modulus_bits:expr, $fill:ident) => {
        impl MachineWord for $word {
            type Wide = $wide;
            const BITS: u32 = <$word>::BITS;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const MAX_MODULUS_BITS: u32 = $max_modulus_bits;

            #[inline(always)]
            fn from_u64(x: u64) -> Self {
                debug_assert!(<$word>::try_from(x).is_ok(), "{x} does not fit the word");
                x as $word
            }
            #[inline(always)]
            fn to_u64(self) -> u64 {
                self as u64
            }
            fn fill_uniform(stream: &mut crate::random::Stream, p: u64, out: &mut [Self]) {
                stream.$fill(p as $word, out);
            }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn mul_lo(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn mul_hi(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> <$word>::BITS) as $word
            }
            #[inline(always)]
            fn shoup_quotient(self, p: Self) -> Self {
                debug_assert!(self < p);
                (((self as $wide) << <$word>::BITS) / p as $wide) as $word
            }
            #[inline(always)]
            fn mul_wide(self, other: Self) -> $wide {
                self as $wide * other as $wide
            }
            #[inline(always)]
            fn widen(self) -> $wide {
                self as $wide
            }
            #[inline(always)]
            fn wide_add(a: $wide, b: $wide) -> $wide {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn wide_split(x: $wide) -> (Self, Self) {
                (x as $word, (x >> <$word>::BITS) as $word)
            }
            fn products_per_wide(a: Self, b: Self) -> usize {
                let product = (a as $wide * b as $wide).max(1);
                let count = (<$wide>::MAX - <$word>::MAX as $wide) / product;
                usize::try_from(count).unwrap_or(usize::MAX)
            }
        }
    };
}

word!(u32, u64, 31, fill_uniform_u32);
word!(u64, u128, 61, fill_uniform_u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_products_is_exact() {
        // Four products of the largest 31-bit residues and one word fit 64 bits, five do not.
        let largest = (1u32 << 31) - 2;
        assert_eq!(u32::products_per_wide(largest, largest), 4);
        assert_eq!(u32::products_per_wide((1 << 30) - 36, (1 << 30) - 36), 16);
        assert_eq!(u64::products_per_wide((1 << 61) - 2, (1 << 61) - 2), 64);
        assert_eq!(u32::products_per_wide(0, 5), usize::try_from(u64::MAX - u64::from(u32::MAX)).unwrap());
    }
}
