//! The course of a job from the queue to its end. Every change of state is one transaction guarded by the state it leaves.

use std::collections::HashMap;
use std::time::Duration;

use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use super::files::drop_files;
use super::{JobRecord, JobState, find};
use crate::id::{Id, hex};
use crate::problem::Problem;
use crate::store::leftovers::{Owner, Retired};
use crate::store::turns::{Account, Turns};
use crate::store::{EVENTS, IDEMPOTENCY, JOBS, QUEUE, Store, StoreError, encode};
use crate::work::ContentId;

/// Longest pause before a job is tried again.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A job that waits, and may begin.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The job.
    pub id: Id,
    /// Its key set.
    pub key: Id,
    /// The parameter set of that.
    pub params: String,
    sequence: u64,
}

/// Takes a waiting job to run it: the first of the account whose turn it is, among those that may go. `choose` sees
/// all waiting jobs and returns, for each key set that may go, what to do with it; that is returned with the job.
///
/// # Errors
/// The store fails.
pub fn claim<T>(
    store: &Store,
    turns: &mut Turns,
    choose: impl Fn(&[&Waiting]) -> HashMap<Id, T>,
) -> Result<Option<(JobRecord, T)>, StoreError> {
    loop {
        let (mut waiting, mut unusable) = (Vec::new(), Vec::new());
        store.read(|txn| {
            let jobs = txn.open_table(JOBS)?;
            for entry in txn.open_table(QUEUE)?.iter()? {
                let (sequence, id) = entry?;
                let sequence = sequence.value();
                match find(&jobs, Id(id.value())) {
                    Ok(Some(record)) if record.may_begin(store.now()) => {
                        let account = Account::of(&record);
                        let JobRecord { id, key, params, .. } = record;
                        waiting.push((Waiting { id, key, params, sequence }, account));
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => unusable.push(sequence),
                    // Without its record nobody can do it, and it is not to hold up the others.
                    Err(error @ StoreError::Corrupt(_)) => {
                        store.note(&error);
                        unusable.push(sequence);
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })?;
        let mut chosen = choose(&waiting.iter().map(|(job, _)| job).collect::<Vec<_>>());
        let next = turns.pick(waiting, |job| chosen.contains_key(&job.key));
        if next.is_none() && unusable.is_empty() {
            return Ok(None);
        }
        let claimed = store.write(|txn| {
            let mut queue = txn.open_table(QUEUE)?;
            for sequence in &unusable {
                queue.remove(sequence)?;
            }
            let Some((Waiting { id, sequence, .. }, _)) = &next else { return Ok(None) };
            queue.remove(sequence)?;
            change(txn, *id, |record| {
                if record.state != JobState::Queued {
                    return false;
                }
                record.state = JobState::Running;
                record.attempts += 1;
                true
            })
        })?;
        // Else it was cancelled meanwhile.
        if let Some(record) = claimed
            && let Some(what) = chosen.remove(&record.key)
        {
            turns.take(Account::of(&record));
            return Ok(Some((record, what)));
        }
    }
}

/// What a job has made, stored before it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// BLAKE3 of the result.
    pub digest: [u8; 32],
    /// Bytes of it.
    pub length: u64,
    /// Seconds of the run.
    pub seconds: f64,
    /// What it is made of.
    pub content: Option<ContentId>,
}

/// Records the result of attempt `attempt` at a running job. Nothing is recorded, and `None` returned, if the job does not run or is
/// at another attempt; so it is with the other ends of an attempt.
///
/// # Errors
/// The store fails.
pub fn finish(store: &Store, id: Id, attempt: u32, made: &Made) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, attempt, |record| {
        record.state = JobState::Done;
        record.seconds = Some(made.seconds);
        record.content = made.content;
        record.result = Some((hex(&made.digest), made.length));
    })
}

/// Ends a running job without a result.
///
/// # Errors
/// The store fails.
pub fn fail(store: &Store, id: Id, attempt: u32, problem: Problem) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, attempt, |record| {
        record.state = JobState::Failed;
        record.problem = Some(problem);
    })
}

/// Ends a running job that was cancelled.
///
/// # Errors
/// The store fails.
pub fn abandon(store: &Store, id: Id, attempt: u32) -> Result<Option<JobRecord>, StoreError> {
    end(store, id, attempt, |record| record.state = JobState::Cancelled)
}

/// Why a running job goes back into the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requeue {
    /// The server stops, or could not note that the job has begun.
    Stopped,
    /// The server died under it, or the worker met a defect.
    Crashed,
    /// A file could not be read or written, for this reason; it is not tried again before this pause is over.
    Trouble(String, Duration),
}

/// Puts a running job back to where it was in the queue; one that was to be cancelled has come to its end.
///
/// # Errors
/// The store fails.
pub fn requeue(store: &Store, id: Id, attempt: u32, why: &Requeue) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
        let record = change(txn, id, |record| {
            if !is_at(record, attempt) {
                return false;
            }
            if record.cancel {
                record.state = JobState::Cancelled;
                record.finished = Some(store.now());
                return true;
            }
            record.state = JobState::Queued;
            match why {
                Requeue::Stopped => {}
                Requeue::Crashed => record.crashes += 1,
                Requeue::Trouble(reason, pause) => {
                    record.failures += 1;
                    record.trouble = Some(reason.clone());
                    record.not_before = store.now() + pause.min(&LONGEST_PAUSE).as_millis() as u64;
                }
            }
            true
        })?;
        if let Some(record) = record.as_ref().filter(|record| record.state == JobState::Queued) {
            txn.open_table(QUEUE)?.insert(record.sequence, record.id.0)?;
        }
        Ok(record)
    })?;
    if let Some(record) = record.as_ref().filter(|record| record.state.is_final()) {
        ended(store, record);
    }
    Ok(record)
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
                record.finished = Some(store.now());
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
        find(&txn.open_table(JOBS)?, id)
    })?;
    if let Some(record) = &record {
        ended(store, record);
    }
    Ok(record)
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

/// Brings a running job to its final state.
fn end(
    store: &Store,
    id: Id,
    attempt: u32,
    how: impl FnOnce(&mut JobRecord),
) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
        change(txn, id, |record| {
            if !is_at(record, attempt) {
                return false;
            }
            how(record);
            record.finished = Some(store.now());
            true
        })
    })?;
    if let Some(record) = &record {
        ended(store, record);
    }
    Ok(record)
}

/// Whether this attempt at a job is the one that counts.
fn is_at(record: &JobRecord, attempt: u32) -> bool {
    record.state == JobState::Running && record.attempts == attempt
}

/// Lets go of what a job does not need once it has ended.
pub fn ended(store: &Store, record: &JobRecord) {
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
    let Some(mut record) = find(&jobs, id)? else { return Ok(None) };
    if !how(&mut record) {
        return Ok(None);
    }
    jobs.insert(id.0, encode(&record)?.as_slice())?;
    Ok(Some(record))
}
