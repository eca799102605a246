//! What the digits are read from: the raised message, or the multiples of q0 that were removed before.
//!
//! There are two ways to obtain the digits I that a bootstrap removes. They can be read off the raised message, if it was multiplied by
//! D = p^t first: its coefficients are then I + p^t y. Or they can be read off I - D I', where I' is as small as I and D need not be a
//! power of p (Ma, Huang, Wang, Wang, EUROCRYPT 2024, ePrint 2024/115).
//!
//! Under the ephemeral secret, the message has the phase m' + q0 I' over the integers, and D m' + q0 I once it is multiplied by D modulo
//! q0. That reduction subtracts q0 k from every coefficient D x of both components, where k = (D x - \[D x\])/q0 is a public integer up to
//! D/2. So -k is a ciphertext of I - D I', without noise, and is raised like the message. The authors multiply k by an encryption of the
//! ephemeral secret; here the key that switches from this secret does the same.

use alloc::format;

use crate::{arith::PrimePower, error::Error};

/// What the digits are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// The message itself, multiplied by p^t and raised: I + p^t y modulo p^(r + t).
    Raised,
    /// The multiples of q0 that the product with p^t took off: I - p^t I', modulo p^(r + t). They are taken off the raised message. The
    /// first approach of the source, type A.
    Multiples,
    /// Like `Multiples`, but with a factor that p does not divide: I - `step` I', modulo p^r, with t = 0. The second approach of the
    /// source, type B.
    Beside {
        /// Above 2B, and so small that B (1 + `step`) < p/2: all sums are different.
        step: u64,
    },
}

impl Approach {
    /// Whether the digits are read from a second ciphertext while the message waits for them. Without the feature `odd-index` they never
    /// are: no set in the programs for pages has such digits, and the compiler leaves them out.
    pub(super) fn is_apart(self) -> bool {
        cfg!(feature = "odd-index") && self != Self::Raised
    }

    /// The step, of type B.
    pub(super) fn step(self) -> Option<u64> {
        match self {
            Self::Beside { step } if self.is_apart() => Some(step),
            _ => None,
        }
    }

    /// D, by which the message is multiplied: `step` or p^t.
    pub(super) fn multiplier(self, prime: u64, t: u32) -> u64 {
        self.step().unwrap_or_else(|| prime.pow(t))
    }

    /// Checks that this build has the approach, and that t is 0 if it has a step.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what to change.
    pub(super) fn check(self, ring: PrimePower, t: u32) -> Result<(), Error> {
        let text = match self {
            Self::Multiples | Self::Beside { .. } if !cfg!(feature = "odd-index") => format!(
                "{self:?} reads digits from multiples of q0; build refloat with the feature odd-index for that, or read them from the \
                 raised message"
            ),
            Self::Beside { step } if t != 0 => format!(
                "a step of {step} and digits beside multiples of {}^{t}; take a digit exponent of 0 with a step, or no step",
                ring.prime()
            ),
            _ => return Ok(()),
        };
        Err(Error::InvalidArgument(text))
    }

    /// What enters the fingerprint of a set: nothing for [`Self::Raised`].
    pub(super) fn fingerprint(self, hasher: &mut blake3::Hasher) {
        match self {
            Self::Raised => (),
            Self::Multiples => _ = hasher.update(b"/multiples/"),
            Self::Beside { step } => _ = hasher.update(b"/beside/").update(&step.to_le_bytes()),
        }
    }
}
