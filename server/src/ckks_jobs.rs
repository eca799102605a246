//! Jobs on CKKS ciphertexts, for every method of bootstrapping. Each job is a program, planned before it is queued and run by one machine.

mod steps;

use std::ops::ControlFlow;
use std::sync::Arc;

use refloat::Error;
use refloat::bootstrapping::{MetaBootstrapper, Method, program};
use refloat::circuits::program::{Plan, STAGE as ARITHMETIC};
use refloat::rlwe::{GaloisSource, RelinearizationSource, RlweContext, SampleBlock};
use refloat::trace::{Observer, StageEvent};
use refloat::wire::{self, CkksSet, WireWord};

use crate::engine::{
    BOOTSTRAP, Described, JobSet, LoadError, LoadedKeys, PartReader, ReadPart, Runner, SetInfo, SlotMode,
    Task,
};
use crate::id::Id;
use crate::programs::{PROGRAM, SQUARE};
use crate::shared::Shared;
use crate::{memory, programs};

pub use steps::check_mode;
use steps::{plan, rounds, written_out};

/// A bootstrapping method of CKKS as jobs use it: the checked parameters of a set.
pub trait CkksMethod: CkksSet + Send + Sync + 'static {
    /// The evaluator, shared by all keys of the set.
    type Evaluator: Send + Sync + 'static;
    /// Evaluation keys, in memory or where they are read from.
    type Keys: Send + Sync + 'static;

    /// Makes the evaluator.
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

    /// Opens keys that are read as they are used; `None` if the set has the memory to load them whole.
    fn open(&self, key: Id, read: &PartReader) -> Option<Result<Self::Keys, Error>> {
        let _ = (key, read);
        None
    }

    /// Evaluator and keys, ready to refresh ciphertexts whose slots hold values of `mode`.
    ///
    /// # Errors
    /// None for keys of the set.
    fn bootstrapper<'a>(
        evaluator: &'a Self::Evaluator,
        keys: &'a Self::Keys,
        mode: SlotMode,
    ) -> Result<impl Method<Self::Word> + 'a, Error>;

    /// The relinearisation key, if [`CkksSet::target`] has one.
    fn relinearization(keys: &Self::Keys) -> Option<impl RelinearizationSource<Self::Word>> {
        let _ = keys;
        None::<SampleBlock<Self::Word>>
    }

    /// Keys of rotations and conjugation, if [`CkksSet::target`] has any.
    fn galois(keys: &Self::Keys) -> Option<&dyn GaloisSource<Self::Word>> {
        let _ = keys;
        None
    }

    /// As [`JobSet::working_bytes`].
    fn working_bytes(&self) -> u64 {
        working_bytes(self.ckks().rlwe())
    }

    /// Whether bootstraps keep imaginary parts.
    fn keeps_imaginary_parts(&self) -> bool {
        true
    }

    /// Whether jobs may bring programs of their own, besides the named operations.
    fn runs_programs(&self) -> bool {
        false
    }

    /// Checks that there is room for all that a run of a plan holds.
    ///
    /// # Errors
    /// [`Error::Limit`] if there is not.
    fn check_plan(&self, plan: &Plan<'_>) -> Result<(), Error> {
        let _ = plan;
        Ok(())
    }
}

/// A CKKS set, as jobs use it.
pub struct CkksJobs<P: CkksMethod> {
    set: Arc<Described<P>>,
    operations: Vec<&'static str>,
    /// The evaluator, which exists while keys of the set are loaded.
    evaluator: Shared<P::Evaluator>,
}

/// Keys of a CKKS set, and the evaluator that uses them.
struct CkksRunner<P: CkksMethod> {
    set: Arc<Described<P>>,
    key: Id,
    evaluator: Arc<P::Evaluator>,
    keys: P::Keys,
}

impl<P: CkksMethod> CkksJobs<P> {
    /// The set of these parameters, which `info` describes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if they differ in levels or in what slots hold.
    pub fn new(info: SetInfo, params: P) -> Result<Self, Error> {
        let described = (info.input_level, info.output_level, info.mode);
        let own = (params.input_level(), params.output_level(), params.mode());
        if described != own {
            let in_words = |(input, output, mode): (usize, usize, SlotMode)| {
                format!("bootstraps of {} values from level {input} to {output}", mode.name())
            };
            return Err(Error::InvalidArgument(format!(
                "{}: the description says {}, the parameters {}; make them agree",
                info.name,
                in_words(described),
                in_words(own)
            )));
        }
        let target = params.target()?;
        let operations = [
            (SQUARE, target.relinearization().is_some()),
            (BOOTSTRAP, target.bootstrapping().is_some()),
            (PROGRAM, params.runs_programs()),
        ];
        let operations = operations.into_iter().filter_map(|(name, has)| has.then_some(name)).collect();
        Ok(Self { set: Arc::new(Described { info, params }), operations, evaluator: Shared::default() })
    }

