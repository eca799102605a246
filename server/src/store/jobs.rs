//! Jobs and their queue. Every change of state is one transaction guarded by the state it leaves.

use std::fs::File;

use redb::ReadableTable;
use redb::ReadableTableMetadata;
use serde::{Deserialize, Serialize};

use super::files::{self, Written};
use super::holder::Holder;
use super::leftovers::{Owner, Retired};
use super::turns::{Account, Turns};
use super::{COUNTERS, EVENTS, IDEMPOTENCY, JOBS, QUEUE, Store, StoreError, decode, encode, now};
use crate::engine::Task;
use crate::id::{Id, hex};
use crate::problem::Problem;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Accepted and waiting.
    Queued,
    /// Being worked on.
    Running,
    /// The result is there.
    Done,
    /// It cannot be done.
    Failed,
    /// The client called it off.
    Cancelled,
}

impl JobState {
    /// Whether nothing will happen any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// The name used in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What is known of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// Chosen by the server.
    pub id: Id,
    /// Position in the order of acceptance.
    pub sequence: u64,
    /// The evaluation key set.
    pub key: Id,
    /// Its parameter set.
    pub params: String,
    /// What to do.
    pub task: Task,
    /// Where it stands.
    pub state: JobState,
    /// Whether the client has called it off while it ran.
    pub cancel: bool,
    /// Times it was started.
    pub attempts: u32,
    /// Times the server died while it ran.
    pub crashes: u32,
    /// Milliseconds since 1970.
    pub created: u64,
    /// Milliseconds since 1970 at which it came to its final state.
    pub finished: Option<u64>,
    /// Seconds of the run that finished it.
    pub seconds: Option<f64>,
    /// Bytes of the ciphertext to work on.
    pub input_bytes: u64,
    /// Digest of the result in hexadecimal, and its length.
    pub result: Option<(String, u64)>,
    /// Why it failed.
    pub problem: Option<Problem>,
    /// The client's Idempotency-Key.
    pub idempotency: Option<String>,
    /// Whom it belongs to.
    #[serde(default)]
    pub holder: Holder,
}

/// A job to be accepted.
pub struct NewJob<'a> {
    /// The evaluation key set, sealed.
    pub key: Id,
    /// Its parameter set.
    pub params: String,
    /// What to do.
    pub task: Task,
    /// The ciphertext, checked.
    pub ciphertext: &'a [u8],
    /// The client's Idempotency-Key.
    pub idempotency: Option<String>,
    /// Whom it belongs to.
    pub holder: Holder,
    /// Jobs of its API key that may wait.
    pub max_own: Option<usize>,
}

/// What came of submitting a job.
#[derive(Debug)]
pub enum Submitted {
    /// It is in the queue, on disk.
    New(JobRecord),
    /// The same request was accepted before.
    Same(JobRecord),
    /// Another request was accepted before under the same Idempotency-Key.
    Differs,
    /// The queue is full with this many jobs.
    Full(usize),
    /// The API key has this many jobs waiting, which is as many as it may have.
    Quota(usize),
    /// The key set has gone in the meantime.
    KeyGone,
}

/// Accepts a job. When this returns [`Submitted::New`] the job survives the death of the process
/// and of the machine.
///
/// # Errors
/// The store fails.
pub fn submit(store: &Store, job: &NewJob<'_>, max_queued: usize) -> Result<Submitted, StoreError> {
    let digest = request_digest(job);
    if let Some(outcome) =
        store.read(|txn| known(&txn.open_table(IDEMPOTENCY)?, &txn.open_table(JOBS)?, job, digest))?
    {
        return Ok(outcome);
    }
    let waiting = queued(store)?;
    if waiting >= max_queued {
        return Ok(Submitted::Full(waiting));
    }
    let id = Id::random().map_err(StoreError::Io)?;
    let written = Written::new(&store.incoming(), job.ciphertext).map_err(StoreError::Io)?;
    store.write(|txn| {
        let mut jobs = txn.open_table(JOBS)?;
        let mut idempotency = txn.open_table(IDEMPOTENCY)?;
        let mut queue = txn.open_table(QUEUE)?;
        if let Some(outcome) = known(&idempotency, &jobs, job, digest)? {
            return Ok(outcome);
        }
        if txn.open_table(super::KEYS)?.get(job.key.0)?.is_none() {
            return Ok(Submitted::KeyGone);
        }
        let waiting = queue.len()? as usize;
        if waiting >= max_queued {
            return Ok(Submitted::Full(waiting));
        }
        if let (Some(api_key), Some(most)) = (&job.holder.api_key, job.max_own) {
            let mut own = 0;
            for entry in queue.iter()? {
                let record = jobs.get(entry?.1.value())?;
                let record: Option<JobRecord> =
                    record.map(|bytes| decode("job", bytes.value())).transpose()?;
                own +=
                    usize::from(record.is_some_and(|record| record.holder.api_key.as_ref() == Some(api_key)));
            }
            if own >= most {
                return Ok(Submitted::Quota(own));
            }
        }
        let sequence = next(&mut txn.open_table(COUNTERS)?, "job")?;
        let record = JobRecord {
            id,
            sequence,
            key: job.key,
            params: job.params.clone(),
            task: job.task.clone(),
            state: JobState::Queued,
            cancel: false,
            attempts: 0,
            crashes: 0,
            created: now(),
            finished: None,
            seconds: None,
            input_bytes: job.ciphertext.len() as u64,
            result: None,
            problem: None,
            idempotency: job.idempotency.clone(),
            holder: job.holder.clone(),
        };
        written.publish(&store.job_folder(id), "input").map_err(StoreError::Io)?;
        jobs.insert(id.0, encode(&record)?.as_slice())?;
        queue.insert(sequence, id.0)?;
        if let Some(key) = &job.idempotency {
            idempotency.insert((job.key.0, key.as_str()), (id.0, digest))?;
        }
        Ok(Submitted::New(record))
    })
}

