//! What is lost, in bits.

use core::fmt;

/// Errors of a vector against its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Largest error.
    pub max: f64,
    /// Root of the mean squared error.
    pub rms: f64,
}

impl Precision {
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
        let (mut max, mut squares, mut count) = (0.0f64, 0.0, 0u32);
        for error in errors {
            // A NaN must not be lost in a maximum.
            max = if error.is_nan() { error } else { max.max(error.abs()) };
            squares += error * error;
            count += 1;
        }
        assert!(count > 0, "no value to compare");
        Self { max, rms: (squares / f64::from(count)).sqrt() }
    }

    /// `-log2` of the largest error: bits that the worst value keeps.
    pub fn max_bits(self) -> f64 {
        -self.max.log2()
    }

    /// `-log2` of the mean error.
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
        assert!(Precision::of(&[f64::NAN, 1.0], &[0.0, 1.0]).rms.is_nan());
    }
}
