//! What is lost, in bits.

use core::fmt;

use refloat::schemes::ckks::Complex;

/// Errors of a vector against its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Largest error.
    pub max: f64,
    /// Root of the mean squared error.
    pub rms: f64,
    /// Mean of the errors' sizes.
    pub mean: f64,
}

impl Precision {
    /// Compares slots with a reference of equal length: an error is a distance in the plane.
    ///
    /// # Panics
    /// If the lengths differ or there is nothing to compare.
    pub fn of_slots(slots: &[Complex], reference: &[Complex]) -> Self {
        assert_eq!(slots.len(), reference.len(), "compared slot by slot");
        Self::of_errors(slots.iter().zip(reference).map(|(&x, &y)| (x - y).abs()))
    }

    /// Compares two vectors of equal length, value by value.
    ///
    /// # Panics
    /// If the lengths differ or there is nothing to compare.
    pub fn of(values: &[f64], reference: &[f64]) -> Self {
        assert_eq!(values.len(), reference.len(), "compared value by value");
        Self::of_errors(values.iter().zip(reference).map(|(x, y)| x - y))
    }

    /// From the errors themselves.
    ///
    /// # Panics
    /// If there are none.
    pub fn of_errors(errors: impl IntoIterator<Item = f64>) -> Self {
        let (mut max, mut squares, mut sum, mut count) = (0.0f64, 0.0, 0.0, 0u32);
        for error in errors {
            // A NaN must not be lost in a maximum.
            max = if error.is_nan() || max.is_nan() { f64::NAN } else { max.max(error.abs()) };
            squares += error * error;
            sum += error.abs();
            count += 1;
        }
        assert!(count > 0, "no value to compare");
        Self { max, rms: (squares / f64::from(count)).sqrt(), mean: sum / f64::from(count) }
    }

    /// `-log2` of the largest error: bits that the worst value keeps.
    pub fn max_bits(self) -> f64 {
        -self.max.log2()
    }

    /// `-log2` of the mean of the errors' sizes.
    pub fn mean_bits(self) -> f64 {
        -self.mean.log2()
    }

    /// `-log2` of the root of the mean squared error.
    pub fn rms_bits(self) -> f64 {
        -self.rms.log2()
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "max {:.2} bits, rms {:.2} bits", self.max_bits(), self.rms_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_an_error() {
        let precision = Precision::of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.5]);
        assert!((precision.max_bits() - 1.0).abs() < 1e-15);
        assert!((precision.rms_bits() - 2.0).abs() < 1e-15);
        assert!((precision.mean_bits() - 3.0).abs() < 1e-15);
        let lost = Precision::of(&[f64::NAN, 1.0, 3.0], &[0.0, 1.0, 1.0]);
        assert!([lost.max, lost.rms, lost.mean].iter().all(|error| error.is_nan()));
        let slots = Precision::of_slots(&[Complex::new(0.3, 0.4), Complex::ZERO], &[Complex::ZERO; 2]);
        assert!((slots.max - 0.5).abs() < 1e-15 && (slots.mean - 0.25).abs() < 1e-15);
    }
}
