//! The evaluation keys of methods that take one relinearisation key, Galois keys and perhaps an ephemeral secret: what they
//! consist of, computed from the parameters alone, and their samples.
//!
//! Keys are switching keys ([`SwitchingKeyId`]); on the wire they travel as parts ([`SwitchingKeyPart`]): runs of samples of
//! one key, of at most [`MAX_PART_BYTES`] or a single sample. Both sides derive the same list, so no length or count is ever
//! taken from the input.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::ops::Range;

use zeroize::Zeroizing;

use super::wire_sizes::{MAX_PART_BYTES, PART_OVERHEAD, sample_bytes};
use crate::{
    arith::Word,
    circuits::linear_transform::Step,
    ring::{Basis, Cyclotomic, Eval, GaloisElement, Poly},
    rlwe::{
        EncapsulationContext, GadgetTarget, KeySeeds, LinkSecret, Pair, RlweContext, SampleBlock, SecretKey,
        SparseSecret, galois_block, raise_block, relinearization_block, switching_sample,
    },
};

/// One switching key of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SwitchingKeyId {
    /// s^2 to s, modulo Q_l P at the highest level where ciphertexts are multiplied.
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
pub struct SwitchingKeyPart {
    /// Position in the list of all parts of a set.
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

/// What the shapes of the keys are derived from.
pub struct KeyLayout<'a, W: Word> {
    /// Chain of moduli.
    pub rlwe: &'a RlweContext<W>,
    /// Moduli of the keys of an ephemeral secret, where there is one.
    pub encapsulation: Option<&'a EncapsulationContext<W>>,
    /// Highest level where ciphertexts are multiplied.
    pub relinearization: usize,
    /// For people: what X -> X^-1 does to slots.
    pub inversion: &'static str,
}

impl<'a, W: Word> KeyLayout<'a, W> {
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
            SwitchingKeyId::Relinearization => self.relinearization,
            SwitchingKeyId::Galois { level, .. } => level,
            SwitchingKeyId::ToEphemeral => 0,
            SwitchingKeyId::FromEphemeral => self.rlwe.max_level(),
        }
    }

    /// Modulus of a key.
    pub fn basis(&self, key: SwitchingKeyId) -> &'a Basis<W> {
        match (key, self.encapsulation) {
            (SwitchingKeyId::ToEphemeral, Some(encapsulation)) => encapsulation.q0p(),
            _ => self.rlwe.qp(self.level(key)),
        }
    }

    /// Number of special primes in the modulus of a key.
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

    /// Bytes of a key expanded in memory: both components of every sample, one word a residue.
    pub fn expanded_bytes(&self, key: SwitchingKeyId) -> u64 {
        (2 * self.samples(key) * self.basis(key).len() * self.rlwe.width() * size_of::<W>()) as u64
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

    fn label(&self, key: SwitchingKeyId, steps: &BTreeMap<GaloisElement, Step>) -> String {
        match key {
            SwitchingKeyId::Relinearization => "relinearisation".into(),
            SwitchingKeyId::Galois { element, level } => {
                let Some(step) = steps.get(&element).copied() else {
                    if self.rlwe.ring().odd_index().is_some() {
                        return format!("X to the power {}, level {level}", element.value());
                    }
                    let power = element.value() % self.rlwe.ring().odd_part();
                    return format!("second axis to the power {power}, level {level}");
                };
                match step {
                    Step { rotation, inverted: false } => format!("rotation by {rotation}, level {level}"),
                    Step { rotation: 0, inverted: true } => format!("{}, level {level}", self.inversion),
                    Step { rotation, inverted: true } => {
                        format!("rotation by {rotation}, {}, level {level}", self.inversion)
                    }
                }
            }
            SwitchingKeyId::ToEphemeral => "to the ephemeral secret".into(),
            SwitchingKeyId::FromEphemeral => "from the ephemeral secret".into(),
        }
    }

    /// The parts of a set, in order.
    pub fn parts(&self, galois: &BTreeMap<GaloisElement, usize>) -> Vec<SwitchingKeyPart> {
        let steps = steps_of(self.rlwe.ring(), galois);
        let mut out = Vec::new();
        for key in self.keys(galois) {
            let (samples, bytes) = (self.samples(key), sample_bytes(self.basis(key)));
            let each = ((MAX_PART_BYTES - PART_OVERHEAD) / bytes).max(1);
            let (total, label) = (samples.div_ceil(each), self.label(key, &steps));
            for (i, first) in (0..samples).step_by(each).enumerate() {
                let count = each.min(samples - first);
                let label = if total == 1 { label.clone() } else { format!("{label} {}/{total}", i + 1) };
                let bytes = PART_OVERHEAD + count * bytes;
                out.push(SwitchingKeyPart { index: out.len(), key, first, count, label, bytes });
            }
        }
        out
    }
}

