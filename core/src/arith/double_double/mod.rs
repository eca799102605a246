//! Reals of about 106 bits as unevaluated sums of two doubles.
//!
//! For numbers that must be right far beyond the noise of any ciphertext: scales, and coefficients of fitted polynomials.
//! The algorithms are Dekker's and Knuth's ("A floating-point technique for extending the available precision",
//! 1971; The Art of Computer Programming 2, section 4.2.2). Only `+ - * /` of doubles are used, never fused, and
//! first guesses come from the `libm` crate: the same bits natively and in WebAssembly.

mod complex;
mod functions;

pub use complex::ComplexDoubleDouble;

use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use super::round_ties_even;

/// `high + low` with `|low| <= ulp(high) / 2`. Sums, products and quotients are right to about 2^-104 of their size,
/// sums even where most of the terms cancels.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct DoubleDouble {
    high: f64,
    low: f64,
}

/// Decrypted coefficients are wiped like words.
impl zeroize::DefaultIsZeroes for DoubleDouble {}

impl DoubleDouble {
    /// 0.
    pub const ZERO: Self = Self::new(0.0);
    /// 1.
    pub const ONE: Self = Self::new(1.0);
    /// Half a turn in radians.
    pub const PI: Self = Self { high: core::f64::consts::PI, low: 1.224_646_799_147_353_2e-16 };

    /// A double, exactly.
    pub const fn new(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }

    /// An integer, exactly.
    pub fn from_u64(x: u64) -> Self {
        let high = (x >> 32) as f64 * 4_294_967_296.0;
        let low = (x & 0xffff_ffff) as f64;
        quick_two_sum(high, low)
    }

    /// `numerator / denominator`, rounded once.
    pub fn ratio(numerator: i64, denominator: i64) -> Self {
        Self::from_i64(numerator) / Self::from_i64(denominator)
    }

    /// An integer, exactly; without a branch on its value.
    pub const fn from_i64(x: i64) -> Self {
        // The upper half, towards minus infinity, is 0 or larger than the lower one.
        let high = (x >> 32) as f64 * 4_294_967_296.0;
        quick_two_sum(high, (x & 0xffff_ffff) as f64)
    }

    /// The value as an integer, if it is one below 2^100 in absolute value; without a branch on it.
    pub fn to_i128(self) -> i128 {
        const SPLIT: f64 = (1u64 << 50) as f64;
        let upper = round_ties_even(self.high / SPLIT);
        // At most 2^49, and an integer, because the double next to an integer is one.
        let lower = self.high - upper * SPLIT;
        (i128::from(upper as i64) << 50) + i128::from(lower as i64) + i128::from(self.low as i64)
    }

    /// The two doubles.
    pub const fn parts(self) -> (f64, f64) {
        (self.high, self.low)
    }

    /// The sum of two doubles, exactly.
    pub fn from_parts(high: f64, low: f64) -> Self {
        two_sum(high, low)
    }

    /// The nearest double.
    pub const fn to_f64(self) -> f64 {
        self.high
    }

    /// Whether both doubles are finite.
    pub const fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    /// Whether this is 0.
    pub fn is_zero(self) -> bool {
        self.high == 0.0
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// The larger of two; neither may be NaN.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// The product with a power of two: exact.
    #[must_use]
    pub fn scale(self, power_of_two: f64) -> Self {
        Self { high: self.high * power_of_two, low: self.low * power_of_two }
    }

    /// The nearest integer, or either neighbour within 2^-53 of the middle between two. Without a branch on the value.
    #[must_use]
    pub fn round(self) -> Self {
        let high = round_ties_even(self.high);
        // The rest is at most a half, or the low double where the high one is an integer.
        let rest = self - Self::new(high);
        quick_two_sum(high, round_ties_even(rest.high))
    }
}

impl From<f64> for DoubleDouble {
    fn from(x: f64) -> Self {
        Self::new(x)
    }
}

impl Add for DoubleDouble {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (s, t) = (two_sum(self.high, other.high), two_sum(self.low, other.low));
        let s = quick_two_sum(s.high, s.low + t.high);
        quick_two_sum(s.high, s.low + t.low)
    }
}

