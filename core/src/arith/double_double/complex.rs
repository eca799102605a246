//! Complex numbers of 106 bits.

use core::ops::{Add, Mul, Neg, Sub};

use super::DoubleDouble;
use crate::arith::complex::{Complex, TransformNumber};

/// `re + i im`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ComplexDoubleDouble {
    /// Real part.
    pub re: DoubleDouble,
    /// Imaginary part.
    pub im: DoubleDouble,
}

impl ComplexDoubleDouble {
    /// 0.
    pub const ZERO: Self = Self::real(DoubleDouble::ZERO);
    /// 1.
    pub const ONE: Self = Self::real(DoubleDouble::ONE);

    /// `re + i im`.
    pub const fn new(re: DoubleDouble, im: DoubleDouble) -> Self {
        Self { re, im }
    }

    /// A real number.
    pub const fn real(re: DoubleDouble) -> Self {
        Self { re, im: DoubleDouble::ZERO }
    }

    /// Whether this is 0.
    pub fn is_zero(self) -> bool {
        self.re.is_zero() && self.im.is_zero()
    }

    /// Whether both parts are finite.
    pub const fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }

    /// The product with a real number.
    #[must_use]
    pub fn times(self, factor: DoubleDouble) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    /// The absolute value, as a double.
    pub fn abs(self) -> f64 {
        libm::hypot(self.re.to_f64(), self.im.to_f64())
    }

    /// The nearest complex number of doubles.
    pub fn to_complex(self) -> Complex {
        Complex::new(self.re.to_f64(), self.im.to_f64())
    }
}

/// Decrypted slots are wiped like words.
impl zeroize::DefaultIsZeroes for ComplexDoubleDouble {}

impl TransformNumber for ComplexDoubleDouble {
    fn root_of_unity(numerator: u64, denominator: u64) -> Self {
        debug_assert!(denominator.is_power_of_two() && denominator < 1 << 50);
        let turns = DoubleDouble::ratio((numerator % denominator) as i64, denominator as i64);
        let (cos, sin) = turns.cos_sin_turns();
        Self::new(cos, sin)
    }

    fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    fn scale(self, power_of_two: f64) -> Self {
        Self::new(self.re.scale(power_of_two), self.im.scale(power_of_two))
    }
}

impl From<Complex> for ComplexDoubleDouble {
    fn from(z: Complex) -> Self {
        Self { re: z.re.into(), im: z.im.into() }
    }
}

impl From<DoubleDouble> for ComplexDoubleDouble {
    fn from(x: DoubleDouble) -> Self {
        Self::real(x)
    }
}

impl From<f64> for ComplexDoubleDouble {
    fn from(x: f64) -> Self {
        Self::real(x.into())
    }
}

impl Add for ComplexDoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Sub for ComplexDoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl Mul for ComplexDoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl Neg for ComplexDoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}
