//! Factors: what a ciphertext multiplies its plaintext by.

use alloc::format;

use crate::{arith::PrimePower, error::Error, schemes::evaluator::Label};

/// A unit f modulo P = p^k: the phase of a ciphertext of m is f m modulo P, over P.
///
/// A product of factors modulo two powers of p is one modulo the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    value: u64,
    ring: PrimePower,
}

impl Factor {
    /// An integer as a factor.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless p does not divide it.
    pub fn new(value: u64, ring: PrimePower) -> Result<Self, Error> {
        let value = ring.reduce(value);
        if ring.is_unit(value) {
            return Ok(Self { value, ring });
        }
        Err(Error::InvalidArgument(format!(
            "{value} is no unit modulo {}^{}; a factor must not be a multiple of {}",
            ring.prime(),
            ring.exponent(),
            ring.prime()
        )))
    }

    /// 1.
    pub fn one(ring: PrimePower) -> Self {
        Self { value: 1, ring }
    }

    /// f, below P.
    pub fn value(self) -> u64 {
        self.value
    }

    /// Z/P.
    pub fn ring(self) -> PrimePower {
        self.ring
    }

    /// 1/f.
    #[must_use]
    pub fn inverse(self) -> Self {
        // Factors are units.
        Self { value: self.ring.inverse(self.value).unwrap_or(1), ring: self.ring }
    }

    /// The same residue below P, modulo another power of p: one of those that reduce to it where that is larger.
    #[must_use]
    pub fn modulo(self, ring: PrimePower) -> Self {
        Self { value: ring.reduce(self.value), ring }
    }

    /// The ring of the smaller of the two powers.
    fn common(self, other: Self) -> PrimePower {
        debug_assert_eq!(self.ring.prime(), other.ring.prime(), "one plaintext prime in a set");
        if self.ring.exponent() <= other.ring.exponent() { self.ring } else { other.ring }
    }
}

impl Label for Factor {
    fn mul(self, other: Self) -> Self {
        let ring = self.common(other);
        Self { value: ring.mul(ring.reduce(self.value), ring.reduce(other.value)), ring }
    }

    fn div(self, other: Self) -> Self {
        let ring = self.common(other);
        self.mul(other.modulo(ring).inverse())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_a_group_that_reduces() {
        let large = PrimePower::new(257, 3).expect("a prime");
        let small = large.with_exponent(1).expect("a prime");
        let f = |x: u64| Factor::new(x, large).expect("a unit");
        for (x, y) in [(1, 1), (3, 256), (258, 16_974_592), (12345, 6789)] {
            let (a, b) = (f(x), f(y));
            assert_eq!(a.mul(b).div(b), a);
            assert_eq!(a.div(a), Factor::one(large));
            assert_eq!(a.mul(b).modulo(small), a.modulo(small).mul(b.modulo(small)));
            // Of two moduli, the smaller.
            assert_eq!(a.mul(b.modulo(small)), a.modulo(small).mul(b.modulo(small)));
            assert_eq!(a.div(b.modulo(small)), a.modulo(small).div(b.modulo(small)));
        }
        assert!(Factor::new(0, small).is_err() && Factor::new(514, large).is_err());
    }
}
