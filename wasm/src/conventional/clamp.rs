//! The polynomial that brings values back into \[-1, 1\], for programs.

use js_sys::Float64Array;
use refloat::circuits::polynomial::{PolynomialBasis, clamp as fitted};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{failure::Result, object::Fields};

/// The clamp of an odd degree: its Chebyshev coefficients, their interval, and its largest error.
#[wasm_bindgen]
pub fn clamp(overshoot: f64, margin: f64, degree: u32) -> Result<JsValue> {
    let fit = fitted(overshoot, margin, degree as usize)?;
    let interval = match fit.polynomial.basis() {
        PolynomialBasis::Chebyshev { from, to } => [from, to],
        PolynomialBasis::Monomial => [-1.0, 1.0],
    };
    let coefficients: Vec<f64> = fit.polynomial.coefficients().iter().map(|c| c.re.to_f64()).collect();
    Ok(Fields::new()
        .with("interval", Float64Array::from(interval.as_slice()))
        .with("coefficients", Float64Array::from(coefficients.as_slice()))
        .with("error", fit.error)
        .done())
}
