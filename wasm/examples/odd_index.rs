//! Bootstraps in rings of odd index in WebAssembly, which no module of the npm package has. `tests/tools/odd-index.mjs` compiles and runs
//! this, and compares the digests with those of `tests/vectors/bgv.json`.

use refloat::bootstrapping::bgv::BgvParams;
use refloat_tests::portable::{digests, unnamed_sets};
use wasm_bindgen::prelude::wasm_bindgen;

/// Names of the sets in rings of odd index.
#[wasm_bindgen]
pub fn names() -> Vec<String> {
    unnamed_sets().map(|(name, _)| name.to_owned()).into()
}

/// The digests of one of these sets.
///
/// # Panics
/// If there is no such set.
#[wasm_bindgen(js_name = digests)]
pub fn digests_of(name: &str) -> Vec<String> {
    let (_, spec) = unnamed_sets().into_iter().find(|(own, _)| *own == name).expect("a set of this name");
    digests(&BgvParams::new(&spec).expect("a sound set"))
}
