//! The numbers of a set.

use alloc::string::String;

use super::approach::Approach;
use crate::{
    bootstrapping::raising::EphemeralSpec,
    ring::Cyclotomic,
    rlwe::{EncapsulationDigits, RlweSpec, identifier},
    schemes::bgv::PlaintextSpec,
};

/// Public numbers of a set; see [`super::BgvParams`] for the checked form. In a ring of one axis bootstrapping is thin, in one of
/// two axes general.
#[derive(Debug, Clone, PartialEq)]
pub struct BgvSpec {
    /// Name of the set.
    pub name: String,
    /// Ring, primes, digits, main secret and policy. From level 0 upwards: q0, slots-to-coefficients, products, digit removal,
    /// coefficients-to-slots; in a general set products come before slots-to-coefficients.
    pub chain: RlweSpec,
    /// Whether all coordinates of slots are refreshed. Otherwise slots hold one integer each, and the contents of other slots are lost.
    /// False in a ring of one axis, true in one of two, either in one of odd index.
    pub general: bool,
    /// p, as [`PlaintextSpec::prime`].
    pub prime: u64,
    /// r: messages are modulo p^r.
    pub exponent: u32,
    /// t: I is removed beside multiples of p^t, modulo p^(r + t). 0 where [`Self::approach`] has a step of its own.
    pub digit_exponent: u32,
    /// Which numbers I is read from.
    pub approach: Approach,
    /// B: the largest I that is removed. It is below p/2, or below p^t/2 for p up to 31, where t digits are read one after the other. With
    /// a step it is bounded as [`Approach::Beside`] says.
    pub bound: u32,
    /// Stages of slots-to-coefficients, one level each; 2 in a ring of odd index.
    pub slots_to_coeffs: usize,
    /// Stages of coefficients-to-slots, one level each; 2 in a ring of odd index.
    pub coeffs_to_slots: usize,
    /// The secret between the lowest and the highest modulus.
    pub ephemeral: EphemeralSpec,
}

impl BgvSpec {
    /// Whether slots hold elements of Galois rings, whose coordinates are bootstrapped together.
    pub(super) fn is_general(&self) -> bool {
        self.general
    }

    /// Whether the ring has a second axis beside that of a power of two.
    pub(super) fn has_two_axes(&self) -> bool {
        self.chain.odd_part != 1 && !self.has_odd_index()
    }

    /// Whether the index of the ring is odd.
    pub(super) fn has_odd_index(&self) -> bool {
        !Cyclotomic::ODD_PARTS.contains(&self.chain.odd_part)
    }

    /// The plaintexts of the set.
    pub fn plaintexts(&self) -> PlaintextSpec {
        PlaintextSpec {
            prime: self.prime,
            exponent: self.exponent,
            largest_exponent: self.exponent.saturating_add(self.digit_exponent),
        }
    }

    /// 16 bytes that identify the set: BLAKE3 over every number of it, security policy included, but not its name.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-23 bgv bootstrapping parameters v1");
        h.update(&self.chain.fingerprint());
        let digits = match self.ephemeral.digits {
            EncapsulationDigits::Balanced { count } => count as u64,
            EncapsulationDigits::PerPrime => 0,
        };
        for word in [
            self.prime,
            self.exponent.into(),
            self.digit_exponent.into(),
            self.bound.into(),
            self.slots_to_coeffs as u64,
            self.coeffs_to_slots as u64,
            self.ephemeral.weight.into(),
            self.ephemeral.prime,
            digits,
        ] {
            h.update(&word.to_le_bytes());
        }
        if self.has_odd_index() && self.is_general() {
            h.update(b"/general/");
        }
        self.approach.fingerprint(&mut h);
        if self.has_two_axes() {
            // How the ephemeral secret is drawn.
            h.update(b"/one coefficient for each power of Y/");
        }
        if self.has_odd_index() {
            h.update(b"/one coefficient for each power of X_2 of two primes/");
        }
        identifier(&h)
    }
}
