//! Programs in the page.

use refloat::{
    bootstrapping::{
        ckks_msb::{MsbKeys, MsbParams, MsbReading, MsbRun},
        method::SlotMode,
        raising::RaisingKeys,
    },
    circuits::program::{Machine, Readings},
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
pub enum Digits {}

impl ProgramMethod for Digits {
    type Word = u64;
    type Params = MsbParams;
    type Keys = MsbKeys;

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
        let run = MsbRun::refreshing(evaluator(params)?, x)?;
        Ok(stepwise(run, |run, keys: &Self::Keys, observer| run.step(keys, observer), MsbRun::finish))
    }

    fn read(
        params: &Self::Params,
        _keys: &Self::Keys,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Box<dyn Stepwise<Self>>> {
        let run = MsbReading::new(evaluator(params)?, x, readings, 0.0)?;
        Ok(stepwise(run, |run, keys: &Self::Keys, observer| run.step(keys, observer), MsbReading::finish))
    }
}

ckks_program!(Digits);
