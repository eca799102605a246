//! Evaluation keys from the parts in which they travel.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use super::{keys::RaisingKeys, params::RaisingParams, reduction::ReductionSpec};
use crate::{
    arith::Word,
    bootstrapping::switching_keys::{SwitchingKeyId, SwitchingKeyPart},
    error::Error,
    par,
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{Pair, SampleBlock, expand_a},
    schemes::ckks::key_set_id,
};

impl<W: Word> RaisingKeys<W> {
    /// Collects parts into keys.
    pub fn builder<R: ReductionSpec>(
        params: &RaisingParams<R, W>,
        key_id: [u8; 16],
    ) -> RaisingKeysBuilder<R, W> {
        RaisingKeysBuilder {
            params: params.clone(),
            key_id,
            keys: BTreeMap::new(),
            present: vec![false; params.key_parts().len()],
        }
    }
}

/// Builds [`RaisingKeys`] from parts in any order. A part that comes twice replaces the first.
pub struct RaisingKeysBuilder<R: ReductionSpec, W: Word = u64> {
    params: RaisingParams<R, W>,
    key_id: [u8; 16],
    keys: BTreeMap<SwitchingKeyId, SampleBlock<W>>,
    present: Vec<bool>,
}

impl<R: ReductionSpec, W: Word> RaisingKeysBuilder<R, W> {
    /// The parameter set.
    pub fn params(&self) -> &RaisingParams<R, W> {
        &self.params
    }

    /// The key set being built.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Takes the first components of the samples of one part, which `read` gives by their position in it, and expands the
    /// second ones from the public seed. Nothing is taken unless all can be read.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the seed is not that of the key set; [`Error::InvalidArgument`] for a polynomial of
    /// another modulus; what `read` gives.
    pub(crate) fn add_samples(
        &mut self,
        part: &SwitchingKeyPart,
        public: &Seed,
        read: impl Fn(usize) -> Result<Poly<W, Eval>, Error> + Sync + Send,
    ) -> Result<(), Error> {
        if key_set_id(&self.params.fingerprint(), public) != self.key_id {
            return Err(Error::ParamsMismatch(
                "the part's public seed belongs to another key set; send the parts of one key".into(),
            ));
        }
        let layout = self.params.layout();
        let (basis, code) = (layout.basis(part.key), layout.code(part.key));
        let made = par::try_map(part.count, |i| {
            let (b, a) = par::join(|| read(i), || expand_a(public, code, part.first + i, basis));
            let b = b?;
            if b.basis().same_as(basis) {
                return Ok(Pair { b, a });
            }
            Err(Error::InvalidArgument(format!("part {} holds samples of another modulus", part.index)))
        })?;
        let empty = || SampleBlock::zero(basis, layout.special(part.key), layout.samples(part.key));
        let key = self.keys.entry(part.key).or_insert_with(empty);
        key.set_run(part.first, &made);
        self.present[part.index] = true;
        Ok(())
    }

    /// Parts not yet added.
    pub fn missing(&self) -> Vec<usize> {
        self.present.iter().enumerate().filter(|(_, present)| !**present).map(|(i, _)| i).collect()
    }

    /// One switching key, once its parts are in; those of the others need not be.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming the first part that is absent.
    pub fn finish_key(mut self, key: SwitchingKeyId) -> Result<SampleBlock<W>, Error> {
        let absent = self.params.key_parts().iter().find(|part| part.key == key && !self.present[part.index]);
        if let Some(part) = absent {
            return Err(Error::MissingKey(format!(
                "part {} of the keys ({}) is absent",
                part.index, part.label
            )));
        }
        self.keys
            .remove(&key)
            .ok_or_else(|| Error::MissingKey(format!("{} has no switching key {key:?}", self.params.name())))
    }

    /// The keys, once every part is in.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming how many parts are absent and the first of them.
    pub fn finish(self) -> Result<RaisingKeys<W>, Error> {
        let missing = self.missing();
        if let Some(&first) = missing.first() {
            return Err(Error::MissingKey(format!(
                "{} of {} parts of the keys are absent, the first is {first} ({})",
                missing.len(),
                self.present.len(),
                self.params.key_parts()[first].label
            )));
        }
        let galois = self.params.galois_elements().collect();
        RaisingKeys::assemble(&self.params.layout(), self.key_id, &galois, self.keys)
    }
}