impl Sub for DoubleDouble {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for DoubleDouble {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Mul for DoubleDouble {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let p = two_product(self.high, other.high);
        quick_two_sum(p.high, p.low + (self.high * other.low + self.low * other.high))
    }
}

impl Div for DoubleDouble {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let q1 = self.high / other.high;
        let r = self - other * Self::new(q1);
        let q2 = r.high / other.high;
        let r = r - other * Self::new(q2);
        let q3 = r.high / other.high;
        let q = quick_two_sum(q1, q2);
        quick_two_sum(q.high, q.low + q3)
    }
}

impl AddAssign for DoubleDouble {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for DoubleDouble {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl core::iter::Sum for DoubleDouble {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// a + b, exactly (Knuth).
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    let t = s - a;
    DoubleDouble { high: s, low: (a - (s - t)) + (b - t) }
}

/// a + b, exactly, for |a| >= |b| (Dekker).
const fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let s = a + b;
    DoubleDouble { high: s, low: b - (s - a) }
}

/// a b, exactly: Dekker's product with Veltkamp's splitting.
fn two_product(a: f64, b: f64) -> DoubleDouble {
    let split = |x: f64| {
        let t = 134_217_729.0 * x;
        let high = t - (t - x);
        (high, x - high)
    };
    let p = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    DoubleDouble { high: p, low: ((ah * bh - p) + ah * bl + al * bh) + al * bl }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^-100.
    const TINY: f64 = 1.0 / (1u128 << 100) as f64;

    #[test]
    fn integers_are_exact() {
        let edges = [i64::MAX, i64::MIN, (1 << 32) - 1, 1 << 32, (1 << 53) + 1, 0x0123_4567_89ab_cdef];
        for x in edges.into_iter().flat_map(|x| [x, x.wrapping_neg(), 0, 1, -1]) {
            let y = DoubleDouble::from_i64(x);
            assert_eq!((y.high as i128 + y.low as i128, y.to_i128()), (i128::from(x), i128::from(x)));
            assert_eq!(two_sum(y.high, y.low), y, "{x}: the sum is normalised");
        }
        for x in [1i128 << 99, (1 << 100) - (1 << 47), (1 << 75) + 1, (1 << 50) - 1, 3 << 48, (1 << 98) / 3] {
            for x in [x, -x] {
                let high = x as f64;
                let y = DoubleDouble::from_parts(high, (x - high as i128) as f64);
                assert_eq!(y.to_i128(), x);
            }
        }
        let a = DoubleDouble::from_u64(0xffff_ffff_ffff_ffc5);
        let square = a * a;
        let (high, low) = square.parts();
        let exact = u128::from(0xffff_ffff_ffff_ffc5u64).pow(2);
        assert!(
            ((high as u128).wrapping_add_signed(low as i128).abs_diff(exact) as f64) < exact as f64 * TINY
        );
        assert!((square / a - a).to_f64().abs() / a.to_f64() < TINY, "{:?}", square / a);
    }

    #[test]
    fn sums_survive_cancellation() {
        let third = DoubleDouble::ratio(1, 3);
        let sum = third + DoubleDouble::new(1e20) - DoubleDouble::new(1e20);
        assert!((sum - third).to_f64().abs() < 1e20 * TINY);
        assert!((third + third + third - DoubleDouble::ONE).to_f64().abs() < TINY);
        assert_eq!((third - third).parts(), (0.0, 0.0));
    }

    #[test]
    fn rounding_is_to_nearest() {
        let tiny = DoubleDouble::new(1e-25);
        let half = DoubleDouble::new(0.5);
        let big = DoubleDouble::from_parts(2f64.powi(60), 0.75);
        let cases = [
            (half - DoubleDouble::new(1e-15), 0.0),
            (-half - DoubleDouble::new(1e-15), -1.0),
            (DoubleDouble::new(1.0) - tiny, 1.0),
            (DoubleDouble::new(2.5), 2.0),
            (DoubleDouble::new(-2.6), -3.0),
        ];
        for (x, rounded) in cases {
            assert_eq!(x.round(), DoubleDouble::new(rounded), "{x:?}");
        }
        assert_eq!(big.round(), DoubleDouble::from_u64((1 << 60) + 1));
        assert!(DoubleDouble::new(-2.0) < DoubleDouble::new(-2.0) + tiny);
    }
}
