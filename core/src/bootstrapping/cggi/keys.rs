//! Evaluation keys: what a server holds.

use alloc::{format, vec, vec::Vec};

use super::{
    layout::{CggiKeyPart, CggiPartKind, key_parts, rotation_sample_words, rotation_samples},
    methods,
    rotation_key::RING_BLOCK,
};
use crate::{
    arith::Word,
    error::{Error, hex},
    par,
    random::Seed,
    ring::{Eval, Poly},
    rlwe::{
        expand_a,
        lwe::{LweSwitchKey, LweSwitchRows},
    },
    schemes::cggi::{CggiParams, CggiSecretKey, cggi_key_id},
};

/// The evaluation keys of one key set, expanded in memory: key-switching and bootstrapping key.
pub struct CggiKeys<W: Word = u32> {
    params: CggiParams<W>,
    key_id: [u8; 16],
    pub(super) switch: LweSwitchKey,
    /// The samples of each product, prepared.
    pub(super) rotation: Vec<W>,
}

impl<W: Word> CggiKeys<W> {
    /// Makes the evaluation keys of a secret key, on all threads.
    pub fn generate(secret: &CggiSecretKey<W>) -> Result<Self, Error> {
        let params = secret.params();
        let bodies = secret.switch_bodies();
        let switch = LweSwitchKey::expand(params.switch(), secret.public_seed(), &bodies)?;
        let method = methods::key_of(params);
        let (n, words) = (params.n(), rotation_sample_words(params));
        let mut rotation = vec![W::ZERO; rotation_samples(params) * words];
        par::for_each_chunk_mut(&mut rotation, words, |index, rows| {
            let sample = method.sample(secret, index);
            let (body, mask) = rows.split_at_mut(n);
            body.copy_from_slice(sample.body.row(0));
            if let Some(polynomial) = sample.mask {
                mask.copy_from_slice(polynomial.row(0));
            }
        });
        prepare(params, &mut rotation);
        Ok(Self { params: params.clone(), key_id: secret.key_id(), switch, rotation })
    }

    /// Collects parts into keys.
    pub fn builder(params: &CggiParams<W>, key_id: [u8; 16]) -> CggiKeysBuilder<W> {
        let parts = key_parts(params);
        CggiKeysBuilder {
            params: params.clone(),
            key_id,
            present: vec![false; parts.len()],
            parts,
            switch: None,
            rotation: Vec::new(),
        }
    }

    /// Keys from the words of [`Self::rows`], for another instance of the same build on the same machine: the words have the form that the
    /// kernels use, which is not an encoding, and are taken as they are. Parts that travel are read by [`Self::builder`], which checks them.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of words than the set has.
    pub fn from_rows(
        params: &CggiParams<W>,
        key_id: [u8; 16],
        switch: LweSwitchRows,
        rotation: Vec<W>,
    ) -> Result<Self, Error> {
        let words = rotation_samples(params) * rotation_sample_words(params);
        if rotation.len() != words {
            return Err(Error::InvalidArgument(format!(
                "{} words of a bootstrapping key, which has {words} in set {}; take those of a key of the set",
                rotation.len(),
                params.name()
            )));
        }
        let switch = LweSwitchKey::from_rows(params.switch(), switch)?;
        Ok(Self { params: params.clone(), key_id, switch, rotation })
    }

    /// The words of the keys as they lie in memory: the key-switching key, and the prepared samples of the
    /// bootstrapping key.
    pub fn rows(&self) -> (&LweSwitchRows, &[W]) {
        (self.switch.rows(), &self.rotation)
    }

    /// The parameter set.
    pub fn params(&self) -> &CggiParams<W> {
        &self.params
    }

    /// The key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Bytes that the keys take in memory, expanded: more than their parts have on the wire, where a seed stands for half of each sample.
    pub fn memory_bytes(&self) -> usize {
        self.switch.memory_bytes() + size_of_val(self.rotation.as_slice())
    }
}

impl<W: Word> CggiSecretKey<W> {
    /// The bodies of the key-switching key.
    pub(crate) fn switch_bodies(&self) -> Vec<u32> {
        self.params().switch().bodies(&self.seeds, &self.ring, &self.short)
    }

    /// The first component of ring sample `index` of the bootstrapping key.
    pub(crate) fn rotation_body(&self, index: usize) -> Poly<W, Eval> {
        methods::key_of(self.params()).sample(self, index).body
    }
}

