//! Factors: what a ciphertext multiplies its plaintext by.

use alloc::format;

use crate::{arith::PrimePower, error::Error, schemes::evaluator::Label};

/// A unit f modulo P = p^k: the phase of a ciphertext of m is f m modulo P, over P.
///
/// A product of factors modulo two powers of p is one modulo the smaller. Factors modulo powers of different primes have no product:
/// functions that take a factor check its prime first.
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
        let reduced = ring.reduce(value);
        if ring.is_unit(reduced) {
            return Ok(Self { value: reduced, ring });
        }
        Err(Error::InvalidArgument(format!(
            "{value} is not a unit modulo {}^{}; a factor must not be a multiple of {}",
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

    /// c f modulo the modulus of `ring`, nearest to 0.
    pub(super) fn times(self, ring: PrimePower, c: i64) -> i64 {
        ring.centered(ring.mul(ring.reduce_signed(c), self.value))
    }

    /// 1/f.
    ///
    /// # Panics
    /// Never: a factor is a unit.
    #[must_use]
    pub fn inverse(self) -> Self {
        let value = self.ring.inverse(self.value).expect("a factor is a unit");
        Self { value, ring: self.ring }
    }

    /// The same residue below P, modulo p^`exponent`. If that is larger than P, it is one of the residues that reduce to the old one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a power that has no ring.
    pub fn modulo(self, exponent: u32) -> Result<Self, Error> {
        Ok(self.reduced(self.ring.with_exponent(exponent)?))
    }

    fn reduced(self, ring: PrimePower) -> Self {
        Self { value: ring.reduce(self.value), ring }
    }

    /// [`Error::PlaintextMismatch`] unless both factors are equal, as addition requires.
    pub(super) fn check_same(self, other: Self) -> Result<(), Error> {
        if self == other {
            return Ok(());
        }
        Err(Error::PlaintextMismatch(format!(
            "operands have factors {} modulo {} and {} modulo {}; bring one to the factor of the other by \
             BgvEvaluator::at_factor, which takes a level",
            self.value,
            self.ring.value(),
            other.value,
            other.ring.value(),
        )))
    }

    /// The ring of the smaller of the two powers.
    fn common(self, other: Self) -> PrimePower {
        assert_eq!(self.ring.prime(), other.ring.prime(), "factors modulo powers of one prime");
        if self.ring.exponent() <= other.ring.exponent() { self.ring } else { other.ring }
    }
}

/// # Panics
/// For factors modulo powers of different primes.
impl Label for Factor {
    fn mul(self, other: Self) -> Self {
        let ring = self.common(other);
        Self { value: ring.mul(ring.reduce(self.value), ring.reduce(other.value)), ring }
    }

    fn div(self, other: Self) -> Self {
        let ring = self.common(other);
        self.mul(other.reduced(ring).inverse())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn factors_are_a_group_that_reduces() {
        let large = PrimePower::new(257, 3).expect("a prime");
        let small = |f: Factor| f.modulo(1).expect("a smaller power");
        let f = |x: u64| Factor::new(x, large).expect("a unit");
        for (x, y) in [(1, 1), (3, 256), (258, 16_974_592), (12345, 6789)] {
            let (a, b) = (f(x), f(y));
            assert_eq!(a.mul(b).div(b), a);
            assert_eq!(a.div(a), Factor::one(large));
            assert_eq!(small(a.mul(b)), small(a).mul(small(b)));
            // Of two moduli, the smaller.
            assert_eq!(a.mul(small(b)), small(a).mul(small(b)));
            assert_eq!(a.div(small(b)), small(a).div(small(b)));
        }
        for (x, given) in [(0, "0"), (514, "514"), (large.value() + 257, "16974850")] {
            let error = Factor::new(x, large).expect_err("a multiple of 257").to_string();
            assert!(error.contains(&format!("{given} is not a unit")), "{error}");
        }
    }
}
