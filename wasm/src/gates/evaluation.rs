//! Gates and look-ups in the page.

use js_sys::{Int32Array, Uint8Array, Uint32Array};
use refloat::{
    bootstrapping::cggi::{CggiEvaluator, CggiKeys},
    schemes::cggi::{CggiCiphertext, Gate},
    scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::{ciphertext::GateCiphertext, run::output, secret::GateSecretKey};
use crate::failure::{Failure, Result};

/// The public keys that gates are evaluated with.
#[wasm_bindgen]
pub struct GateKeys {
    pub(crate) evaluator: CggiEvaluator,
}

#[wasm_bindgen]
impl GateKeys {
    /// Makes the evaluation keys of a secret key.
    pub fn generate(secret: &GateSecretKey) -> Result<GateKeys> {
        let keys = scrubbed(|| CggiKeys::generate(&secret.key))?;
        Ok(GateKeys { evaluator: CggiEvaluator::new(keys) })
    }

    /// Id of the key they belong to.
    #[wasm_bindgen(js_name = keyId)]
    pub fn key_id(&self) -> Uint8Array {
        Uint8Array::from(self.evaluator.keys().key_id().as_slice())
    }

    /// Bytes in memory.
    #[wasm_bindgen(js_name = memoryBytes)]
    pub fn memory_bytes(&self) -> f64 {
        self.evaluator.keys().memory_bytes() as f64
    }

    /// Applies a gate, given by name, to each position of its operands, which follow one another in `inputs`.
    pub fn gate(&self, gate: &str, inputs: &GateCiphertext) -> Result<GateCiphertext> {
        let gate: Gate = gate.parse()?;
        let arity = gate.arity();
        let count = inputs.list.len() / arity;
        if count * arity != inputs.list.len() {
            return Err(Failure::invalid(format!(
                "gate {gate} takes {arity} operands of equal length; {} items are not a multiple of it",
                inputs.list.len()
            )));
        }
        let operands = |i: usize| inputs.list.iter().skip(i).step_by(count).collect::<Vec<_>>();
        let results = (0..count).map(|i| self.evaluator.gate(gate, &operands(i), &mut ()));
        Ok(inputs.sibling(results.collect::<core::result::Result<_, _>>()?))
    }

    /// `table[m]` for each item, as a bit (`messages` 0) or an integer below `messages`.
    #[wasm_bindgen(js_name = lookUp)]
    pub fn look_up(
        &self,
        inputs: &GateCiphertext,
        table: &Uint32Array,
        messages: u32,
    ) -> Result<GateCiphertext> {
        let (table, output) = (table.to_vec(), output(messages));
        let results = inputs.list.iter().map(|x| self.evaluator.look_up(x, &table, output, &mut ()));
        Ok(inputs.sibling(results.collect::<core::result::Result<_, _>>()?))
    }

    /// constant + sum of weights times integers, for each position of the terms, which follow one another in `inputs`; no bootstrapping.
    #[wasm_bindgen(js_name = weightedSum)]
    pub fn weighted_sum(
        &self,
        inputs: &GateCiphertext,
        weights: &Int32Array,
        constant: u32,
    ) -> Result<GateCiphertext> {
        let weights = weights.to_vec();
        let count = inputs.list.len() / weights.len().max(1);
        if weights.is_empty() || count * weights.len() != inputs.list.len() {
            return Err(Failure::invalid(format!(
                "{} items for {} weights; give terms of equal length and a weight for each",
                inputs.list.len(),
                weights.len()
            )));
        }
        let terms = |i: usize| {
            let items = inputs.list.iter().skip(i).step_by(count);
            weights
                .iter()
                .map(|&weight| i64::from(weight))
                .zip(items)
                .collect::<Vec<(i64, &CggiCiphertext)>>()
        };
        let results = (0..count).map(|i| self.evaluator.weighted_sum(&terms(i), constant));
        Ok(inputs.sibling(results.collect::<core::result::Result<_, _>>()?))
    }
}