/// Builds [`CggiKeys`] from parts in any order.
pub struct CggiKeysBuilder<W: Word = u32> {
    params: CggiParams<W>,
    key_id: [u8; 16],
    parts: Vec<CggiKeyPart>,
    present: Vec<bool>,
    switch: Option<LweSwitchKey>,
    rotation: Vec<W>,
}

impl<W: Word> CggiKeysBuilder<W> {
    /// The parameter set.
    pub fn params(&self) -> &CggiParams<W> {
        &self.params
    }

    /// The key set being built.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// The parts that the keys consist of.
    pub fn parts(&self) -> &[CggiKeyPart] {
        &self.parts
    }

    /// Parts not yet added.
    pub fn missing(&self) -> Vec<usize> {
        self.present.iter().enumerate().filter(|(_, p)| !**p).map(|(i, _)| i).collect()
    }

    /// Takes the bodies of the key-switching key and expands the masks from the public seed.
    pub(crate) fn add_switch(&mut self, index: usize, public: &Seed, bodies: &[u32]) -> Result<(), Error> {
        self.check_seed(public)?;
        self.switch = Some(LweSwitchKey::expand(self.params.switch(), public, bodies)?);
        self.present[index] = true;
        Ok(())
    }

    /// Takes the bodies of ring samples, `[sample][n]`, and expands the masks from the public seed.
    pub(crate) fn add_rotation(&mut self, index: usize, public: &Seed, bodies: &[W]) -> Result<(), Error> {
        self.check_seed(public)?;
        let (n, words) = (self.params.n(), rotation_sample_words(&self.params));
        let Some(CggiPartKind::Rotation(range)) = self.parts.get(index).map(|part| part.kind.clone()) else {
            return Err(Error::InvalidArgument(format!(
                "part {index} holds no ring samples; give every part with its own index"
            )));
        };
        if bodies.len() != range.len() * n {
            return Err(Error::InvalidArgument(format!(
                "part {index} has {} residues, {} were given; give it whole",
                range.len() * n,
                bodies.len()
            )));
        }
        // Memory for the whole key is taken only once a part of the right size has arrived.
        self.rotation.resize(rotation_samples(&self.params) * words, W::ZERO);
        let basis = self.params.rgsw().basis();
        let rows = &mut self.rotation[words * range.start..words * range.end];
        par::for_each_chunk_mut(rows, words, |i, rows| {
            let (b, a) = rows.split_at_mut(n);
            b.copy_from_slice(&bodies[i * n..(i + 1) * n]);
            if !a.is_empty() {
                a.copy_from_slice(expand_a(public, RING_BLOCK, range.start + i, basis).row(0));
            }
        });
        self.present[index] = true;
        Ok(())
    }

    /// The keys, once every part is in.
    ///
    /// # Errors
    /// [`Error::MissingKey`] naming how many parts are absent and the first of them.
    pub fn finish(mut self) -> Result<CggiKeys<W>, Error> {
        let missing = self.missing();
        match (missing.first(), self.switch) {
            (None, Some(switch)) => {
                prepare(&self.params, &mut self.rotation);
                Ok(CggiKeys { params: self.params, key_id: self.key_id, switch, rotation: self.rotation })
            }
            (first, _) => Err(Error::MissingKey(format!(
                "{} of {} key parts are absent, the first is {} ({}); add them",
                missing.len(),
                self.parts.len(),
                first.copied().unwrap_or(0),
                self.parts[first.copied().unwrap_or(0)].label
            ))),
        }
    }

    fn check_seed(&self, public: &Seed) -> Result<(), Error> {
        let found = cggi_key_id(&self.params, public);
        if found == self.key_id {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "the part's public seed gives key {}, and key {} is being built; send the parts of one key",
            hex(&found),
            hex(&self.key_id)
        )))
    }
}

/// Brings the samples of every product into the form that products read.
fn prepare<W: Word>(params: &CggiParams<W>, key: &mut [W]) {
    let mut rest = key;
    let method = methods::key_of(params);
    for (count, samples) in method.products(params) {
        let length = samples * rotation_sample_words(params);
        let (products, others) = rest.split_at_mut(count * length);
        par::for_each_chunk_mut(products, length, |_, samples| method.prepare(params, samples));
        rest = others;
    }
}
