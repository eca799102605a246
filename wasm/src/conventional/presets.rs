//! Named sets of conventional bootstrapping.

use refloat::{
    bootstrapping::ckks_conventional::{ConventionalParams, METHOD},
    params::{
        ConventionalPreset, conventional_preset, conventional_preset_by_fingerprint,
        readable_conventional_presets,
    },
    wire::ciphertext_len,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    checked::{Checked, checked},
    describe::Description,
    failure::{Failure, Result, refuse_insecure},
    object::array,
};

/// The set to take instead of a toy.
const SECURE: &str = "n15";

thread_local! {
    static CHECKED: Checked<ConventionalParams> = const { Checked::new(Vec::new()) };
}

/// The sets whose keys this version reads, as the TypeScript type `GluePreset`.
#[wasm_bindgen]
pub fn presets() -> Result<JsValue> {
    let described: Result<Vec<JsValue>> = readable_conventional_presets().map(describe).collect();
    Ok(array(described?))
}

/// A set of today or of an earlier version by name.
pub fn named(name: &str) -> Result<(&'static ConventionalPreset, ConventionalParams)> {
    let known = readable_conventional_presets().find(|preset| preset.name == name);
    found(known.map_or_else(|| conventional_preset(name), Ok)?)
}

/// A set by name, which must be secure unless the caller has said the word.
pub fn allowed(
    name: &str,
    allow_insecure: bool,
) -> Result<(&'static ConventionalPreset, ConventionalParams)> {
    let preset = conventional_preset(name)?;
    refuse_insecure(name, preset.secure() || allow_insecure, SECURE)?;
    found(preset)
}

/// The set with a fingerprint.
pub fn by_fingerprint(fingerprint: [u8; 16]) -> Result<(&'static ConventionalPreset, ConventionalParams)> {
    found(conventional_preset_by_fingerprint(&fingerprint)?)
}

/// Whether slots are complex numbers to the caller; reals if nothing is said.
pub fn complex(mode: Option<String>) -> Result<bool> {
    match mode.as_deref() {
        None | Some("real") => Ok(false),
        Some("complex") => Ok(true),
        Some(other) => Err(Failure::invalid(format!(
            "slots of a conventional set are 'real' or 'complex', not '{other}': take a set of bits"
        ))),
    }
}

/// The checked parameters of a set.
fn found(preset: &'static ConventionalPreset) -> Result<(&'static ConventionalPreset, ConventionalParams)> {
    Ok((preset, checked(&CHECKED, preset.name, || preset.params())?))
}

fn describe(preset: &'static ConventionalPreset) -> Result<JsValue> {
    let (_, params) = found(preset)?;
    let levels = params.levels();
    let max_level = params.ckks().rlwe().max_level();
    Ok(Description {
        name: preset.name,
        title: preset.title,
        method: METHOD.id,
        mode: "real",
        secure: preset.secure(),
        source: preset.source,
        security: params.security(),
        fingerprint: params.fingerprint(),
        log_n: params.n().trailing_zeros(),
        slots: params.slots(),
        log_qp: params.log_qp(),
        log_q0_p: params.log_q0_p(),
        max_level,
        input_level: levels.input,
        output_level: levels.output,
        promised_bits: preset.promised_bits[1],
        promised_for: preset.promised_for(),
        gain_bits: Some(preset.gain_bits()?),
        stages: params.stages(),
        tracks: 1,
        tree_levels: 0,
        parts: params.key_parts().iter().map(|part| (part.label.as_str(), part.bytes)).unzip(),
        ciphertext_bytes: (0..=max_level).map(|level| ciphertext_len(params.ckks(), level, 2)).collect(),
    }
    .done())
}
