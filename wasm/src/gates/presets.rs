//! Named DM/CGGI sets.

use std::thread::LocalKey;

use refloat::{bootstrapping::cggi::CggiPreset, params::DEFAULT_CGGI_PRESET, schemes::cggi::CggiParams};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::Result,
    object::array,
    sets::{Checked, PageParams},
};

pub type Sets = crate::sets::Sets<CggiParams>;

thread_local! {
    static CHECKED: Checked<CggiParams> = const { Checked::new(Vec::new()) };
}

impl PageParams for CggiParams {
    const SECURE: &'static str = DEFAULT_CGGI_PRESET;

    fn kept() -> &'static LocalKey<Checked<Self>> {
        &CHECKED
    }
}

/// Names of the sets over 32-bit words, the default first.
#[wasm_bindgen(js_name = gatePresetNames)]
pub fn gate_preset_names() -> JsValue {
    array(CggiPreset::all().iter().filter(|preset| !preset.wide()).map(|preset| preset.name.into()))
}

/// One set, current or of an earlier version, as the TypeScript type `GlueSet`.
#[wasm_bindgen(js_name = gatePreset)]
pub fn gate_preset(name: &str) -> Result<JsValue> {
    Sets::described(name)
}
