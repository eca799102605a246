//! Workers as they describe themselves, so that each is handed what suits it.

use serde::{Deserialize, Serialize};

use crate::config::is_token;
use crate::id::Id;

/// What a worker says of itself, every few seconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Alive {
    /// Its name, which no other has.
    pub worker: String,
    /// Jobs that it runs at once; 0 where it takes no more.
    pub slots: usize,
    /// Threads for each of them.
    pub threads: usize,
    /// Bytes of memory for keys.
    pub key_bytes: u64,
    /// Names of the sets whose keys do not fit there.
    pub too_large: Vec<String>,
    /// Key sets in its memory.
    pub keys: Vec<Id>,
    /// Jobs that it has.
    pub jobs: Vec<Id>,
}

impl Alive {
    /// Key sets, and sets of parameters, that one may name.
    pub const MOST: usize = 4096;

    /// The one worker of a process that does everything itself: its own end says what does not fit.
    pub fn alone() -> Self {
        Self { slots: 1, threads: 1, key_bytes: u64::MAX, ..Self::default() }
    }

    /// Whether it can be what a worker says: names as they have, lists of bounded length.
    pub fn is_sound(&self) -> bool {
        is_token(&self.worker)
            && [self.too_large.len(), self.keys.len(), self.jobs.len()]
                .iter()
                .all(|length| *length <= Self::MOST)
            && self.slots <= Self::MOST
    }

    /// Whether it takes jobs with keys of a set.
    pub fn can_hold(&self, params: &str) -> bool {
        self.slots > 0 && !self.too_large.iter().any(|name| name == params)
    }
}
