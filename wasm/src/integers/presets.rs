//! Named sets of integers.

use std::thread::LocalKey;

use refloat::bootstrapping::bgv::{BgvBootstrapper, BgvParams, BgvPreset};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    evaluators::{Evaluators, diagonals, evaluator},
    failure::Result,
    object::array,
    sets::{Checked, PageParams},
};

pub type Sets = crate::sets::Sets<BgvParams>;

thread_local! {
    static CHECKED: Checked<BgvParams> = const { Checked::new(Vec::new()) };
    static BOOTSTRAPPERS: Evaluators<BgvBootstrapper> = const { Evaluators::new(Vec::new()) };
}

impl PageParams for BgvParams {
    const SECURE: &'static str = "bgv15";

    fn kept() -> &'static LocalKey<Checked<Self>> {
        &CHECKED
    }
}

/// Names of the sets, the default first.
#[wasm_bindgen(js_name = integerPresetNames)]
pub fn integer_preset_names() -> JsValue {
    array(BgvPreset::all().iter().map(|preset| preset.name.into()))
}

/// One set, current or of an earlier version, as the TypeScript type `GlueSet`.
#[wasm_bindgen(js_name = integerPreset)]
pub fn integer_preset(name: &str) -> Result<JsValue> {
    Sets::described(name)
}

/// The bootstrapper of a set, made when it is first needed.
pub fn bootstrapper(params: &BgvParams) -> Result<&'static BgvBootstrapper> {
    evaluator(&BOOTSTRAPPERS, params.fingerprint(), || {
        Ok(BgvBootstrapper::new(params, diagonals(params.n()))?)
    })
}
