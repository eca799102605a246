//! The canonical embedding, rounded to integers.

use alloc::{format, vec, vec::Vec};

use super::scale::Scale;
use crate::{
    arith::complex::{Complex, SpecialFft},
    error::Error,
};

/// Largest coefficient the encoder emits.
const LIMIT: f64 = (1u64 << 61) as f64;

/// Encodes slots into integer coefficients: m = round(scale · embedding^-1(slots)).
///
/// Rounding moves each coefficient by at most 1/2; the transform itself is accurate to about
/// log2(N) · 2^-52 of the largest slot.
pub struct Encoder {
    n: usize,
    fft: SpecialFft,
}

impl Encoder {
    /// Tables for ring degree `n`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `n` is a power of two the transform supports.
    pub fn new(n: usize) -> Result<Self, Error> {
        Ok(Self { n, fft: SpecialFft::new(n)? })
    }

    /// Number of slots, N/2.
    pub fn slots(&self) -> usize {
        self.n / 2
    }

    /// Real coefficients of the polynomial with the given slots (missing slots are zero).
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more than N/2 slots or a value that is not finite.
    pub fn coefficients(&self, slots: &[Complex]) -> Result<Vec<f64>, Error> {
        let s = self.slots();
        if slots.len() > s {
            return Err(Error::InvalidArgument(format!(
                "{} values do not fit the {s} slots of this set; split the input or choose a larger set",
                slots.len()
            )));
        }
        if let Some(k) = slots.iter().position(|z| !(z.re.is_finite() && z.im.is_finite())) {
            return Err(Error::InvalidArgument(format!("value {k} is not a finite number")));
        }
        let mut w = vec![Complex { re: 0.0, im: 0.0 }; s];
        w[..slots.len()].copy_from_slice(slots);
        self.fft.inverse(&mut w);
        Ok(w.iter().map(|z| z.re).chain(w.iter().map(|z| z.im)).collect())
    }

    /// Integer coefficients at a scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`Self::coefficients`], or if a coefficient exceeds 2^61.
    pub fn encode(&self, slots: &[Complex], scale: Scale) -> Result<Vec<i64>, Error> {
        let factor = scale.to_f64();
        if !(factor.is_finite() && factor > 0.0) {
            return Err(Error::InvalidArgument(format!(
                "scale {factor} is not a positive number; scales are powers of two of the wanted precision"
            )));
        }
        self.coefficients(slots)?
            .into_iter()
            .map(|x| {
                let y = round_ties_even(x * factor);
                if y.abs() < LIMIT {
                    Ok(y as i64)
                } else {
                    Err(Error::InvalidArgument(format!(
                        "a coefficient of 2^{:.1} at scale 2^{:.1} exceeds 2^61; scale the values down",
                        libm::log2(y.abs()),
                        scale.log2()
                    )))
                }
            })
            .collect()
    }

    /// Slots of a polynomial with N real coefficients, divided by a scale.
    pub fn decode(&self, coefficients: &[f64], scale: Scale) -> Vec<Complex> {
        let s = self.slots();
        let factor = 1.0 / scale.to_f64();
        let mut w: Vec<Complex> = (0..s)
            .map(|k| Complex { re: coefficients[k] * factor, im: coefficients[k + s] * factor })
            .collect();
        self.fft.forward(&mut w);
        w
    }
}

/// Nearest integer, ties to even, without the standard library and the same everywhere.
pub fn round_ties_even(x: f64) -> f64 {
    // From 2^52 on every double is an integer, and sums with 2^52 are rounded to integers.
    const INTEGERS: f64 = 4_503_599_627_370_496.0;
    let shift = libm::copysign(INTEGERS, x);
    if x.abs() < INTEGERS { (x + shift) - shift } else { x }
}
