//! The steps of a plan on integers.

use alloc::{vec, vec::Vec};

use super::{
    super::{Operation, Program, Value, steps},
    numbers::integers_of,
};
use crate::{circuits::polynomial, schemes::bgv::BgvShape};

pub(super) use steps::Register;

/// What a step does.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// Takes an input.
    Input(usize),
    /// Bootstraps.
    Refresh(Register),
    /// Multiplies by an integer, and brings the value to the level and factor of the step; by 1, only the latter.
    Times(Register, i64),
    /// Multiplies by an integer, at the same level.
    MultiplyInteger(Register, i64),
    AddNumber(Register, i64),
    /// Adds the numbers of a constant node.
    AddConstant(Register, Value),
    /// Multiplies by the numbers of a constant node.
    MultiplyConstant(Register, Value),
    Add(Register, Register),
    Subtract(Register, Register),
    /// A product, relinearised and rescaled.
    Multiply(Register, Register),
    /// Rotates by steps that have keys, one after the other.
    Rotate(Register, Vec<i64>),
    /// Exchanges the rows.
    Swap(Register),
    Polynomial(Register, usize),
}

impl Action {
    pub fn operands(&self) -> Vec<Register> {
        match self {
            Self::Input(_) => Vec::new(),
            Self::Add(x, y) | Self::Subtract(x, y) | Self::Multiply(x, y) => vec![*x, *y],
            Self::Refresh(x)
            | Self::Times(x, _)
            | Self::MultiplyInteger(x, _)
            | Self::AddNumber(x, _)
            | Self::AddConstant(x, _)
            | Self::MultiplyConstant(x, _)
            | Self::Rotate(x, _)
            | Self::Swap(x)
            | Self::Polynomial(x, _) => vec![*x],
        }
    }

    pub fn key_switches(&self, program: &Program) -> usize {
        match self {
            Self::Multiply(..) | Self::Swap(_) => 1,
            Self::Rotate(_, hops) => hops.len(),
            Self::Polynomial(_, node) => match &program.nodes()[*node].operation {
                Operation::Polynomial(_, p) => integers_of(p)
                    .and_then(|p| polynomial::Plan::new(core::slice::from_ref(&p)))
                    .map_or(0, |plan| plan.key_switches()),
                _ => 0,
            },
            _ => 0,
        }
    }
}

/// One step, and the shape of its result.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The node it belongs to.
    pub node: usize,
    pub action: Action,
    pub shape: BgvShape,
}
