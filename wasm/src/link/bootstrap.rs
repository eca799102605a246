//! Keys of both schemes, and bootstraps of numbers, one stage at a time.

use std::sync::Arc;

use refloat::bootstrapping::{
    ckks_conventional::{ConventionalEvaluator, ConventionalRun},
    raising::RaisingKeys,
    scheme_switching::{
        LinkEvaluator, LinkKeys, LinkKeysBuilder, LinkParams, LinkPreset, LinkTables, Reduction,
    },
};

use super::Ciphertext;
use crate::{
    ckks_bootstrap::ckks_bootstrap,
    evaluators::{self, Evaluators},
    failure::Result,
};

thread_local! {
    static TABLES: Evaluators<Arc<LinkTables<Reduction>>> = const { Evaluators::new(Vec::new()) };
}

/// Diagonals and polynomials of a set, made when they are first needed.
pub(super) fn tables(params: &LinkParams<Reduction>) -> Result<&'static Arc<LinkTables<Reduction>>> {
    evaluators::evaluator(&TABLES, params.fingerprint(), || {
        Ok(Arc::new(LinkTables::new(params, evaluators::diagonals(params.ckks().n()))?))
    })
}

/// The evaluator for the numbers of a set.
pub(super) fn evaluator(params: &LinkParams<Reduction>) -> Result<&'static ConventionalEvaluator> {
    Ok(tables(params)?.ckks())
}

ckks_bootstrap! {
    builder: LinkKeysBuilder<Reduction>, LinkKeys::builder,
    keys: Arc<LinkKeys>,
    finish: |builder: LinkKeysBuilder<Reduction>| builder.finish().map(Arc::new),
    memory: |keys: &Arc<LinkKeys>| keys.memory_bytes(),
    run: ConventionalRun<'static>, word: u64,
    begin: |evaluator, x, _| ConventionalRun::new(evaluator, x),
    end: ConventionalRun::finish,
    gain: |_: &LinkPreset| Ok::<_, refloat::Error>(None)
}

impl BootstrapKeys {
    pub(super) fn whole(&self) -> Result<&Arc<LinkKeys>> {
        self.0.keys()
    }

    fn source(&self) -> Result<&RaisingKeys<u64>> {
        Ok(self.0.keys()?.ckks())
    }

    /// The evaluator that compares the numbers of a ciphertext with these keys.
    pub(super) fn comparing(&self, x: &Ciphertext) -> Result<LinkEvaluator<Reduction>> {
        Ok(LinkEvaluator::with(tables(&x.params)?, self.0.keys()?)?)
    }
}
