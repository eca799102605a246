//! The reduction modulo q0 in the clear: a set's polynomial, or one of another degree instead.

use js_sys::Float64Array;
use refloat::{
    bootstrapping::ckks_conventional::{EvalMod, EvalModSpec, Harmonics, HarmonicsSpec, Reduction},
    circuits::polynomial::{Polynomial, PolynomialBasis},
    params::conventional_preset,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{Failure, Result},
    object::Fields,
};

/// Most points that one call evaluates.
const POINTS: u32 = 1 << 16;

/// The polynomial of a set and its values at `points`, which are in units of q0. With `degree`, a cosine of that degree replaces the set's
/// own.
#[wasm_bindgen]
pub fn reduction(preset: &str, degree: Option<u32>, points: &Float64Array) -> Result<JsValue> {
    let preset = conventional_preset(preset)?;
    if points.length() > POINTS {
        return Err(Failure::invalid(format!("{} points; give at most {POINTS}", points.length())));
    }
    match ((preset.spec)().reduction, degree) {
        (Reduction::Sine(spec), degree) => {
            let degree = degree.map_or(spec.degree, |degree| degree as usize);
            sine(&EvalModSpec { degree, ..spec }, points)
        }
        (reduction @ Reduction::Harmonics(spec), None) => harmonics(&spec, reduction.usual_range(), points),
        (Reduction::Harmonics(_), Some(_)) => Err(Failure::invalid(format!(
            "the exponential of {} has the degree that meets every integer of its range; degrees are for sets with a \
             cosine, such as toy-conventional11-sine",
            preset.name
        ))),
    }
}

fn sine(spec: &EvalModSpec, points: &Float64Array) -> Result<JsValue> {
    let reduction = EvalMod::new(spec)?;
    let cosine = &reduction.cosine().polynomial;
    Ok(described(cosine, points, |x| reduction.value(x))
        .with("kind", "sine")
        .with("range", f64::from(spec.range))
        .with("doubleAngles", f64::from(spec.double_angles))
        .with("arcsineDegree", spec.arcsine.map_or(0.0, |arcsine| arcsine.degree as f64))
        .with("levels", spec.levels() as f64)
        .with("keySwitches", reduction.key_switches() as f64)
        .with("shift", reduction.shift())
        .with("fitError", reduction.cosine().error)
        .done())
}

fn harmonics(spec: &HarmonicsSpec, usual: u32, points: &Float64Array) -> Result<JsValue> {
    let reduction = Harmonics::new(spec)?;
    let distance = (0.5 - f64::from(spec.log_distance)).exp2();
    Ok(described(reduction.exponential(), points, |x| reduction.value(x))
        .with("kind", "harmonics")
        .with("range", f64::from(spec.range))
        .with("doubleAngles", f64::from(spec.squarings))
        .with("arcsineDegree", 0.0)
        .with("levels", spec.levels() as f64)
        .with("keySwitches", reduction.key_switches() as f64)
        .with("shift", 0.0)
        .with("fitError", reduction.error(usual, distance))
        .done())
}

/// Degree, interval and coefficients of a polynomial, and the values of the reduction at the points. Coefficients are real; those of an
/// exponential are real where even and imaginary where odd.
fn described(polynomial: &Polynomial, points: &Float64Array, value: impl Fn(f64) -> f64) -> Fields {
    let interval = match polynomial.basis() {
        PolynomialBasis::Chebyshev { from, to } => [from, to],
        PolynomialBasis::Monomial => [-1.0, 1.0],
    };
    let coefficients: Vec<f64> =
        polynomial.coefficients().iter().map(|c| if c.re.is_zero() { c.im } else { c.re }.to_f64()).collect();
    let values: Vec<f64> = points.to_vec().into_iter().map(value).collect();
    Fields::new()
        .with("degree", polynomial.degree() as f64)
        .with("interval", Float64Array::from(interval.as_slice()))
        .with("coefficients", Float64Array::from(coefficients.as_slice()))
        .with("values", Float64Array::from(values.as_slice()))
}
