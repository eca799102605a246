//! Products of slots-to-coefficients computed in another worker, which sees public numbers only.

use js_sys::{Float64Array, Uint32Array};
use refloat::{
    bootstrapping::ckks_ship::{MatrixInput, MatrixWorker as CoreWorker, ShipRun},
    schemes::ckks::Scale,
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{Sets, bootstrap::evaluator};
use crate::{
    failure::{Failure, Result},
    object::Fields,
};

/// Multiplies groups of diagonals for one run that is elsewhere.
#[wasm_bindgen]
pub struct MatrixWorker {
    worker: CoreWorker<'static>,
}

#[wasm_bindgen]
impl MatrixWorker {
    /// For the run whose `ShipRun.matrixInput()` these are.
    pub fn begin(preset: &str, scale: &Float64Array, steps: &Uint32Array) -> Result<MatrixWorker> {
        let (_, params) = Sets::named(preset)?;
        let parts = scale.to_vec();
        let scale = match parts.as_slice() {
            &[high, low] => Scale::from_parts(high, low),
            _ => None,
        };
        let scale =
            scale.ok_or_else(|| Failure::invalid("a scale is two numbers, as matrixInput() gives them"))?;
        let worker = CoreWorker::new(evaluator(&params)?, MatrixInput { scale, steps: steps.to_vec() })?;
        Ok(MatrixWorker { worker })
    }

    /// The sum of one group, for `ShipRun.supplyGroup`.
    pub fn group(&self, group: usize) -> Result<Uint32Array> {
        Ok(Uint32Array::from(self.worker.group(group)?.as_slice()))
    }
}

/// What a worker needs of a run, as plain numbers.
pub fn plain(input: &MatrixInput) -> JsValue {
    let (high, low) = input.scale.parts();
    Fields::new()
        .with("scale", Float64Array::from([high, low].as_slice()))
        .with("steps", Uint32Array::from(input.steps.as_slice()))
        .done()
}

/// Hands a run a sum that came from a worker.
pub fn supply(run: &mut ShipRun<'_>, group: usize, words: &Uint32Array) -> Result<()> {
    Ok(run.supply_group(group, &words.to_vec())?)
}
