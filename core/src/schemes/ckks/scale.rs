//! Exact scales.

use alloc::format;

use crate::{arith::DoubleDouble, error::Error};

/// A positive real carried to about 104 bits ([`DoubleDouble`]).
///
/// Products and quotients of scales and primes stay exact far beyond the noise of any ciphertext,
/// so that the scale after a circuit of any depth is the one the algebra says. Only `+ - * /` of
/// doubles are used: the same bits natively and in WebAssembly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale(DoubleDouble);

impl Scale {
    /// Takes a double exactly. Scales are positive and finite; anything else is refused where a scale is read or used, not here.
    pub const fn new(x: f64) -> Self {
        Self(DoubleDouble::new(x))
    }

    /// 2^x.
    pub fn exp2(x: f64) -> Self {
        Self::new(libm::exp2(x))
    }

    /// The product of primes, each taken exactly.
    pub fn product(primes: impl Iterator<Item = u64>) -> Self {
        primes.fold(Self::new(1.0), |acc, p| acc.mul(Self::from_integer(p)))
    }

    /// An integer, exactly.
    pub fn from_integer(x: u64) -> Self {
        Self(DoubleDouble::from_u64(x))
    }

    /// Takes a real number, which must be positive and finite as for [`Self::new`].
    pub const fn from_real(x: DoubleDouble) -> Self {
        Self(x)
    }

    /// The real number.
    pub const fn to_real(self) -> DoubleDouble {
        self.0
    }

    /// The two doubles, for serialisation.
    pub const fn parts(self) -> (f64, f64) {
        self.0.parts()
    }

    /// Rebuilds from [`Self::parts`]; `None` unless positive, finite and normalised.
    pub fn from_parts(high: f64, low: f64) -> Option<Self> {
        let x = DoubleDouble::from_parts(high, low);
        let sound = x.is_finite() && x.parts() == (high, low) && (1e-30..=1e200).contains(&high);
        sound.then_some(Self(x))
    }

    /// Nearest double.
    pub const fn to_f64(self) -> f64 {
        self.0.to_f64()
    }

    /// Nearest double of a scale from outside, which must be positive and finite.
    pub(super) fn checked(self) -> Result<f64, Error> {
        let scale = self.to_f64();
        if scale.is_finite() && scale > 0.0 {
            return Ok(scale);
        }
        Err(Error::InvalidArgument(format!(
            "scale {scale} is not a positive number; scales are powers of two of the wanted precision"
        )))
    }

    /// Base-2 logarithm.
    pub fn log2(self) -> f64 {
        libm::log2(self.to_f64())
    }

    /// self · other.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "chains of exact products read as calls")]
    pub fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0)
    }

    /// self / other.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "chains of exact quotients read as calls")]
    pub fn div(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }

    /// The square root.
    #[must_use]
    pub fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }

    /// Whether both are equal within a relative 2^-45, far below any ciphertext's noise.
    pub fn matches(self, other: Self) -> bool {
        ((self.0 - other.0).to_f64() / other.to_f64()).abs() < 1.0 / (1u64 << 45) as f64
    }

    /// Whether both are one number, computed in different orders: equal within a relative 2^-90.
    pub(crate) fn differs_by_rounding(self, other: Self) -> bool {
        ((self.0 - other.0).to_f64() / other.to_f64()).abs() < 1.0 / (1u128 << 90) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_primes_are_exact_to_a_hundred_bits() {
        // 4882433 * 557057 * 2277377 * 8667137 as an integer, and back by division.
        let primes = [4_882_433u64, 557_057, 2_277_377, 8_667_137];
        let product = Scale::product(primes.iter().copied());
        let exact: i128 = primes.iter().map(|&p| i128::from(p)).product();
        let (high, low) = product.parts();
        // The low part may be negative.
        assert_eq!(high as i128 + low as i128, exact);
        let back = product.div(Scale::from_integer(primes[3])).div(Scale::from_integer(primes[2]));
        assert_eq!(back.parts(), ((primes[0] * primes[1]) as f64, 0.0));
    }

    #[test]
    fn matching_is_relative() {
        let a = Scale::exp2(46.13);
        assert!(a.matches(a.mul(Scale::new(1.0 + 1e-15))));
        assert!(!a.matches(a.mul(Scale::new(1.0 + 1e-12))));
        let third = a.div(Scale::new(3.0)).mul(Scale::new(3.0));
        assert!(a.differs_by_rounding(third) && !a.differs_by_rounding(a.mul(Scale::new(1.0 + 1e-15))));
    }

    #[test]
    fn parts_are_checked() {
        assert!(Scale::from_parts(f64::NAN, 0.0).is_none());
        assert!(Scale::from_parts(-1.0, 0.0).is_none());
        assert!(Scale::from_parts(1.0, 1.0).is_none());
        assert!(Scale::from_parts(1024.0, 0.0).is_some());
    }
}
