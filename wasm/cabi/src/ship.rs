//! SHIP.

use refloat::{
    Error,
    bootstrapping::{
        ckks_ship::{ShipEvaluator, ShipKeys as CoreKeys, ShipKeysBuilder, ShipParams},
        method::SlotMode,
    },
    params::DEFAULT_PRESET,
    schemes::ckks::Ciphertext as CoreCiphertext,
};

use crate::{
    ckks::{CkksClient, CkksMethod},
    exports::{export_evaluator, export_owner},
    method::{Method, keyed},
    progress::Listener,
};

/// Largest ring whose matrix is kept in a page's memory.
#[cfg(target_family = "wasm")]
const MATRIX_KEPT_UP_TO: usize = 1 << 11;

keyed!(ShipParams, secure: DEFAULT_PRESET, secret: "rf_ship_secret", slots: ShipParams::slots);

impl Method for ShipParams {
    const KEYS: &'static str = "rf_ship_keys";
    type Builder = ShipKeysBuilder;
    type Keys = (ShipEvaluator, CoreKeys);

    fn builder(&self, key_id: [u8; 16]) -> ShipKeysBuilder {
        CoreKeys::builder(self, key_id)
    }

    fn add(builder: &mut ShipKeysBuilder, index: usize, part: &[u8]) -> Result<(), Error> {
        builder.add(index, part)
    }

    fn finish(builder: ShipKeysBuilder) -> Result<Self::Keys, Error> {
        let keys = builder.finish()?;
        let params = keys.params();
        #[cfg(target_family = "wasm")]
        if params.n() > MATRIX_KEPT_UP_TO {
            return Ok((ShipEvaluator::compact(params)?, keys));
        }
        Ok((ShipEvaluator::new(params)?, keys))
    }
}

impl CkksClient for ShipParams {
    const CIPHERTEXT: &'static str = "rf_ship_ciphertext";
    const PUBLIC_KEY: &'static str = "rf_ship_public_key";
}

impl CkksMethod for ShipParams {
    fn multiply(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext,
        y: &CoreCiphertext,
    ) -> Result<CoreCiphertext, Error> {
        evaluator.multiply(x, y, keys)
    }

    fn bootstrap(
        (evaluator, keys): &Self::Keys,
        x: &CoreCiphertext,
        mode: SlotMode,
        listener: &mut Listener,
    ) -> Result<CoreCiphertext, Error> {
        evaluator.bootstrap(x, mode, keys, listener)
    }
}

export_owner!("ship", ShipParams);
export_evaluator!("ship", ShipParams);
