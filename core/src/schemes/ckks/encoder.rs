//! The canonical embedding, rounded to integers.
//!
//! Computed in doubles where these are precise enough to round to the nearest integer, and in 106-bit numbers otherwise: a message of
//! 2^20 at a scale of 2^48 decodes to its last bit. The choice depends only on the scale and a bound on messages, which are public;
//! neither computation has a branch on a slot or a coefficient.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::scale::Scale;
use crate::{
    arith::{
        ComplexDoubleDouble, DoubleDouble,
        complex::{Complex, SpecialFft},
        round_ties_even,
    },
    error::Error,
};

/// Largest coefficient that is encoded in a word.
const LIMIT: f64 = (1u64 << 61) as f64;

/// Largest coefficient that is encoded at all.
const WIDE_LIMIT: f64 = (1u128 << 100) as f64;

/// Largest product of slots and scale that is computed in doubles: a transform then is off by about 2^-4 in a coefficient.
const LARGEST_NARROW: f64 = (1u64 << 45) as f64;

/// Encodes slots into integer coefficients: m = round(scale · embedding^-1(slots)).
///
/// Rounding moves each coefficient by at most 1/2; the transform itself is accurate to about log2(N) · 2^-52 of the largest slot. The
/// factors of both transforms are made when they are first used, or, without the standard library, together with the encoder.
pub struct Encoder {
    n: usize,
    fft: SpecialFft,
    wide: SpecialFft<ComplexDoubleDouble>,
}

impl Encoder {
    /// Tables for ring degree `n`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless `n` is a power of two the transform supports.
    pub fn new(n: usize) -> Result<Self, Error> {
        Ok(Self { n, fft: SpecialFft::new(n)?, wide: SpecialFft::new(n)? })
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
        let mut w = self.filled(slots, |z| z)?;
        self.fft.inverse(&mut w);
        Ok(w.iter().map(|z| z.re).chain(w.iter().map(|z| z.im)).collect())
    }

    /// The given slots, filled up with zeros to all slots of the ring.
    fn filled<C: Clone + Default>(
        &self,
        slots: &[Complex],
        number: impl Fn(Complex) -> C,
    ) -> Result<Vec<C>, Error> {
        let s = self.slots();
        if slots.len() > s {
            return Err(Error::InvalidArgument(format!(
                "{} values do not fit the {s} slots of this set; split the input or choose a larger set",
                slots.len()
            )));
        }
        if let Some(k) = slots.iter().position(|z| !(z.re.is_finite() && z.im.is_finite())) {
            return Err(Error::InvalidArgument(format!(
                "value {k} is not a finite number; check what it is computed from"
            )));
        }
        let mut w = vec![C::default(); s];
        w.iter_mut().zip(slots).for_each(|(w, &z)| *w = number(z));
        Ok(w)
    }

