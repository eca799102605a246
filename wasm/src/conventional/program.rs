//! Programs in the page.

use refloat::{
    bootstrapping::{
        ckks_conventional::{ConventionalKeys, ConventionalParams, ConventionalRun},
        method::SlotMode,
        raising::RaisingKeys,
    },
    circuits::program::Machine,
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::{
    arithmetic::ArithmeticKeys,
    bootstrap::{BootstrapKeys, evaluator},
};
use crate::{
    ckks_program::{ProgramMethod, Stepwise, ckks_program, stepwise},
    failure::Result,
};

/// Programs of this method.
pub enum Conventional {}

impl ProgramMethod for Conventional {
    type Word = u64;
    type Params = ConventionalParams;
    type Keys = ConventionalKeys;

    fn evaluator(params: &Self::Params) -> Result<&'static CkksEvaluator<u64>> {
        Ok(evaluator(params)?.ckks())
    }

    fn owner(keys: &Self::Keys) -> [u8; 16] {
        keys.key_id()
    }

    fn machine<'a>(evaluator: &'a CkksEvaluator<u64>, keys: &'a Self::Keys) -> Machine<'a, u64> {
        let keys: &RaisingKeys<u64> = keys;
        Machine { evaluator, relinearization: Some(keys), galois: Some(keys), refresh: None, digits: None }
    }

    fn refresh(
        params: &Self::Params,
        x: &Ciphertext<u64>,
        _mode: SlotMode,
    ) -> Result<Box<dyn Stepwise<Self>>> {
        let run = ConventionalRun::new(evaluator(params)?, x)?;
        Ok(stepwise(
            run,
            |run, keys: &Self::Keys, observer| run.step(keys, observer),
            |run| Ok(vec![run.finish()?]),
        ))
    }
}

ckks_program!(Conventional);
