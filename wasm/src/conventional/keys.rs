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
    presets::{self, complex},
};
use crate::{
    failure::{Failure, Result},
    randomness::seed_for,
    scrub::scrubbed,
    secret_key::secret_key,
    views::slots,
};

/// A secret key. Wiped when it is freed.
#[wasm_bindgen]
pub struct SecretKey {
    preset: &'static ConventionalPreset,
    pub(super) key: ConventionalSecretKey,
}

secret_key! {
    SecretKey,
    generate: ConventionalSecretKey::generate,
    read: wire::secret_key_from_bytes,
    write: wire::secret_key_to_bytes
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
}
