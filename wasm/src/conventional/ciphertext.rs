//! Ciphertexts of conventional sets and their wire form.

use js_sys::Uint8Array;
use refloat::{
    bootstrapping::ckks_conventional::ConventionalParams,
    params::ConventionalPreset,
    schemes::ckks::{self, CkksEvaluator},
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::presets;
use crate::failure::Result;

/// An encrypted vector.
#[wasm_bindgen]
pub struct Ciphertext {
    preset: &'static ConventionalPreset,
    pub(super) params: ConventionalParams,
    pub(super) inner: ckks::Ciphertext<u64>,
}

#[wasm_bindgen]
impl Ciphertext {
    /// Reads the wire form, of whichever set it is.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &Uint8Array) -> Result<Ciphertext> {
        let bytes = bytes.to_vec();
        let (preset, params) = presets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
        let inner = wire::ciphertext_from_bytes(params.ckks(), &bytes)?;
        Ok(Ciphertext { preset, params, inner })
    }

    /// The wire form.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Result<Uint8Array> {
        Ok(Uint8Array::from(wire::ciphertext_to_bytes(self.params.ckks(), &self.inner)?.as_slice()))
    }

    /// Name of the parameter set.
    pub fn preset(&self) -> String {
        self.preset.name.into()
    }

    /// Id of the key it is encrypted under.
    #[wasm_bindgen(js_name = keyId)]
    pub fn key_id(&self) -> Uint8Array {
        Uint8Array::from(self.inner.key_id().as_slice())
    }

    /// Its level.
    pub fn level(&self) -> usize {
        self.inner.level()
    }

    /// log2 of its modulus.
    #[wasm_bindgen(js_name = logQ)]
    pub fn log_q(&self) -> f64 {
        self.inner.log_q()
    }

    /// log2 of its scale.
    #[wasm_bindgen(js_name = logScale)]
    pub fn log_scale(&self) -> f64 {
        self.inner.log_scale()
    }

    /// Bytes of its wire form.
    #[wasm_bindgen(js_name = byteLength)]
    pub fn byte_length(&self) -> usize {
        wire::ciphertext_len(self.params.ckks(), self.inner.level(), self.inner.components())
    }
}

impl Ciphertext {
    /// Wraps a ciphertext of a set.
    pub fn new(
        preset: &'static ConventionalPreset,
        params: ConventionalParams,
        inner: ckks::Ciphertext<u64>,
    ) -> Self {
        Self { preset, params, inner }
    }

    /// A result of the same set.
    pub fn sibling(&self, inner: ckks::Ciphertext<u64>) -> Self {
        Self::new(self.preset, self.params.clone(), inner)
    }
}

/// The same message at the level a bootstrapping starts from: what is left of a ciphertext when its
/// multiplications have been spent.
#[wasm_bindgen]
pub fn exhaust(ciphertext: &Ciphertext) -> Result<Ciphertext> {
    let params = &ciphertext.params;
    let evaluator = CkksEvaluator::new(params.ckks());
    Ok(ciphertext.sibling(evaluator.drop_to_level(&ciphertext.inner, params.levels().input)?))
}
