//! A number as an LWE sample under the key of the gates.

use super::range::Range;
use crate::{rlwe::lwe::LweSample, schemes::ckks::Scale};

/// A number as an LWE sample under the key of the gates. Its phase is gamma x turns, where x is the number and gamma that of its [`Range`],
/// times the ratio of the scale of its ciphertext to that of the set.
#[derive(Debug, Clone)]
pub struct Phase {
    pub(super) sample: LweSample<u64>,
    pub(super) range: Range,
    /// Scale of the ciphertext it is from.
    pub(super) scale: Scale,
    /// The key of the gates.
    pub(super) key_id: [u8; 16],
}

impl Phase {
    /// The range of the number.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The scale of the ciphertext from which the number was extracted: only numbers at the same scale can be compared.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The sample: phase b + <a, z> modulo the prime of the gates.
    pub fn sample(&self) -> &LweSample<u64> {
        &self.sample
    }

    /// The key of the gates it is under.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }
}
