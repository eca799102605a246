//! What the owner of the secret key sees of a run between two steps: an intermediate value, decrypted, beside what exact
//! arithmetic gives.
//!
//! A decryption of an intermediate value carries its noise, so it is for the key's owner only: a server cannot make these
//! views, and a client must not send them on.

use alloc::vec::Vec;

use crate::arith::complex::Complex;

/// What the numbers of a view are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewKind {
    /// Complex slots.
    Slots,
    /// Real coefficients, in units of the message.
    Coefficients,
    /// Phases in turns, modulo 1, of coefficients modulo q0.
    Phases,
    /// Real coefficients over q0, integers included: m/q0 + I.
    Quotients,
}

impl ViewKind {
    /// Stable name: `slots`, `coefficients`, `phases` or `quotients`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Slots => "slots",
            Self::Coefficients => "coefficients",
            Self::Phases => "phases",
            Self::Quotients => "quotients",
        }
    }
}

/// A decrypted intermediate value.
#[non_exhaustive]
pub struct StageView {
    /// Stage it belongs to.
    pub stage: &'static str,
    /// What it shows.
    pub kind: ViewKind,
    /// Track, for a factor of SHIP's blind rotations.
    pub track: Option<usize>,
    /// Layer of SHIP's product tree and node in it.
    pub node: Option<(usize, usize)>,
    /// The value that a message of 1 has here.
    pub unit: f64,
    /// Decrypted values; the imaginary part is zero where they are real.
    pub values: Vec<Complex>,
    /// What exact arithmetic on the same public ciphertext gives, where that is known.
    pub expected: Vec<Complex>,
}

impl StageView {
    /// Largest and root-mean-square distance from the expected values.
    pub fn error(&self) -> (f64, f64) {
        let squares = self.values.iter().zip(&self.expected).map(|(&v, &e)| (v - e).norm_sqr());
        let (max, sum) = squares.fold((0.0f64, 0.0), |(m, s), x| (m.max(x), s + x));
        (libm::sqrt(max), libm::sqrt(sum / self.values.len().max(1) as f64))
    }

    /// -log2 of [`Self::error`] in units of the message.
    pub fn bits(&self) -> (f64, f64) {
        let (max, rms) = self.error();
        (libm::log2(self.unit / max), libm::log2(self.unit / rms))
    }
}
