//! Evaluation keys from the parts in which they travel, for every method whose keys are switching keys.

use alloc::{collections::BTreeMap, format, vec, vec::Vec};

use crate::{
    arith::Word,
    bootstrapping::switching_keys::{KeyLayout, SwitchingKeyId, SwitchingKeyPart},
    error::{Error, hex},
    par,
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{Pair, SampleBlock, expand_a},
    schemes::identity::key_set_id,
};

/// A parameter set whose evaluation keys are a relinearisation key, Galois keys, and perhaps keys to an ephemeral secret and
/// back.
pub trait SwitchingKeySet: Clone {
    /// Word of a residue.
    type Word: Word;
    /// All keys, expanded in memory.
    type Keys;

    /// Name of the set.
    fn name(&self) -> &str;

    /// 16 bytes that identify the numbers.
    fn fingerprint(&self) -> [u8; 16];

    /// What the shapes of the keys are derived from.
    fn key_layout(&self) -> KeyLayout<'_, Self::Word>;

    /// The parts in which the keys travel, in order.
    fn key_parts(&self) -> &[SwitchingKeyPart];

    /// Puts the switching keys into their places.
    ///
    /// # Errors
    /// [`Error::MissingKey`] for a key that is absent.
    fn assemble(
        &self,
        key_id: [u8; 16],
        keys: BTreeMap<SwitchingKeyId, SampleBlock<Self::Word>>,
    ) -> Result<Self::Keys, Error>;
}

/// Builds the keys of a set from parts in any order. A part that comes twice replaces the first.
pub struct KeysBuilder<P: SwitchingKeySet> {
    params: P,
    key_id: [u8; 16],
    keys: BTreeMap<SwitchingKeyId, SampleBlock<P::Word>>,
    present: Vec<bool>,
}

impl<P: SwitchingKeySet> KeysBuilder<P> {
    /// Collects the keys of the key set `key_id`.
    pub fn new(params: &P, key_id: [u8; 16]) -> Self {
        Self {
            params: params.clone(),
            key_id,
            keys: BTreeMap::new(),
            present: vec![false; params.key_parts().len()],
        }
    }

    /// The parameter set.
    pub fn params(&self) -> &P {
        &self.params
    }

    /// The key set being built.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Takes the first components of the samples of one part, which `read` gives by their position in it, and expands the
    /// second components from the public seed. Nothing is taken unless all samples can be read.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] if the seed is not that of the key set; [`Error::InvalidArgument`] for a polynomial of
    /// another modulus; errors of `read`.
    pub(crate) fn add_samples(
        &mut self,
        part: &SwitchingKeyPart,
        public: &Seed,
        read: impl Fn(usize) -> Result<Poly<P::Word, Eval>, Error> + Sync + Send,
    ) -> Result<(), Error> {
        if key_set_id(&self.params.fingerprint(), public) != self.key_id {
            return Err(Error::ParamsMismatch(format!(
                "the part's public seed gives key {}, and key {} is being built; send the parts of one key",
                hex(&key_set_id(&self.params.fingerprint(), public)),
                hex(&self.key_id)
            )));
        }
        let layout = self.params.key_layout();
        let (basis, code) = (layout.basis(part.key), layout.code(part.key));
        let made = par::try_map(part.count, |i| {
            let (b, a) = par::join(|| read(i), || expand_a(public, code, part.first + i, basis));
            let b = b?;
            if b.basis().same_as(basis) {
                return Ok(Pair { b, a });
            }
            Err(Error::InvalidArgument(format!(
                "part {} holds samples of another modulus; give every part with its own index",
                part.index
            )))
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
    pub fn finish_key(mut self, key: SwitchingKeyId) -> Result<SampleBlock<P::Word>, Error> {
        let absent = self.params.key_parts().iter().find(|part| part.key == key && !self.present[part.index]);
        if let Some(part) = absent {
            return Err(Error::MissingKey(format!(
                "part {} of the keys ({}) is absent; add it",
                part.index, part.label
            )));
        }
        self.keys.remove(&key).ok_or_else(|| {
            Error::MissingKey(format!(
                "{} has no switching key {key:?}; ask for one of its own",
                self.params.name()
            ))
        })
    }

    /// The keys, once every part is in.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming how many parts are absent and the first of them.
    pub fn finish(self) -> Result<P::Keys, Error> {
        let missing = self.missing();
        if let Some(&first) = missing.first() {
            return Err(Error::MissingKey(format!(
                "{} of {} parts of the keys are absent, the first is {first} ({}); add them",
                missing.len(),
                self.present.len(),
                self.params.key_parts()[first].label
            )));
        }
        self.params.assemble(self.key_id, self.keys)
    }
}
