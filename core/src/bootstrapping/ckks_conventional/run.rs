//! A bootstrap in steps: one stage at a time.

use alloc::vec::Vec;

use super::{evaluator::ConventionalEvaluator, spec::EVAL_MOD};
use crate::{
    arith::Word,
    bootstrapping::raising::{
        KeySource, StageOrder, stages,
        steps::{Steps, unfinished},
    },
    error::Error,
    schemes::ckks::{Ciphertext, Scale},
    trace::{Counters, Observer, StageInfo},
};

/// Where a run stands.
pub enum ConventionalState<W: Word> {
    /// Before the first stage.
    Input(Ciphertext<W>),
    /// Slots-to-coefficients first: the message modulo q0.
    Base(Ciphertext<W>),
    /// Raised: m + q0 I at the highest level.
    Raised(Ciphertext<W>),
    /// Few slots: the same, in the coefficients of the message alone.
    Summed(Ciphertext<W>),
    /// Coefficients in slots: real and imaginary parts.
    Slots(Vec<Ciphertext<W>>),
    /// Reduced modulo q0: parts as before, or one ciphertext that has joined them.
    Reduced(Vec<Ciphertext<W>>),
    /// Finished.
    Done(Ciphertext<W>),
    /// Ended by an error.
    Failed,
}

/// A bootstrap that is driven from outside: between two steps the caller may look, wait or drop it.
pub struct ConventionalRun<'a, W: Word = u64> {
    evaluator: &'a ConventionalEvaluator<W>,
    /// Scale of the message at level 0.
    base: Scale,
    state: ConventionalState<W>,
}

impl<'a, W: Word> ConventionalRun<'a, W> {
    /// Checks the input; nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::InvalidArgument`] for a ciphertext that does not fit.
    pub fn new(evaluator: &'a ConventionalEvaluator<W>, x: &Ciphertext<W>) -> Result<Self, Error> {
        let params = evaluator.params();
        params.check_input(x, params.levels().input)?;
        Ok(Self { evaluator, base: x.scale(), state: ConventionalState::Input(x.clone()) })
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&StageInfo> {
        let params = self.evaluator.params();
        let id = match self.state {
            ConventionalState::Input(_) => return params.stages().first(),
            ConventionalState::Base(_) => stages::MOD_RAISE,
            ConventionalState::Raised(_) if !params.is_full() => stages::SUB_SUM,
            ConventionalState::Raised(_) | ConventionalState::Summed(_) => stages::COEFFS_TO_SLOTS,
            ConventionalState::Slots(_) => EVAL_MOD,
            ConventionalState::Reduced(_) => stages::SLOTS_TO_COEFFS,
            ConventionalState::Done(_) | ConventionalState::Failed => return None,
        };
        params.stages().iter().find(|stage| stage.id == id)
    }

    /// Where the run stands.
    pub fn state(&self) -> &ConventionalState<W> {
        &self.state
    }

    /// Scale of the message at level 0, or of the input before level 0 is reached.
    pub(super) fn base(&self) -> Scale {
        self.base
    }

    /// Does one stage and reports it; true when the run is finished.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; errors of the keys. After an error within a stage the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        self.step_reported(keys, observer)
    }

    /// The ciphertexts the run holds now.
    pub fn ciphertexts(&self) -> &[Ciphertext<W>] {
        match &self.state {
            ConventionalState::Input(x)
            | ConventionalState::Base(x)
            | ConventionalState::Raised(x)
            | ConventionalState::Summed(x)
            | ConventionalState::Done(x) => core::slice::from_ref(x),
            ConventionalState::Slots(parts) | ConventionalState::Reduced(parts) => parts,
            ConventionalState::Failed => &[],
        }
    }

    /// The refreshed ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Ciphertext<W>, Error> {
        match self.state {
            ConventionalState::Done(out) => Ok(out),
            _ => Err(unfinished(self.stage())),
        }
    }

    fn next(
        &mut self,
        state: ConventionalState<W>,
        stage: &str,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<ConventionalState<W>, Error> {
        use ConventionalState as State;
        let (evaluator, ckks) = (self.evaluator, self.evaluator.ckks());
        Ok(match state {
            State::Input(x) if stage == stages::SLOTS_TO_COEFFS => {
                let out = evaluator.slots_to_coeffs(&x, keys, counters)?;
                self.base = out.scale();
                State::Base(out)
            }
            State::Input(x) => {
                let base = evaluator.to_base(&x)?;
                self.base = base.scale();
                State::Raised(evaluator.mod_raise(&base, keys, counters)?)
            }
            State::Base(x) => {
                let x = ckks.drop_to_level(&x, 0)?;
                State::Raised(evaluator.mod_raise(&x, keys, counters)?)
            }
            State::Raised(x) if stage == stages::SUB_SUM => {
                State::Summed(evaluator.sub_sum(&x, keys, counters)?)
            }
            State::Raised(x) | State::Summed(x) => {
                State::Slots(evaluator.coeffs_to_slots(&x, keys, counters)?)
            }
            State::Slots(parts) => {
                let parts = evaluator.eval_mod(&parts, self.base, keys, counters)?;
                match evaluator.params().spec().order {
                    StageOrder::CoeffsToSlotsFirst => State::Reduced(parts),
                    StageOrder::SlotsToCoeffsFirst => State::Done(evaluator.join_parts(&parts)?),
                }
            }
            State::Reduced(parts) => {
                let joined = evaluator.join_parts(&parts)?;
                State::Done(evaluator.slots_to_coeffs(&joined, keys, counters)?)
            }
            other @ State::Done(_) => other,
            State::Failed => return Err(unfinished(None)),
        })
    }
}

impl<W: Word> Steps<W> for ConventionalRun<'_, W> {
    fn stage(&self) -> Option<&'static str> {
        self.next_stage().map(|stage| stage.id)
    }

    fn is_done(&self) -> bool {
        matches!(self.state, ConventionalState::Done(_))
    }

    fn advance(&mut self, keys: &dyn KeySource<W>, counters: &mut Counters) -> Result<(), Error> {
        let stage = self.stage().ok_or_else(|| unfinished(None))?;
        let state = core::mem::replace(&mut self.state, ConventionalState::Failed);
        self.state = self.next(state, stage, keys, counters)?;
        Ok(())
    }

    fn position(&self) -> (usize, f64, f64) {
        self.ciphertexts().first().map_or((0, 0.0, 0.0), |x| (x.level(), x.log_q(), x.log_scale()))
    }
}
