//! The numbers of a SHIP parameter set.

use alloc::{string::String, vec::Vec};

use crate::{
    bootstrapping::method::SlotMode,
    rlwe::{EncapsulationDigits, identifier},
    security::SecurityPolicy,
};

/// Public numbers of a SHIP set; see [`super::ShipParams`] for the checked form.
#[derive(Debug, Clone, PartialEq)]
pub struct ShipSpec {
    /// Name of the set.
    pub name: String,
    /// log2 of the ring degree N.
    pub log_n: u32,
    /// Weight h of the sparse secret: number of tracks; h + 1 is a power of two, 2^T.
    pub weight: usize,
    /// R: positions each non-zero coefficient may take.
    pub window: usize,
    /// theta: candidates of the column step.
    pub columns: usize,
    /// B_0, B_1, …: branches of the multiplexer steps; theta · prod B >= R.
    pub branches: Vec<usize>,
    /// Primes of each level: q0, qs, qm, then t_T … t_1 (the last is dropped first).
    pub levels: Vec<Vec<u64>>,
    /// Special primes, product P.
    pub special: Vec<u64>,
    /// Gadget digits, as positions in the concatenated level primes.
    pub digits: Vec<Vec<usize>>,
    /// p', the special prime of the encapsulation key.
    pub encapsulation_prime: u64,
    /// How the encapsulation decomposes.
    pub encapsulation_digits: EncapsulationDigits,
    /// log2 of L0, the scale of the leaves.
    pub log_leaf_scale: f64,
    /// log2 of Delta, the scale of messages in and out.
    pub log_scale: f64,
    /// gamma = q0 / D0: modulus over message scale in the exponent. Larger is a better sine and a
    /// noisier output.
    pub gamma: f64,
    /// Whether the slope of the sine is corrected for messages in [-1, 1] (eta = 3 kappa / 4).
    pub slope_correction: bool,
    /// What the slots hold: `Real` for a set that serves N/2 real numbers with |x| <= 1, or N/2 complex ones whose parts are at most
    /// 1, which take two half-bootstraps under the same keys; or `Bits`, cleaned by the bootstrap: input noise is squared away.
    pub mode: SlotMode,
    /// The policy the set must meet.
    pub policy: SecurityPolicy,
}

impl ShipSpec {
    /// 16 bytes that identify the set: BLAKE3 over every number of it, security policy included, but
    /// not its name.
    pub fn fingerprint(&self) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-21 ship parameters v1");
        let mut words: Vec<u64> =
            alloc::vec![self.log_n.into(), self.weight as u64, self.window as u64, self.columns as u64];
        let mut list = |items: &[u64]| {
            words.push(items.len() as u64);
            words.extend_from_slice(items);
        };
        list(&self.branches.iter().map(|&x| x as u64).collect::<Vec<_>>());
        list(&[self.levels.len() as u64]);
        self.levels.iter().for_each(|level| list(level));
        list(&self.special);
        list(&[self.digits.len() as u64]);
        for digit in &self.digits {
            list(&digit.iter().map(|&x| x as u64).collect::<Vec<_>>());
        }
        let digits = match self.encapsulation_digits {
            EncapsulationDigits::Balanced { count } => count as u64,
            EncapsulationDigits::PerPrime => 0,
        };
        let scales = [self.log_leaf_scale, self.log_scale, self.gamma].map(f64::to_bits);
        list(&[self.encapsulation_prime, digits, scales[0], scales[1], scales[2]]);
        list(&[u64::from(self.slope_correction)]);
        for w in words {
            h.update(&w.to_le_bytes());
        }
        h.update(self.mode.name().as_bytes());
        h.update(b"/");
        h.update(self.policy.name().as_bytes());
        identifier(&h)
    }
}
