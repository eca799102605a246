//! One gate's bootstrapping, a step at a time.

use js_sys::{Float64Array, Function};
use refloat::{
    bootstrapping::cggi::{CggiRun, CggiView},
    schemes::cggi::CggiCiphertext,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::GateCiphertext, evaluation::GateKeys, secret::GateSecretKey};
use crate::{
    events::Recorder,
    failure::{Failure, Result},
    object::Fields,
};

/// A gate of one bootstrapping under way.
#[wasm_bindgen]
pub struct GateRun {
    run: Option<CggiRun>,
    input: GateCiphertext,
}

#[wasm_bindgen]
impl GateRun {
    /// Begins; the operands, one item each, are copied. A step of the rotation does `products` products.
    pub fn begin(keys: &GateKeys, gate: &str, inputs: &GateCiphertext, products: usize) -> Result<GateRun> {
        let operands: Vec<&CggiCiphertext> = inputs.list.iter().collect();
        let run = keys.evaluator.gate_run(gate.parse()?, &operands)?.with_products_per_step(products);
        Ok(GateRun { run: Some(run), input: inputs.slice(0, 1)? })
    }

    /// One stage, or some products of the rotation; `true` when it was the last.
    pub fn step(&mut self, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let finished = self.run.as_mut().ok_or_else(over)?.step(&mut events)?;
        events.deliver(on_event)?;
        Ok(finished)
    }

    /// What the state holds, for the owner of the key: a phase, or the accumulator's coefficients, in turns.
    pub fn view(&self, secret: &GateSecretKey) -> Result<JsValue> {
        let (form, data) = match secret.key.inspect_run(self.run.as_ref().ok_or_else(over)?)? {
            CggiView::Phase(phase) => ("phase", vec![phase]),
            CggiView::Polynomial(coefficients) => ("polynomial", coefficients),
        };
        Ok(Fields::new().with("form", form).with("data", Float64Array::from(data.as_slice())).done())
    }

    /// The result, once.
    pub fn finish(&mut self) -> Result<GateCiphertext> {
        Ok(self.input.sibling(vec![self.run.take().ok_or_else(over)?.finish(&mut ())?]))
    }
}

fn over() -> Failure {
    Failure::invalid("the run has given its result: begin another one")
}
