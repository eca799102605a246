//! Circuits of gates in the page, a gate at a time.

use js_sys::{Float64Array, Function, Uint8Array};
use refloat::{
    circuits::netlist::{
        Netlist, Op, Plan, PlanRun, Signal,
        arithmetic::{self, Form},
    },
    schemes::cggi::CggiCiphertext,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::GateCiphertext, evaluation::GateKeys, shared};
use crate::{
    events::Recorder,
    failure::{Failure, Result},
    object::{Fields, array},
};

/// The text of an `adder` or a `comparator` of unsigned integers; by a prefix tree if `prefix`.
#[wasm_bindgen(js_name = circuitText)]
pub fn circuit_text(kind: &str, width: usize, prefix: bool) -> Result<String> {
    let form = if prefix { Form::Prefix } else { Form::Ripple };
    let netlist = match kind {
        "adder" => arithmetic::adder(width, form)?,
        "comparator" => arithmetic::comparator(width, form)?,
        other => return Err(Failure::invalid(format!("there is an adder and a comparator, no {other:?}"))),
    };
    Ok(netlist.to_string())
}

/// What is run of a circuit, as the TypeScript type `GlueCircuit`.
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
    plan: Plan,
    run: PlanRun<CggiCiphertext>,
    inputs: GateCiphertext,
}

#[wasm_bindgen]
impl CircuitRun {
    /// Begins; the inputs are copied.
    pub fn begin(text: &str, inputs: &GateCiphertext) -> Result<CircuitRun> {
        let plan = Netlist::parse(text)?.plan();
        let run = PlanRun::new(&plan, &inputs.list)?;
        Ok(CircuitRun { plan, run, inputs: inputs.slice(0, 1)? })
    }

    /// One gate; `true` when it was the last.
    pub fn step(&mut self, keys: &GateKeys, on_event: &Function) -> Result<bool> {
        let mut events = Recorder::default();
        let finished = self.run.step(&self.plan, &keys.evaluator, 1, &mut events)?;
        events.deliver(on_event)?;
        Ok(finished)
    }

    /// The value of a wire, inputs first, then gates, in wire form.
    pub fn wire(&self, index: usize) -> Result<Uint8Array> {
        match self.run.wire(index) {
            Some(bit) => self.inputs.sibling(vec![bit.clone()]).to_bytes(),
            None => Err(Failure::invalid(format!("wire {index} is not known, or no longer"))),
        }
    }

    /// Evaluates a gate ahead of its turn, and gives its result in wire form.
    pub fn ahead(&mut self, keys: &GateKeys, gate: usize) -> Result<Uint8Array> {
        let bit = self.run.ahead(&self.plan, &keys.evaluator, gate)?.clone();
        self.inputs.sibling(vec![bit]).to_bytes()
    }

    /// Takes the result of a gate that another instance has evaluated: `GateResult`.
    pub fn supply(
        &mut self,
        keys: &GateKeys,
        gate: usize,
        bytes: &Uint8Array,
        counters: &Float64Array,
    ) -> Result<()> {
        let given = shared::read(&self.inputs, bytes, counters)?;
        let bit = given.result.list[0].clone();
        keys.evaluator.not(&bit)?;
        Ok(self.run.supply(&self.plan, gate, bit, given.counters)?)
    }

    /// The outputs, once the last gate is evaluated.
    pub fn finish(&self, keys: &GateKeys) -> Result<GateCiphertext> {
        Ok(self.inputs.sibling(self.run.outputs(&self.plan, &keys.evaluator)?))
    }
}
