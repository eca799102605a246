//! Jobs and their queue. Every change of state is one transaction guarded by the state it leaves.

use std::fs::File;

use redb::ReadableTable;
use redb::ReadableTableMetadata;
use serde::{Deserialize, Serialize};

use super::files::{self, Expected, ReadError, Written};
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
    /// The client cancelled it.
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
    /// Whether the client has cancelled it while it ran.
    pub cancel: bool,
    /// Times it was started.
    pub attempts: u32,
    /// Times the server died while it ran.
    pub crashes: u32,
    /// Times it went back into the queue because a file could not be read or written.
    #[serde(default)]
    pub failures: u32,
    /// Why it went back into the queue last.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Milliseconds since 1970.
    pub created: u64,
    /// Milliseconds since 1970 at which it came to its final state.
    pub finished: Option<u64>,
    /// Seconds of the run that finished it.
    pub seconds: Option<f64>,
    /// Bytes of the ciphertext to work on.
    pub input_bytes: u64,
    /// BLAKE3 of the ciphertext in hexadecimal; older versions stored none.
    #[serde(default)]
    pub input_digest: Option<String>,
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

impl JobRecord {
    /// Bytes of its files: the input until it has ended, and the result.
    pub fn stored_bytes(&self) -> u64 {
        let input = if self.state.is_final() { 0 } else { self.input_bytes };
        input + self.result.as_ref().map_or(0, |(_, length)| *length)
    }
}

/// Bounds on the queue and on what it takes on disk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Jobs waiting.
    pub queued: usize,
    /// Bytes of all jobs.
    pub bytes: u64,
    /// Bytes of the jobs of one key set.
    pub key_bytes: u64,
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
    /// All jobs would take more than [`Bounds::bytes`]; they take this many.
    NoRoom(u64),
    /// The jobs of the key set would take more than [`Bounds::key_bytes`]; they take this many.
    NoRoomForKey(u64),
    /// The key set has gone in the meantime.
    KeyGone,
}

/// Accepts a job. When this returns [`Submitted::New`] the job survives the death of the process
/// and of the machine.
///
/// # Errors
/// The store fails.
pub fn submit(store: &Store, job: &NewJob<'_>, bounds: Bounds) -> Result<Submitted, StoreError> {
    let digest = request_digest(job);
    if let Some(outcome) =
        store.read(|txn| known(&txn.open_table(IDEMPOTENCY)?, &txn.open_table(JOBS)?, job, digest))?
    {
        return Ok(outcome);
    }
    if let Some(refusal) = over(store, job, bounds, queued(store)?) {
        return Ok(refusal);
    }
    let input_digest = hex(blake3::hash(job.ciphertext).as_bytes());
    let id = Id::random().map_err(StoreError::Io)?;
    let written = Written::new(&store.incoming(), job.ciphertext).map_err(StoreError::Io)?;
    let outcome = store.write(|txn| {
        let mut jobs = txn.open_table(JOBS)?;
        let mut idempotency = txn.open_table(IDEMPOTENCY)?;
        let mut queue = txn.open_table(QUEUE)?;
        if let Some(outcome) = known(&idempotency, &jobs, job, digest)? {
            return Ok(outcome);
        }
        if txn.open_table(super::KEYS)?.get(job.key.0)?.is_none() {
            return Ok(Submitted::KeyGone);
        }
        if let Some(refusal) = over(store, job, bounds, queue.len()? as usize) {
            return Ok(refusal);
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
            failures: 0,
            trouble: None,
            created: now(),
            finished: None,
            seconds: None,
            input_bytes: job.ciphertext.len() as u64,
            input_digest: Some(input_digest),
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
        // Before anybody can take the job.
        store.usage().set(&record);
        Ok(Submitted::New(record))
    });
    if outcome.is_err() {
        store.usage().remove(id);
    }
    outcome
}

/// The bound that a job would exceed.
fn over(store: &Store, job: &NewJob<'_>, bounds: Bounds, waiting: usize) -> Option<Submitted> {
    let usage = store.usage();
    let more = job.ciphertext.len() as u64;
    if waiting >= bounds.queued {
        return Some(Submitted::Full(waiting));
    }
    if usage.of_key(job.key).saturating_add(more) > bounds.key_bytes {
        return Some(Submitted::NoRoomForKey(usage.of_key(job.key)));
    }
    (usage.total().saturating_add(more) > bounds.bytes).then(|| Submitted::NoRoom(usage.total()))
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

/// Ends a running job that was cancelled.
///
/// # Errors
/// The store fails.
pub fn abandon(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, |record| record.state = JobState::Cancelled)
}

/// Why a running job goes back into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requeue {
    /// The server stops.
    Stopped,
    /// The server died under it.
    Crashed,
    /// A file could not be read or written, for this reason.
    Trouble(String),
}

