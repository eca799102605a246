//! The ring Z/p^k of a prime p: where the plaintexts of exact arithmetic live.

use alloc::format;
use core::fmt;

use super::{
    Modulus, Shoup,
    primes::{is_prime, primitive_root},
};
use crate::error::Error;

/// Z/p^k: residues are words in [0, p^k), p a prime, p^k below 2^61.
///
/// Sums and products do not branch on a residue; inverses are for public numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PrimePower {
    prime: u64,
    exponent: u32,
    modulus: Modulus<u64>,
}

/// Shows prime and exponent, not what is computed from them.
impl fmt::Debug for PrimePower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}^{}", self.prime, self.exponent)
    }
}

impl PrimePower {
    /// Z/`prime`^`exponent`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `prime` is a prime, `exponent` at least 1, and the power below 2^61.
    pub fn new(prime: u64, exponent: u32) -> Result<Self, Error> {
        let power = prime.checked_pow(exponent).filter(|power| power >> 61 == 0);
        match power {
            Some(_) if exponent > 0 && prime == 2 => {
                Ok(Self { prime, exponent, modulus: Modulus::power_of_two(exponent)? })
            }
            Some(power) if exponent > 0 && is_prime(prime) => {
                Ok(Self { prime, exponent, modulus: Modulus::new(power)? })
            }
            _ => Err(Error::InvalidArgument(format!(
                "plaintexts modulo {prime}^{exponent}; take a prime and a power below 2^61"
            ))),
        }
    }

    /// Z/p^`exponent` of the same prime.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_exponent(self, exponent: u32) -> Result<Self, Error> {
        Self::new(self.prime, exponent)
    }

    /// p.
    pub fn prime(&self) -> u64 {
        self.prime
    }

    /// k.
    pub fn exponent(&self) -> u32 {
        self.exponent
    }

    /// p^k.
    pub fn value(&self) -> u64 {
        self.modulus.value()
    }

    /// p^k as a modulus of words, for sums and products. Its `inv` is for fields, and wrong for k > 1, and its `pow` is for odd
    /// moduli: use [`Self::inverse`] and [`Self::pow`] in this ring.
    pub fn modulus(&self) -> &Modulus<u64> {
        &self.modulus
    }

    /// a + b.
    pub fn add(&self, a: u64, b: u64) -> u64 {
        self.modulus.add(a, b)
    }

    /// a - b.
    pub fn sub(&self, a: u64, b: u64) -> u64 {
        self.modulus.sub(a, b)
    }

    /// -a.
    pub fn neg(&self, a: u64) -> u64 {
        self.modulus.neg(a)
    }

    /// a b.
    pub fn mul(&self, a: u64, b: u64) -> u64 {
        self.modulus.mul(a, b)
    }

    /// a^e.
    pub fn pow(&self, a: u64, mut e: u64) -> u64 {
        if self.prime > 2 {
            return self.modulus.pow(a, e);
        }
        // The form of Montgomery is for odd moduli.
        let (mut out, mut base) = (self.reduce(1), a);
        while e > 0 {
            if e & 1 == 1 {
                out = self.mul(out, base);
            }
            base = self.mul(base, base);
            e >>= 1;
        }
        out
    }

    /// The residue of an integer.
    pub fn reduce(&self, x: u64) -> u64 {
        self.modulus.reduce_u64(x)
    }

    /// The residue of a signed integer.
    pub fn reduce_signed(&self, x: i64) -> u64 {
        self.modulus.reduce_i64(x)
    }

    /// The representative in (-p^k/2, p^k/2].
    pub fn centered(&self, x: u64) -> i64 {
        self.modulus.centered(x)
    }

    /// a as a factor of many products.
    pub fn shoup(&self, a: u64) -> Shoup<u64> {
        self.modulus.shoup(a)
    }

    /// Whether a residue has an inverse: p does not divide it.
    pub fn is_unit(&self, a: u64) -> bool {
        !a.is_multiple_of(self.prime)
    }

    /// 1/a, for a unit.
    pub fn inverse(&self, a: u64) -> Option<u64> {
        // The group of units has order p^(k-1) (p - 1).
        let order = self.value() / self.prime * (self.prime - 1);
        self.is_unit(a).then(|| self.pow(a, order - 1))
    }

    /// A root of unity of exactly this order. Roots for different k reduce to each other: modulo p it is that of
    /// [`primitive_root`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the order divides p - 1.
    pub fn root_of_unity(&self, order: u64) -> Result<u64, Error> {
        let root = primitive_root(&Modulus::<u64>::new(self.prime)?, order)?;
        // The order of a unit that is 1 modulo p is a power of p, which this power removes.
        Ok(self.pow(root, self.value() / self.prime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_of_small_rings_has_its_inverse() {
        for (p, k) in [(2, 1), (2, 2), (2, 9), (3, 1), (3, 5), (5, 3), (17, 2), (257, 1)] {
            let ring = PrimePower::new(p, k).expect("a power of a prime");
            for a in 0..ring.value() {
                let product = ring
                    .inverse(a)
                    .map(|inverse| u128::from(a) * u128::from(inverse) % u128::from(ring.value()));
                assert_eq!(product, (a % p != 0).then_some(1), "{a} modulo {p}^{k}");
            }
        }
    }

    #[test]
    fn large_rings_agree_with_double_words() {
        for (p, k) in [(2, 60), (2, 16), (65537, 2), (65537, 3), (786_433, 3), (3, 38), ((1 << 61) - 1, 1)] {
            let ring = PrimePower::new(p, k).expect("a power of a prime");
            let m = u128::from(ring.value());
            let mut a = 0x9e37_79b9_7f4a_7c15u64;
            for i in 0..200u64 {
                a = a.wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(i) ^ (a >> 29);
                let (x, y) = (ring.reduce(a), ring.reduce(a.rotate_left(23)));
                assert_eq!(u128::from(ring.mul(x, y)), u128::from(x) * u128::from(y) % m);
                assert_eq!(u128::from(ring.add(x, y)), (u128::from(x) + u128::from(y)) % m);
                assert_eq!(ring.add(ring.sub(x, y), y), x);
                assert_eq!(ring.reduce_signed(ring.centered(x)), x);
                let shoup = ring.shoup(y);
                assert_eq!(ring.modulus().mul_shoup(a, &shoup), ring.mul(x, y));
                if let Some(inverse) = ring.inverse(x) {
                    assert_eq!(ring.mul(inverse, x), 1);
                }
            }
        }
    }

    #[test]
    fn roots_have_their_order_and_reduce_to_each_other() {
        for (p, order) in [(65537, 1 << 16), (257, 128), (786_433, 1 << 17), (17, 16)] {
            let root = |k| {
                let ring = PrimePower::new(p, k).expect("a power of an odd prime");
                let root = ring.root_of_unity(order).expect("the order divides p - 1");
                assert_eq!((ring.pow(root, order), ring.pow(root, order / 2)), (1, ring.neg(1)));
                root
            };
            assert_eq!(root(1), root(2) % p);
            assert_eq!(root(2), root(3) % (p * p));
        }
        assert!(PrimePower::new(257, 1).expect("a prime").root_of_unity(512).is_err());
    }

    #[test]
    fn other_moduli_are_refused() {
        for (p, k) in [
            (2, 0),
            (2, 61),
            (4, 1),
            (9, 1),
            (1, 1),
            (0, 1),
            (65537, 0),
            (65537, 4),
            (u64::MAX, 1),
            (3, 39),
            (3, 64),
        ] {
            assert!(PrimePower::new(p, k).is_err(), "{p}^{k}");
        }
    }
}