/// The record of a job.
///
/// # Errors
/// The store fails.
pub fn get(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    store.read(|txn| txn.open_table(JOBS)?.get(id.0)?.map(|bytes| decode("job", bytes.value())).transpose())
}

/// Number of jobs waiting.
///
/// # Errors
/// The store fails.
pub fn queued(store: &Store) -> Result<usize, StoreError> {
    store.read(|txn| Ok(txn.open_table(QUEUE)?.len()? as usize))
}

/// Number of jobs accepted before one and still waiting.
///
/// # Errors
/// The store fails.
pub fn position(store: &Store, record: &JobRecord) -> Result<usize, StoreError> {
    store.read(|txn| Ok(txn.open_table(QUEUE)?.range(..record.sequence)?.count()))
}

/// Takes a waiting job to run it: the first of the account whose turn it is.
///
/// # Errors
/// The store fails.
pub fn claim(store: &Store, turns: &mut Turns) -> Result<Option<JobRecord>, StoreError> {
    if queued(store)? == 0 {
        return Ok(None);
    }
    let claimed = store.write(|txn| {
        let mut queue = txn.open_table(QUEUE)?;
        let waiting: Vec<((u64, Id), Account)> = {
            let jobs = txn.open_table(JOBS)?;
            let entries = queue.iter()?.map(|entry| {
                let (sequence, id) = entry?;
                let (sequence, id) = (sequence.value(), Id(id.value()));
                let record: Option<JobRecord> =
                    jobs.get(id.0)?.map(|bytes| decode("job", bytes.value())).transpose()?;
                Ok(((sequence, id), record.map_or(Account::Keys(id), |record| Account::of(&record))))
            });
            entries.collect::<Result<_, StoreError>>()?
        };
        let Some(((sequence, id), _)) = turns.pick(waiting.into_iter()) else { return Ok(None) };
        queue.remove(sequence)?;
        change(txn, id, |record| {
            if record.state != JobState::Queued {
                return false;
            }
            record.state = JobState::Running;
            record.attempts += 1;
            true
        })
    })?;
    if let Some(record) = &claimed {
        turns.take(Account::of(record));
    }
    Ok(claimed)
}

/// Stores the result of a running job.
///
/// # Errors
/// The store fails.
pub fn finish(store: &Store, id: Id, result: &[u8], seconds: f64) -> Result<Option<JobRecord>, StoreError> {
    let digest = hex(blake3::hash(result).as_bytes());
    Written::new(&store.incoming(), result)
        .and_then(|written| written.publish(&store.job_folder(id), "result"))
        .map_err(StoreError::Io)?;
    end(store, id, |record| {
        record.state = JobState::Done;
        record.seconds = Some(seconds);
        record.result = Some((digest, result.len() as u64));
    })
}

/// Ends a running job without a result.
///
/// # Errors
/// The store fails.
pub fn fail(store: &Store, id: Id, problem: Problem) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, |record| {
        record.state = JobState::Failed;
        record.problem = Some(problem);
    })
}

/// Ends a running job that was called off.
///
/// # Errors
/// The store fails.
pub fn abandon(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, |record| record.state = JobState::Cancelled)
}

/// Puts a running job back to where it was in the queue; `crashed` if the server died under it.
///
/// # Errors
/// The store fails.
pub fn requeue(store: &Store, id: Id, crashed: bool) -> Result<Option<JobRecord>, StoreError> {
    store.write(|txn| {
        let record = change(txn, id, |record| {
            if record.state != JobState::Running {
                return false;
            }
            record.state = JobState::Queued;
            record.crashes += u32::from(crashed);
            true
        })?;
        if let Some(record) = &record {
            txn.open_table(QUEUE)?.insert(record.sequence, record.id.0)?;
        }
        Ok(record)
    })
}

