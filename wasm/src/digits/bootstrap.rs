//! Bootstrapping as programs use it, one stage at a time: every digit of a number, rounded to 15 bits.

use refloat::{
    Error,
    bootstrapping::ckks_msb::{MsbEvaluator, MsbKeys, MsbKeysBuilder, MsbParams, MsbRun},
};

use crate::{
    ckks_bootstrap::ckks_bootstrap,
    evaluators::{self, Evaluators},
    failure::Result,
};

thread_local! {
    static EVALUATORS: Evaluators<MsbEvaluator> = const { Evaluators::new(Vec::new()) };
}

/// The evaluator of a set, made when it is first needed.
pub(super) fn evaluator(params: &MsbParams) -> Result<&'static MsbEvaluator> {
    evaluators::evaluator(&EVALUATORS, params.fingerprint(), || {
        Ok(MsbEvaluator::new(params, evaluators::diagonals(params.n()))?)
    })
}

ckks_bootstrap! {
    builder: MsbKeysBuilder, MsbKeys::builder,
    keys: MsbKeys,
    finish: MsbKeysBuilder::finish,
    memory: MsbKeys::memory_bytes,
    run: MsbRun<'static>, word: u64,
    begin: |evaluator, x, _| MsbRun::refreshing(evaluator, x),
    end: MsbRun::finish_one,
    gain: |_| Ok::<_, Error>(None)
}

impl BootstrapKeys {
    pub(super) fn whole(&self) -> Result<&MsbKeys> {
        self.0.keys()
    }

    pub(super) fn source(&self) -> Result<&MsbKeys> {
        self.0.keys()
    }
}
