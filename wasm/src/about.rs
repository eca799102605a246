//! What is running.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[cfg(feature = "full")]
use crate::failure::Result;
use crate::object::Fields;

/// Version, kernels in use and compilation target.
#[wasm_bindgen]
pub fn about() -> JsValue {
    let about = refloat::about();
    Fields::new()
        .with("version", about.version)
        .with("backend", about.backend_u32)
        .with("target", about.target)
        .done()
}

/// Compares the kernels in use with the scalar ones; returns a sentence, or an error.
#[cfg(feature = "full")]
#[wasm_bindgen(js_name = kernelSelfCheck)]
pub fn kernel_self_check(seed: u32) -> Result<String> {
    Ok(refloat::check_kernels(u64::from(seed))?)
}
