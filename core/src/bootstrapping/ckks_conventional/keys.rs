//! Evaluation keys: what a server holds.

use alloc::{format, vec::Vec};

use super::{params::ConventionalParams, secret::ConventionalSecretKey};
use crate::{
    arith::Word,
    error::Error,
    par,
    ring::GaloisElement,
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
        let (rlwe, levels) = (params.ckks().rlwe(), params.levels());
        let wanted: Vec<(GaloisElement, usize)> = params.galois_elements().collect();
        // Computed once, before the threads divide the keys among them.
        secret.main.eval();
        let made = par::map(wanted.len(), |i| {
            let (g, level) = wanted[i];
            secret.main.galois_key(rlwe, &secret.seeds, level, g)
        });
        let mut galois = GaloisKeys::new(params.n());
        for ((g, _), key) in wanted.into_iter().zip(made) {
            galois.insert(rlwe, g, key)?;
        }
        let ephemeral = match (&secret.ephemeral, params.encapsulation()) {
            (Some(sparse), Some(context)) => {
                let samples =
                    sparse.encapsulation_samples(context, &secret.main, &secret.seeds, ENCAPSULATION_BLOCK);
                let mut there = SampleBlock::zero(context.q0p(), 1, samples.len());
                for (i, sample) in samples.iter().enumerate() {
                    there.set(i, sample);
                }
                Some([there, sparse.raise_key(rlwe, &secret.main, &secret.seeds, levels.coeffs_to_slots)])
            }
            _ => None,
        };
        Ok(Self {
            key_id: secret.key_id(),
            relinearization: secret.main.relinearization_key(rlwe, &secret.seeds, levels.eval_mod),
            galois,
            ephemeral,
        })
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

    /// These keys serve this ciphertext.
    pub(super) fn check(&self, params: &ConventionalParams<W>, x: &Ciphertext<W>) -> Result<(), Error> {
        if x.fingerprint() != params.fingerprint() {
            return Err(Error::ParamsMismatch(format!(
                "ciphertext of set {}, evaluator of {} ({}); use the evaluator of the set that encrypted it",
                hex(&x.fingerprint()),
                params.name(),
                hex(&params.fingerprint())
            )));
        }
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

/// Name of the streams of the key to the ephemeral secret.
const ENCAPSULATION_BLOCK: [u64; 4] = [1, 0, 0, 0];
