//! Secret keys, and what is done with them.

use std::sync::Arc;

use js_sys::{Float64Array, Uint8Array};
use refloat::{
    bootstrapping::ckks_ship::{ShipParams, ShipSecretKey},
    params::ShipPreset,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::{
    ciphertext::Ciphertext,
    failure::{Failure, Result},
    presets,
    randomness::seed_for,
    scrub::scrubbed,
    secret_key::secret_key,
};

/// A secret key. Wiped when it is freed, and with it any keys generated on the way.
#[wasm_bindgen]
pub struct SecretKey {
    preset: &'static ShipPreset,
    pub(crate) key: Arc<ShipSecretKey>,
}

secret_key! {
    SecretKey,
    generate: |params, seed| Arc::new(ShipSecretKey::generate(params, seed)),
    read: |params, bytes| wire::secret_key_from_bytes(params, bytes).map(Arc::new),
    write: |key: &Arc<ShipSecretKey>| wire::secret_key_to_bytes(key.as_ref())
}

#[wasm_bindgen]
impl SecretKey {
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
}

impl SecretKey {
    fn params(&self) -> &ShipParams {
        self.key.params()
    }
}
