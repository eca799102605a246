//! Which function of x = m/q0 + I removes I.

use super::{
    eval_mod::{EvalMod, EvalModSpec},
    harmonics::{Harmonics, HarmonicsSpec},
};
use crate::{bootstrapping::raising::ReductionSpec, error::Error};

/// The numbers of a reduction modulo q0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// A sine. It is nearly linear for small coefficients, those of slots that are random with mean zero. With an arcsine
    /// after it, which takes two levels, it is nearly linear for all coefficients.
    Sine(EvalModSpec),
    /// Two harmonics: nearly linear for every message, one level more than a sine.
    Harmonics(HarmonicsSpec),
}

impl Reduction {
    /// The sine, if it is one.
    pub fn sine(&self) -> Option<&EvalModSpec> {
        match self {
            Self::Sine(spec) => Some(spec),
            Self::Harmonics(_) => None,
        }
    }

    /// Quotients |I| for which precision is promised. A polynomial that is fitted near integers is less precise towards the
    /// ends of its range, so this is three quarters of it; a coefficient exceeds that with probability 2^-58 (range 16,
    /// ephemeral weight 32). For a cosine that is fitted to the whole interval it is all of the range.
    pub fn usual_range(&self) -> u32 {
        match self {
            Self::Sine(EvalModSpec { range, log_distance: None, .. }) => range.saturating_sub(1),
            _ => self.range() * 3 / 4,
        }
    }
}

/// A reduction with its polynomials.
pub enum FittedReduction {
    /// See [`Reduction::Sine`].
    Sine(EvalMod),
    /// See [`Reduction::Harmonics`].
    Harmonics(Harmonics),
}

impl FittedReduction {
    /// Fits the polynomials.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers out of range, or a fit that does not converge.
    pub fn new(spec: &Reduction) -> Result<Self, Error> {
        Ok(match spec {
            Reduction::Sine(spec) => Self::Sine(EvalMod::new(spec)?),
            Reduction::Harmonics(spec) => Self::Harmonics(Harmonics::new(spec)?),
        })
    }

    /// The reduction of a clear number, as the circuit does it.
    pub fn value(&self, x: f64) -> f64 {
        match self {
            Self::Sine(sine) => sine.value(x),
            Self::Harmonics(harmonics) => harmonics.value(x),
        }
    }

    /// Key switches for one ciphertext.
    pub fn key_switches(&self) -> usize {
        match self {
            Self::Sine(sine) => sine.key_switches(),
            Self::Harmonics(harmonics) => harmonics.key_switches(),
        }
    }

    /// The largest error that the reduction's shape leaves in a slot of any message with parts in \[-1, 1\] and a size of
    /// 2^-`log_ratio` of q0; noise comes on top. It is the larger of two errors, for I = 0 in every coefficient and for
    /// quotients at the ends of [`Reduction::usual_range`]; what the fit leaves at the integers themselves counts as
    /// noise.
    pub fn proven_error(&self, log_ratio: u32) -> f64 {
        let unit = libm::exp2(-f64::from(log_ratio));
        let usual = f64::from(self.spec().usual_range());
        let errors = [0.0, usual, -usual].map(|quotient| {
            let zero = self.value(quotient);
            largest_in_a_slot(|c| {
                let x = quotient + c * unit;
                // c, rounded as double precision rounds it next to an integer.
                let c = (x - quotient) / unit;
                (c, (self.value(x) - zero) / unit - c)
            })
        });
        errors.into_iter().fold(0.0, f64::max)
    }

    fn spec(&self) -> Reduction {
        match self {
            Self::Sine(sine) => Reduction::Sine(*sine.spec()),
            Self::Harmonics(harmonics) => Reduction::Harmonics(*harmonics.spec()),
        }
    }
}

/// The largest error in a slot, for an error g(c) in every coefficient c of a message whose coefficients have a sum of
/// squares of at most 2: the error of the slope at 0, sqrt(2) |g'(0)|, plus twice the largest |g(c) - g'(0) c| / c^2.
/// `error` gives c and g(c) for a c near the requested one.
fn largest_in_a_slot(error: impl Fn(f64) -> (f64, f64)) -> f64 {
    const STEPS: i32 = 64;
    let largest = core::f64::consts::SQRT_2;
    let (tiny, left) = error(largest / 4096.0);
    let slope = left / tiny;
    let bent = (-STEPS..=STEPS).filter(|&k| k != 0).map(|k| {
        let (c, left) = error(largest * f64::from(k) / f64::from(STEPS));
        (left - slope * c).abs() / (c * c)
    });
    largest * slope.abs() + 2.0 * bent.fold(0.0, f64::max)
}
