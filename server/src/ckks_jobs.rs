//! What jobs on CKKS ciphertexts have in common, whatever the method that refreshes them.

use refloat::Error;
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::Observer;
use refloat::wire::WireWord;

use crate::engine::{Operation, Task};
use crate::id::{Id, hex};

/// Levels that operations need and give.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    /// Lowest level of a ciphertext that can be squared.
    pub square: usize,
    /// Lowest level of a ciphertext that can be bootstrapped.
    pub input: usize,
    /// Level of a bootstrapped ciphertext.
    pub output: usize,
}

/// Checks that operations can be applied to a ciphertext, one after the other.
///
/// # Errors
/// [`Error::ParamsMismatch`] for another key, [`Error::InvalidArgument`] for one that is not relinearised or an operation of
/// another scheme, [`Error::LevelMismatch`] where levels run out.
pub fn check<W: WireWord>(
    levels: Levels,
    key: Id,
    ciphertext: &Ciphertext<W>,
    operations: &[Operation],
) -> Result<(), Error> {
    check_key(key, ciphertext)?;
    if ciphertext.components() != 2 {
        return Err(Error::InvalidArgument(format!(
            "the ciphertext has {} components, operations take 2; relinearise it first",
            ciphertext.components()
        )));
    }
    check_levels(levels, ciphertext.level(), operations)
}

/// Applies the operations of a task in order; `step` does one.
///
/// # Errors
/// As the operations; [`Error::Cancelled`] if the observer says so.
pub fn apply<W: WireWord>(
    key: Id,
    task: &Task,
    input: Ciphertext<W>,
    observer: &mut dyn Observer,
    step: impl Fn(Operation, &Ciphertext<W>, &mut dyn Observer) -> Result<Ciphertext<W>, Error>,
) -> Result<Ciphertext<W>, Error> {
    check_key(key, &input)?;
    task.operations.iter().try_fold(input, |ciphertext, &operation| {
        if observer.is_cancelled() {
            return Err(Error::Cancelled(operation.name().to_owned()));
        }
        step(operation, &ciphertext, observer)
    })
}

/// The error of an operation that is not for CKKS ciphertexts.
pub fn no_circuit() -> Error {
    Error::InvalidArgument(
        "circuits and look-ups take ciphertexts of a DM/CGGI set such as bool-128, not CKKS ciphertexts"
            .into(),
    )
}

/// The error of a program beside other operations, or on a set that runs none.
pub fn program_alone() -> Error {
    Error::InvalidArgument(
        "a program is the only operation of its job and takes a set for conventional bootstrapping such as n16; write the \
         other operations into the program"
            .into(),
    )
}

fn check_key<W: WireWord>(key: Id, ciphertext: &Ciphertext<W>) -> Result<(), Error> {
    if ciphertext.key_id() == key.0 {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "the ciphertext is under key {}, the evaluation keys belong to {key}; use those of the ciphertext's key",
        hex(&ciphertext.key_id())
    )))
}

/// Follows the level through the operations.
fn check_levels(levels: Levels, input: usize, operations: &[Operation]) -> Result<(), Error> {
    let mut level = input;
    for (position, operation) in operations.iter().enumerate() {
        let (needed, next) = match operation {
            Operation::Square => (levels.square, level.saturating_sub(1)),
            Operation::Bootstrap => (levels.input, levels.output),
            Operation::Circuit | Operation::LookUp => return Err(no_circuit()),
            Operation::Program => return Err(program_alone()),
        };
        if level < needed {
            return Err(Error::LevelMismatch(format!(
                "operation {} ({}) needs a ciphertext at level {needed} or above and would get one at level {level}; bootstrap it first",
                position + 1,
                operation.name()
            )));
        }
        level = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_followed_through_a_job() {
        use Operation::{Bootstrap, Circuit, Square};
        let ship = Levels { square: 2, input: 1, output: 2 };
        assert!(check_levels(ship, 2, &[Square, Bootstrap, Square, Bootstrap]).is_ok());
        assert!(check_levels(ship, 1, &[Bootstrap]).is_ok());
        for (level, operations) in [(1, &[Square][..]), (0, &[Bootstrap]), (2, &[Square, Square])] {
            assert_eq!(check_levels(ship, level, operations).unwrap_err().code(), "LEVEL_MISMATCH");
        }
        let conventional = Levels { square: 1, input: 0, output: 3 };
        assert!(check_levels(conventional, 0, &[Bootstrap, Square, Square, Square, Bootstrap]).is_ok());
        assert!(check_levels(conventional, 2, &[Square, Square, Square]).is_err());
        assert_eq!(check_levels(conventional, 2, &[Circuit]).unwrap_err().code(), "INVALID_ARGUMENT");
    }
}
