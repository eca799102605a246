//! Lists of encrypted bits or small integers, and their wire form.

use js_sys::Uint8Array;
use refloat::{
    params::CggiPreset,
    schemes::cggi::{CggiCiphertext, CggiParams, Encoding},
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::presets;
use crate::failure::Result;

/// One or several encrypted bits or integers, of one set and one key.
#[wasm_bindgen]
pub struct GateCiphertext {
    preset: &'static CggiPreset,
    params: CggiParams,
    pub(crate) list: Vec<CggiCiphertext>,
}

#[wasm_bindgen]
impl GateCiphertext {
    /// Reads the wire form, for any set.
    #[wasm_bindgen(js_name = fromBytes)]
    pub fn from_bytes(bytes: &Uint8Array) -> Result<GateCiphertext> {
        let bytes = bytes.to_vec();
        let (preset, params) = presets::Sets::by_fingerprint(wire::frame::peek(&bytes)?.fingerprint)?;
        let list = wire::cggi_ciphertexts_from_bytes(&params, &bytes)?;
        Ok(GateCiphertext::new(preset, params, list))
    }

    /// The wire form.
    #[wasm_bindgen(js_name = toBytes)]
    pub fn to_bytes(&self) -> Result<Uint8Array> {
        Ok(Uint8Array::from(wire::cggi_ciphertexts_to_bytes(&self.params, &self.list)?.as_slice()))
    }

    /// Name of the parameter set.
    pub fn preset(&self) -> String {
        self.preset.name.into()
    }

    /// Id of the key under which the items are encrypted.
    #[wasm_bindgen(js_name = keyId)]
    pub fn key_id(&self) -> Uint8Array {
        Uint8Array::from(self.list.first().map(CggiCiphertext::key_id).unwrap_or_default().as_slice())
    }

    /// Number of bits or integers.
    pub fn length(&self) -> usize {
        self.list.len()
    }

    /// What the items hold, judged by the first: 0 for bits, otherwise integers below this number.
    pub fn messages(&self) -> u32 {
        match self.list.first().map(CggiCiphertext::encoding) {
            None | Some(Encoding::Bit) => 0,
            Some(encoding) => encoding.messages(),
        }
    }

    /// Bytes of the wire form.
    #[wasm_bindgen(js_name = byteLength)]
    pub fn byte_length(&self) -> usize {
        wire::cggi_ciphertexts_len(&self.params, self.list.len())
    }

    /// A copy of the items from `start` to before `end`.
    pub fn slice(&self, start: usize, end: usize) -> Result<GateCiphertext> {
        Ok(self.sibling(CggiCiphertext::items(&self.list, start, end)?.to_vec()))
    }

    /// Appends copies of the items of another list.
    pub fn append(&mut self, other: &GateCiphertext) {
        self.list.extend_from_slice(&other.list);
    }
}

impl GateCiphertext {
    /// Wraps a nonempty list of a set.
    pub(crate) fn new(preset: &'static CggiPreset, params: CggiParams, list: Vec<CggiCiphertext>) -> Self {
        Self { preset, params, list }
    }

    /// The set.
    pub(crate) fn params(&self) -> &CggiParams {
        &self.params
    }

    /// Results of the same set.
    pub(crate) fn sibling(&self, list: Vec<CggiCiphertext>) -> Self {
        Self::new(self.preset, self.params.clone(), list)
    }
}
