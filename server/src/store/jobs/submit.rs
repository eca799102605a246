//! Taking a job in: once for an Idempotency-Key, and within bounds.

use redb::{ReadableTable, ReadableTableMetadata};

use super::{JobRecord, JobState, RECORD_BYTES, find, get, queued};
use crate::blobs::Blob;
use crate::engine::{Task, operation_list};
use crate::id::{Id, hex};
use crate::store::events::{self, QUEUED};
use crate::store::holder::Holder;
use crate::store::turns::Account;
use crate::store::{COUNTERS, IDEMPOTENCY, JOBS, KEYS, QUEUE, Store, StoreError, encode};

/// Bounds on the queue and on what it takes on disk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Jobs waiting.
    pub queued: usize,
    /// Bytes of all jobs: records, inputs, and results or room for them.
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
    /// BLAKE3 of the ciphertext.
    pub digest: blake3::Hash,
    /// Bytes that the result takes at most.
    pub most_result_bytes: u64,
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
    /// All jobs would take more than [`Bounds::bytes`]; they take the first number of bytes, and this job the second.
    NoRoom(u64, u64),
    /// The jobs of the key set would take more than [`Bounds::key_bytes`]; they take the first number of bytes, and this job the second.
    NoRoomForKey(u64, u64),
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
    forget_failed(store);
    if let Some(refusal) = over(store, job, bounds, queued(store)?) {
        return Ok(refusal);
    }
    let id = Id::random().map_err(|error| store.failed(error))?;
    if job.max_own.is_some() {
        // The line counts the jobs of the API key.
        store.with_line(|_| ())?;
    }
    let mut staged = store.stage(Blob::Input(id), job.ciphertext)?;
    let outcome = store.write(|txn| {
        let mut jobs = txn.open_table(JOBS)?;
        let mut idempotency = txn.open_table(IDEMPOTENCY)?;
        let mut queue = txn.open_table(QUEUE)?;
        if let Some(outcome) = known(&idempotency, &jobs, job, digest)? {
            return Ok(outcome);
        }
        if txn.open_table(KEYS)?.get(job.key.0)?.is_none() {
            return Ok(Submitted::KeyGone);
        }
        if let Some(refusal) = over(store, job, bounds, queue.len()? as usize) {
            return Ok(refusal);
        }
        if let (Some(api_key), Some(most)) = (&job.holder.api_key, job.max_own) {
            let own = store.line_to_change().0.of(&Account::ApiKey(api_key.clone()));
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
            not_before: 0,
            created: store.now(),
            finished: None,
            seconds: None,
            input_bytes: job.ciphertext.len() as u64,
            input_digest: Some(hex(job.digest.as_bytes())),
            most_result_bytes: job.most_result_bytes,
            result: None,
            content: None,
            problem: None,
            idempotency: job.idempotency.clone(),
            holder: job.holder.clone(),
        };
        staged.publish().map_err(StoreError::Io)?;
        jobs.insert(id.0, encode(&record)?.as_slice())?;
        queue.insert(sequence, id.0)?;
        events::first(txn, id, "state", QUEUED)?;
        if let Some(key) = &job.idempotency {
            idempotency.insert((job.key.0, key.as_str()), (id.0, digest))?;
        }
        store.line_to_change().0.set(&record);
        // Before anybody can take the job.
        store.usage().set(&record);
        Ok(Submitted::New(record))
    });
    if matches!(outcome, Ok(Submitted::New(_))) {
        staged.recorded();
    }
    drop(staged);
    if outcome.is_err() {
        store.failed_jobs().push(id);
        forget_failed(store);
    }
    outcome
}

/// Removes what failed submissions have left stored, once the table says which of them it has after all: a change that failed may have been
/// written.
pub fn forget_failed(store: &Store) {
    loop {
        // The lock is not held while something is removed.
        let Some(id) = store.failed_jobs().pop() else { return };
        let cleared = match get(store, id) {
            Ok(Some(_)) | Err(StoreError::Corrupt(_)) => true,
            Ok(None) => {
                let gone = store.blobs().forget(id).is_ok();
                if gone {
                    store.usage().remove(id);
                }
                gone
            }
            Err(_) => false,
        };
        if !cleared {
            // The next submission and housekeeping try it again.
            store.failed_jobs().push(id);
            return;
        }
    }
}

/// The refusal of a job that would exceed a bound.
fn over(store: &Store, job: &NewJob<'_>, bounds: Bounds, waiting: usize) -> Option<Submitted> {
    let usage = store.usage();
    let more =
        (job.ciphertext.len() as u64).saturating_add(job.most_result_bytes).saturating_add(RECORD_BYTES);
    if waiting >= bounds.queued {
        return Some(Submitted::Full(waiting));
    }
    if usage.of_key(job.key).saturating_add(more) > bounds.key_bytes {
        return Some(Submitted::NoRoomForKey(usage.of_key(job.key), more));
    }
    (usage.total().saturating_add(more) > bounds.bytes).then(|| Submitted::NoRoom(usage.total(), more))
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
    Ok(find(jobs, Id(id))?.map(Submitted::Same))
}

fn request_digest(job: &NewJob<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(job.task.mode.name().as_bytes()).update(&[0]);
    hasher.update(operation_list(&job.task.operations).as_bytes());
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
