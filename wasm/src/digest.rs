//! Digests of what is sent to a server.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

/// BLAKE3 of some bytes, 32 bytes.
#[wasm_bindgen]
pub fn digest(bytes: &Uint8Array) -> Uint8Array {
    Uint8Array::from(refloat::wire::digest(&bytes.to_vec()).as_slice())
}
