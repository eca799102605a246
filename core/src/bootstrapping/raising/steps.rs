//! Bootstraps in steps: one stage at a time, each reported.

use alloc::format;

use super::key_source::KeySource;
use crate::{
    arith::Word,
    error::Error,
    trace::{Counters, Observer, StageEvent, emit},
};

/// A bootstrap that is driven from outside, one stage per step.
pub(in crate::bootstrapping) trait Steps<W: Word> {
    /// The stage of the next step; `None` after the last one, and after an error.
    fn stage(&self) -> Option<&'static str>;

    /// Whether all stages are done.
    fn is_done(&self) -> bool;

    /// Does the next stage. After an error there is no further one.
    fn advance(&mut self, keys: &dyn KeySource<W>, counters: &mut Counters) -> Result<(), Error>;

    /// Level, and log2 of modulus and scale, of what the last step left.
    fn position(&self) -> (usize, f64, f64);

    /// What else there is to report of the stage that was done.
    fn progress(&self, _stage: &'static str) -> Option<StageEvent> {
        None
    }

    /// Does one stage and reports it; true when all are done.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks; those of the stage, after which the run is over.
    fn step_reported(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        let Some(stage) = self.stage() else {
            return if self.is_done() { Ok(true) } else { Err(unfinished(None)) };
        };
        emit(observer, &StageEvent::Enter { stage })?;
        let mut counters = Counters::default();
        self.advance(keys, &mut counters)?;
        if let Some(event) = self.progress(stage) {
            emit(observer, &event)?;
        }
        let (level, log_q, log_scale) = self.position();
        emit(observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })?;
        Ok(self.is_done())
    }
}

/// Why a run has no result: a stage is left, or an error ended it.
pub(in crate::bootstrapping) fn unfinished(next: Option<&str>) -> Error {
    Error::InvalidArgument(next.map_or_else(
        || "the bootstrap ended with an error; begin a new run".into(),
        |stage| format!("the bootstrap is not finished; next stage: {stage}"),
    ))
}
