//! Secret keys, and what can be done with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::bgv::{BgvPreset, BgvSecretKey},
    scrub::scrubbed,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{
    ciphertext::{IntegerCiphertext, encrypted},
    presets::Sets,
};
use crate::{
    failure::{Failure, Result},
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
    /// Encrypts integers below the modulus of the set, at the output level unless another level is given. A given seed is for insecure sets
    /// only.
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

/// Integers as the 32-bit words that pages use.
pub(super) fn narrow(values: &[u64]) -> Result<Zeroizing<Vec<u32>>> {
    // Allocated at its full size, since a vector that grows leaves copies behind.
    let mut out = Zeroizing::new(Vec::with_capacity(values.len()));
    for &value in values {
        out.push(u32::try_from(value).map_err(|_| {
            Failure::invalid("integers of 32 bits and more have no array here; take a smaller modulus")
        })?);
    }
    Ok(out)
}
