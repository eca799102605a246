//! Bytes that jobs take on disk, in all and by key set: inputs of jobs that have not ended, results, and records.

use std::collections::HashMap;

use super::jobs::{self, JobRecord};
use super::{Store, StoreError};
use crate::id::Id;

/// Bytes of stored jobs.
#[derive(Default)]
pub(crate) struct Usage {
    jobs: HashMap<Id, (Id, u64)>,
    keys: HashMap<Id, u64>,
    total: u64,
}

impl Usage {
    /// Counts what is stored.
    pub(super) fn count(store: &Store) -> Result<Self, StoreError> {
        let mut usage = Self::default();
        jobs::select(store, |record| {
            usage.set(record);
            false
        })?;
        Ok(usage)
    }

    /// Notes what a job takes by its record.
    pub(super) fn set(&mut self, record: &JobRecord) {
        self.remove(record.id);
        let bytes = record.stored_bytes();
        self.jobs.insert(record.id, (record.key, bytes));
        *self.keys.entry(record.key).or_default() += bytes;
        self.total += bytes;
    }

    /// Notes that a job has gone.
    pub(super) fn remove(&mut self, job: Id) {
        let Some((key, bytes)) = self.jobs.remove(&job) else { return };
        self.total -= bytes;
        if let Some(sum) = self.keys.get_mut(&key) {
            *sum -= bytes;
            if *sum == 0 {
                self.keys.remove(&key);
            }
        }
    }

    /// Bytes of all jobs.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Bytes of the jobs of a key set.
    pub(crate) fn of_key(&self, key: Id) -> u64 {
        self.keys.get(&key).copied().unwrap_or(0)
    }
}
