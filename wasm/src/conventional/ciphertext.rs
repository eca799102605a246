//! Ciphertexts of conventional sets.

use refloat::{
    bootstrapping::ckks_conventional::ConventionalParams, params::ConventionalPreset,
    schemes::ckks::CkksEvaluator,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::presets;
use crate::{ckks_ciphertext::ckks_ciphertext, failure::Result};

ckks_ciphertext!(ConventionalPreset, ConventionalParams, u64);

/// The same message at the level a bootstrapping starts from: what is left of a ciphertext when its
/// multiplications have been spent.
#[wasm_bindgen]
pub fn exhaust(ciphertext: &Ciphertext) -> Result<Ciphertext> {
    let params = &ciphertext.params;
    let evaluator = CkksEvaluator::new(params.ckks());
    Ok(ciphertext.sibling(evaluator.drop_to_level(&ciphertext.inner, params.levels().input)?))
}
