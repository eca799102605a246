//! Secret keys, and what is done with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    Error,
    bootstrapping::bgv::{BgvParams, BgvPreset, BgvSecretKey},
    random::Seed,
    schemes::bgv::BgvCiphertext,
    scrub::scrubbed,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{ciphertext::IntegerCiphertext, presets::Sets};
use crate::{
    failure::{Failure, Result},
    randomness::seed_for,
    secret_key::secret_key,
};

/// A secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct IntegerSecretKey {
    pub(crate) preset: &'static BgvPreset,
    pub(crate) key: BgvSecretKey,
}

secret_key! {
    IntegerSecretKey,
    generate: BgvSecretKey::generate,
    read: wire::secret_key_from_bytes,
    write: wire::secret_key_to_bytes
}

#[wasm_bindgen]
impl IntegerSecretKey {
    /// Encrypts integers below the modulus of the set, at the output level unless another is named. A seed of one's own is for
    /// insecure sets alone.
    pub fn encrypt(
        &self,
        values: &Uint32Array,
        level: Option<u32>,
        seed: Option<Uint8Array>,
    ) -> Result<IntegerCiphertext> {
        let set = (self.preset, self.key.params());
        encrypted(set, values, level, seed, |values, level, seed| self.key.encrypt(values, level, seed))
    }

    /// Decrypts, for the owner of the key.
    pub fn decrypt(&self, ciphertext: &IntegerCiphertext) -> Result<Uint32Array> {
        scrubbed(|| {
            let slots = self.key.decrypt(&ciphertext.inner)?;
            Ok(Uint32Array::from(narrow(slots.reveal_to_key_owner())?.as_slice()))
        })
    }
}

/// What a key, secret or public, makes of integers, at the output level unless another is named.
pub(super) fn encrypted(
    (preset, params): (&'static BgvPreset, &BgvParams),
    values: &Uint32Array,
    level: Option<u32>,
    seed: Option<Uint8Array>,
    encrypt: impl FnOnce(&[u64], usize, &Seed) -> core::result::Result<BgvCiphertext, Error>,
) -> Result<IntegerCiphertext> {
    let level = level.map_or(params.levels().output, |level| level as usize);
    let inner = scrubbed(|| {
        let randomness = seed_for(preset.name, preset.secure(), seed)?;
        let given = Zeroizing::new(values.to_vec());
        let values = Zeroizing::new(given.iter().map(|&value| value.into()).collect::<Vec<u64>>());
        Ok::<_, Failure>(encrypt(&values, level, &randomness)?)
    })?;
    Ok(IntegerCiphertext::new(preset, params.clone(), inner))
}

/// Integers as the 32 bits that pages have for them.
pub(super) fn narrow(values: &[u64]) -> Result<Zeroizing<Vec<u32>>> {
    // In memory of its full size, since a vector that grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(values.len()));
    for &value in values {
        out.push(u32::try_from(value).map_err(|_| {
            Failure::invalid("integers of 32 bits and more have no array here; take a smaller modulus")
        })?);
    }
    Ok(out)
}
