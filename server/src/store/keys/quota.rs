//! What key sets take on disk, in all and by API key, and how many one opener has open.

use std::collections::HashMap;

use redb::ReadableTable;

use super::KeyRecord;
use crate::id::Id;
use crate::store::holder::{Holder, Opener};
use crate::store::{Store, StoreError};

/// Bounds on what key sets take.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of all key sets.
    pub bytes: u64,
    /// Bytes of the key sets of the API key that a set belongs to.
    pub own_bytes: Option<u64>,
    /// Key sets that one opener may have open at once.
    pub open: usize,
}

#[cfg(test)]
impl Bounds {
    /// No bounds.
    pub const NONE: Self = Self { bytes: u64::MAX, own_bytes: None, open: usize::MAX };
}

/// The bound that something would exceed, and what is taken of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// [`Bounds::bytes`].
    Bytes(u64),
    /// [`Bounds::own_bytes`].
    OwnBytes(u64),
    /// [`Bounds::open`].
    Open(usize),
}

/// What every key set takes: stored bytes, and a place among the open ones of its opener.
pub(crate) struct Room(HashMap<Id, Taken>);

struct Taken {
    bytes: u64,
    api_key: Option<String>,
    opener: Option<Opener>,
}

impl Room {
    /// Counts what the records of a table take.
    pub(super) fn count(
        store: &Store,
        table: &impl ReadableTable<[u8; 16], &'static [u8]>,
    ) -> Result<Self, StoreError> {
        let mut room = Self(HashMap::new());
        store.each_record("key", table, |record: KeyRecord| room.put(&record))?;
        Ok(room)
    }

    /// Notes what a key set takes by its record.
    pub(super) fn put(&mut self, record: &KeyRecord) {
        let KeyRecord { bytes, opener, .. } = record.clone();
        self.0.insert(record.id, Taken { bytes, api_key: record.holder.api_key.clone(), opener });
    }

    /// Notes that a key set has gone.
    pub(super) fn remove(&mut self, id: Id) {
        self.0.remove(&id);
    }

    /// Bytes of all key sets.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.values().map(|taken| taken.bytes).sum()
    }

    /// The bound that `more` bytes of a key set of `holder` would exceed. Stored bytes count, and not those that open sets may still bring.
    pub(super) fn over_bytes(&self, holder: &Holder, more: u64, bounds: &Bounds) -> Option<Over> {
        let all = self.bytes();
        if all.saturating_add(more) > bounds.bytes {
            return Some(Over::Bytes(all));
        }
        let own = self
            .0
            .values()
            .filter(|taken| taken.api_key == holder.api_key)
            .map(|taken| taken.bytes)
            .sum::<u64>();
        bounds.own_bytes.filter(|most| own.saturating_add(more) > *most).map(|_| Over::OwnBytes(own))
    }

    /// The bound that one more open set of `opener` would exceed.
    pub(super) fn over_open(&self, opener: Option<&Opener>, bounds: &Bounds) -> Option<Over> {
        let own = self.0.values().filter(|taken| taken.opener.as_ref() == opener).count();
        (opener.is_some() && own >= bounds.open).then_some(Over::Open(own))
    }
}
