//! The course of a job from the queue to its end. Every change of state is one transaction guarded by the state it leaves.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::files::drop_files;
use super::{JobRecord, JobState, find};
use crate::blobs::Owner;
use crate::id::{Id, hex};
use crate::problem::Problem;
use crate::store::job_queue::{Backlog, Next};
use crate::store::turns::{Account, Turns};
use crate::store::{EVENTS, IDEMPOTENCY, JOBS, QUEUE, Store, StoreError, encode};
use crate::work::ContentId;

/// Longest pause before a job is tried again.
pub const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// Takes a waiting job to run it: the first of the account whose turn it is, among jobs with key sets for which `choose` returns what to
/// do; that is returned with the job. `choose` is asked about key sets in the order of turns, and told whether a key set is the first of
/// its account. This takes as long with many waiting jobs as with few.
///
/// # Errors
/// The store fails.
pub fn claim<T>(
    store: &Store,
    turns: &mut Turns,
    mut choose: impl FnMut(&Backlog, bool) -> Option<T>,
) -> Result<Option<(JobRecord, T)>, StoreError> {
    loop {
        let now = store.now();
        let Some(Next { id, sequence, what }) = store.with_line(|line| line.next(turns, now, &mut choose))?
        else {
            return Ok(None);
        };
        // The job has left the line: if this fails, the line is read anew.
        let claimed = store.write(|txn| {
            txn.open_table(QUEUE)?.remove(sequence)?;
            let begin = |record: &mut JobRecord| {
                if record.state != JobState::Queued {
                    return false;
                }
                record.state = JobState::Running;
                record.attempts += 1;
                true
            };
            match change(store, txn, id, begin) {
                // Without its record nobody can do the job.
                Err(error @ StoreError::Corrupt(_)) => {
                    store.note(&error);
                    Ok(None)
                }
                changed => changed,
            }
        })?;
        // Otherwise the job was cancelled meanwhile.
        if let Some(record) = claimed {
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
    /// Bytes of the result.
    pub length: u64,
    /// Seconds of the run.
    pub seconds: f64,
    /// What the result is made of.
    pub content: Option<ContentId>,
}

/// Records the result of attempt `attempt` at a running job. Nothing is recorded, and `None` returned, if the job does not run or is at
/// another attempt. The same holds for the other ends of an attempt.
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
    /// A file could not be read or written, for this reason; the job is not tried again before this pause is over.
    Trouble(String, Duration),
}

/// Puts a running job back to where it was in the queue; a job that was to be cancelled ends instead.
///
/// # Errors
/// The store fails.
pub fn requeue(store: &Store, id: Id, attempt: u32, why: &Requeue) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
        let record = change(store, txn, id, |record| {
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
        let changed = change(store, txn, id, |record| match record.state {
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
    Ok(record.inspect(|record| ended(store, record)))
}

/// Removes a job that has ended, with its files and events.
///
/// # Errors
/// The store fails.
pub fn remove(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    let mut retired = None;
    let outcome = store.write(|txn| {
        txn.open_table(JOBS)?.remove(record.id.0)?;
        store.line_to_change().0.remove(record.sequence);
        txn.open_table(EVENTS)?
            .retain_in::<([u8; 16], u64), _>((record.id.0, 0)..=(record.id.0, u64::MAX), |_, _| false)?;
        if let Some(key) = &record.idempotency {
            txn.open_table(IDEMPOTENCY)?.remove((record.key.0, key.as_str()))?;
        }
        retired = store.blobs().retire(Owner::Job(record.id))?;
        Ok(())
    });
    if outcome.is_ok() {
        store.usage().remove(record.id);
    }
    store.settle(retired, outcome)
}

/// Brings a running job to its final state.
fn end(
    store: &Store,
    id: Id,
    attempt: u32,
    how: impl FnOnce(&mut JobRecord),
) -> Result<Option<JobRecord>, StoreError> {
    let record = store.write(|txn| {
        change(store, txn, id, |record| {
            if !is_at(record, attempt) {
                return false;
            }
            how(record);
            record.finished = Some(store.now());
            true
        })
    })?;
    Ok(record.inspect(|record| ended(store, record)))
}

/// Whether this attempt at a job is the one that counts.
fn is_at(record: &JobRecord, attempt: u32) -> bool {
    record.state == JobState::Running && record.attempts == attempt
}

/// Counts what a job takes, and removes what it no longer needs once it has ended.
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
    store: &Store,
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
    store.line_to_change().0.set(&record);
    Ok(Some(record))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::engine::{Operation, SlotMode, Task};
    use crate::store::KEYS;
    use crate::store::holder::Holder;
    use crate::store::jobs::{Bounds, NewJob, Submitted, queued, running, submit};

    const KEY: Id = Id([1; 16]);

    fn store(folder: &std::path::Path) -> Store {
        let store = Store::open(folder).unwrap();
        store.write(|txn| Ok(txn.open_table(KEYS)?.insert(KEY.0, [].as_slice()).map(drop)?)).unwrap();
        store
    }

    fn submit_one(store: &Store) -> JobRecord {
        let input = [7; 5];
        let job = NewJob {
            key: KEY,
            params: "small".into(),
            task: Task { mode: SlotMode::Real, operations: vec![Operation::new("bootstrap")], rounds: 1 },
            ciphertext: &input,
            digest: blake3::hash(&input),
            most_result_bytes: 5,
            idempotency: None,
            holder: Holder::default(),
            max_own: None,
        };
        let bounds = Bounds { queued: usize::MAX, bytes: u64::MAX, key_bytes: u64::MAX };
        match submit(store, &job, bounds).unwrap() {
            Submitted::New(record) => record,
            other => panic!("{other:?}"),
        }
    }

    fn next(store: &Store) -> Option<Id> {
        claim(store, &mut Turns::default(), |_, _| Some(())).unwrap().map(|(record, ())| record.id)
    }

    #[test]
    fn a_claim_looks_at_one_record_however_many_wait() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let first = submit_one(&store);
        let others: Vec<Id> = (0..20).map(|_| submit_one(&store).id).collect();
        // All are in the line by now. A look at the other records would find them damaged, and take them out of the queue.
        assert_eq!(running(&store).unwrap().len(), 0);
        let damage = |txn: &redb::WriteTransaction| {
            let mut jobs = txn.open_table(JOBS)?;
            for id in &others {
                jobs.insert(id.0, b"damaged".as_slice())?;
            }
            Ok(())
        };
        store.write(damage).unwrap();
        assert_eq!((next(&store), queued(&store).unwrap()), (Some(first.id), 20));
        assert_eq!(running(&store).unwrap().len(), 1);
        // Nobody can do the damaged jobs, and they hold up no others.
        let last = submit_one(&store);
        assert_eq!((next(&store), queued(&store).unwrap()), (Some(last.id), 0));
        assert_eq!(next(&store), None);
    }

    #[test]
    fn what_the_table_has_is_read_anew_after_a_change_that_may_have_been_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let [first, second] = [(); 2].map(|()| submit_one(&store));
        assert_eq!(next(&store), Some(first.id));
        // A claim that fails in the middle: the job has left the line, and is queued by the table.
        let failing = || store.write(|_| -> Result<(), StoreError> { panic!("a defect") });
        store.line_to_change().0.remove(second.sequence);
        assert_eq!(next(&store), None);
        assert!(catch_unwind(AssertUnwindSafe(failing)).is_err());
        assert_eq!(next(&store), Some(second.id));
        // A claim that was written all the same: the job is in the line, and is running by the table.
        store.line_to_change().0.set(&second);
        let failing = || store.write(|_| -> Result<(), StoreError> { Err(redb::Error::PreviousIo.into()) });
        assert!(failing().is_err());
        assert_eq!((next(&store), running(&store).unwrap().len()), (None, 2));
        // Waiting jobs are in the line after a restart, too.
        let third = submit_one(&store);
        drop(store);
        let store = Store::open(folder.path()).unwrap();
        assert_eq!((next(&store), next(&store)), (Some(third.id), None));
    }
}
