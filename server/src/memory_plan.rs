//! How much memory bootstrapping takes in the methods that raise the modulus, and what memory can be traded for time.

use refloat::Error;
use refloat::bootstrapping::ckks_conventional::ConventionalParams;
use refloat::bootstrapping::raising::{RaisingParams, ReductionSpec};
use refloat::circuits::linear_transform::PlaintextStorage;
use refloat::circuits::program::Target;
use refloat::schemes::ckks::CkksContext;
use refloat::wire::CkksSet;
use serde::Serialize;

use crate::ckks_jobs::working_bytes;
use crate::engine::SlotMode;

/// What a bootstrap with a set keeps in memory, and how it keeps the diagonals of its linear maps.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryPlan {
    /// Whether diagonals are kept evaluated; otherwise as coefficients, transformed at every use.
    pub evaluated: bool,
    /// Whether keys are read from their files as a bootstrap uses them, and dropped; otherwise all stay in memory.
    pub streamed: bool,
    /// Bytes of evaluation keys in memory: all of them, or the most there are at a time.
    pub keys: u64,
    /// Bytes of diagonals.
    pub diagonals: u64,
    /// Bytes of everything else that a run takes.
    pub working: u64,
}

impl MemoryPlan {
    /// The fastest plan whose keys, diagonals and runs take at most `budget` bytes, where there is one.
    ///
    /// # Errors
    /// The bytes of the plan that reads keys as they are used, if not even that one fits.
    pub fn within(params: &ConventionalParams, budget: Option<u64>) -> Result<Self, u64> {
        let fast = Self::of(params, PlaintextStorage::Evaluated);
        let Some(budget) = budget else { return Ok(fast) };
        let plan = Self::keeping(params, budget.saturating_sub(fast.working));
        if plan.total() <= budget { Ok(plan) } else { Err(plan.total()) }
    }

    /// The fastest plan that keeps all keys in memory and takes at most `budget` bytes.
    ///
    /// # Errors
    /// The bytes of the plan that transforms diagonals at every use, if not even that one fits.
    pub fn resident<R: ReductionSpec>(params: &RaisingParams<R>, budget: Option<u64>) -> Result<Self, u64> {
        let working = working_bytes(params.ckks().rlwe());
        let plan = Self::keeping_all(params, budget.unwrap_or(u64::MAX).saturating_sub(working));
        if budget.is_none_or(|budget| plan.total() <= budget) { Ok(plan) } else { Err(plan.total()) }
    }

    /// The fastest plan that keeps all keys in memory and whose keys and diagonals take at most `budget` bytes, or the one that
    /// takes least: diagonals as coefficients.
    pub fn keeping_all<R: ReductionSpec>(params: &RaisingParams<R>, budget: u64) -> Self {
        let fast = Self::of(params, PlaintextStorage::Evaluated);
        if fast.kept() <= budget { fast } else { Self::of(params, PlaintextStorage::Coefficients) }
    }

    /// The fastest plan whose keys and diagonals take at most `budget` bytes, or the one that takes least. From fast to frugal: everything
    /// in memory; diagonals as coefficients; keys read as they are used, too.
    pub fn keeping(params: &ConventionalParams, budget: u64) -> Self {
        let fast = Self::of(params, PlaintextStorage::Evaluated);
        let frugal = Self::of(params, PlaintextStorage::Coefficients);
        if fast.kept() <= budget {
            return fast;
        }
        if frugal.kept() <= budget {
            return frugal;
        }
        // Validated sets have an order of their keys.
        let least = params.least_key_bytes().unwrap_or(frugal.keys);
        let keys = budget.saturating_sub(frugal.diagonals).clamp(least.min(frugal.keys), frugal.keys);
        Self { streamed: true, keys, ..frugal }
    }

    /// The plan that keeps diagonals in a given way.
    pub fn of<R: ReductionSpec>(params: &RaisingParams<R>, storage: PlaintextStorage) -> Self {
        Self {
            evaluated: storage == PlaintextStorage::Evaluated,
            streamed: false,
            keys: params.expanded_key_bytes(),
            diagonals: params.diagonal_bytes(storage),
            working: working_bytes(params.ckks().rlwe()),
        }
    }

    /// What stays between two runs: keys and diagonals.
    pub fn kept(&self) -> u64 {
        self.keys + self.diagonals
    }

    /// Everything that the plan takes.
    pub fn total(&self) -> u64 {
        self.kept() + self.working
    }

    /// How the evaluator is to keep diagonals.
    pub fn storage(&self) -> PlaintextStorage {
        if self.evaluated { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients }
    }
}

/// A CKKS set as jobs use it, fitted to the memory that there is.
pub struct Planned<P> {
    /// The set.
    pub params: P,
    /// How its keys and diagonals are kept.
    pub plan: MemoryPlan,
}

impl<P: CkksSet> CkksSet for Planned<P> {
    type Word = P::Word;

    fn ckks(&self) -> &CkksContext<P::Word> {
        self.params.ckks()
    }

    fn mode(&self) -> SlotMode {
        self.params.mode()
    }

    fn input_level(&self) -> usize {
        self.params.input_level()
    }

    fn output_level(&self) -> usize {
        self.params.output_level()
    }

    fn public_key_level(&self) -> usize {
        self.params.public_key_level()
    }

    fn largest_message(&self) -> f64 {
        self.params.largest_message()
    }

    fn target(&self) -> Result<Target, Error> {
        self.params.target()
    }
}
