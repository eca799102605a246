//! Leases: the jobs that workers have, and how jobs that nobody runs are taken back.

use super::Front;
use crate::dispatch::queue::Millis;
use crate::id::Id;
use crate::store::StoreError;
use crate::store::jobs::{self, JobRecord, Requeue};

/// A job that was handed out.
pub(super) struct Lease {
    pub attempt: u32,
    /// The worker that has it, if that is known.
    pub worker: Option<String>,
    pub key: Id,
    pub params: String,
    /// When there was a sign of it last.
    pub sign: Millis,
    /// Whether a worker has begun it.
    pub begun: bool,
    /// Whether the worker was asked to stop.
    pub asked: bool,
}

impl Lease {
    pub fn new(job: &JobRecord, now: Millis) -> Self {
        let (attempt, key, params) = (job.attempts, job.key, job.params.clone());
        Self { attempt, worker: None, key, params, sign: now, begun: false, asked: false }
    }
}

impl Front {
    /// Compares the table with what is out. Jobs that run according to the table get time for a sign, and are then taken back.
    pub(super) fn reclaim_expired(&mut self, now: Millis, lease: Millis) -> Result<(), StoreError> {
        if self.looked.is_some_and(|at| now.saturating_sub(at) < lease / 8) {
            return Ok(());
        }
        let running = jobs::running(&self.service.store)?;
        let runs = |id: Id, attempt| running.iter().any(|job| job.id == id && job.attempts == attempt);
        for (job, _) in self.out.extract_if(|id, lease| !runs(*id, lease.attempt)) {
            self.service.live.end(job);
        }
        let workers = self.dispatch.workers();
        // If no worker is heard, it is this front that is cut off.
        let is_gone = |name: &str| !workers.is_empty() && workers.iter().all(|alive| alive.worker != name);
        for job in &running {
            let known = self.out.entry(job.id).or_insert_with(|| Lease::new(job, now));
            if job.cancel {
                self.dispatch.cancel(job.id)?;
            }
            let waits_for_nobody = !known.begun && known.worker.as_deref().is_some_and(is_gone);
            if waits_for_nobody || now.saturating_sub(known.sign) >= lease {
                // The worker that began it has died with it or is cut off; a job that nobody began was lost on the way.
                let why = if known.begun { Requeue::Crashed } else { Requeue::Stopped };
                self.service.take_back_one(job, &why)?;
                self.service.metrics.cluster.taken_back();
                self.out.remove(&job.id);
                self.service.live.end(job.id);
            }
        }
        self.looked = Some(now);
        Ok(())
    }
}
