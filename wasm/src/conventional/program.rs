//! Programs in the page.

use refloat::{
    bootstrapping::ckks_conventional::{ConventionalKeys, ConventionalParams, ConventionalRun},
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::bootstrap::evaluator;
use crate::{
    ckks_program::{Steps, ckks_program, stepwise},
    failure::Result,
    raising::Raising,
};

/// Programs of this method.
pub enum Conventional {}

impl Raising for Conventional {
    type Params = ConventionalParams;
    type Keys = ConventionalKeys;

    fn evaluator(params: &ConventionalParams) -> Result<&'static CkksEvaluator<u64>> {
        Ok(evaluator(params)?.ckks())
    }

    fn refresh(params: &ConventionalParams, x: &Ciphertext<u64>) -> Result<Steps<Self>> {
        let run = ConventionalRun::new(evaluator(params)?, x)?;
        Ok(stepwise(
            run,
            |run, keys: &ConventionalKeys, observer| run.step(keys, observer),
            |run| Ok(vec![run.finish()?]),
        ))
    }
}

ckks_program!(Conventional);
