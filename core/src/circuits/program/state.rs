//! The state of a running plan, and runs that pause between steps.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use super::{
    Machine, Operation, Plan, Reading, Readings,
    run::{Run, STAGE},
    steps::{Action, Register},
    values::{Values, gone},
};
use crate::{
    arith::Word,
    error::Error,
    schemes::ckks::{Ciphertext, CkksEvaluator},
    trace::{Counters, Observer, StageEvent, emit},
};

/// What a run of a plan waits for.
pub enum Pending<'a, W: Word> {
    /// An operation on ciphertexts, which [`ProgramRun::compute`] does.
    Arithmetic,
    /// A bootstrap of this ciphertext, for [`ProgramRun::supply`].
    Refresh(&'a Ciphertext<W>),
    /// Readings of the digits of this ciphertext, or answers about the order of its slots, for [`ProgramRun::supply`].
    Digits(&'a Ciphertext<W>, PendingReadings<'a>),
    /// Nothing: [`ProgramRun::finish`] has the outputs.
    Nothing,
}

/// Readings of a ciphertext, all of the same digits.
pub struct PendingReadings<'a> {
    list: Vec<&'a Reading>,
    known: Option<super::Known>,
}

impl PendingReadings<'_> {
    /// The readings as methods take them.
    pub fn readings(&self) -> Readings<'_> {
        Readings { list: &self.list, known: self.known }
    }
}

/// A run of a plan that stops between its steps and leaves bootstraps to the caller, who may do them a stage at a time. It gives what
/// [`Plan::run`] gives, and reports the same.
pub struct ProgramRun<W: Word> {
    plan: Plan<'static>,
    inputs: Vec<Ciphertext<W>>,
    state: State<W>,
}

impl<W: Word> ProgramRun<W> {
    /// Begins a run of `plan`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::ParamsMismatch`] for inputs other than those the plan was made for.
    pub fn new(plan: Plan<'static>, inputs: Vec<Ciphertext<W>>) -> Result<Self, Error> {
        plan.check_inputs(&inputs)?;
        Ok(Self { plan, inputs, state: State::default() })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan<'static> {
        &self.plan
    }

    /// Number of steps of the plan that are done.
    pub fn done(&self) -> usize {
        self.state.at()
    }

    /// What comes next. Before a bootstrap the observer sees the end of the arithmetic.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer says so.
    pub fn next(&mut self, observer: &mut dyn Observer) -> Result<Pending<'_, W>, Error> {
        let Some(step) = self.plan.steps.get(self.state.at()) else { return Ok(Pending::Nothing) };
        match &step.action {
            Action::Refresh(x) => {
                self.state.end_segment(observer)?;
                Ok(Pending::Refresh(self.state.values.get(*x)?))
            }
            Action::Digits(x, nodes, known) => {
                self.state.end_segment(observer)?;
                let readings = PendingReadings { list: self.plan.readings_of(nodes)?, known: *known };
                Ok(Pending::Digits(self.state.values.get(*x)?, readings))
            }
            _ => Ok(Pending::Arithmetic),
        }
    }

    /// Does the operation that comes next; the machine needs no bootstrap.
    ///
    /// # Errors
    /// As [`Plan::run`]; [`Error::MissingKey`] if what comes next is a bootstrap that the machine does not have, and
    /// [`Error::InvalidArgument`] if nothing is left.
    pub fn compute(&mut self, machine: &Machine<'_, W>, observer: &mut dyn Observer) -> Result<(), Error> {
        let Self { plan, inputs, state } = self;
        state.values.check_left(plan.steps.len())?;
        Run { plan, machine, inputs, state, relinearization: None }.step(observer)
    }

    /// Takes the result of the bootstrap that comes next, or those of the readings, in their order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless a bootstrap or readings come next, and for another number of results; [`Error::ScaleMismatch`] for
    /// a result at another scale or a lower level than planned.
    pub fn supply(&mut self, evaluator: &CkksEvaluator<W>, results: Vec<Ciphertext<W>>) -> Result<(), Error> {
        let at = self.state.at();
        match self.plan.steps.get(at).map(|step| &step.action) {
            Some(Action::Refresh(_) | Action::Digits(..)) => {}
            _ => {
                return Err(Error::InvalidArgument(
                    "results of a bootstrap or of readings, and neither comes next; ask what does".into(),
                ));
            }
        }
        self.state.settle(&self.plan, evaluator, results).map_err(|error| error.within(&self.plan.place(at)))
    }

    /// The outputs, in the order of the program; the observer sees the end of the arithmetic.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left; [`Error::Cancelled`] if the observer says so.
    pub fn finish(mut self, observer: &mut dyn Observer) -> Result<Vec<Ciphertext<W>>, Error> {
        self.state.values.check_done(self.plan.steps.len())?;
        self.state.finish(&self.plan, observer)
    }
}