    /// Integer coefficients at a scale.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`Self::coefficients`], or if a coefficient exceeds 2^61.
    pub fn encode(&self, slots: &[Complex], scale: Scale) -> Result<Vec<i64>, Error> {
        let factor = scale.checked()?;
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

    /// [`Self::encode`] for messages: coefficients may reach 2^100. It computes to 106 bits if slots with parts of `largest`, a public
    /// bound, would have coefficients above 2^45.
    ///
    /// # Errors
    /// As [`Self::encode`], for coefficients above 2^100.
    pub fn encode_wide(&self, slots: &[Complex], scale: Scale, largest: f64) -> Result<Vec<i128>, Error> {
        let factor = scale.checked()?;
        let rounded = if factor * largest <= LARGEST_NARROW {
            let narrow = Zeroizing::new(self.coefficients(slots)?);
            Zeroizing::new(narrow.iter().map(|x| round_ties_even(x * factor).into()).collect::<Vec<_>>())
        } else {
            let mut w = Zeroizing::new(self.filled(slots, ComplexDoubleDouble::from)?);
            self.wide.inverse(&mut w);
            let parts = w.iter().map(|z| z.re).chain(w.iter().map(|z| z.im));
            Zeroizing::new(parts.map(|x| (x * scale.to_real()).round()).collect::<Vec<DoubleDouble>>())
        };
        // Written so that NaN is refused too, and that every coefficient is looked at alike.
        if !rounded.iter().fold(true, |fit, y| fit & (y.to_f64().abs() < WIDE_LIMIT)) {
            let largest = rounded.iter().fold(0.0, |largest, y| y.to_f64().abs().max(largest));
            return Err(Error::InvalidArgument(format!(
                "a coefficient of 2^{:.1} at scale 2^{:.1} exceeds 2^100; scale the values down",
                libm::log2(largest),
                scale.log2()
            )));
        }
        Ok(rounded.iter().map(|y| y.to_i128()).collect())
    }

    /// [`Self::decode`], to 106 bits if slots with parts of `largest`, a public bound, have coefficients above 2^45.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless there are N coefficients.
    pub fn decode_wide(
        &self,
        coefficients: &[DoubleDouble],
        scale: Scale,
        largest: f64,
    ) -> Result<Vec<Complex>, Error> {
        let s = self.slots();
        if coefficients.len() != self.n {
            return Err(Error::InvalidArgument(format!(
                "{} coefficients of a polynomial of degree below {}; give every one",
                coefficients.len(),
                self.n
            )));
        }
        if scale.to_f64() * largest <= LARGEST_NARROW {
            let narrow = Zeroizing::new(coefficients.iter().map(|c| c.to_f64()).collect::<Vec<_>>());
            return Ok(self.decode(&narrow, scale));
        }
        let factor = DoubleDouble::ONE / scale.to_real();
        let pair = |k: usize| ComplexDoubleDouble::new(coefficients[k], coefficients[k + s]).times(factor);
        let mut w = Zeroizing::new((0..s).map(pair).collect::<Vec<_>>());
        self.wide.forward(&mut w);
        Ok(w.iter().map(|z| z.to_complex()).collect())
    }

    /// Slots of a polynomial with N real coefficients, divided by a scale.
    ///
    /// # Panics
    /// For fewer than N coefficients.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots of both signs up to a size, with an odd last bit.
    fn slots(count: usize, largest: f64) -> Vec<Complex> {
        let part = |x: f64| largest * libm::sin(x);
        (0..count).map(|i| Complex::new(part(1.7 * i as f64), part(2.3 * i as f64 + 1.0))).collect()
    }

    fn distance(x: &[Complex], y: &[Complex]) -> f64 {
        x.iter().zip(y).map(|(&x, &y)| (x - y).abs()).fold(0.0, f64::max)
    }

    fn reals(coefficients: &[i128]) -> Vec<DoubleDouble> {
        let shift = 1i128 << 60;
        let real = |x: &i128| {
            DoubleDouble::from_i64((x / shift) as i64).scale(libm::exp2(60.0))
                + DoubleDouble::from_i64((x % shift) as i64)
        };
        coefficients.iter().map(real).collect()
    }

    #[test]
    fn large_messages_decode_to_their_last_bit() {
        let (n, scale, size) = (1 << 12, Scale::exp2(48.0), libm::exp2(20.0));
        let encoder = Encoder::new(n).unwrap();
        for values in [slots(n / 2, size), alloc::vec![Complex::new(size, -size); n / 2]] {
            let coefficients = encoder.encode_wide(&values, scale, size).unwrap();
            let found = encoder.decode_wide(&reals(&coefficients), scale, size).unwrap();
            assert!(distance(&found, &values) <= libm::exp2(-32.0), "{:e}", distance(&found, &values));
            // Decoded by the definition, in one slot.
            let sum = reals(&coefficients).into_iter().enumerate().fold(
                ComplexDoubleDouble::ZERO,
                |sum, (k, c)| {
                    let (cos, sin) =
                        DoubleDouble::ratio(5 * k as i64 % (2 * n as i64), 2 * n as i64).cos_sin_turns();
                    sum + ComplexDoubleDouble::new(cos, sin).times(c)
                },
            );
            let slot = sum.times(DoubleDouble::ONE / scale.to_real()).to_complex();
            assert!((slot - values[1]).abs() <= libm::exp2(-32.0));
        }
        // A constant has one coefficient, beyond a word.
        let constant = encoder.encode_wide(&[Complex::new(size, 0.0)].repeat(n / 2), scale, size).unwrap();
        assert_eq!(constant[0], 1i128 << 68);
        assert!(constant[1..].iter().all(|&c| c == 0));
        assert!(encoder.encode(&[Complex::new(size, 0.0)].repeat(n / 2), scale).is_err());
        assert!(encoder.encode_wide(&slots(n / 2, 1e20), scale, size).is_err());
        assert!(encoder.encode_wide(&[Complex::new(f64::MAX, 0.0)], scale, size).is_err());
        assert!(encoder.decode_wide(&reals(&constant[1..]), scale, size).is_err());
    }

    /// At scales for which small messages take doubles.
    #[test]
    fn large_messages_decode_to_their_last_bit_at_small_scales() {
        let (n, size) = (1 << 10, libm::exp2(20.0));
        let (encoder, values) = (Encoder::new(n).unwrap(), slots(n / 2, size));
        for log_scale in [42.0, 45.0] {
            let scale = Scale::exp2(log_scale);
            let coefficients = encoder.encode_wide(&values, scale, size).unwrap();
            let found = encoder.decode_wide(&reals(&coefficients), scale, size).unwrap();
            // Half a unit in the last place of a double, and the rounding of coefficients.
            let bound = libm::exp2(-33.0) + 6.0 * libm::sqrt(n as f64 / 12.0) * libm::exp2(-log_scale);
            assert!(distance(&found, &values) <= bound, "2^{log_scale}: {:e}", distance(&found, &values));
        }
    }

    #[test]
    fn small_messages_are_encoded_as_before() {
        let (n, scale) = (1 << 9, Scale::exp2(42.0));
        let (encoder, values) = (Encoder::new(n).unwrap(), slots(n / 2, 1.0));
        let narrow = encoder.encode(&values, scale).unwrap();
        let wide = encoder.encode_wide(&values, scale, 1.0).unwrap();
        assert!(narrow.iter().zip(&wide).all(|(&x, &y)| i128::from(x) == y));
        let doubles: Vec<f64> = narrow.iter().map(|&x| x as f64).collect();
        assert_eq!(encoder.decode(&doubles, scale), encoder.decode_wide(&reals(&wide), scale, 1.0).unwrap());
    }
}
