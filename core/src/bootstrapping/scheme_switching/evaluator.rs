//! An evaluator of both schemes, with the keys of one key set.

use alloc::{sync::Arc, vec::Vec};

use super::{
    keys::LinkKeys,
    params::{LinkParams, SINE},
    range::Range,
};
use crate::{
    bootstrapping::{
        cggi::CggiEvaluator,
        ckks_conventional::EvalMod,
        raising::{RaisingEvaluator, ReductionSpec, maps::slots_to_base},
    },
    circuits::linear_transform::{LinearTransform, PlaintextStorage},
    error::Error,
};

/// What all evaluators of a set share, whatever their keys: the diagonals of maps, and polynomials.
pub struct LinkTables<R: ReductionSpec> {
    params: LinkParams<R>,
    ckks: RaisingEvaluator<R, u64>,
    maps: Vec<LinearTransform<u64>>,
    sine: EvalMod,
}

impl<R: ReductionSpec> LinkTables<R> {
    /// Encodes the diagonals and keeps them as `storage` says.
    pub fn new(params: &LinkParams<R>, storage: PlaintextStorage) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            ckks: RaisingEvaluator::new(params.ckks(), storage)?,
            maps: slots_to_base(params.ckks(), Range::TURNS, storage)?,
            sine: EvalMod::new(&SINE)?,
        })
    }

    /// Arithmetic and bootstraps of numbers in slots.
    pub fn ckks(&self) -> &RaisingEvaluator<R, u64> {
        &self.ckks
    }
}

/// Compares numbers in slots, and brings bits back into slots. Cheap to clone, usable from several threads.
///
/// Results depend on the inputs and the keys alone, and are the same for any number of threads.
pub struct LinkEvaluator<R: ReductionSpec> {
    tables: Arc<LinkTables<R>>,
    keys: Arc<LinkKeys>,
    cggi: CggiEvaluator<u64>,
}

impl<R: ReductionSpec> Clone for LinkEvaluator<R> {
    fn clone(&self) -> Self {
        Self { tables: self.tables.clone(), keys: self.keys.clone(), cggi: self.cggi.clone() }
    }
}

impl<R: ReductionSpec> LinkEvaluator<R> {
    /// An evaluator with these keys, which keeps the diagonals of maps as `storage` says.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for keys of another set.
    pub fn new(
        params: &LinkParams<R>,
        keys: impl Into<Arc<LinkKeys>>,
        storage: PlaintextStorage,
    ) -> Result<Self, Error> {
        let keys = keys.into();
        keys.check(params)?;
        Self::with(&Arc::new(LinkTables::new(params, storage)?), &keys)
    }

    /// An evaluator with the tables that others of the set share.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for keys of another set.
    pub fn with(tables: &Arc<LinkTables<R>>, keys: &Arc<LinkKeys>) -> Result<Self, Error> {
        keys.check(&tables.params)?;
        let cggi = CggiEvaluator::new(keys.cggi.clone()).accepting(tables.params.spec().log_failure);
        Ok(Self { tables: tables.clone(), keys: keys.clone(), cggi })
    }

    /// The parameter set.
    pub fn params(&self) -> &LinkParams<R> {
        &self.tables.params
    }

    /// The keys.
    pub fn keys(&self) -> &LinkKeys {
        &self.keys
    }

    /// Arithmetic and bootstraps of numbers in slots.
    pub fn ckks(&self) -> &RaisingEvaluator<R, u64> {
        &self.tables.ckks
    }

    /// Gates and look-ups on bits and integers.
    pub fn cggi(&self) -> &CggiEvaluator<u64> {
        &self.cggi
    }

    /// Slots to coefficients at the lowest levels.
    pub(super) fn maps(&self) -> &[LinearTransform<u64>] {
        &self.tables.maps
    }

    pub(super) fn sine(&self) -> &EvalMod {
        &self.tables.sine
    }
}
