//! Evaluation keys: what a server holds.

use alloc::{collections::BTreeMap, format};

use super::{layout::SwitchingKeyId, params::ConventionalParams, secret::ConventionalSecretKey};
use crate::{
    arith::Word,
    error::Error,
    par,
    rlwe::{GaloisKeys, SampleBlock},
    schemes::ckks::{Ciphertext, hex},
};

/// The evaluation keys of one key set, expanded in memory.
pub struct ConventionalKeys<W: Word = u64> {
    key_id: [u8; 16],
    pub(super) relinearization: SampleBlock<W>,
    pub(super) galois: GaloisKeys<W>,
    /// To the ephemeral secret at q0 p', and back at Q P.
    pub(super) ephemeral: Option<[SampleBlock<W>; 2]>,
}

impl<W: Word> ConventionalKeys<W> {
    /// Makes all evaluation keys of a secret key, on as many threads as there are.
    ///
    /// # Errors
    /// None for a set that was validated.
    pub fn generate(secret: &ConventionalSecretKey<W>) -> Result<Self, Error> {
        let params = secret.params();
        let keys = params.switching_keys();
        // Computed once, before the threads divide the keys among them.
        secret.main.eval();
        let made = par::map(keys.len(), |i| secret.switching_key(keys[i]));
        Self::assemble(params, secret.key_id(), keys.into_iter().zip(made).collect())
    }

    /// Puts the switching keys of a set into their places.
    pub(super) fn assemble(
        params: &ConventionalParams<W>,
        key_id: [u8; 16],
        mut keys: BTreeMap<SwitchingKeyId, SampleBlock<W>>,
    ) -> Result<Self, Error> {
        let mut take = |key: SwitchingKeyId| {
            keys.remove(&key).ok_or_else(|| Error::MissingKey(format!("switching key {key:?} is absent")))
        };
        let mut galois = GaloisKeys::new(params.n());
        for (element, level) in params.galois_elements() {
            galois.insert(params.ckks().rlwe(), element, take(SwitchingKeyId::Galois { element, level })?)?;
        }
        let relinearization = take(SwitchingKeyId::Relinearization)?;
        let ephemeral = match params.encapsulation() {
            Some(_) => Some([take(SwitchingKeyId::ToEphemeral)?, take(SwitchingKeyId::FromEphemeral)?]),
            None => None,
        };
        Ok(Self { key_id, relinearization, galois, ephemeral })
    }

    /// The key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// The relinearisation key, for products up to the level where the reduction begins.
    pub fn relinearization(&self) -> &SampleBlock<W> {
        &self.relinearization
    }

    /// Rotations and conjugation.
    pub fn galois(&self) -> &GaloisKeys<W> {
        &self.galois
    }

    /// Bytes in memory.
    pub fn memory_bytes(&self) -> usize {
        let ephemeral = self.ephemeral.iter().flatten().map(SampleBlock::memory_bytes).sum::<usize>();
        self.relinearization.memory_bytes() + self.galois.memory_bytes() + ephemeral
    }

    /// Main to ephemeral secret, and back; none in a set without an ephemeral secret.
    pub fn ephemeral(&self) -> Option<&[SampleBlock<W>; 2]> {
        self.ephemeral.as_ref()
    }

    /// These keys serve this ciphertext.
    pub(super) fn check(&self, params: &ConventionalParams<W>, x: &Ciphertext<W>) -> Result<(), Error> {
        params.check_set(x)?;
        if x.key_id() != self.key_id {
            return Err(Error::ParamsMismatch(format!(
                "ciphertext under key {}, evaluation keys of {}; use the evaluation keys of its owner",
                hex(&x.key_id()),
                hex(&self.key_id)
            )));
        }
        Ok(())
    }
}
