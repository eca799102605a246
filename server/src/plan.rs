//! How much memory conventional bootstrapping takes, and what can be traded for time.

use refloat::bootstrapping::ckks_conventional::ConventionalParams;
use refloat::circuits::linear_transform::PlaintextStorage;
use serde::Serialize;

/// What a bootstrap with a set keeps in memory, and how it keeps the diagonals of its linear maps.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryPlan {
    /// Whether diagonals are kept evaluated; otherwise as coefficients, transformed at every use.
    pub evaluated: bool,
    /// Bytes of evaluation keys.
    pub keys: u64,
    /// Bytes of diagonals.
    pub diagonals: u64,
    /// Bytes of everything a run has beside.
    pub working: u64,
}

impl MemoryPlan {
    /// The fastest plan whose keys, diagonals and runs take at most `budget` bytes, where there is one.
    ///
    /// # Errors
    /// The bytes that the frugal plan takes, if it does not fit either.
    pub fn within(params: &ConventionalParams, budget: Option<u64>) -> Result<Self, u64> {
        let fast = Self::of(params, PlaintextStorage::Evaluated);
        let frugal = Self::of(params, PlaintextStorage::Coefficients);
        match budget {
            None => Ok(fast),
            Some(budget) if fast.total() <= budget => Ok(fast),
            Some(budget) if frugal.total() <= budget => Ok(frugal),
            Some(_) => Err(frugal.total()),
        }
    }

    /// The fastest plan whose keys and diagonals take at most `budget` bytes, or the frugal one.
    pub fn keeping(params: &ConventionalParams, budget: u64) -> Self {
        let fast = Self::of(params, PlaintextStorage::Evaluated);
        if fast.kept() <= budget { fast } else { Self::of(params, PlaintextStorage::Coefficients) }
    }

    /// The plan that keeps diagonals in a given way.
    pub fn of(params: &ConventionalParams, storage: PlaintextStorage) -> Self {
        let rlwe = params.ckks().rlwe();
        let top = rlwe.qp(rlwe.max_level());
        let polynomial = (8 * top.len() * params.n()) as u64;
        Self {
            evaluated: storage == PlaintextStorage::Evaluated,
            keys: params.expanded_key_bytes(),
            diagonals: params.diagonal_bytes(storage),
            working: WORKING_POLYNOMIALS * polynomial,
        }
    }

    /// What stays between two runs: keys and diagonals.
    pub fn kept(&self) -> u64 {
        self.keys + self.diagonals
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.kept() + self.working
    }

    /// How the evaluator is to keep diagonals.
    pub fn storage(&self) -> PlaintextStorage {
        if self.evaluated { PlaintextStorage::Evaluated } else { PlaintextStorage::Coefficients }
    }
}

/// Polynomials modulo QP that a run holds at once beside keys and diagonals: the rotations of a linear map, their sums,
/// and digits, on two threads.
const WORKING_POLYNOMIALS: u64 = 128;
