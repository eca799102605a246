//! Programs in the page.

use refloat::{
    bootstrapping::{
        ckks_ship::{ShipParams, ShipRun},
        method::SlotMode,
    },
    circuits::program::Machine,
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::bootstrap::{Keys, evaluator};
use crate::{
    ckks_program::{ProgramMethod, Steps, ckks_program, stepwise},
    failure::Result,
};

/// Programs of this method.
pub enum Ship {}

impl ProgramMethod for Ship {
    type Word = u32;
    type Params = ShipParams;
    type Keys = Keys;

    fn evaluator(params: &ShipParams) -> Result<&'static CkksEvaluator<u32>> {
        Ok(evaluator(params)?.ckks())
    }

    fn owner(keys: &Keys) -> [u8; 16] {
        keys.source().key_id()
    }

    fn machine<'a>(evaluator: &'a CkksEvaluator<u32>, keys: &'a Keys) -> Machine<'a, u32> {
        Machine {
            evaluator,
            relinearization: Some(keys.source().common().relinearization()),
            galois: None,
            refresh: None,
            digits: None,
        }
    }

    fn refresh(params: &ShipParams, x: &Ciphertext<u32>, mode: SlotMode) -> Result<Steps<Self>> {
        let run = ShipRun::new(evaluator(params)?, x, mode)?;
        Ok(stepwise(
            run,
            |run, keys: &Keys, observer| run.step(keys.source(), observer),
            |run| Ok(vec![run.finish()?]),
        ))
    }
}

ckks_program!(Ship);
