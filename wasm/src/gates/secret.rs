//! Secret keys of DM/CGGI, and what is done with them.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{params::CggiPreset, schemes::cggi::CggiSecretKey, wire};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{ciphertext::GateCiphertext, presets, run::output};
use crate::{
    failure::{Failure, Result},
    randomness::seed_for,
    scrub::scrubbed,
};

/// A secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct GateSecretKey {
    pub(crate) preset: &'static CggiPreset,
    pub(crate) key: CggiSecretKey,
}

#[wasm_bindgen]
impl GateSecretKey {
    /// Makes a key from the platform's randomness. A seed of one's own is for insecure sets alone.
    pub fn generate(preset: &str, allow_insecure: bool, seed: Option<Uint8Array>) -> Result<GateSecretKey> {
        let (preset, params) = presets::allowed(preset, allow_insecure)?;
        scrubbed(|| {
            let seed = seed_for(preset.name, preset.secure(), seed)?;
            Ok(GateSecretKey { preset, key: CggiSecretKey::generate(&params, &seed) })
        })
    }

    /// Reads what `exportSecret` wrote.
    #[wasm_bindgen(js_name = importSecret)]
    pub fn import_secret(bytes: &Uint8Array, allow_insecure: bool) -> Result<GateSecretKey> {
        scrubbed(|| {
            let bytes = Zeroizing::new(bytes.to_vec());
            let (preset, _) = presets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
            let (preset, params) = presets::allowed(preset.name, allow_insecure)?;
            Ok(GateSecretKey { preset, key: wire::cggi_secret_key_from_bytes(&params, &bytes)? })
        })
    }

    /// The key itself in wire form.
    #[wasm_bindgen(js_name = exportSecret)]
    pub fn export_secret(&self) -> Uint8Array {
        scrubbed(|| {
            let bytes = Zeroizing::new(wire::cggi_secret_key_to_bytes(&self.key));
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

    /// Encrypts bits (`messages` 0), or integers below `messages`. A seed of one's own is for insecure
    /// sets alone.
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

    /// One part of the evaluation keys in wire form.
    #[wasm_bindgen(js_name = keyPart)]
    pub fn key_part(&self, index: usize) -> Result<Uint8Array> {
        scrubbed(|| Ok(Uint8Array::from(self.key.key_part(index)?.as_slice())))
    }
}
