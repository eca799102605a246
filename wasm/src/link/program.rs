//! Programs in the page.

use std::sync::Arc;

use refloat::{
    bootstrapping::{
        ckks_conventional::ConventionalRun,
        raising::RaisingKeys,
        scheme_switching::{LinkEvaluator, LinkKeys, LinkParams, OrderRun, Reduction},
    },
    circuits::program::Readings,
    schemes::ckks::{Ciphertext, CkksEvaluator},
};

use super::bootstrap::{evaluator, tables};
use crate::{
    ckks_program::{Steps, ckks_program, stepwise},
    failure::Result,
    raising::{Raised, Raising},
};

/// Programs of this method.
pub enum Link {}

impl Raising for Link {
    type Params = LinkParams<Reduction>;
    type Keys = Arc<LinkKeys>;

    fn evaluator(params: &LinkParams<Reduction>) -> Result<&'static CkksEvaluator<u64>> {
        Ok(evaluator(params)?.ckks())
    }

    fn refresh(params: &LinkParams<Reduction>, x: &Ciphertext<u64>) -> Result<Steps<Self>> {
        let run = ConventionalRun::new(evaluator(params)?, x)?;
        Ok(stepwise(
            run,
            |run, keys: &Arc<LinkKeys>, observer| run.step(keys.ckks(), observer),
            |run| Ok(vec![run.finish()?]),
        ))
    }

    fn read(
        params: &LinkParams<Reduction>,
        keys: &Arc<LinkKeys>,
        x: &Ciphertext<u64>,
        readings: Readings<'_>,
    ) -> Result<Steps<Self>> {
        let run = OrderRun::new(&LinkEvaluator::with(tables(params)?, keys)?, x, readings)?;
        Ok(stepwise(run, |run, _keys, observer| run.step(observer), OrderRun::finish))
    }
}

impl Raised for Arc<LinkKeys> {
    fn raising(&self) -> &RaisingKeys<u64> {
        self.ckks()
    }
}

ckks_program!(Link);
