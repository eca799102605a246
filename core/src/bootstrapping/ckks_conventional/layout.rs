//! What the evaluation keys consist of, computed from the parameters alone.
//!
//! Keys are switching keys ([`SwitchingKeyId`]); on the wire they travel as parts ([`ConventionalKeyPart`]): runs of samples of
//! one key, of at most [`MAX_PART_BYTES`] or a single sample. Both sides derive the same list, so no length or count is ever
//! taken from the input.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::params::Levels;
use crate::{
    arith::Word,
    bootstrapping::parts::{MAX_PART_BYTES, PART_OVERHEAD, sample_bytes},
    ring::{Basis, GaloisElement},
    rlwe::{EncapsulationContext, RlweContext, galois_block, raise_block, relinearization_block},
};

/// One switching key of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SwitchingKeyId {
    /// s^2 to s, modulo Q_l P at the level where the reduction begins.
    Relinearization,
    /// s to sigma_g^-1(s), modulo Q_level P.
    Galois {
        /// The automorphism.
        element: GaloisElement,
        /// Highest level it is used at.
        level: usize,
    },
    /// Main to ephemeral secret, modulo q0 p'.
    ToEphemeral,
    /// Ephemeral to main secret, modulo Q P.
    FromEphemeral,
}

/// A run of samples of one switching key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConventionalKeyPart {
    /// Position in [`super::ConventionalParams::key_parts`].
    pub index: usize,
    /// The key.
    pub key: SwitchingKeyId,
    /// First of its samples.
    pub first: usize,
    /// Number of samples.
    pub count: usize,
    /// For people.
    pub label: String,
    /// Exact length on the wire.
    pub bytes: usize,
}

/// What the shapes of the keys follow from.
pub(super) struct Layout<'a, W: Word> {
    pub rlwe: &'a RlweContext<W>,
    pub encapsulation: Option<&'a EncapsulationContext<W>>,
    pub levels: &'a Levels,
}

impl<'a, W: Word> Layout<'a, W> {
    /// The keys of a set, in order.
    pub fn keys(&self, galois: &BTreeMap<GaloisElement, usize>) -> Vec<SwitchingKeyId> {
        let galois = galois.iter().map(|(&element, &level)| SwitchingKeyId::Galois { element, level });
        let mut keys: Vec<SwitchingKeyId> =
            [SwitchingKeyId::Relinearization].into_iter().chain(galois).collect();
        if self.encapsulation.is_some() {
            keys.extend([SwitchingKeyId::ToEphemeral, SwitchingKeyId::FromEphemeral]);
        }
        keys
    }

    /// Level of a key.
    pub fn level(&self, key: SwitchingKeyId) -> usize {
        match key {
            SwitchingKeyId::Relinearization => self.levels.eval_mod,
            SwitchingKeyId::Galois { level, .. } => level,
            SwitchingKeyId::ToEphemeral => 0,
            SwitchingKeyId::FromEphemeral => self.levels.coeffs_to_slots,
        }
    }

    /// Modulus of a key.
    pub fn basis(&self, key: SwitchingKeyId) -> &'a Basis<W> {
        match (key, self.encapsulation) {
            (SwitchingKeyId::ToEphemeral, Some(encapsulation)) => encapsulation.q0p(),
            _ => self.rlwe.qp(self.level(key)),
        }
    }

    /// Primes of the modulus of a key that are special.
    pub fn special(&self, key: SwitchingKeyId) -> usize {
        if key == SwitchingKeyId::ToEphemeral { 1 } else { self.rlwe.special().len() }
    }

    /// Samples of a key.
    pub fn samples(&self, key: SwitchingKeyId) -> usize {
        match (key, self.encapsulation) {
            (SwitchingKeyId::ToEphemeral, Some(encapsulation)) => encapsulation.digit_count(),
            _ => self.rlwe.digit_count(self.level(key)),
        }
    }

    /// Name of the random streams of a key.
    pub fn code(&self, key: SwitchingKeyId) -> [u64; 4] {
        match key {
            SwitchingKeyId::Relinearization => relinearization_block(self.level(key)),
            SwitchingKeyId::Galois { element, level } => galois_block(element, level),
            SwitchingKeyId::ToEphemeral => [1, 0, 0, 0],
            SwitchingKeyId::FromEphemeral => raise_block(self.level(key)),
        }
    }

    /// The parts of a set, in order.
    pub fn parts(&self, galois: &BTreeMap<GaloisElement, usize>) -> Vec<ConventionalKeyPart> {
        let steps = rotation_steps(self.rlwe.n(), galois);
        let mut out = Vec::new();
        for key in self.keys(galois) {
            let (samples, bytes) = (self.samples(key), sample_bytes(self.basis(key)));
            let each = ((MAX_PART_BYTES - PART_OVERHEAD) / bytes).max(1);
            let (total, label) = (samples.div_ceil(each), label(key, &steps));
            for (i, first) in (0..samples).step_by(each).enumerate() {
                let count = each.min(samples - first);
                let label = if total == 1 { label.clone() } else { format!("{label} {}/{total}", i + 1) };
                let bytes = PART_OVERHEAD + count * bytes;
                out.push(ConventionalKeyPart { index: out.len(), key, first, count, label, bytes });
            }
        }
        out
    }
}

fn label(key: SwitchingKeyId, steps: &BTreeMap<GaloisElement, i64>) -> String {
    match key {
        SwitchingKeyId::Relinearization => "relinearisation".into(),
        SwitchingKeyId::Galois { element, level } => match steps.get(&element) {
            Some(steps) => format!("rotation by {steps}, level {level}"),
            None => format!("conjugation, level {level}"),
        },
        SwitchingKeyId::ToEphemeral => "to the ephemeral secret".into(),
        SwitchingKeyId::FromEphemeral => "from the ephemeral secret".into(),
    }
}

/// By how many slots the elements rotate to the left, or with a negative sign to the right; those that do not rotate are
/// left out.
fn rotation_steps(n: usize, galois: &BTreeMap<GaloisElement, usize>) -> BTreeMap<GaloisElement, i64> {
    let quarter = (n / 4) as i64;
    let rotations = (-quarter..quarter).map(|steps| (GaloisElement::rotation(steps, n), steps));
    rotations.filter(|(element, _)| galois.contains_key(element)).collect()
}
