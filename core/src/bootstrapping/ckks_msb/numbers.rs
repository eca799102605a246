//! A ciphertext, and how large what it holds may be.

use alloc::format;

use super::spec::LARGEST_MESSAGE;
use crate::{
    arith::Word,
    error::Error,
    schemes::ckks::{Ciphertext, Scale},
};

/// Numbers to read, and a bound of their absolute values: the noise in which digits are read grows with it.
///
/// A ciphertext alone stands for messages of the set, up to [`LARGEST_MESSAGE`] at its scale: that is also the largest bound,
/// at another scale in proportion. A smaller one allows larger moduli, and moduli below 1. Beside it, what is read, numbers over
/// their modulus, may be off by 2^18 over the scale of the set (2^-30 for `msb16`), as refreshed numbers are. After products by
/// large numbers it is off by more, and digits may be wrong without an error.
#[derive(Clone, Copy)]
pub struct Numbers<'a, W: Word = u64> {
    x: &'a Ciphertext<W>,
    largest: Option<f64>,
}

impl<'a, W: Word> Numbers<'a, W> {
    /// Numbers whose parts are at most `largest` in absolute value, as they decrypt.
    pub fn up_to(x: &'a Ciphertext<W>, largest: f64) -> Self {
        Self { x, largest: Some(largest) }
    }

    /// The ciphertext.
    pub fn ciphertext(&self) -> &'a Ciphertext<W> {
        self.x
    }

    /// The bound for a set of a scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for one that is not above 0, or above [`LARGEST_MESSAGE`] at that scale.
    pub(super) fn largest(&self, scale: Scale) -> Result<f64, Error> {
        let most = LARGEST_MESSAGE * scale.div(self.x.scale()).to_f64();
        let largest = self.largest.unwrap_or(most);
        // Written so that NaN is refused too; scales come to within 2^-45.
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

impl<'a, W: Word> From<&'a Ciphertext<W>> for Numbers<'a, W> {
    fn from(x: &'a Ciphertext<W>) -> Self {
        Self { x, largest: None }
    }
}
