//! Jobs on CKKS ciphertexts, whatever the method that refreshes them: each is a program, planned before it waits and run by one
//! machine. Operations by name are nodes of a program on one ciphertext, which is written here.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use refloat::Error;
use refloat::bootstrapping::{MetaBootstrapper, Method, Rounds, program};
use refloat::circuits::program::{Bootstraps, Builder, Plan, Refreshed, STAGE as ARITHMETIC};
use refloat::rlwe::{GaloisSource, RelinearizationSource};
use refloat::trace::{Observer, StageEvent};
use refloat::wire::{self, CkksSet};

use crate::engine::{
    BOOTSTRAP, JobSet, LoadError, LoadedKeys, PartReader, ReadPart, Runner, SetInfo, SlotMode, Task,
};
use crate::id::Id;
use crate::programs::{self, ProgramJob};

/// Operation: multiply by itself, relinearise and rescale, which takes a level.
pub const SQUARE: &str = "square";

/// Operation: evaluate a program, which comes with its inputs.
pub const PROGRAM: &str = "program";

/// A bootstrapping method of CKKS as jobs use it: the checked parameters of a set.
pub trait CkksMethod: CkksSet + Send + Sync + 'static {
    /// What computes, shared by all keys of the set.
    type Evaluator: Send + Sync + 'static;
    /// Evaluation keys, in memory or where they are read from.
    type Keys: Send + Sync + 'static;

    /// What computes.
    ///
    /// # Errors
    /// None for a set that was checked.
    fn evaluator(&self) -> Result<Self::Evaluator, Error>;

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

    /// The relinearisation key, if there is one.
    fn relinearization(keys: &Self::Keys) -> Option<impl RelinearizationSource<Self::Word>>;

    /// Keys of rotations and conjugation that programs may use, if there are any.
    fn galois(keys: &Self::Keys) -> Option<&dyn GaloisSource<Self::Word>> {
        let _ = keys;
        None
    }

    /// Checks that there is room for what a run of a plan holds.
    ///
    /// # Errors
    /// [`Error::Limit`] if there is not.
    fn check_plan(&self, plan: &Plan<'_>) -> Result<(), Error> {
        let _ = plan;
        Ok(())
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
        if self.set.params.runs_programs() { &[SQUARE, BOOTSTRAP, PROGRAM] } else { &[SQUARE, BOOTSTRAP] }
    }

    fn largest_input(&self) -> usize {
        let Described { info, params } = self.set.as_ref();
        let program = params.runs_programs().then(|| programs::largest(params.ckks(), info.output_level));
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
        let job = written_out(params, task, input)?;
        let plan = plan(params, &job, rounds, key)?;
        params.check_plan(&plan)?;
        Ok(programs::result_bytes(params.ckks(), &plan))
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
        let Described { info, params } = set.as_ref();
        let rounds = rounds(task, info.gain_bits)?;
        let job = written_out(params, task, input)?;
        let plan = plan(params, &job, rounds, *key)?;
        let method = P::bootstrapper(evaluator, keys, task.mode);
        let method = MetaBootstrapper::with(&method, rounds)?;
        let relinearization = P::relinearization(keys);
        let relinearization = relinearization.as_ref().map(|key| key as &dyn RelinearizationSource<P::Word>);
        let mut bootstraps = OfBootstraps(observer);
        let observer: &mut dyn Observer =
            if task.only() == Some(PROGRAM) { bootstraps.0 } else { &mut bootstraps };
        let outputs = program::run(&plan, &method, relinearization, P::galois(keys), &job.inputs, observer)?;
        programs::list_to_bytes(params.ckks(), &outputs)
    }
}

/// Passes on what bootstraps report: the stages of a job of operations by name are those of the set.
struct OfBootstraps<'a>(&'a mut dyn Observer);

impl Observer for OfBootstraps<'_> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if event.stage() == ARITHMETIC.id { ControlFlow::Continue(()) } else { self.0.event(event) }
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// The program that a job is: the one it brings, or its operations one after the other on its only ciphertext.
fn written_out<P: CkksSet>(params: &P, task: &Task, body: &[u8]) -> Result<ProgramJob<P::Word>, Error> {
    if task.only() == Some(PROGRAM) {
        return ProgramJob::from_bytes(params.ckks(), body);
    }
    let mut builder = Builder::new();
    let mut x = builder.input("ciphertext");
    for operation in &task.operations {
        x = match operation.name() {
            SQUARE => builder.multiply(x, x),
            BOOTSTRAP => builder.bootstrap(x),
            PROGRAM => {
                return Err(Error::InvalidArgument(
                    "a program is the only operation of its job; write the other operations into it".into(),
                ));
            }
            other => {
                return Err(Error::InvalidArgument(format!("{other} is no operation on CKKS ciphertexts")));
            }
        };
    }
    builder.output("result", x);
    let inputs = vec![wire::ciphertext_from_bytes(params.ckks(), body)?];
    Ok(ProgramJob { program: builder.finish()?, bootstraps: Bootstraps::AsWritten, inputs })
}

/// A plan of a job whose bootstraps are of `rounds`.
fn plan<'j, P: CkksSet>(
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
    let target = target.with_bootstrapping(input, left).with_refreshed(Refreshed::OfInput);
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

#[cfg(test)]
mod tests {
    use refloat::bootstrapping::ckks_ship::{ShipParams, ShipSecretKey};
    use refloat::bootstrapping::method::NumberSecret;
    use refloat::params::preset;
    use refloat::random::Seed;

    use super::*;
    use crate::engine::Operation;

    fn ship() -> ShipParams {
        preset("toy10").unwrap().params().unwrap()
    }

    fn task(operations: &str, rounds: u32, mode: SlotMode) -> Task {
        Task { mode, operations: Operation::parse_list(operations).unwrap(), rounds }
    }

    /// What a job on a ciphertext of a level leaves.
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
