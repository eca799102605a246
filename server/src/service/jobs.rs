//! Jobs as clients see them.

use super::Service;
use super::access::{Act, Caller};
use super::keys::{check_digest, refuse_secret_key};
use super::live::Stop;
use super::views::{End, JobDocument};
use crate::blobs::Source;
use crate::engine::{Operation, SetInfo, SlotMode, Task};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::events::{END, Event, Urgency};
use crate::store::files::ReadError;
use crate::store::holder::Holder;
use crate::store::jobs::{self, Bounds, JobRecord, JobState, NewJob, Submitted};
use crate::store::keys::KeyState;

/// What a client asks for besides the ciphertext.
pub struct Order {
    /// The key set.
    pub key: Id,
    /// What to do, in order.
    pub operations: Vec<Operation>,
    /// What the slots hold, if it is not what the set says.
    pub mode: Option<SlotMode>,
    /// Rounds of each bootstrap.
    pub rounds: u32,
    /// The client's Idempotency-Key.
    pub idempotency: Option<String>,
    /// The client's BLAKE3 of the ciphertext.
    pub digest: Option<[u8; 32]>,
}

impl Service {
    /// The parameter set of a sealed key set, to bound what comes next.
    ///
    /// # Errors
    /// The key set does not exist, is not the caller's, is not sealed, or does not fit into memory.
    pub fn job_set(&self, key: Id, caller: &Caller) -> Result<&SetInfo, Problem> {
        if self.is_stopping() {
            return Err(Problem::new(
                503,
                "STOPPING",
                "Server is stopping",
                "the server is stopping: it ends the job that runs and takes no new ones; submit again in a moment",
            )
            .retry_after(5));
        }
        self.account(caller)?;
        let record = self.keys_for(key, caller, Act::Use)?;
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

    /// Has a key set loaded ahead of the first job with it. It may leave memory again if others need the room.
    ///
    /// # Errors
    /// As [`job_set`](Self::job_set), or too many key sets wait to be loaded.
    pub fn wake_keys(&self, key: Id, caller: &Caller) -> Result<(), Problem> {
        self.job_set(key, caller)?;
        if !self.wakes.ask(key) {
            let detail = "too many key sets wait to be loaded; ask again in a moment, or submit a job";
            return Err(Problem::new(503, "BUSY", "Server is busy", detail).retry_after(5));
        }
        self.live.wake();
        Ok(())
    }

    /// Accepts a job. Returns its document.
    ///
    /// # Errors
    /// The ciphertext does not conform, the queue is full, or the Idempotency-Key was used for
    /// another request.
    pub fn submit(&self, order: Order, ciphertext: &[u8], caller: &Caller) -> Result<JobDocument, Problem> {
        let Order { key, operations, mode, rounds, idempotency, digest } = order;
        let set = self.job_set(key, caller)?;
        refuse_secret_key(ciphertext)?;
        let digest = check_digest(ciphertext, digest)?;
        let task = Task { mode: mode.unwrap_or(set.mode), operations, rounds };
        let most_result_bytes = self.engines.check(&set.name, key, &task, ciphertext)?;
        let account = self.account(caller)?;
        let api_key = account.map(|key| key.name.clone());
        let max_own = account.map(|key| key.max_queued_jobs).filter(|most| *most > 0);
        let holder = Holder { api_key, ..self.key_record(key)?.holder };
        let params = set.name.clone();
        let job =
            NewJob { key, params, task, ciphertext, digest, most_result_bytes, idempotency, holder, max_own };
        match jobs::submit(&self.store, &job, self.bounds())? {
            Submitted::New(record) => {
                tracing::info!(job = %record.id, %key, params = record.params, "job accepted");
                self.live.wake();
                Ok(self.document(&record))
            }
            Submitted::Same(record) => Ok(self.document(&record)),
            Submitted::Differs => Err(Problem::conflict(
                "IDEMPOTENCY_CONFLICT",
                "this Idempotency-Key belongs to a job that had another operation or ciphertext; use a new key for a new request",
            )),
            Submitted::Full(waiting) => Err(Problem::new(
                429,
                "QUEUE_FULL",
                "Queue full",
                format!(
                    "{waiting} jobs wait and the queue takes {}; submit again after the time in Retry-After",
                    self.config.limits.max_queued
                ),
            )
            .retry_after(self.estimates.retry_after(&set.name))),
            Submitted::Quota(waiting) => Err(Problem::new(
                429,
                "QUOTA",
                "Quota used up",
                format!("{waiting} jobs of your API key wait, which is its max_queued_jobs; submit again when one has begun"),
            )
            .with("quota", "max_queued_jobs")
            .retry_after(self.estimates.retry_after(&set.name))),
            Submitted::NoRoom(taken, more) => Err(no_room(
                507,
                ("storage.job_bytes", self.config.storage.job_bytes),
                ("this server", taken),
                more,
            )),
            // No waiting makes room for this job.
            Submitted::NoRoomForKey(taken, more) if more > self.config.storage.key_job_bytes => Err(no_room(
                507,
                ("storage.key_job_bytes", self.config.storage.key_job_bytes),
                (format!("key set {key}").as_str(), taken),
                more,
            )),
            Submitted::NoRoomForKey(taken, more) => Err(no_room(
                429,
                ("storage.key_job_bytes", self.config.storage.key_job_bytes),
                (format!("key set {key}").as_str(), taken),
                more,
            )
            .retry_after(60)),
            Submitted::KeyGone => {
                Err(Problem::not_found(format!("key set {key} was deleted in the meantime")))
            }
        }
    }

    /// The document of a job.
    ///
    /// # Errors
    /// It does not exist, or is not the caller's.
    pub fn job(&self, id: Id, caller: &Caller) -> Result<JobDocument, Problem> {
        Ok(self.document(&self.job_for(id, caller)?))
    }

    /// Cancels a job. Returns whether it still has to come to its end.
    ///
    /// # Errors
    /// It does not exist, or is not the caller's.
    pub fn cancel(&self, id: Id, caller: &Caller) -> Result<bool, Problem> {
        self.job_for(id, caller)?;
        // Before the record: a run stops even if the disk does not take the change.
        if let Some(live) = self.live.get(id) {
            live.stop(Stop::Cancelled);
        }
        let record = jobs::cancel(&self.store, id)?.ok_or_else(|| no_job(id))?;
        if record.state == JobState::Running {
            // It may have begun just now.
            if let Some(live) = self.live.get(id) {
                live.stop(Stop::Cancelled);
            }
            return Ok(true);
        }
        self.events.wake(id);
        Ok(false)
    }

    /// Digest and length of the result of a job.
    ///
    /// # Errors
    /// The job does not exist, is another's, or is not done.
    pub fn stated_result(&self, id: Id, caller: &Caller) -> Result<(String, u64), Problem> {
        let record = self.job_for(id, caller)?;
        record.result.ok_or_else(|| {
            let problem = Problem::conflict(
                "JOB_NOT_DONE",
                format!("job {id} is {}, a result is there only when it is done", record.state.name()),
            );
            problem.with("state", record.state.name())
        })
    }

    /// The result of a job that is done, after a look at all of it.
    ///
    /// # Errors
    /// The job does not exist or is another's, or its result is not what was computed.
    pub fn result(&self, id: Id, caller: &Caller) -> Result<Source, Problem> {
        jobs::result(&self.store, &self.job_for(id, caller)?).map_err(|error| match error {
            ReadError::Io(error) => Problem::from(self.store.failed(error)),
            ReadError::Damaged(what) => {
                tracing::error!(job = %id, what, "the result of a job is damaged");
                let detail = format!("the stored result of job {id} is missing or not what was computed, which is the server's disk; submit the job again");
                Problem::new(500, "RESULT_DAMAGED", "Stored result damaged", detail)
            }
        })
    }

    /// Events of a job after `last`, for a caller who was given [`job`](Self::job). The `end` event comes from the record, so it is there
    /// exactly when the job has ended.
    ///
    /// # Errors
    /// The job does not exist.
    pub fn events_after(&self, id: Id, last: u64) -> Result<Vec<Event>, Problem> {
        // The record first: if it says that the job has ended, all events are in the log.
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

    /// Bounds on jobs.
    fn bounds(&self) -> Bounds {
        let storage = &self.config.storage;
        Bounds {
            queued: self.config.limits.max_queued,
            bytes: storage.job_bytes,
            key_bytes: storage.key_job_bytes,
        }
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

    /// The document of a job. If the table does not answer, the position is left out: an accepted job is to be reported as such.
    fn document(&self, record: &JobRecord) -> JobDocument {
        let waits = record.state == JobState::Queued;
        let position = if waits { jobs::position(&self.store, record).ok() } else { None };
        let progress = if record.state == JobState::Running {
            self.live.get(record.id).map(|live| live.progress())
        } else {
            None
        };
        JobDocument::new(record, progress, position)
    }

    /// The record of a job that the caller may see and cancel.
    fn job_for(&self, id: Id, caller: &Caller) -> Result<JobRecord, Problem> {
        let record = self.job_record(id)?;
        self.admit(caller, &record.holder, Act::Use, &format!("job {id}"))?;
        Ok(record)
    }

    fn job_record(&self, id: Id) -> Result<JobRecord, Problem> {
        jobs::get(&self.store, id)?.ok_or_else(|| no_job(id))
    }
}

fn no_room(status: u16, (limit, most): (&str, u64), (whose, taken): (&str, u64), more: u64) -> Problem {
    let code = if status == 507 { "STORAGE_FULL" } else { "QUOTA" };
    let repair = if more > most {
        format!("raise {limit}")
    } else {
        format!("wait for jobs to end and results to expire, or raise {limit}")
    };
    let detail = format!(
        "the job takes up to {more} bytes with its result and its record, the jobs of {whose} take {taken}, and {limit} is {most}; {repair}"
    );
    Problem::new(status, code, "No room for jobs", detail).with("limit", limit)
}

fn no_job(id: Id) -> Problem {
    Problem::not_found(format!("there is no job {id}; finished jobs are kept for a limited time"))
}
