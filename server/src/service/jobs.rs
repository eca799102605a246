//! Jobs as clients see them.

use super::Service;
use super::keys::refuse_secret_key;
use super::live::Stop;
use super::views::{End, JobDocument};
use crate::engine::{Operation, ParameterSet, SlotMode, Task};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::events::{END, Event, Urgency};
use crate::store::jobs::{self, JobRecord, JobState, NewJob, Submitted};
use crate::store::keys::KeyState;

impl Service {
    /// The parameter set of a sealed key set, to bound what comes next.
    ///
    /// # Errors
    /// The key set does not exist, is not sealed, or does not fit into memory.
    pub fn job_set(&self, key: Id) -> Result<&ParameterSet, Problem> {
        if self.is_stopping() {
            return Err(Problem::new(
                503,
                "STOPPING",
                "Server is stopping",
                "the server takes no new jobs; submit again in a moment",
            )
            .retry_after(5));
        }
        let record = self.key_record(key)?;
        let set = self.set(&record.params)?;
        if record.state != KeyState::Sealed {
            return Err(Problem::conflict(
                "KEYS_INCOMPLETE",
                format!("key set {key} is still open; upload the missing pieces and commit it first"),
            ));
        }
        self.check_memory(set)?;
        Ok(set)
    }

    /// Accepts a job. Returns its document.
    ///
    /// # Errors
    /// The ciphertext does not conform, the queue is full, or the Idempotency-Key was used for
    /// another request.
    pub fn submit(
        &self,
        key: Id,
        operations: Vec<Operation>,
        mode: Option<SlotMode>,
        rounds: u32,
        idempotency: Option<String>,
        ciphertext: &[u8],
    ) -> Result<JobDocument, Problem> {
        let set = self.job_set(key)?;
        refuse_secret_key(ciphertext)?;
        let task = Task { mode: mode.unwrap_or(set.mode), operations, rounds };
        self.engine.check_ciphertext(&set.name, key, &task, ciphertext)?;
        let job = NewJob { key, params: set.name.clone(), task, ciphertext, idempotency };
        match jobs::submit(&self.store, &job, self.config.limits.max_queued)? {
            Submitted::New(record) => {
                tracing::info!(job = %record.id, %key, params = record.params, "job accepted");
                self.append(&record, "state", r#"{"state":"queued"}"#, Urgency::Now)?;
                self.live.wake();
                self.document(&record)
            }
            Submitted::Same(record) => self.document(&record),
            Submitted::Differs(other) => Err(Problem::conflict(
                "IDEMPOTENCY_CONFLICT",
                format!("this Idempotency-Key belongs to job {other}, which had another operation or ciphertext; use a new key for a new request"),
            )
            .with("job", other.to_string())),
            Submitted::Full(waiting) => Err(Problem::new(
                429,
                "QUEUE_FULL",
                "Queue full",
                format!("{waiting} jobs wait and the queue takes {}; submit again after the time in Retry-After", self.config.limits.max_queued),
            )
            .retry_after(self.estimates.retry_after(&set.name))),
            Submitted::KeyGone => Err(Problem::not_found(format!("key set {key} was deleted in the meantime"))),
        }
    }

    /// A job.
    ///
    /// # Errors
    /// It does not exist.
    pub fn job(&self, id: Id) -> Result<JobDocument, Problem> {
        self.document(&self.job_record(id)?)
    }

    /// Calls a job off. Returns whether it still has to come to its end.
    ///
    /// # Errors
    /// It does not exist.
    pub fn cancel(&self, id: Id) -> Result<bool, Problem> {
        let record = jobs::cancel(&self.store, id)?.ok_or_else(|| no_job(id))?;
        if record.state == JobState::Running {
            if let Some(live) = self.live.get(id) {
                live.stop(Stop::Cancelled);
            }
            return Ok(true);
        }
        self.events.wake(id);
        Ok(false)
    }

    /// The result of a job and its digest.
    ///
    /// # Errors
    /// The job does not exist or is not done.
    pub fn result(&self, id: Id) -> Result<(String, Vec<u8>), Problem> {
        let record = self.job_record(id)?;
        let Some((digest, _)) = &record.result else {
            let problem = Problem::conflict(
                "JOB_NOT_DONE",
                format!("job {id} is {}, a result is there only when it is done", record.state.name()),
            );
            return Err(problem.with("state", record.state.name()));
        };
        let bytes = jobs::result(&self.store, &record).map_err(|error| Problem::internal(&error))?;
        if crate::id::hex(blake3::hash(&bytes).as_bytes()) != *digest {
            return Err(Problem::internal(&format!("result of job {id} was altered on disk")));
        }
        Ok((digest.clone(), bytes))
    }

    /// Events of a job after `last`. The `end` event comes from the record, so it is there
    /// exactly when the job has ended.
    ///
    /// # Errors
    /// The job does not exist.
    pub fn events_after(&self, id: Id, last: u64) -> Result<Vec<Event>, Problem> {
        // The record first: what it says to have ended has all its events in the log.
        let record = self.job_record(id)?;
        let mut events = self.events.after(id, last)?;
        if record.state.is_final() && events.len() < 256 {
            let end = End { state: record.state, seconds: record.seconds, problem: record.problem };
            let data = serde_json::to_string(&end).map_err(|error| Problem::internal(&error))?;
            let id = events.last().map_or(last, |event| event.id).saturating_add(1);
            events.push(Event { id, name: END.to_owned(), data });
        }
        Ok(events)
    }

    /// Appends to a job's log.
    pub(super) fn append(
        &self,
        record: &JobRecord,
        name: &str,
        data: &str,
        urgency: Urgency,
    ) -> Result<(), Problem> {
        Ok(self.events.append(record.id, record.attempts, name, data, urgency)?)
    }

    fn document(&self, record: &JobRecord) -> Result<JobDocument, Problem> {
        let position =
            if record.state == JobState::Queued { Some(jobs::position(&self.store, record)?) } else { None };
        let progress = if record.state == JobState::Running {
            self.live.get(record.id).map(|live| live.progress())
        } else {
            None
        };
        Ok(JobDocument::new(record, progress, position))
    }

    fn job_record(&self, id: Id) -> Result<JobRecord, Problem> {
        jobs::get(&self.store, id)?.ok_or_else(|| no_job(id))
    }
}

fn no_job(id: Id) -> Problem {
    Problem::not_found(format!("there is no job {id}; finished jobs are kept for a limited time"))
}
