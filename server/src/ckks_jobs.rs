//! Jobs on CKKS ciphertexts, whatever the method that refreshes them.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use refloat::Error;
use refloat::bootstrapping::{MetaBootstrapper, Method, Rounds};
use refloat::circuits::program::{Plan, Target};
use refloat::schemes::ckks::Ciphertext;
use refloat::trace::Observer;
use refloat::wire::{self, CkksSet, WireWord};

use crate::engine::{
    BOOTSTRAP, JobSet, LoadError, LoadedKeys, PartReader, ReadPart, Runner, SetInfo, SlotMode, Task,
};
use crate::id::{Id, hex};
use crate::programs::{self, ProgramJob};

/// Operation: multiply by itself, relinearise and rescale, which takes a level.
pub const SQUARE: &str = "square";

/// Operation: evaluate a program, which comes with its inputs.
pub const PROGRAM: &str = "program";

/// A step of a job that consists of others than a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Square,
    Bootstrap,
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Square => SQUARE,
            Self::Bootstrap => BOOTSTRAP,
        }
    }

    /// The steps of a job; none for a program.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a program beside other operations, or another operation.
    fn of(task: &Task) -> Result<Option<Vec<Self>>, Error> {
        if task.only() == Some(PROGRAM) {
            return Ok(None);
        }
        let step = |name: &str| match name {
            SQUARE => Ok(Self::Square),
            BOOTSTRAP => Ok(Self::Bootstrap),
            PROGRAM => Err(Error::InvalidArgument(
                "a program is the only operation of its job; write the other operations into it".into(),
            )),
            other => Err(Error::InvalidArgument(format!("{other} is no operation on CKKS ciphertexts"))),
        };
        task.operations.iter().map(|operation| step(operation.name())).collect::<Result<_, _>>().map(Some)
    }
}

