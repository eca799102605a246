//! What is known of running jobs beyond their records: progress, and whether they are to stop.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::id::Id;

/// Why a running job is to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The client cancelled it.
    Cancelled = 1,
    /// The server is going down; the job will be taken up again.
    ShuttingDown = 2,
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
    stop: AtomicU8,
    progress: Mutex<Progress>,
}

impl Live {
    /// Asks the run to stop; the first reason stays.
    pub fn stop(&self, reason: Stop) {
        let _ = self.stop.compare_exchange(0, reason as u8, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Why the run is to stop, if it is.
    pub fn stopped(&self) -> Option<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::Cancelled),
            _ => Some(Stop::ShuttingDown),
        }
    }

    /// Waits until the run is asked to stop or `patience` has passed.
    pub fn wait(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while self.stopped().is_none() && Instant::now() < deadline {
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
    /// What every job was asked, for those that begin only afterwards.
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
}
