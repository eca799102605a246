//! Evaluation keys: what a server holds.

use alloc::{format, sync::Arc, vec, vec::Vec};

use super::{
    layout::LinkPartKind,
    params::LinkParams,
    secret::{LinkSecretKey, TO_GATES, TO_SLOTS, public_seed_of_gates, public_seed_of_links},
};
use crate::{
    bootstrapping::{
        cggi::{CggiKeys, CggiKeysBuilder, CggiPackingKeys},
        raising::{RaisingKeys, RaisingKeysBuilder, ReductionSpec},
    },
    error::Error,
    par,
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{EncapsulationContext, Pair, SampleBlock, expand_a},
    schemes::cggi::cggi_key_id,
};

/// The evaluation keys of one key set, expanded in memory: those of both schemes, and the three that lead between them.
pub struct LinkKeys {
    pub(super) fingerprint: [u8; 16],
    pub(super) ckks: RaisingKeys<u64>,
    pub(super) cggi: Arc<CggiKeys<u64>>,
    pub(super) packing: CggiPackingKeys<u64>,
    pub(super) to_gates: SampleBlock<u64>,
    pub(super) to_slots: SampleBlock<u64>,
}

impl LinkKeys {
    /// Collects parts into keys.
    pub fn builder<R: ReductionSpec>(params: &LinkParams<R>, key_id: [u8; 16]) -> LinkKeysBuilder<R> {
        LinkKeysBuilder {
            params: params.clone(),
            key_id,
            present: vec![false; params.key_parts().len()],
            ckks: RaisingKeys::builder(params.ckks(), key_id),
            cggi: None,
            packing: None,
            to_gates: None,
            to_slots: None,
        }
    }

    /// Makes all evaluation keys of a secret key, on all threads.
    pub fn generate<R: ReductionSpec>(secret: &LinkSecretKey<R>) -> Result<Self, Error> {
        let params = secret.params();
        let (ckks, cggi) =
            par::join(|| RaisingKeys::generate(secret.ckks()), || CggiKeys::generate(secret.cggi()));
        Ok(Self {
            fingerprint: params.fingerprint(),
            ckks: ckks?,
            cggi: cggi?.into(),
            packing: CggiPackingKeys::generate(secret.cggi())?,
            to_gates: block(params.to_gates(), &secret.to_gates()?),
            to_slots: block(params.to_slots()?, &secret.to_slots()?),
        })
    }

    /// The key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.ckks.key_id()
    }

    /// The keys of the slots.
    pub fn ckks(&self) -> &RaisingKeys<u64> {
        &self.ckks
    }

    /// The keys of the gates.
    pub fn cggi(&self) -> &Arc<CggiKeys<u64>> {
        &self.cggi
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        let both = self.ckks.memory_bytes() + self.cggi.memory_bytes();
        both + self.packing.memory_bytes() + self.to_gates.memory_bytes() + self.to_slots.memory_bytes()
    }

    /// [`Error::ParamsMismatch`] unless these are keys of the set.
    pub(super) fn check<R: ReductionSpec>(&self, params: &LinkParams<R>) -> Result<(), Error> {
        params.check_fingerprint("evaluation keys are", self.fingerprint)
    }
}

/// Builds [`LinkKeys`] from parts in any order.
pub struct LinkKeysBuilder<R: ReductionSpec> {
    params: LinkParams<R>,
    key_id: [u8; 16],
    present: Vec<bool>,
    ckks: RaisingKeysBuilder<R>,
    /// Made once the public seed is known.
    cggi: Option<CggiKeysBuilder<u64>>,
    packing: Option<CggiPackingKeys<u64>>,
    to_gates: Option<SampleBlock<u64>>,
    to_slots: Option<SampleBlock<u64>>,
}

impl<R: ReductionSpec> LinkKeysBuilder<R> {
    /// The parameter set.
    pub fn params(&self) -> &LinkParams<R> {
        &self.params
    }

    /// The key set being built.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Parts not yet added.
    pub fn missing(&self) -> Vec<usize> {
        self.present.iter().enumerate().filter(|(_, present)| !**present).map(|(i, _)| i).collect()
    }

    /// The builder that takes the parts of the keys of the slots.
    pub(crate) fn slots(&mut self) -> &mut RaisingKeysBuilder<R> {
        &mut self.ckks
    }

    /// The builder that takes the parts of the keys of the gates, and their public seed, given that of the key set.
    pub(crate) fn gates(&mut self, public: &Seed) -> (&mut CggiKeysBuilder<u64>, Seed) {
        let (params, public) = (self.params.cggi(), public_seed_of_gates(public));
        let builder =
            self.cggi.get_or_insert_with(|| CggiKeys::builder(params, cggi_key_id(params, &public)));
        (builder, public)
    }

    /// Takes the first components of the packing keys, `[sample][n]`, given the public seed of the key set.
    pub(crate) fn add_packing(&mut self, public: &Seed, bodies: &[u64]) -> Result<(), Error> {
        let gates = public_seed_of_gates(public);
        self.packing = Some(CggiPackingKeys::expand(self.params.cggi(), &gates, bodies)?);
        Ok(())
    }

    /// Takes the first components of a key between the schemes, given the public seed of the key set.
    pub(crate) fn add_link(
        &mut self,
        kind: &LinkPartKind,
        public: &Seed,
        bodies: Vec<Poly<u64, Eval>>,
    ) -> Result<(), Error> {
        let back = *kind == LinkPartKind::ToSlots;
        let (context, name) =
            if back { (self.params.to_slots()?, TO_SLOTS) } else { (self.params.to_gates(), TO_GATES) };
        let public = public_seed_of_links(public);
        let pair = |(index, b)| Pair { b, a: expand_a(&public, name, index, context.q0p()) };
        let samples: Vec<Pair<u64>> = bodies.into_iter().enumerate().map(pair).collect();
        let made = Some(block(context, &samples));
        if back {
            self.to_slots = made;
        } else {
            self.to_gates = made;
        }
        Ok(())
    }

    /// Notes that a part is in.
    pub(crate) fn note(&mut self, index: usize) {
        self.present[index] = true;
    }

    /// The keys, once every part is in.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming how many parts are absent and the first of them.
    pub fn finish(self) -> Result<LinkKeys, Error> {
        let missing = self.missing();
        match (missing.first(), self.cggi, self.packing, self.to_gates, self.to_slots) {
            (None, Some(cggi), Some(packing), Some(to_gates), Some(to_slots)) => Ok(LinkKeys {
                fingerprint: self.params.fingerprint(),
                ckks: self.ckks.finish()?,
                cggi: cggi.finish()?.into(),
                packing,
                to_gates,
                to_slots,
            }),
            (first, ..) => {
                let first = first.copied().unwrap_or(0);
                Err(Error::MissingKey(format!(
                    "{} of {} parts of the keys are absent, the first is {first} ({}); add them",
                    missing.len(),
                    self.present.len(),
                    self.params.key_parts()[first].label
                )))
            }
        }
    }
}

fn block(context: &EncapsulationContext<u64>, samples: &[Pair<u64>]) -> SampleBlock<u64> {
    let mut block = SampleBlock::zero(context.q0p(), 1, samples.len());
    block.set_run(0, samples);
    block
}
