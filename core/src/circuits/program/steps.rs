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

/// An intermediate value: the index of the step that computes it.
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
    /// Adds the same number to every slot.
    AddNumber(Register, Complex),
    /// Adds the numbers of a constant node.
    AddConstant(Register, Value),
    /// Multiplies by an integer, which takes no level.
    MultiplyInteger(Register, i64),
    /// Multiplies by the numbers of a constant node, encoded at the scale that gives the result its own.
    MultiplyConstant(Register, Value),
    /// A sum of values times numbers, plus a number; rescaled once.
    Combine(Vec<(Register, Complex)>, Complex),
    Add(Register, Register),
    Subtract(Register, Register),
    /// A product, relinearised and rescaled.
    Multiply(Register, Register),
    /// Rotates by steps that have keys, one after the other.
    Rotate(Register, Vec<i64>),
    Conjugate(Register),
    /// The polynomial of a node, for a value of the variable that its basis is in.
    Polynomial(Register, usize),
    /// Reads digits as the nodes say, knowing this of the numbers; the result of the step is that of the first node.
    Digits(Register, Vec<usize>, Option<Known>),
    /// Another result of a step that reads digits, by its place.
    Part(Register, usize),
    /// Multiplies by the matrix of a node, with keys for all its rotations or by compositions of those with keys.
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

/// One step, with the level and scale of its result.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The node it belongs to.
    pub node: usize,
    pub action: Action,
    pub level: usize,
    pub scale: Scale,
}
