//! Conventional bootstrapping in the page, a stage at a time.

use refloat::{
    bootstrapping::ckks_conventional::{
        ConventionalEvaluator, ConventionalKeys, ConventionalKeysBuilder, ConventionalParams, ConventionalRun,
    },
    circuits::linear_transform::PlaintextStorage,
    params::ConventionalPreset,
    schemes::ckks::CkksEvaluator,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::Ciphertext;
use crate::{
    ckks_bootstrap::ckks_bootstrap,
    evaluators::{self, Evaluators},
    failure::Result,
};

/// Largest ring whose diagonals are kept evaluated between runs.
const DIAGONALS_EVALUATED_UP_TO: usize = 1 << 11;

thread_local! {
    static EVALUATORS: Evaluators<ConventionalEvaluator> = const { Evaluators::new(Vec::new()) };
}

/// The evaluator of a set, made when it is first needed.
fn evaluator(params: &ConventionalParams) -> Result<&'static ConventionalEvaluator> {
    evaluators::evaluator(&EVALUATORS, params.fingerprint(), || {
        let keep = params.n() <= DIAGONALS_EVALUATED_UP_TO;
        let storage = if keep { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients };
        Ok(ConventionalEvaluator::new(params, storage)?)
    })
}

ckks_bootstrap! {
    builder: ConventionalKeysBuilder, ConventionalKeys::builder,
    keys: ConventionalKeys,
    finish: ConventionalKeysBuilder::finish,
    memory: ConventionalKeys::memory_bytes,
    run: ConventionalRun<'static>, word: u64,
    begin: |evaluator, x, _| ConventionalRun::new(evaluator, x),
    gain: ConventionalPreset::gain_bits
}

impl BootstrapKeys {
    fn source(&self) -> Result<&ConventionalKeys> {
        self.0.keys()
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
