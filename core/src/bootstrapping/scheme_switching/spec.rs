//! The numbers of a set.

use alloc::string::String;

use crate::{
    bootstrapping::raising::{RaisingSpec, ReductionSpec},
    rlwe::identifier,
    schemes::cggi::CggiSpec,
};

/// Public numbers of a link between two sets; see [`super::LinkParams`] for the checked form.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSpec<R> {
    /// Name of the set.
    pub name: String,
    /// The set of numbers in slots.
    pub ckks: RaisingSpec<R>,
    /// The set of gates and look-ups.
    pub cggi: CggiSpec,
    /// p_s: the prime modulo which coefficients change rings, congruent to 1 modulo twice the larger degree.
    pub prime: u64,
    /// P': the special prime of the key from slots to gates, congruent to 1 likewise. Under the ring key of the gates, p_s P' has to be as
    /// secure as the gates' own modulus.
    pub special: u64,
    /// log2 of the probability at which a look-up is refused.
    pub log_failure: f64,
}

impl<R: ReductionSpec> LinkSpec<R> {
    /// 16 bytes that identify the set: BLAKE3 over every number of it, those of both sets included, but not its name.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-23 scheme switching parameters v1");
        h.update(&self.ckks.fingerprint());
        h.update(&self.cggi.fingerprint());
        for word in [self.prime, self.special, self.log_failure.to_bits()] {
            h.update(&word.to_le_bytes());
        }
        identifier(&h)
    }
}
