//! The nodes that read digits, for sets that evaluate modular reduction.

use alloc::{format, vec::Vec};
use core::fmt::Debug;

use super::{InputShape, Known, Operation, Program, reading::Reading};
use crate::{error::Error, schemes::ckks::Scale};

/// Most passes of a plan that read digits.
pub const MAX_PASSES: usize = 1024;

/// Most readings of the same digits, whose tables are looked up at once.
pub(super) const MAX_TOGETHER: usize = 256;

impl Program {
    /// The readings that its outputs are, in order, if the program reads digits of its one input and does nothing else. Such a program can
    /// be run a stage at a time.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`], naming the node, for another program.
    pub fn readings(&self) -> Result<Vec<&Reading>, Error> {
        let other = |index: usize| {
            Error::InvalidArgument(format!(
                "{}: no reading of the digits of the one input; plan the program as a whole",
                self.describe(index)
            ))
        };
        let mut inputs = self.inputs();
        let input = inputs.next();
        if let Some(second) = inputs.next() {
            return Err(other(second));
        }
        let reading = |index: usize| {
            let Operation::Output(value) = self.nodes()[index].operation else { return Err(other(index)) };
            match &self.nodes()[value.index()].operation {
                Operation::Digits(of, reading) if Some(of.index()) == input => Ok(reading),
                _ => Err(other(value.index())),
            }
        };
        self.outputs().map(reading).collect()
    }
}

/// The readings of one ciphertext, all of the same digits.
#[derive(Debug, Clone, Copy)]
pub struct Readings<'a> {
    /// The readings, each once.
    pub list: &'a [&'a Reading],
    /// What is known of the numbers beyond what is assumed of all, if they are made of integers that were read.
    pub known: Option<Known>,
}

impl<'a> From<&'a [&'a Reading]> for Readings<'a> {
    fn from(list: &'a [&'a Reading]) -> Self {
        Self { list, known: None }
    }
}

/// How a set reads digits, for plans.
pub trait DigitReader: Debug + Send + Sync {
    /// The plan of readings of numbers at a scale: the level that they take, and the shapes of the results.
    ///
    /// # Errors
    /// Those for readings that the set does not have.
    fn plan(&self, scale: Scale, readings: Readings<'_>) -> Result<PlannedDigits, Error>;
}

/// The level at which numbers have their digits read, and the levels and scales of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedDigits {
    /// The lowest level at which the numbers are read.
    pub level: usize,
    /// Level and scale of each result.
    pub results: Vec<InputShape>,
    /// What is known of each result.
    pub known: Vec<Option<Known>>,
    /// Number of passes; each takes about as long as a bootstrap.
    pub passes: usize,
    /// Levels of the values that a reading holds at once, at most, beside its first result.
    pub held: Vec<usize>,
    /// log2 of the probability that any of the results is wrong, at most; `None` if nothing is known about it.
    pub log_failure: Option<f64>,
    /// How far apart compared numbers have to be for that probability; 0 where it does not matter.
    pub least_distance: f64,
    /// About how long it takes on one thread, by a model that was fitted to the times of `core/BENCHMARKS.md`: for choosing between two
    /// ways.
    pub seconds: f64,
}
