//! The numbers of a DM/CGGI parameter set.

use alloc::{string::String, vec::Vec};

use super::method::RotationMethod;
use crate::{
    ring::Binomial,
    rlwe::identifier,
    security::{LweSecret, SecurityPolicy},
};

/// Public numbers of a DM/CGGI set; see [`super::CggiParams`] for the checked form.
#[derive(Debug, Clone, PartialEq)]
pub struct CggiSpec {
    /// Name of the set.
    pub name: String,
    /// How the accumulator is rotated.
    pub method: RotationMethod,
    /// n: dimension of the short key.
    pub lwe_dimension: usize,
    /// Distribution of the short key.
    pub lwe_secret: LweSecret,
    /// log2 of q, the modulus of the short key.
    pub log_q: u32,
    /// log2 of the base of the key switch's digits.
    pub switch_base_log: u32,
    /// Number of the key switch's digits.
    pub switch_digits: usize,
    /// log2 of the ring degree N. The ring key is uniform ternary; that of NTRU is drawn as errors are.
    pub log_n: u32,
    /// p, a prime 1 modulo 2N.
    pub prime: u64,
    /// Error of ring samples. Those of the short key have 21 coins.
    pub width: Binomial,
    /// beta: log2 of the base of the external product's digits.
    pub base_log: u32,
    /// d: number of the external product's digits.
    pub digits: usize,
    /// t: look-ups of the set are promised for integers below t, encoded with padding; 2 for a set of bits.
    pub messages: u32,
    /// log2 of the promised probability that the result of a gate or look-up is wrong.
    pub log_failure: f64,
    /// The policy the set must meet.
    pub policy: SecurityPolicy,
}

impl CggiSpec {
    /// Variance of a coefficient of the ring key.
    pub fn ring_key_variance(&self) -> f64 {
        match self.method {
            RotationMethod::Ntru { .. } => self.width.variance(),
            _ => 2.0 / 3.0,
        }
    }

    /// 16 bytes that identify the set: BLAKE3 over all its numbers and its security policy, but not
    /// its name.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-21 cggi parameters v1");
        let [method, variant] = self.method.words();
        let secret = match self.lwe_secret {
            LweSecret::Binary => 2,
            LweSecret::Ternary => 3,
        };
        let words: Vec<u64> = alloc::vec![
            method,
            variant,
            self.lwe_dimension as u64,
            secret,
            self.log_q.into(),
            self.switch_base_log.into(),
            self.switch_digits as u64,
            self.log_n.into(),
            self.prime,
            self.width.variance().to_bits(),
            self.base_log.into(),
            self.digits as u64,
            self.messages.into(),
            self.log_failure.to_bits(),
        ];
        for word in words {
            h.update(&word.to_le_bytes());
        }
        h.update(self.policy.fingerprint_name().as_bytes());
        identifier(&h)
    }
}
