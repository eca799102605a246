//! Named parameter sets.

use std::cell::RefCell;

use js_sys::Float64Array;
use refloat::{
    bootstrapping::ckks_ship::{ShipMode, ShipParams},
    params::{self, Preset},
    wire::ciphertext_len,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{self, Failure, Result},
    object::{Fields, array, hex},
};

thread_local! {
    // Validating a set and making its tables takes a moment; it is done once per set.
    static CHECKED: RefCell<Vec<(&'static str, ShipParams)>> = const { RefCell::new(Vec::new()) };
}

/// The sets of this version, as the TypeScript type `GluePreset`.
#[wasm_bindgen]
pub fn presets() -> Result<JsValue> {
    let described: Result<Vec<JsValue>> = params::presets().iter().map(describe).collect();
    Ok(array(described?))
}

/// The checked parameters of a set.
pub fn checked(preset: &'static Preset) -> Result<ShipParams> {
    let known = CHECKED
        .with_borrow(|sets| sets.iter().find(|(name, _)| *name == preset.name).map(|(_, p)| p.clone()));
    if let Some(params) = known {
        return Ok(params);
    }
    let params = preset.params()?;
    CHECKED.with_borrow_mut(|sets| sets.push((preset.name, params.clone())));
    Ok(params)
}

/// A set by name, which must be secure unless the caller has said the word.
pub fn allowed(name: &str, allow_insecure: bool) -> Result<(&'static Preset, ShipParams)> {
    let preset = params::preset(name)?;
    failure::refuse_insecure(name, preset.secure() || allow_insecure, "ship13")?;
    Ok((preset, checked(preset)?))
}

/// The set with a fingerprint.
pub fn by_fingerprint(fingerprint: [u8; 16]) -> Result<(&'static Preset, ShipParams)> {
    let preset = params::preset_by_fingerprint(&fingerprint)?;
    Ok((preset, checked(preset)?))
}

/// What the slots hold, by name; the set's own if there is none.
pub fn mode(name: Option<String>, params: &ShipParams) -> Result<ShipMode> {
    let Some(name) = name else { return Ok(params.mode()) };
    [ShipMode::Real, ShipMode::Complex, ShipMode::Bits]
        .into_iter()
        .find(|mode| mode.name() == name)
        .ok_or_else(|| Failure::invalid(format!("slots are 'real', 'complex' or 'bits', not '{name}'")))
}

fn describe(preset: &'static Preset) -> Result<JsValue> {
    let params = checked(preset)?;
    let security = params.security();
    let stages = params.stages().iter().map(|stage| {
        Fields::new()
            .with("id", stage.id)
            .with("title", stage.title)
            .with("symbol", stage.symbol)
            .with("levels", stage.levels as f64)
            .done()
    });
    // Hundreds of parts: two values instead of an object each, which would take longer than all the rest.
    let labels: Vec<&str> = params.key_parts().iter().map(|part| part.label.as_str()).collect();
    let bytes: Vec<f64> = params.key_parts().iter().map(|part| part.bytes as f64).collect();
    let ciphertexts =
        (0..=params.max_level()).map(|level| JsValue::from(ciphertext_len(params.ckks(), level, 2) as f64));
    Ok(Fields::new()
        .with("name", preset.name)
        .with("title", preset.title)
        .with("mode", params.mode().name())
        .with("secure", preset.secure())
        .with("source", preset.source)
        .with("securityBits", security.bits)
        .with("securityStatement", security.statement.as_str())
        .with("policy", security.policy.name())
        .with("fingerprint", hex(&params.fingerprint()))
        .with("logN", f64::from(params.log_n()))
        .with("slots", params.slots() as f64)
        .with("logQP", params.log_qp())
        .with("logQ0P", params.log_q0_p())
        .with("maxLevel", params.max_level() as f64)
        .with("inputLevel", params.input_level() as f64)
        .with("outputLevel", params.output_level() as f64)
        .with("promisedBits", preset.promised_bits)
        .with("stages", array(stages))
        .with("tracks", params.tracks() as f64)
        .with("treeLevels", params.tree_levels() as f64)
        .with("partLabels", labels.join("\n"))
        .with("partBytes", Float64Array::from(bytes.as_slice()))
        .with("keyBytes", params.key_bytes() as f64)
        .with("ciphertextBytes", array(ciphertexts))
        .done())
}