    /// The evaluator of keys that are loaded, or a new one.
    fn evaluator(&self) -> Result<Arc<P::Evaluator>, Error> {
        self.evaluator.get(|| self.set.params.evaluator())
    }

    /// Loaded keys, with the runner that does jobs with them.
    fn loaded(&self, key: Id, keys: P::Keys) -> Result<LoadedKeys, Error> {
        let (set, evaluator) = (Arc::clone(&self.set), self.evaluator()?);
        Ok(LoadedKeys::new(set.info.expanded_key_bytes, CkksRunner { set, key, evaluator, keys }))
    }
}

impl<P: CkksMethod> JobSet for CkksJobs<P> {
    fn info(&self) -> &SetInfo {
        &self.set.info
    }

    fn operations(&self) -> &[&'static str] {
        &self.operations
    }

    fn working_bytes(&self) -> u64 {
        self.set.params.working_bytes()
    }

    fn largest_input(&self) -> usize {
        let Described { info, params } = self.set.as_ref();
        let program = params
            .runs_programs()
            .then(|| programs::largest(wire::ciphertext_len(params.ckks(), info.output_level, 2)));
        info.largest_ciphertext().max(program.unwrap_or(0))
    }

    fn verify_part(&self, key: Id, index: usize, bytes: &[u8]) -> Result<(), Error> {
        self.set.params.verify_part(key, index, bytes)
    }

    fn check(&self, key: Id, task: &Task, input: &[u8]) -> Result<u64, Error> {
        let Described { info, params } = self.set.as_ref();
        check_mode(info, task.mode)?;
        if task.mode == SlotMode::Complex && !params.keeps_imaginary_parts() {
            return Err(Error::InvalidArgument(format!(
                "slots were said to hold complex values, {} refreshes real numbers and loses imaginary parts; send real ones, or take \
                 another set",
                info.name
            )));
        }
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
        let method = P::bootstrapper(evaluator, keys, task.mode)?;
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

/// Polynomials modulo QP that a bootstrap holds at once beside keys and diagonals: the rotations of a linear map, their sums,
/// and digits, on two threads.
const WORKING_POLYNOMIALS: u64 = 128;

/// Bytes that a bootstrap of a chain takes beside keys and diagonals.
pub fn working_bytes<W: WireWord>(rlwe: &RlweContext<W>) -> u64 {
    let polynomial = size_of::<W>() * rlwe.qp(rlwe.max_level()).len() * rlwe.n();
    WORKING_POLYNOMIALS * polynomial as u64 + memory::BESIDE
}

/// Passes on the events of bootstraps alone: a job of named operations reports only the stages that its set lists.
pub(crate) struct OfBootstraps<'a>(pub &'a mut dyn Observer);

impl Observer for OfBootstraps<'_> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        if event.stage() == ARITHMETIC.id { ControlFlow::Continue(()) } else { self.0.event(event) }
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use refloat::params::ship_preset;

    use super::*;

    #[test]
    fn a_description_that_its_parameters_contradict_is_refused() {
        let preset = ship_preset("toy10").unwrap();
        let params = preset.params().unwrap();
        let info = preset.describe(&params);
        assert!(CkksJobs::new(info.clone(), params.clone()).is_ok());
        for wrong in [
            SetInfo { input_level: 0, ..info.clone() },
            SetInfo { output_level: 3, ..info.clone() },
            SetInfo { mode: SlotMode::Bits, ..info },
        ] {
            let error = CkksJobs::new(wrong, params.clone()).err().unwrap().to_string();
            assert!(error.contains("toy10") && error.contains("from level 1 to 2"), "{error}");
        }
    }

    #[test]
    fn keys_of_a_set_share_an_evaluator_as_long_as_there_are_any() {
        let preset = ship_preset("toy10").unwrap();
        let params = preset.params().unwrap();
        let set = CkksJobs::new(preset.describe(&params), params).unwrap();
        let first = set.evaluator().unwrap();
        assert!(Arc::ptr_eq(&first, &set.evaluator().unwrap()));
        let weak = Arc::downgrade(&first);
        drop(first);
        assert!(weak.upgrade().is_none() && set.evaluator().is_ok());
    }
}
