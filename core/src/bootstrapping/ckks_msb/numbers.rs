//! A ciphertext with bounds on the size and the error of what it holds.

use alloc::format;

use super::{
    noise,
    spec::{LARGEST_MESSAGE, MsbParams},
};
use crate::{
    arith::Word,
    error::Error,
    schemes::ckks::{Ciphertext, Scale},
    trace::Counters,
};

/// Numbers to read, with bounds of their absolute values and of their errors: the noise in which digits are read grows with both.
///
/// A ciphertext alone stands for real messages of the set: up to [`LARGEST_MESSAGE`] at the scale of the set, and in proportion at another
/// scale, which is also the largest bound that can be stated. Its errors are then up to 2^18 over its scale, which is more than encryption,
/// or a reading in well-chosen bases, leaves. A smaller bound allows larger moduli, and moduli below 1. After products, state the new bound
/// of the error ([`Self::off_by`]): c times a number has c times its error.
///
/// Where slots have imaginary parts, which are not read, their absolute values count.
#[derive(Clone, Copy)]
pub struct Numbers<'a, W: Word = u64> {
    x: &'a Ciphertext<W>,
    largest: Option<f64>,
    off: Option<f64>,
    /// Work done to prepare the numbers for the reading, not yet reported.
    before: Counters,
}

impl<'a, W: Word> Numbers<'a, W> {
    /// Numbers of absolute values up to `largest`, as they decrypt.
    pub fn up_to(x: &'a Ciphertext<W>, largest: f64) -> Self {
        Self { largest: Some(largest), ..Self::from(x) }
    }

    /// The same numbers, known to decrypt to within `off` of their exact values.
    #[must_use]
    pub fn off_by(self, off: f64) -> Self {
        Self { off: Some(off), ..self }
    }

    /// The same numbers, after work that the first stage of their reading is to report.
    pub(super) fn after(self, before: Counters) -> Self {
        Self { before, ..self }
    }

    pub(super) fn before(&self) -> Counters {
        self.before
    }

    /// The ciphertext.
    pub fn ciphertext(&self) -> &'a Ciphertext<W> {
        self.x
    }

    /// The bound of the numbers, for a set of this scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a bound that is not above 0, or above [`LARGEST_MESSAGE`] at that scale.
    pub(super) fn largest(&self, scale: Scale) -> Result<f64, Error> {
        let most = LARGEST_MESSAGE * scale.div(self.x.scale()).to_f64();
        let largest = self.largest.unwrap_or(most);
        // Written so that NaN is refused too; scales are exact to within 2^-45.
        if largest > 0.0 && largest <= most * (1.0 + 1e-9) {
            return Ok(largest);
        }
        Err(Error::InvalidArgument(format!(
            "numbers up to {largest} at scale 2^{:.1}; state a bound above 0 and of at most {most}, beyond which slots become \
             coefficients with too much noise",
            self.x.log_scale()
        )))
    }
}

impl<W: Word> Numbers<'_, W> {
    /// The bound of the errors of the numbers.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a bound that is negative, infinite or NaN.
    pub(super) fn off(&self, params: &MsbParams<W>) -> Result<f64, Error> {
        let usual = noise::of_input(params) * params.scale().div(self.x.scale()).to_f64();
        let off = self.off.unwrap_or(usual);
        if off.is_finite() && off >= 0.0 {
            return Ok(off);
        }
        Err(Error::InvalidArgument(format!("numbers that are off by {off}; state a bound from 0 on")))
    }
}

impl<'a, W: Word> From<&'a Ciphertext<W>> for Numbers<'a, W> {
    fn from(x: &'a Ciphertext<W>) -> Self {
        Self { x, largest: None, off: None, before: Counters::default() }
    }
}
