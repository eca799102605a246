//! Ciphertexts of integers, and their wire form.

use js_sys::{Uint8Array, Uint32Array};
use refloat::{
    Error,
    bootstrapping::bgv::{BgvParams, BgvPreset},
    random::Seed,
    schemes::bgv::BgvCiphertext,
    scrub::scrubbed,
    wire,
};
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use super::presets::Sets;
use crate::{
    accessors::{identified, leveled},
    failure::{Failure, Result},
    randomness::seed_for,
};

/// An encrypted vector of integers.
#[wasm_bindgen]
pub struct IntegerCiphertext {
    preset: &'static BgvPreset,
    pub(crate) params: BgvParams,
    pub(crate) inner: BgvCiphertext,
}

identified!(IntegerCiphertext, inner);
leveled!(IntegerCiphertext);

#[wasm_bindgen]
impl IntegerCiphertext {
    /// Reads the wire form, for any set.
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

    /// Bits by which the estimated noise may grow before the integers are lost.
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

/// Integers encrypted by a secret or public key, at the output level unless another level is given.
pub(super) fn encrypted(
    (preset, params): (&'static BgvPreset, &BgvParams),
    values: &Uint32Array,
    level: Option<u32>,
    seed: Option<Uint8Array>,
    encrypt: impl FnOnce(&[u64], usize, &Seed) -> core::result::Result<BgvCiphertext, Error>,
) -> Result<IntegerCiphertext> {
    let level = level.map_or(params.levels().output, |level| level as usize);
    let inner = scrubbed(|| {
        let randomness = seed_for(preset.name, preset.secure(), seed)?;
        let given = Zeroizing::new(values.to_vec());
        let values = Zeroizing::new(given.iter().map(|&value| value.into()).collect::<Vec<u64>>());
        Ok::<_, Failure>(encrypt(&values, level, &randomness)?)
    })?;
    Ok(IntegerCiphertext::new(preset, params.clone(), inner))
}
