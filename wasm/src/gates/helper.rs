//! Copies of gate keys for other instances, which help to evaluate circuits.

use js_sys::{Uint8Array, Uint16Array, Uint32Array};
use refloat::{
    bootstrapping::cggi::{CggiEvaluator, CggiKeys, CircuitHelper},
    rlwe::lwe::LweSwitchRows,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{evaluation::GateKeys, presets};
use crate::{
    failure::{Failure, Result},
    object::Fields,
    split::Helper,
};

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

    /// The keys from another instance.
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

    /// A helper for a circuit's run in another instance, which provides the `brief`.
    pub fn helper(&self, brief: &Uint8Array) -> Result<Helper> {
        Ok(Helper::new(CircuitHelper::new(&self.evaluator, &brief.to_vec())?))
    }
}
