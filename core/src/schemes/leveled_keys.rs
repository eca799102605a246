//! The secret of a key set that computes without bootstrapping, for schemes over ring-LWE, and the keys made from it.

use super::identity::{key_set_id, key_set_seed};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    ring::GaloisElement,
    rlwe::{GaloisKeys, KeySeeds, RlweContext, SampleBlock, SecretKey},
};

/// A secret key with the seeds of its key set.
pub(crate) struct LeveledKeys<W: Word> {
    pub secret: SecretKey<W>,
    pub seeds: KeySeeds,
    pub key_id: [u8; 16],
}

impl<W: Word> LeveledKeys<W> {
    /// Derives the keys; the same arguments give the same keys.
    pub fn generate(rlwe: &RlweContext<W>, label: &'static str, fingerprint: &[u8; 16], seed: &Seed) -> Self {
        let master = key_set_seed(seed, label, fingerprint);
        let seeds = KeySeeds::derive(&master);
        Self {
            secret: SecretKey::generate(rlwe, &master),
            key_id: key_set_id(fingerprint, seeds.public()),
            seeds,
        }
    }

    /// The relinearisation key for products at levels up to `level`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have.
    pub fn relinearization_key(&self, rlwe: &RlweContext<W>, level: usize) -> Result<SampleBlock<W>, Error> {
        rlwe.check_level(level)?;
        Ok(self.secret.relinearization_key(rlwe, &self.seeds, level))
    }

    /// The keys of automorphisms of ciphertexts at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::relinearization_key`].
    pub fn galois_keys(
        &self,
        rlwe: &RlweContext<W>,
        elements: impl IntoIterator<Item = GaloisElement>,
        level: usize,
    ) -> Result<GaloisKeys<W>, Error> {
        rlwe.check_level(level)?;
        let mut keys = GaloisKeys::new(rlwe.n());
        for element in elements {
            keys.insert(rlwe, element, self.secret.galois_key(rlwe, &self.seeds, level, element))?;
        }
        Ok(keys)
    }
}
