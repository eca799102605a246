//! Circuits of gates in the page, one gate at a time.

use js_sys::{Function, Uint8Array};
use refloat::{
    bootstrapping::{cggi, method::Split},
    circuits::netlist::{
        Netlist, Op, Signal,
        arithmetic::{self, Form},
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::GateCiphertext, evaluation::GateKeys};
use crate::{
    events::told,
    failure::Result,
    object::{Fields, array},
    split::split,
};

/// The text of an `adder` or a `comparator` of unsigned integers; with `prefix` as a prefix tree.
#[wasm_bindgen(js_name = circuitText)]
pub fn circuit_text(kind: &str, width: usize, prefix: bool) -> Result<String> {
    let form = if prefix { Form::Prefix } else { Form::Ripple };
    Ok(arithmetic::named(kind, width, form)?.to_string())
}

/// The part of a circuit that is run, as the TypeScript type `GlueCircuit`.
#[wasm_bindgen(js_name = describeCircuit)]
pub fn describe_circuit(text: &str) -> Result<JsValue> {
    let netlist = Netlist::parse(text)?;
    let plan = netlist.plan();
    let levels = plan.levels().enumerate().flat_map(|(level, range)| range.map(move |_| level));
    let gates = plan.ops().iter().zip(levels).map(|(op, level)| gate(op, level));
    let outputs = netlist
        .output_names()
        .zip(plan.outputs())
        .map(|(name, &signal)| fields(signal).with("name", name).done());
    Ok(Fields::new()
        .with("inputs", array(netlist.input_names().iter().map(|name| name.as_str().into())))
        .with("outputs", array(outputs))
        .with("gates", array(gates))
        .with("depth", plan.depth() as f64)
        .with("bootstraps", plan.bootstraps() as f64)
        .done())
}

fn gate(op: &Op, level: usize) -> JsValue {
    let operands = op.operands().iter().map(|&signal| fields(signal).done());
    Fields::new()
        .with("gate", op.kind().gate().name())
        .with("level", level as f64)
        .with("operands", array(operands))
        .done()
}

/// A wire and whether it is inverted, or a constant.
fn fields(signal: Signal) -> Fields {
    match signal {
        Signal::Constant(value) => Fields::new().with("constant", value),
        Signal::Wire { index, inverted } => {
            Fields::new().with("wire", f64::from(index)).with("inverted", inverted)
        }
    }
}

/// A circuit being evaluated.
#[wasm_bindgen]
pub struct CircuitRun {
    run: cggi::CircuitRun,
    inputs: GateCiphertext,
}

split!(CircuitRun, run: |this| Some(&mut this.run), keys: |keys: &GateKeys| &keys.evaluator);

#[wasm_bindgen]
impl CircuitRun {
    /// Begins; the inputs are copied.
    pub fn begin(text: String, inputs: &GateCiphertext) -> Result<CircuitRun> {
        let run = cggi::CircuitRun::new(inputs.params(), text, inputs.list.clone())?;
        Ok(CircuitRun { run, inputs: inputs.slice(0, 1)? })
    }

    /// Evaluates one gate; `true` if it was the last.
    pub fn step(&mut self, keys: &GateKeys, on_event: &Function) -> Result<bool> {
        told(on_event, |events| Ok(self.run.step(&keys.evaluator, events)?))
    }

    /// The result of a gate that others still need, in the form that a `Helper` gives.
    pub fn result(&self, gate: usize) -> Option<Uint8Array> {
        self.run.result(gate).map(|bytes| Uint8Array::from(bytes.as_slice()))
    }

    /// The outputs, once the last gate is evaluated.
    pub fn finish(&self, keys: &GateKeys) -> Result<GateCiphertext> {
        Ok(self.inputs.sibling(self.run.outputs(&keys.evaluator)?))
    }
}
