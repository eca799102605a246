//! How workers describe themselves, so that each is handed jobs that suit it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::is_token;
use crate::id::Id;

/// What a worker says about itself, every few seconds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Alive {
    /// Its name, which no other has.
    pub worker: String,
    /// Jobs that it runs at once; 0 where it takes no more.
    pub slots: usize,
    /// Threads for each of them.
    pub threads: usize,
    /// Bytes of memory for keys.
    pub key_bytes: u64,
    /// Bytes that keys of each set take there, by the fingerprint of the set. A worker that names none takes all, and has memory for them.
    pub sets: BTreeMap<String, u64>,
    /// Key sets in its memory.
    pub keys: Vec<Id>,
    /// Jobs that it has.
    pub jobs: Vec<Id>,
    /// Runs of which not even the worker hears anything. With such a run it takes no more jobs.
    pub hung: usize,
    /// Whether it cannot read or write where keys, inputs and results are. Meanwhile it takes no jobs.
    pub storage_fails: bool,
}

impl Alive {
    /// Most key sets, parameter sets or jobs that a worker may name.
    pub const MOST: usize = 4096;

    /// The one worker of a process that does everything itself, and says itself what does not fit.
    pub fn alone() -> Self {
        Self { slots: 1, threads: 1, key_bytes: u64::MAX, ..Self::default() }
    }

    /// Whether a worker can have said this: a possible name, and lists of bounded length.
    pub fn is_sound(&self) -> bool {
        is_token(&self.worker)
            && [self.sets.len(), self.keys.len(), self.jobs.len()].iter().all(|length| *length <= Self::MOST)
            && self.slots <= Self::MOST
    }

    /// Bytes of its memory that keys of the set with fingerprint `set` take; `None` if they do not fit, or if it has no such set. 0 for a
    /// set that the front does not know either: the worker is handed the job, and says so.
    pub fn bytes_of(&self, set: Option<&str>) -> Option<u64> {
        match set {
            Some(set) if !self.sets.is_empty() => {
                self.sets.get(set).copied().filter(|bytes| *bytes <= self.key_bytes)
            }
            _ => Some(0),
        }
    }

    /// Whether the worker takes jobs with keys of a set.
    pub fn can_hold(&self, set: Option<&str>) -> bool {
        self.slots > 0 && self.bytes_of(set).is_some()
    }
}
