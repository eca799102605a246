//! Named sets of conventional bootstrapping.

use std::thread::LocalKey;

use refloat::bootstrapping::ckks_conventional::ConventionalParams;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{Failure, Result},
    sets::{Checked, PageParams},
};

pub type Sets = crate::sets::Sets<ConventionalParams>;

thread_local! {
    static CHECKED: Checked<ConventionalParams> = const { Checked::new(Vec::new()) };
}

impl PageParams for ConventionalParams {
    const SECURE: &'static str = "n15";

    fn kept() -> &'static LocalKey<Checked<Self>> {
        &CHECKED
    }
}

/// The sets whose keys this version reads, as the TypeScript type `GlueSet`.
#[wasm_bindgen]
pub fn presets() -> Result<JsValue> {
    Sets::all_described()
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
