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
    /// Times an integer, down to the level and the factor of the step; by 1, to get there.
    Times(Register, i64),
    /// Times an integer, at its level.
    MultiplyInteger(Register, i64),
    AddNumber(Register, i64),
    /// A constant node's numbers.
    AddConstant(Register, Value),
    /// Times a constant node's numbers.
    MultiplyConstant(Register, Value),
    Add(Register, Register),
    Subtract(Register, Register),
    /// Relinearised and rescaled.
    Multiply(Register, Register),
    /// By steps there are keys for, one after the other.
    Rotate(Register, Vec<i64>),
    /// The rows in each other's place.
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

/// One step, and where its result stands.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The node it belongs to.
    pub node: usize,
    pub action: Action,
    pub shape: BgvShape,
}
