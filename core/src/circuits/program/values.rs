//! Results of the steps of a running plan, each kept until no later step needs it.

use alloc::{format, vec::Vec};

use super::{Program, steps::Register};
use crate::error::Error;

/// For each step, the last one that uses its result: past the end for outputs, and the step itself if none does. `operands` are those of
/// each step.
pub(super) fn last_uses(
    operands: impl ExactSizeIterator<Item = Vec<Register>>,
    outputs: &[Register],
) -> Vec<usize> {
    let mut last_uses: Vec<usize> = (0..operands.len()).collect();
    for (at, operands) in operands.enumerate() {
        for register in operands {
            last_uses[register] = at;
        }
    }
    for &register in outputs {
        last_uses[register] = usize::MAX;
    }
    last_uses
}

/// Refuses another number of ciphertexts than a program has inputs.
pub(super) fn check_count(given: usize, program: &Program) -> Result<(), Error> {
    let wanted = program.inputs().count();
    if given == wanted {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{given} ciphertexts for a program of {wanted} inputs; give one for each, in the order of the program"
    )))
}

/// Refuses another number of ciphertexts than a plan was made for.
pub(super) fn check_planned(given: usize, planned: usize) -> Result<(), Error> {
    if given == planned {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{given} ciphertexts for a plan of {planned} inputs; give those it was made for"
    )))
}

/// What a machine holds, or [`Error::MissingKey`] with these words.
pub(super) fn needed<T>(held: Option<T>, without: &str) -> Result<T, Error> {
    held.ok_or_else(|| Error::MissingKey(without.into()))
}

/// Results by step, each from when it is known until nothing needs it any more.
pub(super) struct Values<T>(Vec<Option<T>>);

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone> Values<T> {
    /// The index of the step that comes next.
    pub fn at(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, register: Register) -> Result<&T, Error> {
        self.0.get(register).and_then(Option::as_ref).ok_or_else(|| gone(register))
    }

    /// Takes in the result of the next step, and drops values that no later step needs.
    pub fn push(&mut self, value: T, operands: Vec<Register>, last_uses: &[usize]) {
        let at = self.at();
        self.0.push(Some(value));
        for register in operands.into_iter().chain([at]) {
            if last_uses[register] == at {
                self.0[register] = None;
            }
        }
    }

    /// An error unless all of `steps` steps are done.
    pub fn check_done(&self, steps: usize) -> Result<(), Error> {
        let done = self.at();
        if done == steps {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{done} of {steps} steps of the program are done; do the others before you take its outputs"
        )))
    }

    /// An error unless one of `steps` steps is left.
    pub fn check_left(&self, steps: usize) -> Result<(), Error> {
        if self.at() < steps {
            return Ok(());
        }
        Err(Error::InvalidArgument("all steps of the program are done; take its outputs".into()))
    }

    /// The results that are outputs, when all steps are done.
    pub fn take(&mut self, outputs: &[Register]) -> Result<Vec<T>, Error> {
        let out = outputs.iter().enumerate().map(|(i, &register)| {
            if outputs[i + 1..].contains(&register) {
                return self.get(register).cloned();
            }
            self.0.get_mut(register).and_then(Option::take).ok_or_else(|| gone(register))
        });
        out.collect()
    }
}

/// The error for a value that is needed after it was dropped.
pub(super) fn gone(register: Register) -> Error {
    Error::InvalidArgument(format!("value {register} is not there any more; plan the program anew"))
}
