//! Programs in the page.

use std::sync::Arc;

use refloat::{
    bootstrapping::{
        ckks_conventional::ConventionalRun,
        method::SlotMode,
        raising::RaisingKeys,
        scheme_switching::{LinkEvaluator, LinkKeys, LinkParams, OrderRun, Reduction},
    },
    circuits::program::{Machine, Readings},
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::{
    arithmetic::ArithmeticKeys,
    bootstrap::{BootstrapKeys, evaluator, tables},
};
use crate::{
    ckks_program::{ProgramMethod, Stepwise, ckks_program, stepwise},
    failure::Result,
};

/// Programs of this method.
pub enum Link {}

impl ProgramMethod for Link {
    type Word = u64;
    type Params = LinkParams<Reduction>;
    type Keys = Arc<LinkKeys>;

    fn evaluator(params: &Self::Params) -> Result<&'static CkksEvaluator<u64>> {
        Ok(evaluator(params)?.ckks())
    }

    fn owner(keys: &Self::Keys) -> [u8; 16] {
        keys.key_id()
    }

    fn machine<'a>(evaluator: &'a CkksEvaluator<u64>, keys: &'a Self::Keys) -> Machine<'a, u64> {
        let keys: &RaisingKeys<u64> = keys.ckks();
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
            |run, keys: &Arc<LinkKeys>, observer| run.step(keys.ckks(), observer),
            |run| Ok(vec![run.finish()?]),
        ))
    }

    fn read(
        params: &Self::Params,
        keys: &Self::Keys,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Box<dyn Stepwise<Self>>> {
        let run = OrderRun::new(&LinkEvaluator::with(tables(params)?, keys)?, x, readings)?;
        Ok(stepwise(run, |run, _keys, observer| run.step(observer), OrderRun::finish))
    }
}

ckks_program!(Link);
