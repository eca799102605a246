//! One gate's bootstrapping, one step at a time.

use js_sys::{Float64Array, Function, Uint32Array};
use refloat::{
    bootstrapping::cggi::{CggiRun, CggiView},
    schemes::cggi::{CggiCiphertext, Encoding},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::GateCiphertext, evaluation::GateKeys, secret::GateSecretKey};
use crate::{
    events::told,
    failure::{Failure, Result, over},
    object::Fields,
};

/// A gate or a look-up of one bootstrapping under way.
#[wasm_bindgen]
pub struct GateRun {
    run: Option<CggiRun>,
    input: GateCiphertext,
}

#[wasm_bindgen]
impl GateRun {
    /// Begins a gate; the operands, one item each, are copied. A step of the rotation does `products` products.
    pub fn begin(keys: &GateKeys, gate: &str, inputs: &GateCiphertext, products: usize) -> Result<GateRun> {
        let operands: Vec<&CggiCiphertext> = inputs.list.iter().collect();
        let run = keys.evaluator.gate_run(gate.parse()?, &operands)?.with_products_per_step(products);
        Ok(GateRun { run: Some(run), input: inputs.slice(0, 1)? })
    }

    /// Begins a look-up of one item, as `GateKeys.lookUp` does; the item is copied, and steps are as in `begin`.
    #[wasm_bindgen(js_name = beginLookUp)]
    pub fn begin_look_up(
        keys: &GateKeys,
        input: &GateCiphertext,
        table: &Uint32Array,
        messages: u32,
        products: usize,
    ) -> Result<GateRun> {
        let [item] = input.list.as_slice() else {
            return Err(Failure::invalid(format!("a run looks up one item, not {}", input.list.len())));
        };
        let run = keys.evaluator.look_up_run(item, &table.to_vec(), output(messages))?;
        Ok(GateRun { run: Some(run.with_products_per_step(products)), input: input.slice(0, 1)? })
    }

    /// Does one stage, or some products of the rotation; `true` if it was the last step.
    pub fn step(&mut self, on_event: &Function) -> Result<bool> {
        told(on_event, |events| Ok(self.run.as_mut().ok_or_else(over)?.step(events)?))
    }

    /// What the state holds, for the owner of the key: a phase, or the accumulator's coefficients, in turns.
    pub fn view(&self, secret: &GateSecretKey) -> Result<JsValue> {
        let (form, data) = match secret.key.inspect_run(self.run.as_ref().ok_or_else(over)?)? {
            CggiView::Phase(phase) => ("phase", vec![phase]),
            CggiView::Polynomial(coefficients) => ("polynomial", coefficients),
        };
        Ok(Fields::new().with("form", form).with("data", Float64Array::from(data.as_slice())).done())
    }

    /// The result; can be taken once.
    pub fn finish(&mut self) -> Result<GateCiphertext> {
        Ok(self.input.sibling(vec![self.run.take().ok_or_else(over)?.finish(&mut ())?]))
    }
}

/// The encoding of results: bits if `messages` is 0.
pub(super) fn output(messages: u32) -> Encoding {
    if messages == 0 { Encoding::Bit } else { Encoding::Padded { messages } }
}
