//! Conventional bootstrapping in the page, a stage at a time.

use refloat::{
    bootstrapping::ckks_conventional::{
        ConventionalEvaluator, ConventionalKeys, ConventionalKeysBuilder, ConventionalParams, ConventionalRun,
    },
    params::ConventionalPreset,
};

use crate::{
    ckks_bootstrap::ckks_bootstrap,
    evaluators::{self, Evaluators},
    failure::Result,
};

thread_local! {
    static EVALUATORS: Evaluators<ConventionalEvaluator> = const { Evaluators::new(Vec::new()) };
}

/// The evaluator of a set, made when it is first needed.
pub(super) fn evaluator(params: &ConventionalParams) -> Result<&'static ConventionalEvaluator> {
    evaluators::evaluator(&EVALUATORS, params.fingerprint(), || {
        Ok(ConventionalEvaluator::new(params, evaluators::diagonals(params.n()))?)
    })
}

ckks_bootstrap! {
    builder: ConventionalKeysBuilder, ConventionalKeys::builder,
    keys: ConventionalKeys,
    finish: ConventionalKeysBuilder::finish,
    memory: ConventionalKeys::memory_bytes,
    run: ConventionalRun<'static>, word: u64,
    begin: |evaluator, x, _| ConventionalRun::new(evaluator, x),
    end: ConventionalRun::finish,
    gain: |preset: &ConventionalPreset| preset.gain_bits().map(Some)
}

impl BootstrapKeys {
    pub(super) fn whole(&self) -> Result<&ConventionalKeys> {
        self.0.keys()
    }

    fn source(&self) -> Result<&ConventionalKeys> {
        self.0.keys()
    }
}
