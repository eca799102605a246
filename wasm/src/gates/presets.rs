//! Named DM/CGGI sets.

use js_sys::Float64Array;
use refloat::{
    bootstrapping::cggi::key_parts,
    params::{
        CggiPreset, DEFAULT_CGGI_PRESET, cggi_preset, cggi_preset_by_fingerprint, cggi_presets,
        readable_cggi_presets, successor,
    },
    schemes::cggi::CggiParams,
    wire,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    checked::{Checked, checked},
    failure::{Result, refuse_insecure},
    object::{Fields, array, hex},
};

thread_local! {
    static CHECKED: Checked<CggiParams> = const { Checked::new(Vec::new()) };
}

/// Names of the sets over 32-bit words, the default first.
#[wasm_bindgen(js_name = gatePresetNames)]
pub fn gate_preset_names() -> JsValue {
    array(cggi_presets().iter().filter(|preset| !preset.wide()).map(|preset| preset.name.into()))
}

/// One set, of today or of an earlier version, as the TypeScript type `GlueGatePreset`.
#[wasm_bindgen(js_name = gatePreset)]
pub fn gate_preset(name: &str) -> Result<JsValue> {
    let known = readable_cggi_presets().find(|preset| preset.name == name);
    let (preset, params) = found(known.map_or_else(|| cggi_preset(name), Ok)?)?;
    let (spec, security) = (params.spec(), params.security());
    let parts = key_parts(&params);
    let labels: Vec<&str> = parts.iter().map(|part| part.label.as_str()).collect();
    let bytes: Vec<f64> = parts.iter().map(|part| wire::cggi_part_len(&params, part) as f64).collect();
    Ok(Fields::new()
        .with("name", preset.name)
        .with("title", preset.title)
        .with("successor", successor(preset.name))
        .with("secure", preset.secure())
        .with("source", preset.source)
        .with("securityBits", security.bits)
        .with("securityStatement", security.statement.as_str())
        .with("policy", security.policy.name())
        .with("fingerprint", hex(&params.fingerprint()))
        .with("method", spec.method.name())
        .with("logN", f64::from(spec.log_n))
        .with("lweDimension", spec.lwe_dimension as f64)
        .with("messages", f64::from(spec.messages))
        .with("logFailure", spec.log_failure)
        .with("gateLogFailure", params.gate_failure())
        .with("partLabels", labels.join("\n"))
        .with("partBytes", Float64Array::from(bytes.as_slice()))
        .with("keyBytes", bytes.iter().sum::<f64>())
        .with("ciphertextBytes", wire::cggi_ciphertexts_len(&params, 1) as f64)
        .done())
}

/// A set by name, which must be secure unless the caller has said the word.
pub fn allowed(name: &str, allow_insecure: bool) -> Result<(&'static CggiPreset, CggiParams)> {
    let preset = cggi_preset(name)?;
    refuse_insecure(name, preset.secure() || allow_insecure, DEFAULT_CGGI_PRESET)?;
    found(preset)
}

/// The set with a fingerprint.
pub fn by_fingerprint(fingerprint: [u8; 16]) -> Result<(&'static CggiPreset, CggiParams)> {
    found(cggi_preset_by_fingerprint(&fingerprint)?)
}

/// The checked parameters of a set.
fn found(preset: &'static CggiPreset) -> Result<(&'static CggiPreset, CggiParams)> {
    Ok((preset, checked(&CHECKED, preset.name, || preset.params())?))
}
