//! How long key sets have waited for a worker, so that none waits for ever while others keep the memory.

use std::collections::{HashMap, HashSet};

use crate::dispatch::queue::Millis;
use crate::id::Id;

/// How often it is looked up which key sets wait.
const LOOK: Millis = 1000;

/// Key sets that wait, and since when each does.
#[derive(Default)]
pub struct Waits {
    since: HashMap<Id, Millis>,
    looked: Option<Millis>,
}

impl Waits {
    /// Whether it is time to look up which key sets wait.
    pub fn is_due(&self, now: Millis) -> bool {
        self.looked.is_none_or(|at| now.saturating_sub(at) >= LOOK)
    }

    /// Notes which key sets wait.
    pub fn update(&mut self, waiting: impl Iterator<Item = Id>, now: Millis) {
        let waiting: HashSet<Id> = waiting.collect();
        self.since.retain(|key, _| waiting.contains(key));
        for key in waiting {
            self.since.entry(key).or_insert(now);
        }
        self.looked = Some(now);
    }

    /// Notes that a job of a key set has begun.
    pub fn served(&mut self, key: Id, now: Millis) {
        if let Some(since) = self.since.get_mut(&key) {
            *since = now;
        }
    }

    /// Whether a key set has waited for `patience`.
    pub fn has_waited(&self, key: Id, patience: Millis, now: Millis) -> bool {
        self.since.get(&key).is_some_and(|since| now.saturating_sub(*since) >= patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_begins_when_it_is_seen_and_anew_with_each_job() {
        let mut waits = Waits::default();
        let [a, b] = [1, 2].map(|byte| Id([byte; 16]));
        assert!(waits.is_due(0));
        waits.update([a].into_iter(), 5);
        assert!(!waits.is_due(5 + LOOK - 1) && waits.is_due(5 + LOOK));
        waits.update([a, b].into_iter(), 10);
        assert_eq!([a, b].map(|key| waits.has_waited(key, 7, 12)), [true, false]);
        waits.served(a, 12);
        assert_eq!([a, b].map(|key| waits.has_waited(key, 7, 17)), [false, true]);
        waits.update([b].into_iter(), 20);
        waits.update([a, b].into_iter(), 30);
        assert_eq!([a, b].map(|key| waits.has_waited(key, 7, 30)), [false, true]);
    }
}
