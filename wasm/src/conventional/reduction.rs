//! The reduction modulo q0 on clear numbers: the polynomial of a set, or of another degree in its place.

use js_sys::Float64Array;
use refloat::{
    bootstrapping::ckks_conventional::EvalMod, circuits::polynomial::PolynomialBasis,
    params::conventional_preset,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{Failure, Result},
    object::Fields,
};

/// Points that one call evaluates at most.
const POINTS: u32 = 1 << 16;

/// The polynomials of a set and their values at `points`, which are in units of q0; with `degree` that of the cosine
/// instead of the set's own.
#[wasm_bindgen]
pub fn reduction(preset: &str, degree: Option<u32>, points: &Float64Array) -> Result<JsValue> {
    let mut spec = (conventional_preset(preset)?.spec)().eval_mod;
    if let Some(degree) = degree {
        spec.degree = degree as usize;
    }
    if points.length() > POINTS {
        return Err(Failure::invalid(format!("{} points; give at most {POINTS}", points.length())));
    }
    let reduction = EvalMod::new(&spec)?;
    let cosine = reduction.cosine();
    let interval = match cosine.polynomial.basis() {
        PolynomialBasis::Chebyshev { from, to } => [from, to],
        PolynomialBasis::Monomial => [-1.0, 1.0],
    };
    let coefficients: Vec<f64> = cosine.polynomial.coefficients().iter().map(|c| c.re.to_f64()).collect();
    let values: Vec<f64> = points.to_vec().into_iter().map(|x| reduction.value(x)).collect();
    Ok(Fields::new()
        .with("range", f64::from(spec.range))
        .with("degree", cosine.polynomial.degree() as f64)
        .with("doubleAngles", f64::from(spec.double_angles))
        .with("arcsineDegree", spec.arcsine.map_or(0.0, |arcsine| arcsine.degree as f64))
        .with("levels", spec.levels() as f64)
        .with("keySwitches", reduction.key_switches() as f64)
        .with("shift", reduction.shift())
        .with("interval", Float64Array::from(interval.as_slice()))
        .with("coefficients", Float64Array::from(coefficients.as_slice()))
        .with("fitError", cosine.error)
        .with("values", Float64Array::from(values.as_slice()))
        .done())
}
