//! Ciphertexts of integers, and their wire form.

use js_sys::Uint8Array;
use refloat::{
    bootstrapping::bgv::{BgvParams, BgvPreset},
    schemes::bgv::BgvCiphertext,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::presets::Sets;
use crate::failure::Result;

/// An encrypted vector of integers.
#[wasm_bindgen]
pub struct IntegerCiphertext {
    preset: &'static BgvPreset,
    pub(crate) params: BgvParams,
    pub(crate) inner: BgvCiphertext,
}

#[wasm_bindgen]
impl IntegerCiphertext {
    /// Reads the wire form, of whichever set it is.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &Uint8Array) -> Result<IntegerCiphertext> {
        let bytes = bytes.to_vec();
        let (preset, params) = Sets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
        let inner = wire::bgv_ciphertext_from_bytes(params.context(), &bytes)?;
        Ok(IntegerCiphertext::new(preset, params, inner))
    }

    /// The wire form.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Result<Uint8Array> {
        let bytes = wire::bgv_ciphertext_to_bytes(self.params.context(), &self.inner)?;
        Ok(Uint8Array::from(bytes.as_slice()))
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

    /// Bits that its noise may grow by, as it is estimated, before the integers are lost.
    pub fn capacity(&self) -> f64 {
        self.inner.capacity()
    }

    /// Bytes of its wire form.
    #[wasm_bindgen(js_name = byteLength)]
    pub fn byte_length(&self) -> usize {
        wire::bgv_ciphertext_len(self.params.context(), self.inner.level(), self.inner.components())
    }
}

impl IntegerCiphertext {
    /// Wraps a ciphertext of a set.
    pub(crate) fn new(preset: &'static BgvPreset, params: BgvParams, inner: BgvCiphertext) -> Self {
        Self { preset, params, inner }
    }

    /// A result of the same set.
    pub(crate) fn sibling(&self, inner: BgvCiphertext) -> Self {
        Self::new(self.preset, self.params.clone(), inner)
    }
}
