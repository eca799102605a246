//! The state of a running plan on integers, and runs that pause between steps.

use alloc::{format, string::String, vec::Vec};

use super::{
    super::{STAGE, values::Values},
    IntegerMachine, IntegerPlan,
    run::Run,
    steps::Action,
};
use crate::{
    arith::Word,
    error::Error,
    schemes::bgv::BgvCiphertext,
    trace::{Counters, Observer, StageEvent, emit},
};

/// What a run of a plan waits for.
pub enum IntegerPending<'a, W: Word> {
    /// An operation on ciphertexts, which [`IntegerProgramRun::compute`] does.
    Arithmetic,
    /// A bootstrap of this ciphertext, for [`IntegerProgramRun::supply`].
    Refresh(&'a BgvCiphertext<W>),
    /// Nothing: [`IntegerProgramRun::finish`] has the outputs.
    Nothing,
}

/// A run of a plan on integers that stops between its steps and leaves bootstraps to the caller, who may do them a stage at a time.
/// It gives what [`IntegerPlan::run`] gives, and reports the same.
pub struct IntegerProgramRun<W: Word = u64> {
    plan: IntegerPlan<'static, W>,
    inputs: Vec<BgvCiphertext<W>>,
    state: State<W>,
}

impl<W: Word> IntegerProgramRun<W> {
    /// Begins a run of `plan`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] and [`Error::ParamsMismatch`] for inputs other than those the plan was made for.
    pub fn new(plan: IntegerPlan<'static, W>, inputs: Vec<BgvCiphertext<W>>) -> Result<Self, Error> {
        plan.check_inputs(&inputs)?;
        Ok(Self { plan, inputs, state: State::default() })
    }

    /// The plan.
    pub fn plan(&self) -> &IntegerPlan<'static, W> {
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
    pub fn next(&mut self, observer: &mut dyn Observer) -> Result<IntegerPending<'_, W>, Error> {
        match self.plan.steps.get(self.state.at()).map(|step| &step.action) {
            None => Ok(IntegerPending::Nothing),
            Some(Action::Refresh(x)) => {
                self.state.end_segment(&self.plan, observer)?;
                Ok(IntegerPending::Refresh(self.state.values.get(*x)?))
            }
            Some(_) => Ok(IntegerPending::Arithmetic),
        }
    }

    /// Does the operation that comes next; the machine needs no bootstrap.
    ///
    /// # Errors
    /// As [`IntegerPlan::run`]; [`Error::MissingKey`] if what comes next is a bootstrap that the machine does not have, and
    /// [`Error::InvalidArgument`] if nothing is left.
    pub fn compute(
        &mut self,
        machine: &IntegerMachine<'_, W>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let Self { plan, inputs, state } = self;
        state.values.check_left(plan.steps.len())?;
        Run { plan, machine, inputs, state }.step(observer)
    }

    /// Takes the result of the bootstrap that comes next.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless a bootstrap comes next; [`Error::LevelMismatch`] for a result at another level or with another
    /// factor than planned.
    pub fn supply(&mut self, result: BgvCiphertext<W>) -> Result<(), Error> {
        let at = self.state.at();
        let Some(Action::Refresh(_)) = self.plan.steps.get(at).map(|step| &step.action) else {
            return Err(Error::InvalidArgument(
                "the result of a bootstrap, and no bootstrap comes next; ask what does".into(),
            ));
        };
        self.state.settle(&self.plan, result).map_err(|error| error.within(&self.plan.place(at)))
    }

    /// The outputs, in the order of the program; the observer sees the end of the arithmetic.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left; [`Error::Cancelled`] if the observer says so.
    pub fn finish(mut self, observer: &mut dyn Observer) -> Result<Vec<BgvCiphertext<W>>, Error> {
        self.state.values.check_done(self.plan.steps.len())?;
        self.state.finish(&self.plan, observer)
    }
}

impl<W: Word> IntegerPlan<'_, W> {
    /// The node of a step, in words.
    pub(super) fn place(&self, at: usize) -> String {
        self.program.describe(self.steps[at].node)
    }
}

/// The results of the steps so far.
pub(super) struct State<W: Word> {
    pub values: Values<BgvCiphertext<W>>,
    /// Work between two bootstraps, with the level and log2 of the modulus that it has reached.
    pub segment: Option<(Counters, usize, f64)>,
}

impl<W: Word> Default for State<W> {
    fn default() -> Self {
        Self { values: Values::default(), segment: None }
    }
}

impl<W: Word> State<W> {
    /// The index of the step that comes next.
    pub fn at(&self) -> usize {
        self.values.at()
    }

    pub fn end_segment(
        &mut self,
        plan: &IntegerPlan<'_, W>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let Some((counters, level, log_q)) = self.segment.take() else { return Ok(()) };
        let log_scale = plan.target.context.message_modulus().ring().modulus().log2();
        emit(observer, &StageEvent::Exit { stage: STAGE.id, level, log_q, log_scale, counters })
    }

    /// Takes in the result of the next step, and drops values that no later step needs.
    pub fn settle(&mut self, plan: &IntegerPlan<'_, W>, out: BgvCiphertext<W>) -> Result<(), Error> {
        let step = &plan.steps[self.at()];
        let shape = &step.shape;
        if out.level() != shape.level || out.factor() != shape.factor {
            return Err(Error::LevelMismatch(format!(
                "the result is at level {} with factor {}, and was planned for level {} and factor {}; plan for the set that \
                 evaluates",
                out.level(),
                out.factor().value(),
                shape.level,
                shape.factor.value()
            )));
        }
        self.values.push(out, step.action.operands(), &plan.last_uses);
        Ok(())
    }

    /// The outputs, when all steps are done.
    pub fn finish(
        &mut self,
        plan: &IntegerPlan<'_, W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<BgvCiphertext<W>>, Error> {
        self.end_segment(plan, observer)?;
        self.values.take(&plan.outputs)
    }
}
