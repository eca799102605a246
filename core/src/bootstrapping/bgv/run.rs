//! A bootstrap in steps: one stage at a time.

use alloc::format;

use super::{
    bootstrapper::{BgvBootstrapper, BgvPrepared},
    stages,
};
use crate::{
    arith::Word,
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::bgv::{BgvCiphertext, Factor},
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Where a run stands.
pub enum BgvState<W: Word> {
    /// Before the first stage.
    Input(BgvCiphertext<W>),
    /// The message in coefficients, modulo q0.
    Base(BgvCiphertext<W>),
    /// Under the ephemeral secret: p^t m' + q0 I.
    Prepared(BgvPrepared<W>),
    /// Modulo Q: coefficients I + p^t m'/q0 modulo p^e, and the factor of m'.
    Raised(BgvCiphertext<W>, Factor),
    /// The same in slots.
    Slots(BgvCiphertext<W>, Factor),
    /// Finished.
    Done(BgvCiphertext<W>),
    /// Ended by an error.
    Failed,
}

/// A bootstrap that is driven from outside: between two steps the caller may look, wait or drop it.
pub struct BgvRun<'a, W: Word = u64> {
    bootstrapper: &'a BgvBootstrapper<W>,
    state: BgvState<W>,
}

impl<'a, W: Word> BgvRun<'a, W> {
    /// Checks the input; nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::PlaintextMismatch`], [`Error::InvalidArgument`] for a ciphertext
    /// that does not fit.
    pub fn new(bootstrapper: &'a BgvBootstrapper<W>, x: &BgvCiphertext<W>) -> Result<Self, Error> {
        let params = bootstrapper.params();
        params.check_set(x)?;
        if x.level() < params.levels().input {
            return Err(Error::LevelMismatch(format!(
                "a bootstrap of {} begins at level {}, the ciphertext is at {}; bootstrap earlier",
                params.name(),
                params.levels().input,
                x.level()
            )));
        }
        if x.components() != 2 {
            return Err(Error::InvalidArgument(format!(
                "a ciphertext of {} components must be relinearised before the bootstrap",
                x.components()
            )));
        }
        params.check_ring("a bootstrap refreshes", x, params.messages())?;
        Ok(Self { bootstrapper, state: BgvState::Input(x.clone()) })
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&StageInfo> {
        let id = match self.state {
            BgvState::Input(_) => stages::SLOTS_TO_COEFFS,
            BgvState::Base(_) => stages::PREPARE,
            BgvState::Prepared(_) => stages::MOD_RAISE,
            BgvState::Raised(..) => stages::COEFFS_TO_SLOTS,
            BgvState::Slots(..) => stages::DIGIT_REMOVAL,
            BgvState::Done(_) | BgvState::Failed => return None,
        };
        self.bootstrapper.params().stages().iter().find(|stage| stage.id == id)
    }

    /// Where the run stands.
    pub fn state(&self) -> &BgvState<W> {
        &self.state
    }

    /// Does one stage and reports it; true when the run is finished.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; errors of the keys. After an error within a stage the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        let Some(stage) = self.next_stage().map(|stage| stage.id) else {
            return match self.state {
                BgvState::Done(_) => Ok(true),
                _ => Err(failed()),
            };
        };
        emit(observer, &StageEvent::Enter { stage })?;
        let mut counters = Counters::default();
        let state = core::mem::replace(&mut self.state, BgvState::Failed);
        self.state = self.advance(state, keys, &mut counters)?;
        let (level, log_q, log_scale) = self.position();
        emit(observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })?;
        Ok(matches!(self.state, BgvState::Done(_)))
    }

    /// Level, log2 of the modulus, and log2 P, which takes the place of a scale.
    fn position(&self) -> (usize, f64, f64) {
        let log = |ring: crate::arith::PrimePower| ring.modulus().log2();
        match &self.state {
            BgvState::Input(x)
            | BgvState::Base(x)
            | BgvState::Raised(x, _)
            | BgvState::Slots(x, _)
            | BgvState::Done(x) => (x.level(), x.log_q(), log(x.ring())),
            BgvState::Prepared(x) => {
                (0, x.pair().parts()[0].basis().log2(), log(self.bootstrapper.params().raised()))
            }
            BgvState::Failed => (0, 0.0, 0.0),
        }
    }

    /// The refreshed ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<BgvCiphertext<W>, Error> {
        match self.state {
            BgvState::Done(out) => Ok(out),
            BgvState::Failed => Err(failed()),
            _ => Err(Error::InvalidArgument(format!(
                "the bootstrap is not finished; next stage: {}",
                self.next_stage().map_or("none", |stage| stage.id)
            ))),
        }
    }

    fn advance(
        &self,
        state: BgvState<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvState<W>, Error> {
        let bootstrapper = self.bootstrapper;
        Ok(match state {
            BgvState::Input(x) => BgvState::Base(bootstrapper.slots_to_coeffs(&x, keys, counters)?),
            BgvState::Base(x) => BgvState::Prepared(bootstrapper.prepare(&x, keys, counters)?),
            BgvState::Prepared(x) => {
                BgvState::Raised(bootstrapper.mod_raise(&x, keys, counters)?, x.factor())
            }
            BgvState::Raised(x, factor) => {
                BgvState::Slots(bootstrapper.coeffs_to_slots(&x, keys, counters)?, factor)
            }
            BgvState::Slots(x, factor) => {
                BgvState::Done(bootstrapper.remove_digit(&x, factor, keys, counters)?)
            }
            other @ BgvState::Done(_) => other,
            BgvState::Failed => return Err(failed()),
        })
    }
}

fn failed() -> Error {
    Error::InvalidArgument("the bootstrap ended with an error; begin a new run".into())
}