impl Plan<'_> {
    /// The node of a step, in words.
    pub(super) fn place(&self, at: usize) -> String {
        self.program().describe(self.origin(self.steps[at].node))
    }

    /// The readings of nodes.
    pub(super) fn readings_of(&self, nodes: &[usize]) -> Result<Vec<&Reading>, Error> {
        let reading = |&node: &usize| match &self.graph().nodes()[node].operation {
            Operation::Digits(_, reading) => Ok(reading),
            _ => Err(Error::InvalidArgument(
                "a step of another operation than its node: a bug of the planner".into(),
            )),
        };
        nodes.iter().map(reading).collect()
    }
}

/// A run of the operations between two bootstraps.
pub(super) struct Segment {
    pub counters: Counters,
    pub level: usize,
    pub log_q: f64,
    pub log_scale: f64,
}

/// Results of a step that are steps of their own, each until it is taken.
type Parts<W> = Vec<Option<Ciphertext<W>>>;

/// The results of the steps so far.
pub(super) struct State<W: Word> {
    pub values: Values<Ciphertext<W>>,
    pub segment: Option<Segment>,
    /// Results that a step read beside its own, until the steps they belong to take them.
    parts: BTreeMap<Register, Parts<W>>,
}

impl<W: Word> Default for State<W> {
    fn default() -> Self {
        Self { values: Values::default(), segment: None, parts: BTreeMap::new() }
    }
}

impl<W: Word> State<W> {
    /// The index of the step that comes next.
    pub fn at(&self) -> usize {
        self.values.at()
    }

    /// Takes a result that a step read beside its own.
    pub fn part(&mut self, x: Register, i: usize) -> Result<Ciphertext<W>, Error> {
        let place = self.parts.get_mut(&x).and_then(|parts| parts.get_mut(i - 1));
        place.and_then(Option::take).ok_or_else(|| gone(x))
    }

    pub fn end_segment(&mut self, observer: &mut dyn Observer) -> Result<(), Error> {
        let Some(Segment { counters, level, log_q, log_scale }) = self.segment.take() else { return Ok(()) };
        emit(observer, &StageEvent::Exit { stage: STAGE.id, level, log_q, log_scale, counters })
    }

    /// Takes in the results of the next step, and drops values that no later step needs.
    pub fn settle(
        &mut self,
        plan: &Plan<'_>,
        evaluator: &CkksEvaluator<W>,
        results: Vec<Ciphertext<W>>,
    ) -> Result<(), Error> {
        let (at, found) = (self.at(), results.len());
        let step = &plan.steps[at];
        let wanted = if let Action::Digits(_, nodes, _) = &step.action { nodes.len() } else { 1 };
        let mut results = results.into_iter();
        let out = results.next().filter(|_| found == wanted).ok_or_else(|| {
            Error::InvalidArgument(format!("{found} results of {wanted} readings: a bug of the set"))
        })?;
        if out.level() < step.level || !out.scale().matches(step.scale) {
            return Err(Error::ScaleMismatch(format!(
                "the result is at level {} and scale 2^{:.6}, and was planned for level {} and 2^{:.6}; plan for the set and \
                 the method that evaluate",
                out.level(),
                out.log_scale(),
                step.level,
                step.scale.log2()
            )));
        }
        if wanted > 1 {
            self.parts.insert(at, results.map(Some).collect());
        }
        let out = evaluator.drop_to_level(&out, step.level)?;
        // A job of one operation gives exactly what that operation gives, so its scale is kept if the plan's differs by rounding alone.
        let exact = out.scale().differs_by_rounding(step.scale);
        let out = if exact { out } else { out.relabelled(step.scale) };
        self.values.push(out, step.action.operands(), &plan.last_uses);
        Ok(())
    }

    /// The outputs, when all steps are done.
    pub fn finish(
        &mut self,
        plan: &Plan<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        self.end_segment(observer)?;
        self.values.take(&plan.outputs)
    }
}