/// A bootstrapping method of CKKS as jobs use it: the checked parameters of a set.
pub trait CkksMethod: CkksSet + Send + Sync + 'static {
    /// As [`JobSet::operations`].
    const OPERATIONS: &'static [&'static str] = &[SQUARE, BOOTSTRAP];
    /// What computes, shared by all keys of the set.
    type Evaluator: Send + Sync + 'static;
    /// Evaluation keys, in memory or where they are read from.
    type Keys: Send + Sync + 'static;

    /// What computes.
    ///
    /// # Errors
    /// None for a set that was checked.
    fn evaluator(&self) -> Result<Self::Evaluator, Error>;

    /// Lowest level of a ciphertext that can be squared.
    fn square_level(&self) -> usize;

    /// As [`JobSet::verify_part`].
    ///
    /// # Errors
    /// As [`JobSet::verify_part`].
    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error>;

    /// Loads keys piece by piece.
    ///
    /// # Errors
    /// As [`JobSet::load`].
    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<Self::Keys, LoadError>;

    /// Opens keys that are read as they are used, where the set has no room for others.
    fn open(&self, key: Id, read: &PartReader) -> Option<Result<Self::Keys, Error>> {
        let _ = (key, read);
        None
    }

    /// Evaluator and keys, ready to refresh ciphertexts whose slots hold values of `mode`.
    fn bootstrapper<'a>(
        evaluator: &'a Self::Evaluator,
        keys: &'a Self::Keys,
        mode: SlotMode,
    ) -> impl Method<Self::Word> + 'a;

    /// The square of a ciphertext, relinearised and rescaled.
    ///
    /// # Errors
    /// Those of the evaluator.
    fn square(
        evaluator: &Self::Evaluator,
        x: &Ciphertext<Self::Word>,
        keys: &Self::Keys,
    ) -> Result<Ciphertext<Self::Word>, Error>;

    /// Checks that there is room for what a run of a plan holds.
    ///
    /// # Errors
    /// [`Error::Limit`] if there is not.
    fn check_plan(&self, plan: &Plan<'_>) -> Result<(), Error> {
        let _ = plan;
        Ok(())
    }

    /// Runs a plan for what [`CkksSet::program_target`] gives.
    ///
    /// # Errors
    /// Always for a method that runs no programs.
    fn run_plan(
        evaluator: &Self::Evaluator,
        keys: &Self::Keys,
        plan: &Plan<'_>,
        inputs: &[Ciphertext<Self::Word>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<Self::Word>>, Error> {
        let _ = (evaluator, keys, plan, inputs, observer);
        Err(no_programs())
    }
}

/// A CKKS set.
pub struct CkksJobs<P: CkksMethod> {
    set: Arc<Described<P>>,
    /// The evaluator, as long as keys of the set are loaded: what it precomputes takes up to gigabytes.
    evaluator: Mutex<Weak<P::Evaluator>>,
}

struct Described<P> {
    info: SetInfo,
    params: P,
}

/// Keys of a CKKS set, and what computes with them.
struct CkksRunner<P: CkksMethod> {
    set: Arc<Described<P>>,
    key: Id,
    evaluator: Arc<P::Evaluator>,
    keys: P::Keys,
}

impl<P: CkksMethod> CkksJobs<P> {
    /// The set of these parameters, which `info` describes.
    pub fn new(info: SetInfo, params: P) -> Self {
        Self { set: Arc::new(Described { info, params }), evaluator: Mutex::default() }
    }

    /// Keys in use.
    fn loaded(&self, key: Id, keys: P::Keys) -> Result<LoadedKeys, Error> {
        let mut known = self.evaluator.lock().unwrap_or_else(PoisonError::into_inner);
        let evaluator = match known.upgrade() {
            Some(evaluator) => evaluator,
            None => Arc::new(self.set.params.evaluator()?),
        };
        *known = Arc::downgrade(&evaluator);
        let set = Arc::clone(&self.set);
        Ok(LoadedKeys::new(set.info.expanded_key_bytes, CkksRunner { set, key, evaluator, keys }))
    }
}

impl<P: CkksMethod> JobSet for CkksJobs<P> {
    fn info(&self) -> &SetInfo {
        &self.set.info
    }

    fn operations(&self) -> &'static [&'static str] {
        P::OPERATIONS
    }

    fn largest_input(&self) -> usize {
        let Described { info, params } = self.set.as_ref();
        let program = P::OPERATIONS.contains(&PROGRAM);
        let program = program.then(|| programs::largest(params.ckks(), info.output_level));
        info.largest_ciphertext().max(program.unwrap_or(0))
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        self.set.params.verify_part(key, index, bytes)
    }

    fn check(&self, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error> {
        let Described { info, params } = self.set.as_ref();
        self.check_operations(&task.operations)?;
        check_mode(info, task.mode)?;
        let rounds = rounds(task, info.gain_bits)?;
        let Some(steps) = Step::of(task)? else {
            let (job, target) = program(params, input)?;
            let plan = job.plan(&target, key)?;
            params.check_plan(&plan)?;
            return Ok(programs::result_bytes(params.ckks(), &plan));
        };
        let levels =
            Levels { square: params.square_level(), input: info.input_level, output: info.output_level };
        let ciphertext = wire::ciphertext_from_bytes(params.ckks(), input)?;
        let level = check(levels, rounds, key, &ciphertext, &steps)?;
        Ok(wire::ciphertext_len(params.ckks(), level, 2) as u64)
    }

    fn load(&self, key: Id, read: ReadPart<'_>) -> Result<LoadedKeys, LoadError> {
        let keys = self.set.params.load(key, read)?;
        Ok(self.loaded(key, keys)?)
    }

    fn open(&self, key: Id, read: &PartReader) -> Option<Result<LoadedKeys, Error>> {
        let opened = self.set.params.open(key, read)?;
        Some(opened.and_then(|keys| self.loaded(key, keys)))
    }
}

impl<P: CkksMethod> Runner for CkksRunner<P> {
    fn run(&self, task: &Task, input: &[u8], observer: &mut dyn Observer) -> Result<Vec<u8>, Error> {
        let Self { set, key, evaluator, keys } = self;
        let rounds = rounds(task, set.info.gain_bits)?;
        let context = set.params.ckks();
        let Some(steps) = Step::of(task)? else {
            let (job, target) = program(&set.params, input)?;
            let outputs = P::run_plan(evaluator, keys, &job.plan(&target, *key)?, &job.inputs, observer)?;
            return programs::list_to_bytes(context, &outputs);
        };
        let method = P::bootstrapper(evaluator, keys, task.mode);
        let method = MetaBootstrapper::with(&method, rounds)?;
        let input = wire::ciphertext_from_bytes(context, input)?;
        check_key(*key, &input)?;
        let output = steps.into_iter().try_fold(input, |x, step| {
            if observer.is_cancelled() {
                return Err(Error::Cancelled(step.name().to_owned()));
            }
            match step {
                Step::Square => P::square(evaluator, &x, keys),
                Step::Bootstrap => method.bootstrap(&x, observer),
            }
        })?;
        wire::ciphertext_to_bytes(context, &output)
    }
}

/// Numbers and bits do not mix; real numbers are complex ones without an imaginary part.
///
/// # Errors
/// [`Error::InvalidArgument`] for values that the set does not refresh.
pub fn check_mode(info: &SetInfo, mode: SlotMode) -> Result<(), Error> {
    if (mode == SlotMode::Bits) == (info.mode == SlotMode::Bits) {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "slots were said to hold {} values, {} serves {}; choose another set",
        mode.name(),
        info.name,
        if info.mode == SlotMode::Bits { "bits" } else { "real and complex numbers" }
    )))
}

