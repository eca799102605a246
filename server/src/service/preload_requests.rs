//! Key sets whose owners want them in memory before the first job with them comes.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::id::Id;

/// Most key sets that are asked for at a time.
const MOST: usize = 1024;

/// How long a wish that nobody can fulfil is kept.
const PATIENCE: Duration = Duration::from_mins(10);

/// Key sets that are to be loaded, and since when.
#[derive(Default)]
pub struct Wakes(Mutex<BTreeMap<Id, Instant>>);

impl Wakes {
    /// Asks for a key set to be loaded; returns whether there is room for the wish.
    pub fn ask(&self, key: Id) -> bool {
        let mut wishes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = wishes.len() < MOST || wishes.contains_key(&key);
        if has_room {
            wishes.insert(key, Instant::now());
        }
        has_room
    }

    /// The key sets that are to be loaded.
    pub fn wishes(&self) -> Vec<Id> {
        let mut wishes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        wishes.retain(|_, since| since.elapsed() < PATIENCE);
        wishes.keys().copied().collect()
    }

    /// Drops a wish that is fulfilled, or can never be.
    pub fn drop(&self, key: Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_kept_once_and_not_without_bound() {
        let wakes = Wakes::default();
        let key = |index: usize| Id((index as u128).to_be_bytes());
        assert!((0..MOST).all(|index| wakes.ask(key(index))) && !wakes.ask(key(MOST)));
        assert!(wakes.ask(key(7)) && wakes.wishes().len() == MOST);
        wakes.drop(key(7));
        assert!(wakes.ask(key(MOST)) && !wakes.wishes().contains(&key(7)));
    }
}
