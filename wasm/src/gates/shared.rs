//! Gates of a circuit evaluated in another instance: what travels there and back.

use js_sys::{Float64Array, Uint8Array, Uint16Array, Uint32Array};
use refloat::{
    bootstrapping::cggi::{CggiEvaluator, CggiKeys},
    circuits::netlist::Term,
    rlwe::lwe::LweSwitchRows,
    trace::Counters,
    wire,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{ciphertext::GateCiphertext, evaluation::GateKeys, presets};
use crate::{
    failure::{Failure, Result},
    object::Fields,
};

/// The result of a gate, and the work it took.
#[wasm_bindgen]
pub struct GateResult {
    pub(super) result: GateCiphertext,
    pub(super) counters: Counters,
}

#[wasm_bindgen]
impl GateResult {
    /// The result in wire form.
    pub fn bytes(&self) -> Result<Uint8Array> {
        self.result.to_bytes()
    }

    /// The work as numbers: transforms, row products, key switches.
    pub fn counters(&self) -> Float64Array {
        let Counters { ntt, limb_mac, key_switch } = self.counters;
        Float64Array::from([ntt, limb_mac, key_switch].map(|x| x as f64).as_slice())
    }
}

#[wasm_bindgen]
impl GateKeys {
    /// The keys as they lie in memory, as the TypeScript type `GlueGateKeyRows`: for another instance of this module.
    pub fn rows(&self) -> JsValue {
        let keys = self.evaluator.keys();
        let (switch, rotation) = keys.rows();
        let switch: JsValue = match switch {
            LweSwitchRows::Narrow(rows) => Uint16Array::from(rows.as_slice()).into(),
            LweSwitchRows::Wide(rows) => Uint32Array::from(rows.as_slice()).into(),
        };
        Fields::new()
            .with("preset", keys.params().name())
            .with("keyId", Uint8Array::from(keys.key_id().as_slice()))
            .with("switchRows", switch)
            .with("rotationRows", Uint32Array::from(rotation))
            .done()
    }

    /// The keys of another instance.
    #[wasm_bindgen(js_name = fromRows)]
    pub fn from_rows(
        preset: &str,
        key_id: &Uint8Array,
        narrow: Option<Uint16Array>,
        wide: Option<Uint32Array>,
        rotation: &Uint32Array,
    ) -> Result<GateKeys> {
        let (_, params) = presets::Sets::named(preset)?;
        let key_id = key_id.to_vec();
        let key_id = key_id
            .as_slice()
            .try_into()
            .map_err(|_| Failure::invalid(format!("a key id of {} bytes; it has 16", key_id.len())))?;
        let switch = match (narrow, wide) {
            (Some(rows), _) => LweSwitchRows::Narrow(rows.to_vec()),
            (None, Some(rows)) => LweSwitchRows::Wide(rows.to_vec()),
            (None, None) => return Err(Failure::invalid("no key-switching key; give its rows")),
        };
        let keys = CggiKeys::from_rows(&params, key_id, switch, rotation.to_vec())?;
        Ok(GateKeys { evaluator: CggiEvaluator::new(keys) })
    }

    /// A gate of a circuit, by name, on operands of one item each; bit i of `inverted` says that operand i is inverted first.
    pub fn call(&self, gate: &str, operands: &GateCiphertext, inverted: u32) -> Result<GateResult> {
        let terms: Vec<Term<'_, _>> = operands
            .list
            .iter()
            .zip(0..u32::BITS)
            .map(|(bit, i)| Term { bit, inverted: inverted >> i & 1 == 1 })
            .collect();
        let (result, counters) = self.evaluator.gate_of_terms(gate.parse()?, &terms)?;
        Ok(GateResult { result: operands.sibling(vec![result]), counters })
    }
}

/// Reads what [`GateResult`] wrote: one bit, and its counters.
pub(super) fn read(like: &GateCiphertext, bytes: &Uint8Array, counters: &Float64Array) -> Result<GateResult> {
    let mut list = wire::cggi_ciphertexts_from_bytes(like.params(), &bytes.to_vec())?;
    let counters = counters.to_vec();
    let (Some(bit), true, &[ntt, limb_mac, key_switch]) = (list.pop(), list.is_empty(), counters.as_slice())
    else {
        return Err(Failure::invalid(format!(
            "a gate gives one bit and 3 counters, not {} and {}",
            list.len() + 1,
            counters.len()
        )));
    };
    let [ntt, limb_mac, key_switch] = [ntt, limb_mac, key_switch].map(|x| x as u64);
    Ok(GateResult { result: like.sibling(vec![bit]), counters: Counters { ntt, limb_mac, key_switch } })
}
