//! The numbers of a set.

use alloc::{string::String, vec::Vec};

use super::reduction::ReductionSpec;
use crate::{
    rlwe::{EncapsulationDigits, RlweSpec, identifier},
    security::{SecretDistribution, SecurityPolicy},
};

/// Which linear map goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageOrder {
    /// ModRaise, coefficients to slots, modular reduction, slots to coefficients: reduces the coefficients of a message,
    /// which are small for generic slots.
    CoeffsToSlotsFirst,
    /// Slots to coefficients, ModRaise, coefficients to slots, modular reduction: reduces the slots themselves, and does
    /// the first map with few primes.
    SlotsToCoeffsFirst,
}

impl StageOrder {
    /// Stable name: `coeffs-to-slots-first` or `slots-to-coeffs-first`.
    pub fn name(self) -> &'static str {
        match self {
            Self::CoeffsToSlotsFirst => "coeffs-to-slots-first",
            Self::SlotsToCoeffsFirst => "slots-to-coeffs-first",
        }
    }
}

/// A sparse secret for the time between the lowest and the highest modulus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EphemeralSpec {
    /// Number of its non-zero coefficients.
    pub weight: u32,
    /// p', the special prime of the key that leads to it.
    pub prime: u64,
    /// How that key decomposes.
    pub digits: EncapsulationDigits,
}

/// Public numbers of a set; see [`super::RaisingParams`] for the checked form.
#[derive(Debug, Clone, PartialEq)]
pub struct RaisingSpec<R> {
    /// Name of the set.
    pub name: String,
    /// Ring, primes, digits, main secret and policy. From level 0 upwards: q0, then the levels of the stages and of
    /// messages as [`StageOrder`] lays them, see [`super::RaisingParams::levels`].
    pub chain: RlweSpec,
    /// log2 of the number of slots, at most that of N/2.
    pub log_slots: u32,
    /// Which map goes first.
    pub order: StageOrder,
    /// Stages of coefficients-to-slots, one level each.
    pub coeffs_to_slots: usize,
    /// Stages of slots-to-coefficients, one level each.
    pub slots_to_coeffs: usize,
    /// The reduction modulo q0.
    pub reduction: R,
    /// log2 of the scale of slots that enter and leave the reduction.
    pub log_eval_scale: f64,
    /// log2 of the scale of messages in and out.
    pub log_scale: f64,
    /// log2 of q0 over the scale at which the message is raised: the room between neighbouring multiples of q0.
    pub log_message_ratio: u32,
    /// The ephemeral secret, or none: then the main secret must be sparse enough for the range of the reduction.
    pub ephemeral: Option<EphemeralSpec>,
}

impl<R: ReductionSpec> RaisingSpec<R> {
    /// 16 bytes that identify the set: BLAKE3 over every number of it, security policy included, but not its name.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key(R::FINGERPRINT);
        h.update(&self.chain.fingerprint());
        let mut words: Vec<u64> = alloc::vec![
            self.log_slots.into(),
            u64::from(self.order == StageOrder::SlotsToCoeffsFirst),
            self.coeffs_to_slots as u64,
            self.slots_to_coeffs as u64,
            self.log_eval_scale.to_bits(),
            self.log_scale.to_bits(),
            self.log_message_ratio.into(),
        ];
        let (reduction, tag) = self.reduction.words();
        words.extend(reduction);
        match &self.ephemeral {
            None => words.push(0),
            Some(EphemeralSpec { weight, prime, digits }) => {
                let digits = match digits {
                    EncapsulationDigits::Balanced { count } => *count as u64,
                    EncapsulationDigits::PerPrime => 0,
                };
                words.extend([1, u64::from(*weight), *prime, digits]);
            }
        }
        words.extend(tag);
        for word in words {
            h.update(&word.to_le_bytes());
        }
        identifier(&h)
    }

    /// The main secret.
    pub fn secret(&self) -> SecretDistribution {
        self.chain.secret
    }

    /// The policy.
    pub fn policy(&self) -> SecurityPolicy {
        self.chain.policy
    }
}
