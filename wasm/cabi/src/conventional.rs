//! Conventional bootstrapping of CKKS.

use refloat::{
    Error,
    bootstrapping::{
        ckks_conventional::{
            ConventionalEvaluator, ConventionalKeys as CoreKeys, ConventionalKeysBuilder, ConventionalParams,
        },
        method::SlotMode,
    },
    circuits::linear_transform::PlaintextStorage,
    params::DEFAULT_CONVENTIONAL_PRESET,
    schemes::ckks::Ciphertext as CoreCiphertext,
};

use crate::{
    ckks::{CkksClient, CkksMethod},
    exports::{export_evaluator, export_owner},
    method::{Method, keyed},
    progress::Listener,
};

/// Largest ring whose diagonals are kept evaluated: those of `n16` would take more memory than its keys.
const DIAGONALS_EVALUATED_UP_TO: usize = 1 << 11;

keyed!(ConventionalParams, secure: DEFAULT_CONVENTIONAL_PRESET, secret: "rf_conventional_secret", slots: ConventionalParams::slots);

impl Method for ConventionalParams {
    const KEYS: &'static str = "rf_conventional_keys";
    type Builder = ConventionalKeysBuilder;
    type Keys = (ConventionalEvaluator, CoreKeys);

    fn builder(&self, key_id: [u8; 16]) -> ConventionalKeysBuilder {
        CoreKeys::builder(self, key_id)
    }

    fn add(builder: &mut ConventionalKeysBuilder, index: usize, part: &[u8]) -> Result<(), Error> {
        builder.add(index, part)
    }

    fn finish(builder: ConventionalKeysBuilder) -> Result<Self::Keys, Error> {
        let params = builder.params().clone();
        let keep = params.n() <= DIAGONALS_EVALUATED_UP_TO;
        let storage = if keep { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients };
        let keys = builder.finish()?;
        Ok((ConventionalEvaluator::new(&params, storage)?, keys))
    }
}

impl CkksClient for ConventionalParams {
    const CIPHERTEXT: &'static str = "rf_conventional_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_conventional_public_key";
}

impl CkksMethod for ConventionalParams {
    fn multiply(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext<u64>,
        y: &CoreCiphertext<u64>,
    ) -> Result<CoreCiphertext<u64>, Error> {
        evaluator.multiply(x, y, keys)
    }

    fn bootstrap(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext<u64>,
        _mode: SlotMode,
        listener: &mut Listener,
    ) -> Result<CoreCiphertext<u64>, Error> {
        evaluator.bootstrap(x, keys, listener)
    }
}

export_owner!("conventional", ConventionalParams);
export_evaluator!("conventional", ConventionalParams);
