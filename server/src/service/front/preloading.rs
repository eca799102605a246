//! Key sets that are loaded ahead: each is sent to one of its owners as an attempt that does nothing but load it.

use std::sync::Arc;

use super::Front;
use crate::dispatch::queue::Millis;
use crate::id::Id;
use crate::service::placement::{Asked, Placement};
use crate::store::{StoreError, keys};
use crate::work::Work;

/// How long loading takes up a slot of a worker that does not say that it is done, in milliseconds.
const LOADING: Millis = 120_000;

impl Front {
    /// Has key sets loaded that somebody wants in memory, by workers with a slot for that.
    pub(super) fn wake(&mut self, placement: &mut Placement, now: Millis) -> Result<(), StoreError> {
        let service = Arc::clone(&self.service);
        for key in service.wakes.wishes() {
            let record = match keys::get(&service.store, key) {
                Ok(record) => record,
                Err(StoreError::Corrupt(_)) => None,
                Err(error) => return Err(error),
            };
            let Some(record) = record else {
                service.wakes.drop(key);
                continue;
            };
            if placement.is_warm(key) {
                service.wakes.drop(key);
                continue;
            }
            let fingerprint = Some(record.fingerprint.as_str());
            let asked =
                Asked { key, set: fingerprint, backlog: 1, patience: f64::INFINITY, is_overdue: false };
            let Some(worker) = placement.choose(&asked).map(|(worker, _)| worker.to_owned()) else {
                continue;
            };
            let work = Work::waking(&record, keys::parts(&service.store, key)?);
            placement.take(&worker, key, fingerprint);
            service.wakes.drop(key);
            self.dispatch.publish(&worker, &work)?;
            self.warm.insert((worker.clone(), key), now);
            self.waking.insert(key, (worker, record.fingerprint, now));
        }
        Ok(())
    }

    /// Notes that a worker has loaded a key set, or has tried to.
    pub(super) fn woken(&mut self, key: Id) {
        self.waking.remove(&key);
        self.service.live.end(key);
    }

    /// Forgets key sets that have been loading for too long without a word.
    pub(super) fn forget_waking(&mut self, now: Millis) {
        self.waking.retain(|_, (_, _, since)| now.saturating_sub(*since) < LOADING);
    }
}
