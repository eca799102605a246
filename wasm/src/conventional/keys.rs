//! Secret keys of conventional sets, and what is done with them.

use js_sys::{Float64Array, Uint8Array};
use refloat::{
    bootstrapping::ckks_conventional::ConventionalSecretKey, params::ConventionalPreset,
    schemes::ckks::Complex, wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::{
    ciphertext::Ciphertext,
    presets::{self, allowed, complex},
};
use crate::{
    failure::{Failure, Result},
    randomness::seed_for,
    scrub::scrubbed,
    views::slots,
};

/// A secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct SecretKey {
    preset: &'static ConventionalPreset,
    pub(super) key: ConventionalSecretKey,
}

#[wasm_bindgen]
impl SecretKey {
    /// Makes a key from the platform's randomness. A seed of one's own is for insecure sets alone.
    pub fn generate(preset: &str, allow_insecure: bool, seed: Option<Uint8Array>) -> Result<SecretKey> {
        let (preset, params) = allowed(preset, allow_insecure)?;
        scrubbed(|| {
            let seed = seed_for(preset.name, preset.secure(), seed)?;
            Ok(SecretKey { preset, key: ConventionalSecretKey::generate(&params, &seed) })
        })
    }

    /// Reads what `exportSecret` wrote.
    #[wasm_bindgen(js_name = importSecret)]
    pub fn import_secret(bytes: &Uint8Array, allow_insecure: bool) -> Result<SecretKey> {
        scrubbed(|| {
            let bytes = Zeroizing::new(bytes.to_vec());
            let (preset, _) = presets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
            let (preset, params) = allowed(preset.name, allow_insecure)?;
            Ok(SecretKey { preset, key: wire::secret_key_from_bytes(&params, &bytes)? })
        })
    }

    /// The key itself in wire form.
    #[wasm_bindgen(js_name = exportSecret)]
    pub fn export_secret(&self) -> Uint8Array {
        scrubbed(|| {
            let bytes = Zeroizing::new(wire::secret_key_to_bytes(&self.key));
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
        let (params, complex) = (self.key.params(), complex(mode)?);
        let level = level.map_or(params.levels().output, |level| level as usize);
        let ciphertext = scrubbed(|| {
            let randomness = seed_for(self.preset.name, self.preset.secure(), seed)?;
            let values = slots(&Zeroizing::new(values.to_vec()), complex)?;
            Ok::<_, Failure>(self.key.encrypt(&values, level, &randomness)?)
        })?;
        Ok(Ciphertext::new(self.preset, params.clone(), ciphertext))
    }

    /// Decrypts, for the owner of the key: that is who calls.
    pub fn decrypt(&self, ciphertext: &Ciphertext, mode: Option<String>) -> Result<Float64Array> {
        let complex = complex(mode)?;
        scrubbed(|| {
            let values = self.key.decrypt(&ciphertext.inner)?;
            let parts = |z: &Complex| if complex { vec![z.re, z.im] } else { vec![z.re] };
            let values: Vec<f64> = values.reveal_to_key_owner().iter().flat_map(parts).collect();
            Ok(Float64Array::from(Zeroizing::new(values).as_slice()))
        })
    }

    /// One part of the bootstrapping keys in wire form.
    #[wasm_bindgen(js_name = keyPart)]
    pub fn key_part(&self, index: usize) -> Result<Uint8Array> {
        scrubbed(|| Ok(Uint8Array::from(self.key.key_part(index)?.as_slice())))
    }
}