/// Levels that operations need and give.
#[derive(Debug, Clone, Copy)]
struct Levels {
    /// Lowest level of a ciphertext that can be squared.
    square: usize,
    /// Lowest level of a ciphertext that can be bootstrapped.
    input: usize,
    /// Level of a ciphertext that was bootstrapped once.
    output: usize,
}

/// The rounds that a task asks for, each after the first worth `gain_bits` bits, which sets of bits have none of.
///
/// # Errors
/// [`Error::InvalidArgument`] for more or fewer than there can be, and for rounds of something else than a bootstrap of
/// numbers.
fn rounds(task: &Task, gain_bits: Option<u32>) -> Result<Rounds, Error> {
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
            return refuse("is for numbers: what a bootstrap of bits gets wrong is no message of bits");
        }
    }
    Rounds::new(task.rounds, gain_bits.unwrap_or(1))
}

/// Checks that operations can be applied to a ciphertext, one after the other, and gives the level of the result.
///
/// # Errors
/// [`Error::ParamsMismatch`] for another key, [`Error::InvalidArgument`] for one that is not relinearised or an operation of
/// another scheme, [`Error::LevelMismatch`] where levels run out.
fn check<W: WireWord>(
    levels: Levels,
    rounds: Rounds,
    key: Id,
    ciphertext: &Ciphertext<W>,
    steps: &[Step],
) -> Result<usize, Error> {
    check_key(key, ciphertext)?;
    if ciphertext.components() != 2 {
        return Err(Error::InvalidArgument(format!(
            "the ciphertext has {} components, operations take 2; relinearise it first",
            ciphertext.components()
        )));
    }
    check_levels(levels, rounds, ciphertext.level(), steps)
}

/// A program with its inputs, and what it is to be planned for.
pub(crate) fn program<P: CkksSet>(params: &P, body: &[u8]) -> Result<(ProgramJob<P::Word>, Target), Error> {
    let target = params.program_target()?.ok_or_else(no_programs)?;
    Ok((ProgramJob::from_bytes(params.ckks(), body)?, target))
}

/// The error of a program for a set that runs none.
fn no_programs() -> Error {
    Error::InvalidArgument("the set runs no programs; take one that does, such as n16".into())
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

/// Follows the level through the steps, to that of the result.
fn check_levels(levels: Levels, rounds: Rounds, input: usize, steps: &[Step]) -> Result<usize, Error> {
    let output = rounds.output_level(levels.input, levels.output)?;
    let mut level = input;
    for (position, step) in steps.iter().enumerate() {
        let (needed, next) = match step {
            Step::Square => (levels.square, level.saturating_sub(1)),
            Step::Bootstrap => (levels.input, output),
        };
        if level < needed {
            return Err(Error::LevelMismatch(format!(
                "operation {} ({}) needs a ciphertext at level {needed} or above and would get one at level {level}; bootstrap it first{}",
                position + 1,
                step.name(),
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
    use crate::engine::Operation;

    #[test]
    fn levels_are_followed_through_a_job() {
        use Step::{Bootstrap, Square};
        let ship = Levels { square: 2, input: 1, output: 2 };
        let once = Rounds::new(1, 5).unwrap();
        let check_levels = |levels, input, steps: &[Step]| check_levels(levels, once, input, steps);
        assert!(check_levels(ship, 2, &[Square, Bootstrap, Square, Bootstrap]).is_ok());
        assert!(check_levels(ship, 1, &[Bootstrap]).is_ok());
        for (level, steps) in [(1, &[Square][..]), (0, &[Bootstrap]), (2, &[Square, Square])] {
            assert_eq!(check_levels(ship, level, steps).unwrap_err().code(), "LEVEL_MISMATCH");
        }
        let conventional = Levels { square: 1, input: 0, output: 3 };
        assert!(check_levels(conventional, 0, &[Bootstrap, Square, Square, Square, Bootstrap]).is_ok());
        assert!(check_levels(conventional, 2, &[Square, Square, Square]).is_err());
    }

    #[test]
    fn a_program_is_a_job_by_itself() {
        let of = |names: &str| {
            let operations = Operation::parse_list(names).unwrap();
            Step::of(&Task { mode: SlotMode::Real, operations, rounds: 1 })
        };
        assert_eq!(of("program").unwrap(), None);
        assert_eq!(of("square,bootstrap").unwrap().unwrap(), [Step::Square, Step::Bootstrap]);
        for bad in ["square,program", "program,program", "circuit"] {
            assert_eq!(of(bad).unwrap_err().code(), "INVALID_ARGUMENT", "{bad}");
        }
    }

    #[test]
    fn rounds_take_a_level_and_are_of_bootstraps_of_numbers() {
        use Step::{Bootstrap, Square};
        let task =
            |operation, rounds, mode| Task { mode, operations: vec![Operation::new(operation)], rounds };
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