/// The secrets that switching keys are made from.
pub(crate) struct Secrets<'a, W: Word> {
    pub layout: KeyLayout<'a, W>,
    pub main: &'a SecretKey<W>,
    pub ephemeral: Option<&'a SparseSecret>,
    pub seeds: &'a KeySeeds,
}

/// Takes a sample and its index in the key.
pub(crate) type Sink<'a, W> = dyn FnMut(usize, Pair<W>) + 'a;

impl<W: Word> Secrets<'_, W> {
    /// Makes the samples `range` of a switching key in order and hands each to `sink`: a caller that sends or stores them
    /// needs memory for one.
    pub fn for_each_sample(&self, key: SwitchingKeyId, range: Range<usize>, sink: &mut Sink<'_, W>) {
        let (layout, main, rlwe) = (&self.layout, self.main, self.layout.rlwe);
        let (level, special) = (layout.level(key), layout.special(key));
        match (key, self.ephemeral, layout.encapsulation) {
            (SwitchingKeyId::Relinearization, ..) => {
                let s = main.modulo_q(rlwe.q(level));
                let (square, v) = (Zeroizing::new(s.mul(&s)), main.modulo_qp(rlwe.qp(level), special));
                self.switching_samples(key, range, &square, &v, sink);
            }
            (SwitchingKeyId::Galois { element, .. }, ..) => {
                let v = main.galois_target(rlwe, level, element);
                self.switching_samples(key, range, main.eval(), &v, sink);
            }
            (SwitchingKeyId::ToEphemeral, Some(sparse), Some(context)) => {
                let all = sparse.encapsulation_samples(context, main, self.seeds, layout.code(key));
                for (index, sample) in all.into_iter().enumerate().filter(|(i, _)| range.contains(i)) {
                    sink(index, sample);
                }
            }
            (SwitchingKeyId::FromEphemeral, Some(sparse), _) => {
                let u = Zeroizing::new(sparse.small().to_poly(rlwe.q(level)).into_eval());
                let v = main.modulo_qp(rlwe.qp(level), special);
                self.switching_samples(key, range, &u, &v, sink);
            }
            // A set without an ephemeral secret lists no keys of one.
            (SwitchingKeyId::ToEphemeral | SwitchingKeyId::FromEphemeral, ..) => {}
        }
    }

    /// A whole switching key.
    pub fn switching_key(&self, key: SwitchingKeyId) -> SampleBlock<W> {
        let layout = &self.layout;
        let samples = layout.samples(key);
        let mut out = SampleBlock::zero(layout.basis(key), layout.special(key), samples);
        self.for_each_sample(key, 0..samples, &mut |index, sample| out.set(index, &sample));
        out
    }

    /// KSK(u -> v).
    fn switching_samples(
        &self,
        key: SwitchingKeyId,
        range: Range<usize>,
        u: &Poly<W, Eval>,
        v: &Poly<W, Eval>,
        sink: &mut Sink<'_, W>,
    ) {
        let (level, block) = (self.layout.level(key), self.layout.code(key));
        for digit in range {
            let target = GadgetTarget { level, digit };
            sink(digit, switching_sample(self.layout.rlwe, self.seeds, (block, digit), target, u, v));
        }
    }
}

/// The elements as rotations to the left, or with a negative sign to the right, inverted or not. Elements that move a second axis, and
/// those of a ring of odd index, are left out.
fn steps_of(ring: Cyclotomic, galois: &BTreeMap<GaloisElement, usize>) -> BTreeMap<GaloisElement, Step> {
    if ring.odd_index().is_some() {
        return BTreeMap::new();
    }
    let quarter = (ring.columns() / 4) as i64;
    let both = |rotation| [false, true].map(|inverted| Step { rotation, inverted });
    let steps = (-quarter..quarter).flat_map(both).map(|step| (step.element_in(ring), step));
    steps.filter(|(element, _)| galois.contains_key(element)).collect()
}

/// Methods about the keys of a set that holds `galois` and `parts` and has a [`KeyLayout`], for its `impl` over the word `$word`.
macro_rules! switching_keys_of_set {
    ($word:ident) => {
        /// The switching keys of a bootstrap, in order.
        pub fn switching_keys(&self) -> alloc::vec::Vec<$crate::bootstrapping::SwitchingKeyId> {
            self.layout().keys(&self.0.galois)
        }

        /// Modulus of the samples of a switching key.
        pub fn key_basis(&self, key: $crate::bootstrapping::SwitchingKeyId) -> &$crate::ring::Basis<$word> {
            self.layout().basis(key)
        }

        /// The parts in which the evaluation keys travel, in order.
        pub fn key_parts(&self) -> &[$crate::bootstrapping::SwitchingKeyPart] {
            &self.0.parts
        }

        /// Bytes of the evaluation keys on the wire: first components, seeded.
        pub fn key_bytes(&self) -> u64 {
            self.key_parts().iter().map(|part| part.bytes as u64).sum()
        }
    };
}
pub(crate) use switching_keys_of_set;