/// Puts a running job back to where it was in the queue.
///
/// # Errors
/// The store fails.
pub fn requeue(store: &Store, id: Id, why: &Requeue) -> Result<Option<JobRecord>, StoreError> {
    store.write(|txn| {
        let record = change(txn, id, |record| {
            if record.state != JobState::Running {
                return false;
            }
            record.state = JobState::Queued;
            match why {
                Requeue::Stopped => {}
                Requeue::Crashed => record.crashes += 1,
                Requeue::Trouble(reason) => {
                    record.failures += 1;
                    record.trouble = Some(reason.clone());
                }
            }
            true
        })?;
        if let Some(record) = &record {
            txn.open_table(QUEUE)?.insert(record.sequence, record.id.0)?;
        }
        Ok(record)
    })
}

/// Cancels a job: a waiting one ends now, a running one is marked. Returns the record after the
/// change, or as it was when the job had ended before.
///
/// # Errors
/// The store fails.
pub fn cancel(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
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
    })?;
    if let Some(record) = &record {
        ended(store, record);
    }
    Ok(record)
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
    if outcome.is_ok() {
        store.usage().remove(record.id);
    }
    Retired::settle(retired, store, outcome)
}

/// The ciphertext to work on.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn input(store: &Store, record: &JobRecord) -> Result<Vec<u8>, ReadError> {
    let expected = Expected::new(record.input_bytes, record.input_digest.as_deref());
    expected.read(&store.job_folder(record.id).join("input"))
}

/// The result of a job that is done, checked and opened at its beginning.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn result(store: &Store, record: &JobRecord) -> Result<File, ReadError> {
    let (digest, length) =
        record.result.as_ref().map_or((None, 0), |(digest, length)| (Some(digest), *length));
    let expected = Expected::new(length, digest.map(String::as_str));
    expected.open(&store.job_folder(record.id).join("result"))
}

/// Removes the files that a job which has ended does not need: its input, a result that its record does not have, and its folder
/// if nothing is in it.
///
/// # Errors
/// The disk refuses.
pub fn drop_files(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    let folder = store.job_folder(record.id);
    files::remove_file(&folder.join("input"))?;
    if record.result.is_none() {
        files::remove_file(&folder.join("result"))?;
        // Whatever else somebody put there stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}

/// Brings a running job to its final state.
fn end(store: &Store, id: Id, how: impl FnOnce(&mut JobRecord)) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
        change(txn, id, |record| {
            if record.state != JobState::Running {
                return false;
            }
            how(record);
            record.finished = Some(now());
            true
        })
    })?;
    if let Some(record) = &record {
        ended(store, record);
    }
    Ok(record)
}

/// Lets go of what a job does not need once it has ended.
fn ended(store: &Store, record: &JobRecord) {
    store.usage().set(record);
    if record.state.is_final()
        && let Err(error) = drop_files(store, record)
    {
        tracing::warn!(job = %record.id, %error, "cannot remove an input; it is tried again at the next start");
    }
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