/// Calls a job off: a waiting one ends now, a running one is marked. Returns the record after the
/// change, or as it was when the job had ended before.
///
/// # Errors
/// The store fails.
pub fn cancel(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    store.write(|txn| {
        let changed = change(txn, id, |record| match record.state {
            JobState::Queued => {
                record.state = JobState::Cancelled;
                record.finished = Some(now());
                true
            }
            JobState::Running => {
                record.cancel = true;
                true
            }
            _ => false,
        })?;
        if let Some(record) = changed {
            txn.open_table(QUEUE)?.remove(record.sequence)?;
            return Ok(Some(record));
        }
        txn.open_table(JOBS)?.get(id.0)?.map(|bytes| decode("job", bytes.value())).transpose()
    })
}

/// Jobs for which `pick` holds.
///
/// # Errors
/// The store fails.
pub fn select(store: &Store, mut pick: impl FnMut(&JobRecord) -> bool) -> Result<Vec<JobRecord>, StoreError> {
    store.read(|txn| {
        let mut picked = Vec::new();
        for entry in txn.open_table(JOBS)?.iter()? {
            let record = decode("job", entry?.1.value())?;
            if pick(&record) {
                picked.push(record);
            }
        }
        Ok(picked)
    })
}

/// Removes a job that has ended, with its files and events.
///
/// # Errors
/// The store fails.
pub fn remove(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    let mut retired = None;
    let outcome = store.write(|txn| {
        txn.open_table(JOBS)?.remove(record.id.0)?;
        txn.open_table(EVENTS)?
            .retain_in::<([u8; 16], u64), _>((record.id.0, 0)..=(record.id.0, u64::MAX), |_, _| false)?;
        if let Some(key) = &record.idempotency {
            txn.open_table(IDEMPOTENCY)?.remove((record.key.0, key.as_str()))?;
        }
        retired = Retired::new(store, Owner::Job(record.id))?;
        Ok(())
    });
    Retired::settle(retired, store, outcome)
}

/// The ciphertext to work on.
///
/// # Errors
/// The file is absent or of another length than recorded.
pub fn input(store: &Store, record: &JobRecord) -> std::io::Result<Vec<u8>> {
    files::read_exact(&store.job_folder(record.id).join("input"), record.input_bytes)
}

/// The file with the result of a job that is done, and its length.
///
/// # Errors
/// The file is absent or of another length than recorded.
pub fn result(store: &Store, record: &JobRecord) -> std::io::Result<(File, u64)> {
    let length = record.result.as_ref().map_or(0, |(_, length)| *length);
    let file = File::open(store.job_folder(record.id).join("result"))?;
    let found = file.metadata()?.len();
    if found != length {
        return Err(std::io::Error::other(format!("a result has {found} bytes, its record says {length}")));
    }
    Ok((file, length))
}

/// Brings a running job to its final state.
fn end(store: &Store, id: Id, how: impl FnOnce(&mut JobRecord)) -> Result<Option<JobRecord>, StoreError> {
    store.write(|txn| {
        change(txn, id, |record| {
            if record.state != JobState::Running {
                return false;
            }
            how(record);
            record.finished = Some(now());
            true
        })
    })
}

/// Changes a record if `how` says so; the record after the change, or nothing.
fn change(
    txn: &redb::WriteTransaction,
    id: Id,
    how: impl FnOnce(&mut JobRecord) -> bool,
) -> Result<Option<JobRecord>, StoreError> {
    let mut jobs = txn.open_table(JOBS)?;
    let Some(mut record) =
        jobs.get(id.0)?.map(|bytes| decode::<JobRecord>("job", bytes.value())).transpose()?
    else {
        return Ok(None);
    };
    if !how(&mut record) {
        return Ok(None);
    }
    jobs.insert(id.0, encode(&record)?.as_slice())?;
    Ok(Some(record))
}

fn known(
    idempotency: &impl ReadableTable<([u8; 16], &'static str), ([u8; 16], [u8; 32])>,
    jobs: &impl ReadableTable<[u8; 16], &'static [u8]>,
    job: &NewJob<'_>,
    digest: [u8; 32],
) -> Result<Option<Submitted>, StoreError> {
    let Some(key) = &job.idempotency else { return Ok(None) };
    let Some((id, earlier)) = idempotency.get((job.key.0, key.as_str()))?.map(|value| value.value()) else {
        return Ok(None);
    };
    if earlier != digest {
        return Ok(Some(Submitted::Differs));
    }
    let record = jobs.get(id)?.map(|bytes| decode("job", bytes.value())).transpose()?;
    Ok(record.map(Submitted::Same))
}

fn request_digest(job: &NewJob<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(job.task.mode.name().as_bytes()).update(&[0]);
    hasher.update(crate::engine::operation_list(&job.task.operations).as_bytes());
    if job.task.rounds != 1 {
        hasher.update(format!(" in {} rounds", job.task.rounds).as_bytes());
    }
    hasher.update(&[0]).update(job.ciphertext);
    *hasher.finalize().as_bytes()
}

fn next(counters: &mut redb::Table<'_, &'static str, u64>, name: &str) -> Result<u64, StoreError> {
    let value = counters.get(name)?.map_or(0, |value| value.value()) + 1;
    counters.insert(name, value)?;
    Ok(value)
}
