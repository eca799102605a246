//! The polynomial that removes the low digit, in the clear.

use js_sys::Float64Array;
use refloat::Error;
use refloat::circuits::polynomial::Plan;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::presets::Sets;
use crate::{failure::Result, object::Fields};

/// x - D(x) of a set, with coefficients nearest to 0, and what its evaluation takes.
#[wasm_bindgen(js_name = integerRemoval)]
pub fn integer_removal(preset: &str) -> Result<JsValue> {
    let (_, params) = Sets::named(preset)?;
    let removal = params.removal().polynomial().ok_or_else(|| {
        Error::InvalidArgument(format!(
            "{preset} reads its digits one after the other; take a set that removes one small digit"
        ))
    })?;
    let plan = Plan::new(core::slice::from_ref(removal))?;
    // Below 2^53: powers of p are below 2^61, and those of shipped sets below 2^33.
    let coefficients: Vec<f64> = removal.coefficients().iter().map(|&c| c as f64).collect();
    Ok(Fields::new()
        .with("prime", params.raised().prime() as f64)
        .with("exponent", params.raised().exponent())
        .with("digitExponent", params.spec().digit_exponent)
        .with("bound", params.spec().bound)
        .with("coefficients", Float64Array::from(coefficients.as_slice()))
        .with("levels", plan.levels() as f64)
        .with("keySwitches", plan.key_switches() as f64)
        .done())
}
