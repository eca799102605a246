//! Secret keys of DM/CGGI, and what can be done with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{params::CggiPreset, schemes::cggi::CggiSecretKey, scrub::scrubbed, wire};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{ciphertext::GateCiphertext, presets::Sets, run::output};
use crate::{
    failure::{Failure, Result},
    randomness::seed_for,
    secret_key::secret_key,
};

/// A secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct GateSecretKey {
    pub(crate) preset: &'static CggiPreset,
    pub(crate) key: CggiSecretKey,
}

secret_key! {
    GateSecretKey,
    generate: CggiSecretKey::generate,
    read: wire::cggi_secret_key_from_bytes,
    write: wire::cggi_secret_key_to_bytes
}

#[wasm_bindgen]
impl GateSecretKey {
    /// Encrypts bits (`messages` 0), or integers below `messages`. A given seed is for insecure sets only.
    pub fn encrypt(
        &self,
        values: &Uint32Array,
        messages: u32,
        seed: Option<Uint8Array>,
    ) -> Result<GateCiphertext> {
        let encoding = output(messages);
        if values.length() == 0 {
            return Err(Failure::invalid("nothing to encrypt; give at least one bit or integer"));
        }
        let list = scrubbed(|| {
            let randomness = seed_for(self.preset.name, self.preset.secure(), seed)?;
            let values = Zeroizing::new(values.to_vec());
            Ok::<_, Failure>(self.key.encrypt(encoding, &values, &randomness)?)
        })?;
        Ok(GateCiphertext::new(self.preset, self.key.params().clone(), list))
    }

    /// Decrypts, for the owner of the key: bits as 0 and 1, integers as they are.
    pub fn decrypt(&self, ciphertext: &GateCiphertext) -> Result<Uint32Array> {
        scrubbed(|| {
            let mut values = Zeroizing::new(Vec::with_capacity(ciphertext.list.len()));
            for item in &ciphertext.list {
                values.push(self.key.decrypt(item)?);
            }
            Ok(Uint32Array::from(values.as_slice()))
        })
    }
}
