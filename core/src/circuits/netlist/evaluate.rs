//! The trait of gate evaluators, and evaluation in the clear.

use alloc::vec::Vec;

use super::Kind;
use crate::{
    error::Error,
    par,
    trace::{Counters, StageInfo},
};

/// The one stage of a run. Its progress counts ops, which are run in the order of [`Plan::ops`](super::Plan::ops): their number tells which
/// levels are done.
pub const STAGE: StageInfo = StageInfo {
    id: "gates",
    title: "Gates",
    symbol: "one bootstrapping per gate, level by level",
    levels: 0,
};

/// Evaluates gates on bits of some kind: in the clear, or encrypted.
pub trait GateEvaluator: Sync {
    /// A bit.
    type Bit: Clone + Send + Sync;

    /// A constant bit.
    ///
    /// # Errors
    /// Those of the implementation.
    fn constant(&self, value: bool) -> Result<Self::Bit, Error>;

    /// The inverse of a bit; no bootstrapping.
    ///
    /// # Errors
    /// Those of the implementation.
    fn not(&self, bit: &Self::Bit) -> Result<Self::Bit, Error>;

    /// The value of one gate, and the work it took. Called from several threads at once.
    ///
    /// # Errors
    /// Those of the implementation.
    fn gate(&self, call: &GateCall<'_, Self::Bit>) -> Result<(Self::Bit, Counters), Error>;

    /// The values of gates that are independent of each other, in order: one per thread at a
    /// time, unless the implementation knows better.
    ///
    /// # Errors
    /// Those of the implementation.
    fn gates(&self, calls: &[GateCall<'_, Self::Bit>]) -> Result<Vec<(Self::Bit, Counters)>, Error> {
        par::try_map(calls.len(), |i| self.gate(&calls[i]))
    }
}

/// An operand: a bit, or its inverse.
#[derive(Debug)]
pub struct Term<'a, B> {
    /// The bit.
    pub bit: &'a B,
    /// Whether its inverse is meant.
    pub inverted: bool,
}

/// A gate to be evaluated.
#[derive(Debug)]
pub struct GateCall<'a, B> {
    /// What to compute; [`Kind`] says which operands may be inverted.
    pub kind: Kind,
    /// As many operands as the kind takes: different bits, none of them constant.
    pub operands: Vec<Term<'a, B>>,
}

/// Computes in the clear: what every other evaluator is measured by.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clear;

impl GateEvaluator for Clear {
    type Bit = bool;

    fn constant(&self, value: bool) -> Result<bool, Error> {
        Ok(value)
    }

    fn not(&self, bit: &bool) -> Result<bool, Error> {
        Ok(!bit)
    }

    fn gate(&self, call: &GateCall<'_, bool>) -> Result<(bool, Counters), Error> {
        let bits: Vec<bool> = call.operands.iter().map(|term| *term.bit != term.inverted).collect();
        Ok((call.kind.gate().evaluate(&bits)?, Counters::default()))
    }
}
