//! Jobs and their queue.

mod course;
mod files;
mod record;
mod submit;

pub use course::{Made, Requeue, abandon, cancel, claim, ended, fail, finish, remove, requeue};
pub use files::{drop_files, result};
pub(super) use record::may_begin;
pub use record::{JobRecord, JobState, RECORD_BYTES};
pub use submit::{Bounds, NewJob, Submitted, forget_failed, submit};

use redb::{ReadableTable, ReadableTableMetadata};

pub use super::job_queue::Backlog;
use super::{JOBS, QUEUE, Store, StoreError, decode};
use crate::id::Id;

/// The record of a job.
///
/// # Errors
/// The store fails.
pub fn get(store: &Store, id: Id) -> Result<Option<JobRecord>, StoreError> {
    store.read(|txn| find(&txn.open_table(JOBS)?, id))
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

/// The jobs that wait and may begin, by key set.
///
/// # Errors
/// The store fails.
pub fn backlogs(store: &Store) -> Result<Vec<Backlog>, StoreError> {
    let now = store.now();
    store.with_line(|line| line.backlogs(now))
}

/// The jobs that run according to the table, in the order of acceptance; those whose records are damaged are left out.
///
/// # Errors
/// The store fails.
pub fn running(store: &Store) -> Result<Vec<JobRecord>, StoreError> {
    let ids = store.with_line(|line| line.running())?;
    let mut running = store.read(|txn| {
        let jobs = txn.open_table(JOBS)?;
        let mut found = Vec::new();
        for id in ids {
            match find(&jobs, id) {
                Ok(record) => found.extend(record.filter(|record| record.state == JobState::Running)),
                Err(error @ StoreError::Corrupt(_)) => store.note(&error),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    })?;
    running.sort_by_key(|job| job.sequence);
    Ok(running)
}

/// Jobs for which `pick` holds; those whose records are damaged are left out.
///
/// # Errors
/// The store fails.
pub fn select(store: &Store, mut pick: impl FnMut(&JobRecord) -> bool) -> Result<Vec<JobRecord>, StoreError> {
    store.read(|txn| {
        let mut picked = Vec::new();
        store.each_record("job", &txn.open_table(JOBS)?, |record| {
            if pick(&record) {
                picked.push(record);
            }
        })?;
        Ok(picked)
    })
}

fn find(
    table: &impl ReadableTable<[u8; 16], &'static [u8]>,
    id: Id,
) -> Result<Option<JobRecord>, StoreError> {
    table.get(id.0)?.map(|bytes| decode(&format!("job {id}"), bytes.value())).transpose()
}
