//! The durable log of what happened to each job, and its live subscribers.
//!
//! Identifiers of a job's events ascend. Each attempt at a job starts at the next multiple of 10^9, so
//! that a client never misses an event because it saw others that were lost when the server was killed. Within an
//! attempt no identifier is given twice, even if the disk loses events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{Durability, ReadableTable};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{EVENTS, Store, StoreError};
use crate::id::Id;

/// Name of the last event of a job.
pub const END: &str = "end";

/// Data of the event `state` of a waiting job.
pub const QUEUED: &str = r#"{"state":"queued"}"#;

const ATTEMPT: u64 = 1_000_000_000;

/// One event of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Ascending within a job.
    pub id: u64,
    /// `stage`, `state` or `end`.
    pub name: String,
    /// One JSON object.
    pub data: String,
}

/// How soon an event has to be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Urgency {
    /// When the call returns.
    Now,
    /// With the next urgent one.
    Later,
}

/// Writes the first event of a new job, in the transaction that makes the job.
pub(super) fn first(txn: &redb::WriteTransaction, job: Id, name: &str, data: &str) -> Result<(), StoreError> {
    txn.open_table(EVENTS)?.insert((job.0, 1), line(name, data).as_slice())?;
    Ok(())
}

fn line(name: &str, data: &str) -> Vec<u8> {
    format!("{name}\n{data}").into_bytes()
}

/// Appends to the logs and tells subscribers.
pub struct EventLog {
    store: Arc<Store>,
    subscribers: Mutex<HashMap<Id, watch::Sender<u64>>>,
    /// The last identifier given, for jobs that run.
    given: Mutex<HashMap<Id, u64>>,
}

impl EventLog {
    /// The logs in `store`.
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, subscribers: Mutex::default(), given: Mutex::default() }
    }

    /// Appends an event made in attempt `attempt` at the job.
    ///
    /// # Errors
    /// The store fails.
    pub fn append(
        &self,
        job: Id,
        attempt: u32,
        name: &str,
        data: &str,
        urgency: Urgency,
    ) -> Result<(), StoreError> {
        let durability = if urgency == Urgency::Now { Durability::Immediate } else { Durability::None };
        let given = self.given().get(&job).copied().unwrap_or(0);
        let id = self.store.write_with(durability, |txn| {
            let mut events = txn.open_table(EVENTS)?;
            let last = events
                .range((job.0, 0)..=(job.0, u64::MAX))?
                .next_back()
                .transpose()?
                .map_or(0, |(key, _)| key.value().1);
            let id = (last.max(given) + 1).max(u64::from(attempt) * ATTEMPT);
            events.insert((job.0, id), line(name, data).as_slice())?;
            Ok(id)
        })?;
        if attempt > 0 {
            self.given().insert(job, id);
        }
        self.tell(job, |last| *last = id);
        Ok(())
    }

    /// Forgets about a job that does not run any more.
    pub fn close(&self, job: Id) {
        self.given().remove(&job);
    }

    /// Wakes the subscribers of a job whose record has changed.
    pub fn wake(&self, job: Id) {
        self.tell(job, |_| {});
    }

    /// A receiver that changes whenever the job gets an event.
    pub fn subscribe(&self, job: Id) -> watch::Receiver<u64> {
        let mut subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        subscribers.retain(|_, sender| sender.receiver_count() > 0);
        subscribers.entry(job).or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// At most 256 events of a job after `last`, in order.
    ///
    /// # Errors
    /// The store fails.
    pub fn after(&self, job: Id, last: u64) -> Result<Vec<Event>, StoreError> {
        let Some(first) = last.checked_add(1) else { return Ok(Vec::new()) };
        self.store.read(|txn| {
            txn.open_table(EVENTS)?
                .range((job.0, first)..=(job.0, u64::MAX))?
                .take(256)
                .map(|entry| {
                    let (key, value) = entry?;
                    let text = String::from_utf8_lossy(value.value()).into_owned();
                    let (name, data) = text.split_once('\n').unwrap_or((text.as_str(), ""));
                    Ok(Event { id: key.value().1, name: name.to_owned(), data: data.to_owned() })
                })
                .collect()
        })
    }

    fn given(&self) -> MutexGuard<'_, HashMap<Id, u64>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, job: Id, change: impl FnOnce(&mut u64)) {
        let subscribers = self.subscribers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = subscribers.get(&job) {
            sender.send_modify(change);
        }
    }
}
