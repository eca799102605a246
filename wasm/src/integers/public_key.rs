//! Public keys: others encrypt with them for the owner of a secret key.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::bgv::{BgvParams, BgvPreset},
    schemes::bgv::BgvPublicKey,
    scrub::scrubbed,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{
    ciphertext::{IntegerCiphertext, encrypted},
    presets::Sets,
    secret::IntegerSecretKey,
};
use crate::{accessors::identified, failure::Result};

/// Encrypts for the owner of a secret key, and decrypts nothing.
#[wasm_bindgen]
pub struct IntegerPublicKey {
    preset: &'static BgvPreset,
    params: BgvParams,
    inner: BgvPublicKey,
}

#[wasm_bindgen]
impl IntegerSecretKey {
    /// The key with which others encrypt for the owner of this one.
    #[wasm_bindgen(js_name = publicKey)]
    pub fn public_key(&self) -> Result<IntegerPublicKey> {
        let inner = scrubbed(|| self.key.public_key())?;
        Ok(IntegerPublicKey { preset: self.preset, params: self.key.params().clone(), inner })
    }
}

identified!(IntegerPublicKey, inner);

#[wasm_bindgen]
impl IntegerPublicKey {
    /// Reads the wire form, for any set.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &Uint8Array, allow_insecure: bool) -> Result<IntegerPublicKey> {
        let bytes = bytes.to_vec();
        let (preset, params) = Sets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
        Sets::check_allowed(preset, allow_insecure)?;
        let inner = wire::bgv_public_key_from_bytes(params.context(), params.levels().output, &bytes)?;
        Ok(IntegerPublicKey { preset, params, inner })
    }

    /// The wire form.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Uint8Array {
        Uint8Array::from(wire::bgv_public_key_to_bytes(self.params.context(), &self.inner).as_slice())
    }

    /// Encrypts integers as `IntegerSecretKey.encrypt` does.
    pub fn encrypt(
        &self,
        values: &Uint32Array,
        level: Option<u32>,
        seed: Option<Uint8Array>,
    ) -> Result<IntegerCiphertext> {
        encrypted((self.preset, &self.params), values, level, seed, |values, level, seed| {
            self.inner.encrypt(self.params.context(), values, level, seed)
        })
    }
}
