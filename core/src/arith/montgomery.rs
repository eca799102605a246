//! Montgomery form: for long chains of products that share one modulus.

use super::{MachineWord, Modulus};

/// Montgomery multiplication modulo `p` with R = 2^BITS (Montgomery, "Modular multiplication without
/// trial division").
///
/// A residue `a` is represented by `a R mod p`; a product costs three multiplications and no
/// precomputed quotient. It pays where the same values are multiplied many times over, as in
/// powers; rows use Barrett (two variables) or Shoup (one fixed factor) instead.
#[derive(Clone, Copy, Debug)]
pub struct Montgomery<W> {
    modulus: Modulus<W>,
    /// -p^-1 mod R.
    negative_inverse: W,
    /// R^2 mod p.
    square: W,
}

impl<W: MachineWord> Montgomery<W> {
    /// The constants of a modulus.
    pub fn new(modulus: &Modulus<W>) -> Self {
        let p = modulus.value();
        // Newton: each step doubles the number of correct low bits; p is its own inverse modulo 8.
        let two = W::ONE.wrapping_add(W::ONE);
        let mut inverse = p;
        for _ in 0..5 {
            inverse = inverse.mul_lo(two.wrapping_sub(p.mul_lo(inverse)));
        }
        let r = modulus.word_size().value;
        Self { modulus: *modulus, negative_inverse: W::ZERO.wrapping_sub(inverse), square: modulus.mul(r, r) }
    }

    /// a R mod p, for a residue `a`.
    #[inline(always)]
    pub fn enter(&self, a: W) -> W {
        self.mul(a, self.square)
    }

    /// The residue represented by `a`.
    #[inline(always)]
    pub fn leave(&self, a: W) -> W {
        self.mul(a, W::ONE)
    }

    /// a b R^-1 mod p, for residues `a` and `b`: the product, in Montgomery form.
    #[inline(always)]
    pub fn mul(&self, a: W, b: W) -> W {
        let p = self.modulus.value();
        let (low, high) = W::wide_split(a.mul_wide(b));
        let multiple = low.mul_lo(self.negative_inverse);
        // low + (multiple p mod R) is 0 or R: it carries exactly when low is not zero.
        let (_, carry_high) = W::wide_split(multiple.mul_wide(p));
        let carry = W::from_u64(u64::from(low != W::ZERO));
        let sum = high.wrapping_add(carry_high).wrapping_add(carry);
        sum.min(sum.wrapping_sub(p))
    }

    /// a^e mod p for a residue `a`, in and out of Montgomery form.
    pub fn pow(&self, a: W, mut e: u64) -> W {
        let mut square = self.enter(a);
        let mut power = self.enter(W::ONE);
        while e != 0 {
            if e & 1 == 1 {
                power = self.mul(power, square);
            }
            square = self.mul(square, square);
            e >>= 1;
        }
        self.leave(power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees<W: MachineWord>(primes: &[u64]) {
        for &p in primes {
            let m = Modulus::<W>::new(p).unwrap();
            let form = Montgomery::new(&m);
            let mut x = 0x9e37_79b9_7f4a_7c15u64;
            let extremes = [0, 1, 2, p / 2, p - 2, p - 1].map(|v| v % p);
            let random = core::iter::repeat_with(|| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x % p
            });
            let values: alloc::vec::Vec<u64> = extremes.into_iter().chain(random.take(60)).collect();
            for &a in &values {
                let a_word = W::from_u64(a);
                assert_eq!(form.leave(form.enter(a_word)), a_word);
                for &b in &values {
                    let expected = (u128::from(a) * u128::from(b) % u128::from(p)) as u64;
                    let product = form.mul(form.enter(a_word), form.enter(W::from_u64(b)));
                    assert_eq!(form.leave(product).to_u64(), expected, "{a} * {b} mod {p}");
                }
                let by_hand = (0..13).fold(1u128, |acc, _| acc * u128::from(a) % u128::from(p));
                assert_eq!(u128::from(form.pow(a_word, 13).to_u64()), by_hand);
            }
        }
    }

    #[test]
    fn products_agree_with_wide_integers() {
        agrees::<u32>(&[3, 65_537, 890_585_089, 2_017_576_961, 2_147_483_647]);
        agrees::<u64>(&[3, 65_537, 2_147_483_647, 52_413_247_389_697, 2_305_843_009_213_693_951]);
    }
}
