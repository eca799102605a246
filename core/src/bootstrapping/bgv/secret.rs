//! Secret keys of a set.

use alloc::vec::Vec;

use super::params::BgvParams;
use crate::{
    arith::Word,
    bootstrapping::{
        method::limits,
        switching_keys::{KeyLayout, Secrets, SwitchingKeyId},
    },
    error::Error,
    random::Seed,
    ring::{GaloisElement, SmallPoly},
    rlwe::{KeySeeds, SampleBlock, SecretKey, SparseSecret},
    schemes::{
        bgv::{self, BgvCiphertext, BgvPublicKey, Private, key_set_id, key_set_seed},
        secret_key_identity,
    },
};

/// Everything secret of a key set: the main key, the ephemeral sparse key, and the seed they came from. Wiped when
/// dropped.
///
/// Deterministic: the same set and seed give the same keys, and every part of the evaluation keys can be made again with
/// the same bytes.
///
/// In a ring of two axes the ephemeral key has at most one non-zero coefficient for each power of Y, as
/// [`SmallPoly::sparse_ternary_in`] draws it. These keys are a fraction of all sparse keys of the same weight, so an attack on them
/// succeeds on all sparse keys with at least that fraction of its probability, counted as plain LWE. At most -log2 of the fraction is lost:
/// 0.03 bit for weight 32 and 16384 powers of Y with four rows. The same holds in a ring of odd index, where 1.4 bits are lost for weight
/// 32 and 522 powers of `X_2` with 96 rows.
pub struct BgvSecretKey<W: Word = u64> {
    params: BgvParams<W>,
    seed: Seed,
    seeds: KeySeeds,
    key_id: [u8; 16],
    pub(super) main: SecretKey<W>,
    pub(super) ephemeral: SparseSecret,
}

impl<W: Word> BgvSecretKey<W> {
    /// Derives all secrets of a key set from a seed, which must be fresh and kept as secret as the key.
    pub fn generate(params: &BgvParams<W>, seed: &Seed) -> Self {
        let master = key_set_seed(seed, "bgv key set", &params.fingerprint());
        let seeds = KeySeeds::derive(&master);
        let (ring, weight) = (params.context().rlwe().ring(), params.spec().ephemeral.weight as usize);
        let mut stream = master.derive("ephemeral sparse secret", &[]).stream();
        Self {
            key_id: key_set_id(&params.fingerprint(), seeds.public()),
            main: SecretKey::generate(params.context().rlwe(), &master),
            ephemeral: SparseSecret::new(SmallPoly::sparse_ternary_in(ring, weight, &mut stream)),
            params: params.clone(),
            seed: seed.clone(),
            seeds,
        }
    }

    secret_key_identity!(BgvParams<W>);

    /// The key with which others encrypt for the owner of this one, at every level of messages.
    ///
    /// # Errors
    /// None in practice: the secret key is of the set.
    pub fn public_key(&self) -> Result<BgvPublicKey<W>, Error> {
        let level = self.params.levels().output;
        BgvPublicKey::generate(self.params.context(), &self.main, &self.seeds, self.key_id, level)
    }

    /// The key for products, or that of an automorphism, at levels up to `level`, which the chain has.
    pub(super) fn key_up_to(&self, level: usize, element: Option<GaloisElement>) -> SampleBlock<W> {
        let id = element
            .map_or(SwitchingKeyId::Relinearization, |element| SwitchingKeyId::Galois { element, level });
        let secrets = self.secrets();
        let layout = KeyLayout { relinearization: level, ..secrets.layout };
        Secrets { layout, ..secrets }.switching_key(id)
    }

    /// The secrets from which switching keys are made.
    pub(crate) fn secrets(&self) -> Secrets<'_, W> {
        Secrets {
            layout: self.params.layout(),
            main: &self.main,
            ephemeral: Some(&self.ephemeral),
            seeds: &self.seeds,
        }
    }

    /// Encrypts integers below p^r at a level up to the output's. Missing slots are 0.
    ///
    /// `randomness` must be fresh for every ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or too large values; [`Error::LevelMismatch`] for a level above the
    /// output's.
    pub fn encrypt(
        &self,
        values: &[u64],
        level: usize,
        randomness: &Seed,
    ) -> Result<BgvCiphertext<W>, Error> {
        limits::check_encryption_level(level, self.params.levels().output)?;
        bgv::encrypt(self.params.context(), &self.main, self.key_id, values, level, randomness)
    }

    /// Decrypts to integers below the modulus of the plaintext, [`slot_degree`](crate::schemes::bgv::BgvContext::slot_degree) of each slot.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<u64>>, Error> {
        bgv::decrypt(self.params.context(), &self.main, self.key_id, ciphertext)
    }
}
