//! Which function of x = m/q0 + I takes I away.

use super::{
    eval_mod::{EvalMod, EvalModSpec},
    harmonics::{Harmonics, HarmonicsSpec},
};
use crate::error::Error;

/// The numbers of a reduction modulo q0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// A sine: straight for small coefficients, those of slots that are random with mean zero; for all of them with an
    /// arcsine after it, which takes two levels.
    Sine(EvalModSpec),
    /// Two harmonics: straight for every message, one level more than a sine.
    Harmonics(HarmonicsSpec),
}

impl Reduction {
    /// Levels it takes.
    pub fn levels(&self) -> usize {
        match self {
            Self::Sine(spec) => spec.levels(),
            Self::Harmonics(spec) => spec.levels(),
        }
    }

    /// K: quotients |I| are below that.
    pub fn range(&self) -> u32 {
        match self {
            Self::Sine(spec) => spec.range,
            Self::Harmonics(spec) => spec.range,
        }
    }

    /// The sine, if it is one.
    pub fn sine(&self) -> Option<&EvalModSpec> {
        match self {
            Self::Sine(spec) => Some(spec),
            Self::Harmonics(_) => None,
        }
    }

    /// Whether precision holds for every message, whatever its slots have in common.
    pub fn holds_for_every_message(&self) -> bool {
        self.sine().is_none_or(|spec| spec.arcsine.is_some())
    }

    /// Every number, for fingerprints: those that a sine always had; and last of all a tag for anything else.
    pub(super) fn words(&self) -> ([u64; 6], Option<u64>) {
        match self {
            Self::Sine(spec) => (spec.words(), None),
            Self::Harmonics(spec) => {
                let [range, squarings, distance] =
                    [spec.range, spec.squarings, spec.log_distance].map(u64::from);
                ([range, 2 * range - 1, squarings, 0, 0, distance], Some(1))
            }
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
    /// 2^-`log_ratio` beside q0; noise comes to it.
    pub fn proven_error(&self, log_ratio: u32) -> f64 {
        let unit = libm::exp2(-f64::from(log_ratio));
        largest_in_a_slot(|c| self.value(c * unit) / unit)
    }
}

/// The largest error in a slot, for an error g(c) = f(c) - c in every coefficient of a message whose coefficients have a
/// sum of squares of at most 2: that of the slope at 0, sqrt(2) |g'(0)|, and twice the largest |g(c) - g'(0) c| / c^2.
fn largest_in_a_slot(f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 256;
    let largest = core::f64::consts::SQRT_2;
    let tiny = largest / 4096.0;
    let slope = f(tiny) / tiny - 1.0;
    let bent = (1..=STEPS).map(|k| {
        let c = largest * f64::from(k) / f64::from(STEPS);
        (f(c) - c - slope * c).abs() / (c * c)
    });
    largest * slope.abs() + 2.0 * bent.fold(0.0, f64::max)
}
