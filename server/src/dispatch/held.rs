//! The attempts that a worker has: from when it takes one until what came of it was heard.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Done, Sign};
use crate::id::Id;

/// Attempts that a worker has, and reports of them that did not get through. Signs of an attempt are given until its report was
/// heard, so that it is not made again meanwhile, however long that takes.
#[derive(Default)]
pub struct Held {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    has: BTreeSet<(Id, u32)>,
    stopped: BTreeSet<Id>,
    unsaid: Vec<Done>,
}

impl Held {
    /// An attempt is the worker's.
    pub fn take(&self, job: Id, attempt: u32) {
        self.state().has.insert((job, attempt));
    }

    /// The jobs that it has.
    pub fn jobs(&self) -> Vec<Id> {
        self.state().has.iter().map(|(job, _)| *job).collect()
    }

    /// Whether it has a job.
    pub fn has(&self, job: Id) -> bool {
        self.state().has(job)
    }

    /// Notes that a job is to stop, if it is one of those.
    pub fn stop(&self, job: Id) {
        let mut state = self.state();
        if state.has(job) {
            state.stopped.insert(job);
        }
    }

    /// Whether a job that it has is to stop.
    pub fn is_stopped(&self, job: Id) -> bool {
        self.state().stopped.contains(&job)
    }

    /// Signs of life of all that it has.
    pub fn signs(&self) -> Vec<Sign> {
        self.state().has.iter().map(|&(job, attempt)| Sign::of_life(job, attempt)).collect()
    }

    /// Reports by `send`, and keeps the report to be tried again if that fails.
    ///
    /// # Errors
    /// That of `send`.
    pub fn report(&self, done: &Done, send: impl FnOnce(&Done) -> io::Result<()>) -> io::Result<()> {
        let sent = send(done);
        let mut state = self.state();
        if sent.is_err() {
            state.unsaid.push(done.clone());
        } else {
            state.has.remove(&(done.job, done.attempt));
            if !state.has(done.job) {
                state.stopped.remove(&done.job);
            }
        }
        sent
    }

    /// Reports what did not get through.
    ///
    /// # Errors
    /// It does not now either.
    pub fn report_unsaid(&self, send: impl Fn(&Done) -> io::Result<()>) -> io::Result<()> {
        loop {
            let Some(done) = self.state().unsaid.pop() else { return Ok(()) };
            self.report(&done, &send)?;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has(&self, job: Id) -> bool {
        self.has.iter().any(|(has, _)| *has == job)
    }
}
