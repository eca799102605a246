//! What is running.

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

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
