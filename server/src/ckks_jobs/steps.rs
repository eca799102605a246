//! The program that a job is, and its plan. Named operations are nodes of a program on one ciphertext.

use refloat::Error;
use refloat::bootstrapping::Rounds;
use refloat::circuits::program::{Bootstraps, Plan, Refreshed};
use refloat::wire::{self, CkksSet};

use crate::engine::{BOOTSTRAP, SetInfo, SlotMode, Task};
use crate::id::Id;
use crate::programs::{PROGRAM, ProgramJob, SQUARE, of_operations};

/// The program that a job is: the one it brings, or its operations one after the other on its only ciphertext.
pub fn written_out<P: CkksSet>(params: &P, task: &Task, body: &[u8]) -> Result<ProgramJob<P::Word>, Error> {
    if task.only() == Some(PROGRAM) {
        return ProgramJob::from_bytes(params.ckks(), body);
    }
    let program = of_operations(&task.operations, &[SQUARE, BOOTSTRAP])?;
    let inputs = vec![wire::ciphertext_from_bytes(params.ckks(), body)?];
    Ok(ProgramJob { program, bootstraps: Bootstraps::AsWritten, inputs })
}

/// The plan of a job whose bootstraps take `rounds`.
pub fn plan<'j, P: CkksSet>(
    params: &P,
    job: &'j ProgramJob<P::Word>,
    rounds: Rounds,
    key: Id,
) -> Result<Plan<'j>, Error> {
    let target = params.target()?;
    let (input, output) = (params.input_level(), params.output_level());
    if rounds.count() == 1 {
        return job.plan(&target, key);
    }
    let left = rounds.output_level(input, output)?;
    // Each round is a bootstrap that may fail.
    let failure = target.failure().map(|one| one + f64::from(rounds.count()).log2());
    let target =
        target.with_bootstrapping(input, left).with_refreshed(Refreshed::OfInput).with_failure(failure);
    job.plan(&target, key).map_err(|error| match error {
        Error::LevelMismatch(message) => Error::LevelMismatch(format!(
            "{message}; or take 1 round: {} leave level {left} and 1 leaves {output}",
            rounds.count()
        )),
        other => other,
    })
}

/// Numbers and bits do not mix; real numbers are complex ones without an imaginary part.
///
/// # Errors
/// [`Error::InvalidArgument`] for values that the set does not refresh.
pub fn check_mode(info: &SetInfo, mode: SlotMode) -> Result<(), Error> {
    if info.mode.takes(mode) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "slots were said to hold {} values, {} serves {}; choose another set",
        mode.name(),
        info.name,
        info.mode.kind()
    )))
}

/// The rounds that a task asks for. Each one after the first gains `gain_bits` bits; `None` if further rounds gain nothing.
///
/// # Errors
/// [`Error::InvalidArgument`] for a number of rounds that is not possible, and for several rounds of anything but a bootstrap of numbers.
pub fn rounds(task: &Task, gain_bits: Option<u32>) -> Result<Rounds, Error> {
    let refuse =
        |why: &str| Err(Error::InvalidArgument(format!("rounds={} {why}; leave it out", task.rounds)));
    if task.rounds > 1 {
        if task.only() == Some(PROGRAM) {
            return refuse(
                "is for jobs of op=bootstrap, and the bootstraps of a program take one round each",
            );
        }
        if task.bootstraps() == 0 {
            return refuse("was given and no bootstrap to be done in rounds");
        }
        if task.mode == SlotMode::Bits {
            return refuse("is for numbers: what a bootstrap of bits gets wrong is not a message of bits");
        }
        if gain_bits.is_none() {
            return refuse("was given, and rounds gain nothing with this set");
        }
    }
    Rounds::new(task.rounds, gain_bits.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
    use refloat::bootstrapping::method::NumberSecret;
    use refloat::params::ship_preset;
    use refloat::random::Seed;

    use super::*;
    use crate::engine::Operation;

    fn ship() -> ShipParams {
        ship_preset("toy10").unwrap().params().unwrap()
    }

    fn task(operations: &str, rounds: u32, mode: SlotMode) -> Task {
        Task { mode, operations: Operation::parse_list(operations).unwrap(), rounds }
    }

    /// The level that a job on a ciphertext of `level` leaves.
    fn left(level: usize, operations: &str, rounds: u32) -> Result<usize, Error> {
        let params = ship();
        let secret = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let x = secret.encrypt_numbers(&[0.5], SlotMode::Real, level, &Seed::from_bytes([2; 32]))?;
        let body = wire::ciphertext_to_bytes(params.ckks(), &x)?;
        let job = written_out(&params, &task(operations, rounds, SlotMode::Real), &body)?;
        let plan = plan(&params, &job, Rounds::new(rounds, 5)?, Id(x.key_id()))?;
        Ok(plan.outputs().next().unwrap().level)
    }

    #[test]
    fn levels_are_followed_through_a_job() {
        assert_eq!(left(2, "square,bootstrap,square,bootstrap", 1), Ok(2));
        assert_eq!((left(2, "bootstrap", 1), left(1, "bootstrap,square", 1)), (Ok(2), Ok(1)));
        for (level, operations) in [(1, "square"), (0, "bootstrap"), (2, "square,square")] {
            let error = left(level, operations, 1).unwrap_err();
            assert_eq!(error.code(), "LEVEL_MISMATCH", "{operations} at {level}: {error}");
        }
    }

    #[test]
    fn a_program_is_a_job_by_itself() {
        for bad in ["square,program", "program,program", "circuit"] {
            assert_eq!(left(2, bad, 1).unwrap_err().code(), "INVALID_ARGUMENT", "{bad}");
        }
    }

    #[test]
    fn rounds_take_a_level_and_are_of_bootstraps_of_numbers() {
        let real = |rounds| super::rounds(&task(BOOTSTRAP, rounds, SlotMode::Real), Some(18));
        assert_eq!(real(2).unwrap().gained_bits(), 18);
        for wrong in [0, 5, 1000, u32::MAX] {
            let error = real(wrong).unwrap_err().to_string();
            assert!(error.contains(&wrong.to_string()) && error.contains("1 to 4 rounds"), "{error}");
        }
        for wrong in [
            task(SQUARE, 2, SlotMode::Real),
            task(PROGRAM, 2, SlotMode::Real),
            task(BOOTSTRAP, 2, SlotMode::Bits),
        ] {
            assert_eq!(super::rounds(&wrong, Some(18)).unwrap_err().code(), "INVALID_ARGUMENT", "{wrong:?}");
        }
        assert_eq!(left(1, "bootstrap,bootstrap", 2), Ok(1));
        let error = left(1, "bootstrap,square", 2).unwrap_err();
        assert_eq!(error.code(), "LEVEL_MISMATCH");
        assert!(error.to_string().contains("2 leave level 1 and 1 leaves 2"), "{error}");
    }
}
