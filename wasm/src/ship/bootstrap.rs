//! Bootstrapping in the page, one step at a time.

use std::{cell::Cell, sync::Arc};

use refloat::{
    Error,
    bootstrapping::ckks_ship::{
        GeneratedKeys, KeySource, ShipEvaluator, ShipKeys, ShipKeysBuilder, ShipParams, ShipRun,
        ShipSecretKey,
    },
    params::ShipPreset,
    scrub::scrubbed,
};
use wasm_bindgen::prelude::wasm_bindgen;

use super::SecretKey;
use crate::{
    ckks_bootstrap::ckks_bootstrap,
    collected::Collected,
    evaluators::{self, Evaluators},
    failure::Result,
    split::split,
};

/// Largest ring whose slots-to-coefficients matrix is kept between runs: 4 MiB at 2^10, 256 at 2^13.
const MATRIX_KEPT_UP_TO: usize = 1 << 11;

thread_local! {
    static EVALUATORS: Evaluators<ShipEvaluator> = const { Evaluators::new(Vec::new()) };

    // The largest amount by which the memory has been grown at once.
    static RESERVED: Cell<usize> = const { Cell::new(0) };
}

/// The evaluator of a set, made when it is first needed.
pub fn evaluator(params: &ShipParams) -> Result<&'static ShipEvaluator> {
    evaluators::evaluator(&EVALUATORS, params.fingerprint(), || {
        let keep = params.n() <= MATRIX_KEPT_UP_TO;
        Ok(if keep { ShipEvaluator::new(params)? } else { ShipEvaluator::compact(params)? })
    })
}

/// Grows the memory once, by `bytes_per_coefficient` bytes for each coefficient of the ring, which is most of what will be needed. Engines
/// collect garbage each time a memory grows, and hundreds of growths cost more than the computing between them. Without effect if there is
/// no room, or if the memory has already been grown by as much.
pub fn reserve(params: &ShipParams, bytes_per_coefficient: usize) {
    let bytes = params.n() * bytes_per_coefficient;
    if bytes > RESERVED.replace(RESERVED.get().max(bytes)) {
        let mut room = Vec::<u8>::new();
        let _ = room.try_reserve_exact(bytes);
        core::hint::black_box(&room);
    }
}

/// Evaluation keys.
pub enum Keys {
    Resident(ShipKeys),
    /// Made track by track from the secret key, and dropped.
    Generated(GeneratedKeys<Arc<ShipSecretKey>>),
}

ckks_bootstrap! {
    builder: ShipKeysBuilder, ShipKeys::builder,
    keys: Keys,
    finish: |builder| builder.finish().map(Keys::Resident),
    memory: Keys::memory_bytes,
    run: ShipRun<'static>, word: u32,
    begin: ShipRun::new,
    end: ShipRun::finish,
    gain: |preset: &ShipPreset| Ok::<_, Error>(Some(preset.gain_bits()))
}

impl Keys {
    pub(super) fn source(&self) -> &dyn KeySource<u32> {
        match self {
            Self::Resident(keys) => keys,
            Self::Generated(keys) => keys,
        }
    }

    fn memory_bytes(&self) -> usize {
        match self {
            Self::Resident(keys) => keys.memory_bytes(),
            Self::Generated(keys) => keys.common().memory_bytes(),
        }
    }
}

#[wasm_bindgen]
impl BootstrapKeys {
    /// Keys that are made track by track while a bootstrapping runs. They hold the secret key.
    pub fn generated(secret: &SecretKey) -> Result<BootstrapKeys> {
        reserve(secret.key.params(), 12 << 10);
        let keys = scrubbed(|| GeneratedKeys::new(secret.key.clone()))?;
        Ok(BootstrapKeys(Collected::Whole(Keys::Generated(keys))))
    }
}

impl BootstrapKeys {
    pub(super) fn whole(&self) -> Result<&Keys> {
        self.0.keys()
    }

    fn source(&self) -> Result<&dyn KeySource<u32>> {
        Ok(self.0.keys()?.source())
    }
}

split!(BootstrapRun, run: |this| this.run.as_mut(), keys: |keys: &BootstrapKeys| keys.source()?);
