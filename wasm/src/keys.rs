//! Secret keys, and what is done with them.

use std::sync::Arc;

use js_sys::{Float64Array, Uint8Array};
use refloat::{
    bootstrapping::ckks_ship::{ShipParams, ShipSecretKey},
    params::Preset,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::{
    ciphertext::Ciphertext,
    failure::{Failure, Result},
    presets::{self, allowed},
    randomness::seed_for,
    scrub::scrubbed,
};

/// A secret key. Wiped when it is freed, and with it any keys generated on the way.
#[wasm_bindgen]
pub struct SecretKey {
    preset: &'static Preset,
    pub(crate) key: Arc<ShipSecretKey>,
}

#[wasm_bindgen]
impl SecretKey {
    /// Makes a key from the platform's randomness. A seed of one's own is for insecure sets alone.
    pub fn generate(preset: &str, allow_insecure: bool, seed: Option<Uint8Array>) -> Result<SecretKey> {
        let (preset, params) = allowed(preset, allow_insecure)?;
        scrubbed(|| {
            let seed = seed_for(preset.name, preset.secure(), seed)?;
            Ok(SecretKey { preset, key: Arc::new(ShipSecretKey::generate(&params, &seed)) })
        })
    }

    /// Reads what `exportSecret` wrote.
    #[wasm_bindgen(js_name = importSecret)]
    pub fn import_secret(bytes: &Uint8Array, allow_insecure: bool) -> Result<SecretKey> {
        scrubbed(|| {
            let bytes = Zeroizing::new(bytes.to_vec());
            let (preset, params) = presets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
            allowed(preset.name, allow_insecure)?;
            Ok(SecretKey { preset, key: Arc::new(wire::secret_key_from_bytes(&params, &bytes)?) })
        })
    }

    /// The key itself in wire form.
    #[wasm_bindgen(js_name = exportSecret)]
    pub fn export_secret(&self) -> Uint8Array {
        scrubbed(|| {
            let bytes = Zeroizing::new(wire::secret_key_to_bytes(self.key.as_ref()));
            Uint8Array::from(bytes.as_slice())
        })
    }

    /// Name of the parameter set.
    pub fn preset(&self) -> String {
        self.preset.name.into()
    }

    /// Public identifier of everything made with this key.
    #[wasm_bindgen(js_name = keyId)]
    pub fn key_id(&self) -> Uint8Array {
        Uint8Array::from(self.key.key_id().as_slice())
    }

    /// Encrypts numbers, at the output level unless another is named. A seed of one's own is for
    /// insecure sets alone.
    pub fn encrypt(
        &self,
        values: &Float64Array,
        mode: Option<String>,
        level: Option<u32>,
        seed: Option<Uint8Array>,
    ) -> Result<Ciphertext> {
        let mode = presets::mode(mode, self.params())?;
        let level = level.map_or(self.params().output_level(), |level| level as usize);
        let ciphertext = scrubbed(|| {
            let randomness = seed_for(self.preset.name, self.preset.secure(), seed)?;
            let values = Zeroizing::new(values.to_vec());
            Ok::<_, Failure>(self.key.encrypt_at(&values, mode, level, &randomness)?)
        })?;
        Ok(Ciphertext::new(self.preset, self.params().clone(), ciphertext))
    }

    /// Decrypts, for the owner of the key: that is who calls.
    pub fn decrypt(&self, ciphertext: &Ciphertext, mode: Option<String>) -> Result<Float64Array> {
        let mode = presets::mode(mode, self.params())?;
        scrubbed(|| {
            let values = self.key.decrypt(&ciphertext.inner, mode)?;
            Ok(Float64Array::from(values.reveal_to_key_owner().as_slice()))
        })
    }

    /// One part of the bootstrapping keys in wire form.
    #[wasm_bindgen(js_name = keyPart)]
    pub fn key_part(&self, index: usize) -> Result<Uint8Array> {
        scrubbed(|| Ok(Uint8Array::from(self.key.key_part(index)?.as_slice())))
    }
}

impl SecretKey {
    fn params(&self) -> &ShipParams {
        self.key.params()
    }
}
