//! Named SHIP sets.

use std::thread::LocalKey;

use refloat::bootstrapping::ckks_ship::{ShipMode, ShipParams};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{Failure, Result},
    sets::{Checked, PageParams},
};

pub type Sets = crate::sets::Sets<ShipParams>;

thread_local! {
    static CHECKED: Checked<ShipParams> = const { Checked::new(Vec::new()) };
}

impl PageParams for ShipParams {
    const SECURE: &'static str = "ship13";

    fn kept() -> &'static LocalKey<Checked<Self>> {
        &CHECKED
    }
}

/// The sets whose keys this version reads, as the TypeScript type `GlueSet`.
#[wasm_bindgen]
pub fn presets() -> Result<JsValue> {
    Sets::all_described()
}

/// What the slots hold, by name; the set's own if there is none.
pub fn mode(name: Option<String>, params: &ShipParams) -> Result<ShipMode> {
    let Some(name) = name else { return Ok(params.mode()) };
    let mode = ShipMode::ALL.into_iter().find(|mode| mode.name() == name);
    mode.ok_or_else(|| Failure::invalid(format!("slots are 'real', 'complex' or 'bits', not '{name}'")))
}
