//! What is known about running jobs beyond their records: progress, and whether they should stop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::id::Id;

/// Why a running job is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The client cancelled it.
    Cancelled,
    /// The server is going down; the job will be taken up again.
    ShuttingDown,
}

/// How far a running job is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The stage it is in.
    pub stage: String,
    /// Finished parts of the stage, and their number.
    pub parts: Option<(usize, usize)>,
}

/// A job being worked on.
#[derive(Default)]
pub struct Live {
    cancelled: AtomicBool,
    shutting_down: AtomicBool,
    progress: Mutex<Progress>,
}

impl Live {
    /// Asks the run to stop.
    pub fn stop(&self, reason: Stop) {
        let flag = match reason {
            Stop::Cancelled => &self.cancelled,
            Stop::ShuttingDown => &self.shutting_down,
        };
        flag.store(true, Ordering::Relaxed);
    }

    /// Why the run is to stop, if it is. If there are both reasons it was cancelled: it is not to be taken up again.
    pub fn stopped(&self) -> Option<Stop> {
        if self.cancelled.load(Ordering::Relaxed) {
            Some(Stop::Cancelled)
        } else {
            self.is_shutting_down().then_some(Stop::ShuttingDown)
        }
    }

    /// Whether the server is going down, whatever else is asked.
    pub fn is_shutting_down(&self) -> bool {
        self.shutting_down.load(Ordering::Relaxed)
    }

    /// For how many reasons it was asked to stop.
    fn asked(&self) -> usize {
        let asked = |flag: &AtomicBool| usize::from(flag.load(Ordering::Relaxed));
        asked(&self.cancelled) + asked(&self.shutting_down)
    }

    /// Waits until `patience` has passed, or `over` says that there is no need.
    pub fn wait(&self, patience: Duration, over: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + patience;
        while !over(self) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20).min(patience));
        }
    }

    /// Where the run is now.
    pub fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes where the run is.
    pub fn set_progress(&self, stage: &str, parts: Option<(usize, usize)>) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.stage != stage {
            stage.clone_into(&mut progress.stage);
        }
        progress.parts = parts;
    }
}

/// The running jobs, and the bell that wakes the worker.
#[derive(Default)]
pub struct LiveJobs {
    jobs: Mutex<HashMap<Id, Arc<Live>>>,
    /// What all jobs were asked, for those that begin only afterwards.
    all: Live,
    rung: Mutex<bool>,
    bell: Condvar,
}

impl LiveJobs {
    /// Notes that a job runs. After [`stop_all`](Self::stop_all) it is asked to stop at once.
    pub fn begin(&self, id: Id) -> Arc<Live> {
        let mut jobs = self.jobs();
        let live = jobs.entry(id).or_default();
        if let Some(reason) = self.all.stopped() {
            live.stop(reason);
        }
        Arc::clone(live)
    }

    /// Notes that a job runs no more.
    pub fn end(&self, id: Id) {
        self.jobs().remove(&id);
    }

    /// A running job.
    pub fn get(&self, id: Id) -> Option<Arc<Live>> {
        self.jobs().get(&id).cloned()
    }

    /// Number of running jobs.
    pub fn count(&self) -> usize {
        self.jobs().len()
    }

    /// Asks every running job to stop, and every job that begins from now on.
    pub fn stop_all(&self, reason: Stop) {
        let jobs = self.jobs();
        self.all.stop(reason);
        for live in jobs.values() {
            live.stop(reason);
        }
    }

    /// Whether every job was asked to stop because the server goes down.
    pub fn is_shutting_down(&self) -> bool {
        self.all.is_shutting_down()
    }

    /// Waits until `patience` has passed, or a running job is newly asked to stop.
    pub fn rest(&self, patience: Duration) {
        let asked = || self.jobs().values().map(|live| live.asked()).sum::<usize>();
        let (deadline, before) = (Instant::now() + patience, asked());
        while asked() == before && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20).min(patience));
        }
    }

    /// Tells the worker that there may be something to do.
    pub fn wake(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.bell.notify_all();
    }

    /// Waits until the bell rings or `patience` has passed.
    pub fn wait(&self, patience: Duration) {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut rung, _) = self
            .bell
            .wait_timeout_while(rung, patience, |rung| !*rung)
            .unwrap_or_else(PoisonError::into_inner);
        *rung = false;
    }

    fn jobs(&self) -> MutexGuard<'_, HashMap<Id, Arc<Live>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_begins_after_the_last_call_is_stopped_too() {
        let jobs = LiveJobs::default();
        let early = jobs.begin(Id::random().unwrap());
        assert_eq!(early.stopped(), None);
        jobs.stop_all(Stop::ShuttingDown);
        assert_eq!(early.stopped(), Some(Stop::ShuttingDown));
        assert_eq!(jobs.begin(Id::random().unwrap()).stopped(), Some(Stop::ShuttingDown));
    }

    #[test]
    fn a_cancelled_job_learns_that_the_server_goes_down_and_stays_cancelled() {
        for order in [[Stop::Cancelled, Stop::ShuttingDown], [Stop::ShuttingDown, Stop::Cancelled]] {
            let live = Live::default();
            for reason in order {
                live.stop(reason);
            }
            assert_eq!((live.stopped(), live.is_shutting_down()), (Some(Stop::Cancelled), true));
        }
    }
}
