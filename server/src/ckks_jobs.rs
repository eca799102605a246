//! What jobs on CKKS ciphertexts have in common, whatever the method that refreshes them.

use refloat::Error;
use refloat::bootstrapping::Rounds;
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::Observer;
use refloat::wire::WireWord;

use crate::engine::{Operation, SlotMode, Task};
use crate::id::{Id, hex};

/// Levels that operations need and give.
#[derive(Debug, Clone, Copy)]
pub struct Levels {
    /// Lowest level of a ciphertext that can be squared.
    pub square: usize,
    /// Lowest level of a ciphertext that can be bootstrapped.
    pub input: usize,
    /// Level of a ciphertext that was bootstrapped once.
    pub output: usize,
}

/// The rounds that a task asks for, each after the first worth `gain_bits` bits.
///
/// # Errors
/// [`Error::InvalidArgument`] for more or fewer than there can be, and for rounds of something else than a bootstrap of
/// numbers.
pub fn rounds(task: &Task, gain_bits: u32) -> Result<Rounds, Error> {
    let refuse =
        |why: &str| Err(Error::InvalidArgument(format!("rounds={} {why}; leave it out", task.rounds)));
    if task.rounds > 1 {
        if task.operations.contains(&Operation::Program) {
            return refuse(
                "is for jobs of op=bootstrap, and the bootstraps of a program take one round each",
            );
        }
        if task.bootstraps() == 0 {
            return refuse("was given and no bootstrap to be done in rounds");
        }
        if task.mode == SlotMode::Bits {
            return refuse("is for numbers: what a bootstrap of bits gets wrong is no message of bits");
        }
    }
    Rounds::new(task.rounds, gain_bits)
}

/// Checks that operations can be applied to a ciphertext, one after the other, and gives the level of the result.
///
/// # Errors
/// [`Error::ParamsMismatch`] for another key, [`Error::InvalidArgument`] for one that is not relinearised or an operation of
/// another scheme, [`Error::LevelMismatch`] where levels run out.
pub fn check<W: WireWord>(
    levels: Levels,
    rounds: Rounds,
    key: Id,
    ciphertext: &Ciphertext<W>,
    operations: &[Operation],
) -> Result<usize, Error> {
    check_key(key, ciphertext)?;
    if ciphertext.components() != 2 {
        return Err(Error::InvalidArgument(format!(
            "the ciphertext has {} components, operations take 2; relinearise it first",
            ciphertext.components()
        )));
    }
    check_levels(levels, rounds, ciphertext.level(), operations)
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

/// Follows the level through the operations, to that of the result.
fn check_levels(
    levels: Levels,
    rounds: Rounds,
    input: usize,
    operations: &[Operation],
) -> Result<usize, Error> {
    let output = rounds.output_level(levels.input, levels.output)?;
    let mut level = input;
    for (position, operation) in operations.iter().enumerate() {
        let (needed, next) = match operation {
            Operation::Square => (levels.square, level.saturating_sub(1)),
            Operation::Bootstrap => (levels.input, output),
            Operation::Circuit | Operation::LookUp => return Err(no_circuit()),
            Operation::Program => return Err(program_alone()),
        };
        if level < needed {
            return Err(Error::LevelMismatch(format!(
                "operation {} ({}) needs a ciphertext at level {needed} or above and would get one at level {level}; bootstrap it first{}",
                position + 1,
                operation.name(),
                if output < levels.output {
                    format!(
                        ", in 1 round: {} leave level {output} and 1 leaves {}",
                        rounds.count(),
                        levels.output
                    )
                } else {
                    String::new()
                }
            )));
        }
        level = next;
    }
    Ok(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_followed_through_a_job() {
        use Operation::{Bootstrap, Circuit, Square};
        let ship = Levels { square: 2, input: 1, output: 2 };
        let once = Rounds::new(1, 5).unwrap();
        let check_levels =
            |levels, input, operations: &[Operation]| check_levels(levels, once, input, operations);
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

    #[test]
    fn rounds_take_a_level_and_are_of_bootstraps_of_numbers() {
        use Operation::{Bootstrap, Program, Square};
        let task =
            |operations: &[Operation], rounds, mode| Task { mode, operations: operations.to_vec(), rounds };
        let real = |rounds| super::rounds(&task(&[Bootstrap], rounds, SlotMode::Real), 18);
        assert_eq!(real(2).unwrap().gained_bits(), 18);
        for wrong in [0, 5, 1000, u32::MAX] {
            let error = real(wrong).unwrap_err().to_string();
            assert!(error.contains(&wrong.to_string()) && error.contains("1 to 4 rounds"), "{error}");
        }
        for wrong in [
            task(&[Square], 2, SlotMode::Real),
            task(&[Program], 2, SlotMode::Real),
            task(&[Bootstrap], 2, SlotMode::Bits),
        ] {
            assert_eq!(super::rounds(&wrong, 18).unwrap_err().code(), "INVALID_ARGUMENT", "{wrong:?}");
        }
        let (two, ship) = (real(2).unwrap(), Levels { square: 2, input: 1, output: 2 });
        assert!(check_levels(ship, two, 1, &[Bootstrap, Bootstrap]).is_ok());
        let error = check_levels(ship, two, 1, &[Bootstrap, Square]).unwrap_err();
        assert!(error.to_string().contains("2 leave level 1 and 1 leaves 2"), "{error}");
        let flat = Levels { square: 1, input: 1, output: 1 };
        let error = check_levels(flat, two, 1, &[Bootstrap]).unwrap_err();
        assert_eq!(error.code(), "LEVEL_MISMATCH");
        assert!(error.to_string().contains("2 rounds") && error.to_string().contains("level 2"), "{error}");
    }
}
