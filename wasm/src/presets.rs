//! Named parameter sets.

use refloat::{
    bootstrapping::ckks_ship::{METHOD, ShipMode, ShipParams},
    params::{self, Preset},
    wire::ciphertext_len,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    checked::{self, Checked},
    describe::Description,
    failure::{self, Failure, Result},
    object::array,
};

thread_local! {
    static CHECKED: Checked<ShipParams> = const { Checked::new(Vec::new()) };
}

/// The sets whose keys this version reads, as the TypeScript type `GluePreset`.
#[wasm_bindgen]
pub fn presets() -> Result<JsValue> {
    let described: Result<Vec<JsValue>> = params::readable_presets().map(describe).collect();
    Ok(array(described?))
}

/// The checked parameters of a set.
pub fn checked(preset: &'static Preset) -> Result<ShipParams> {
    Ok(checked::checked(&CHECKED, preset.name, || preset.params())?)
}

/// A set of today or of an earlier version by name.
pub fn named(name: &str) -> Result<ShipParams> {
    let known = params::readable_presets().find(|preset| preset.name == name);
    checked(known.map_or_else(|| params::preset(name), Ok)?)
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
    let max_level = params.max_level();
    Ok(Description {
        name: preset.name,
        title: preset.title,
        method: METHOD.id,
        mode: params.mode().name(),
        secure: preset.secure(),
        source: preset.source,
        security: params.security(),
        fingerprint: params.fingerprint(),
        log_n: params.log_n(),
        slots: params.slots(),
        log_qp: params.log_qp(),
        log_q0_p: params.log_q0_p(),
        max_level,
        input_level: params.input_level(),
        output_level: params.output_level(),
        promised_bits: preset.promised_bits,
        promised_for: preset.promised_for(),
        gain_bits: (preset.mode != ShipMode::Bits).then(|| preset.gain_bits()),
        stages: params.stages(),
        tracks: params.tracks(),
        tree_levels: params.tree_levels(),
        parts: params.key_parts().iter().map(|part| (part.label.as_str(), part.bytes)).unzip(),
        ciphertext_bytes: (0..=max_level).map(|level| ciphertext_len(params.ckks(), level, 2)).collect(),
    }
    .done())
}
