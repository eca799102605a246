//! The steps of a plan.

use alloc::{format, vec, vec::Vec};

use super::{Known, Program, Value};
use crate::{
    circuits::linear_transform::Compositions,
    error::Error,
    schemes::ckks::{Complex, Scale},
};

/// Most steps of a plan.
pub const MAX_STEPS: usize = 1 << 16;

/// A value on the way: the step that computes it.
pub(super) type Register = usize;

/// The step that computes a node.
///
/// # Errors
/// [`Error::InvalidArgument`] if none does: it is a constant.
pub(super) fn register_of(
    program: &Program,
    registers: &[Option<Register>],
    x: Value,
) -> Result<Register, Error> {
    registers[x.index()].ok_or_else(|| {
        let node = program.describe(x.index());
        Error::InvalidArgument(format!("{node} is not a ciphertext; compute with it before, in the clear"))
    })
}

/// What a step does.
#[derive(Debug, Clone)]
pub(super) enum Action {
    /// Takes an input, brought down to the level of the step.
    Input(usize),
    /// Bootstraps.
    Refresh(Register),
    /// The same number to every slot.
    AddNumber(Register, Complex),
    /// A constant node's numbers.
    AddConstant(Register, Value),
    /// Times an integer: no level.
    MultiplyInteger(Register, i64),
    /// Times a constant node's numbers, encoded at a scale that makes the result's.
    MultiplyConstant(Register, Value),
    /// Sum of values times numbers, and a number; rescaled once.
    Combine(Vec<(Register, Complex)>, Complex),
    Add(Register, Register),
    Subtract(Register, Register),
    /// Relinearised and rescaled.
    Multiply(Register, Register),
    /// By steps there are keys for, one after the other.
    Rotate(Register, Vec<i64>),
    Conjugate(Register),
    /// Of a value of the variable that its basis is in.
    Polynomial(Register, usize),
    /// Reads digits: what the nodes say, of which the first is the result of the step. What is known of the numbers.
    Digits(Register, Vec<usize>, Option<Known>),
    /// What else was read in a step, by its place.
    Part(Register, usize),
    /// By a matrix: with the keys of its steps, or by compositions of them.
    Transform(Register, usize, Option<Compositions>),
}

impl Action {
    pub fn operands(&self) -> Vec<Register> {
        match self {
            Self::Input(_) => Vec::new(),
            Self::Combine(terms, _) => terms.iter().map(|&(register, _)| register).collect(),
            Self::Add(x, y) | Self::Subtract(x, y) | Self::Multiply(x, y) => vec![*x, *y],
            Self::Refresh(x)
            | Self::AddNumber(x, _)
            | Self::AddConstant(x, _)
            | Self::MultiplyInteger(x, _)
            | Self::MultiplyConstant(x, _)
            | Self::Rotate(x, _)
            | Self::Conjugate(x)
            | Self::Polynomial(x, _)
            | Self::Digits(x, ..)
            | Self::Part(x, _)
            | Self::Transform(x, ..) => vec![*x],
        }
    }
}

/// One step, and where its result stands.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The node it belongs to.
    pub node: usize,
    pub action: Action,
    pub level: usize,
    pub scale: Scale,
}
