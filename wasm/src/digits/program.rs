//! Programs in the page.

use refloat::{
    bootstrapping::ckks_msb::{MsbKeys, MsbParams, MsbReading, MsbRun},
    circuits::program::Readings,
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::bootstrap::evaluator;
use crate::{
    ckks_program::{Steps, ckks_program, stepwise},
    failure::Result,
    raising::Raising,
};

/// Programs of this method.
pub enum Digits {}

impl Raising for Digits {
    type Params = MsbParams;
    type Keys = MsbKeys;

    fn evaluator(params: &MsbParams) -> Result<&'static CkksEvaluator<u64>> {
        Ok(evaluator(params)?.ckks())
    }

    fn refresh(params: &MsbParams, x: &Ciphertext<u64>) -> Result<Steps<Self>> {
        let run = MsbRun::refreshing(evaluator(params)?, x)?;
        Ok(stepwise(run, |run, keys: &MsbKeys, observer| run.step(keys, observer), MsbRun::finish))
    }

    fn read(
        params: &MsbParams,
        _keys: &MsbKeys,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Steps<Self>> {
        let run = MsbReading::new(evaluator(params)?, x, readings, 0.0)?;
        Ok(stepwise(run, |run, keys: &MsbKeys, observer| run.step(keys, observer), MsbReading::finish))
    }
}

ckks_program!(Digits);
