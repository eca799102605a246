//! The attempts that a worker holds, from taking one until its outcome has been acknowledged.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::queue::Millis;
use super::{Done, Sign};
use crate::id::Id;

/// Attempts that a worker has, and reports of them that did not get through.
///
/// Signs of an attempt are given as long as its run reports what it does or asks whether it is to stop. After its end they are given until
/// its report has got through, however long that takes, so that the attempt is not repeated meanwhile. A run that hangs neither reports nor
/// asks, so its front hands the job to another worker.
pub struct Held {
    state: Mutex<State>,
    /// A run hangs if nothing is heard of it for this long.
    patience: Millis,
    now: Box<dyn Fn() -> Millis + Send + Sync>,
}

#[derive(Default)]
struct State {
    has: BTreeMap<(Id, u32), Attempt>,
    unsaid: Vec<Done>,
}

struct Attempt {
    /// When something was heard of the run last.
    heard: Millis,
    /// Whether the run is over.
    is_over: bool,
    is_stopped: bool,
}

impl Held {
    /// No attempts yet. A run hangs if nothing is heard of it for `patience`.
    pub fn new(patience: Duration) -> Self {
        let began = Instant::now();
        Self::by(patience.as_millis() as Millis, move || began.elapsed().as_millis() as Millis)
    }

    /// The same, with `now` for a clock.
    pub fn by(patience: Millis, now: impl Fn() -> Millis + Send + Sync + 'static) -> Self {
        Self { state: Mutex::default(), patience, now: Box::new(now) }
    }

    /// Notes that the worker has an attempt.
    pub fn take(&self, job: Id, attempt: u32) {
        let attempt_is = Attempt { heard: (self.now)(), is_over: false, is_stopped: false };
        self.state().has.insert((job, attempt), attempt_is);
    }

    /// Notes that something was heard of the run of a job.
    pub fn hear(&self, job: Id) {
        let now = (self.now)();
        for (_, attempt) in self.state().of(job) {
            attempt.heard = now;
        }
    }

    /// The worker's jobs, except those whose runs hang.
    pub fn jobs(&self) -> Vec<Id> {
        let now = (self.now)();
        let state = self.state();
        let live = state.has.iter().filter(|(_, attempt)| !self.hangs(attempt, now));
        live.map(|((job, _), _)| *job).collect()
    }

    /// How many of the worker's runs hang.
    pub fn hung(&self) -> usize {
        let now = (self.now)();
        self.state().has.values().filter(|attempt| self.hangs(attempt, now)).count()
    }

    /// Whether the worker has a job.
    pub fn has(&self, job: Id) -> bool {
        self.state().of(job).next().is_some()
    }

    /// Notes that a job is to stop, if the worker has it.
    pub fn stop(&self, job: Id) {
        for (_, attempt) in self.state().of(job) {
            attempt.is_stopped = true;
        }
    }

    /// Whether the worker has a job that is to stop.
    pub fn is_stopped(&self, job: Id) -> bool {
        self.state().of(job).any(|(_, attempt)| attempt.is_stopped)
    }

    /// Signs of life of all attempts that do not hang.
    pub fn signs(&self) -> Vec<Sign> {
        let now = (self.now)();
        let state = self.state();
        let live = state.has.iter().filter(|(_, attempt)| !self.hangs(attempt, now));
        live.map(|(&(job, attempt), _)| Sign::of_life(job, attempt)).collect()
    }

    /// Reports by `send`, and keeps the report to be tried again if that fails.
    ///
    /// # Errors
    /// That of `send`.
    pub fn report(&self, done: &Done, send: impl FnOnce(&Done) -> io::Result<()>) -> io::Result<()> {
        let name = (done.job, done.attempt);
        if let Some(attempt) = self.state().has.get_mut(&name) {
            attempt.is_over = true;
        }
        let sent = send(done);
        let mut state = self.state();
        if sent.is_err() {
            state.unsaid.push(done.clone());
        } else {
            state.has.remove(&name);
        }
        sent
    }

    /// Reports what did not get through.
    ///
    /// # Errors
    /// A report does not get through now either.
    pub fn report_unsaid(&self, send: impl Fn(&Done) -> io::Result<()>) -> io::Result<()> {
        loop {
            let Some(done) = self.state().unsaid.pop() else { return Ok(()) };
            self.report(&done, &send)?;
        }
    }

    fn hangs(&self, attempt: &Attempt, now: Millis) -> bool {
        !attempt.is_over && now.saturating_sub(attempt.heard) >= self.patience
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&mut self, job: Id) -> impl Iterator<Item = (&(Id, u32), &mut Attempt)> {
        self.has.range_mut((job, 0)..=(job, u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::dispatch::Outcome;

    #[test]
    fn signs_are_given_of_runs_that_are_heard_and_of_reports_that_are_not() {
        let clock = Arc::new(AtomicU64::new(0));
        let pass = |time| clock.fetch_add(time, Ordering::Relaxed);
        let now = Arc::clone(&clock);
        let held = Held::by(100, move || now.load(Ordering::Relaxed));
        let [runs, hangs] = [1, 2].map(|byte| Id([byte; 16]));
        held.take(runs, 1);
        held.take(hangs, 7);
        pass(60);
        held.hear(runs);
        assert_eq!((held.signs().len(), held.hung()), (2, 0));
        pass(60);
        assert_eq!((held.signs(), held.jobs(), held.hung()), (vec![Sign::of_life(runs, 1)], vec![runs], 1));
        // A hung run goes on after all.
        held.hear(hangs);
        assert_eq!((held.signs().len(), held.hung()), (2, 0));
        // While a report does not get through, signs are given for as long as it takes.
        let done = Done { job: runs, attempt: 1, outcome: Outcome::Cancelled };
        assert!(held.report(&done, |_| Err(io::ErrorKind::TimedOut.into())).is_err());
        pass(100_000);
        assert_eq!((held.signs(), held.hung()), (vec![Sign::of_life(runs, 1)], 1));
        held.report_unsaid(|_| Ok(())).unwrap();
        assert!(held.signs().is_empty() && !held.has(runs) && held.has(hangs));
        // A hung run can be asked to stop.
        held.stop(hangs);
        assert!(held.is_stopped(hangs) && !held.is_stopped(runs));
    }
}
