//! Evaluation keys in memory: least recently used go first, keys in use stay.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::LoadedKeys;
use crate::id::Id;
use crate::memory;

/// Memory taken for granted where the machine does not tell.
const ASSUMED_MEMORY: u64 = 8 << 30;

/// Digest of what loaded keys are made of: parameters and pieces. A key set that was deleted and made anew under the same identifier
/// has another.
pub type Source = [u8; 32];

/// Loaded key sets within a budget of bytes.
pub struct KeyCache {
    budget: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Id, Entry>,
    /// Forgotten, and in memory until nobody holds them and [`KeyCache::take_idle`] is called.
    forgotten: Vec<Arc<LoadedKeys>>,
    clock: u64,
    evictions: u64,
    releases: u64,
}

struct Entry {
    keys: Arc<LoadedKeys>,
    /// What they were made of.
    of: Source,
    used: u64,
    /// When it was asked for last.
    at: Instant,
}

impl KeyCache {
    /// An empty cache that holds at most `budget` bytes.
    pub fn new(budget: u64) -> Self {
        Self { budget, state: Mutex::default() }
    }

    /// Bytes the cache may hold.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Bytes it holds now.
    pub fn bytes(&self) -> u64 {
        self.state().bytes()
    }

    /// Key sets dropped so far to make room.
    pub fn evictions(&self) -> u64 {
        self.state().evictions
    }

    /// Key sets dropped so far because nobody used them.
    pub fn releases(&self) -> u64 {
        self.state().releases
    }

    /// A loaded key set, if it is made of this; another under its name is forgotten. It stays loaded as long as the caller holds it.
    pub fn get(&self, id: Id, of: Source) -> Option<Arc<LoadedKeys>> {
        let mut state = self.state();
        state.clock += 1;
        let clock = state.clock;
        if state.entries.get(&id).is_some_and(|entry| entry.of != of) {
            let other = state.entries.remove(&id);
            state.forgotten.extend(other.map(|entry| entry.keys));
        }
        let entry = state.entries.get_mut(&id)?;
        entry.used = clock;
        entry.at = Instant::now();
        Some(Arc::clone(&entry.keys))
    }

    /// Drops key sets that nobody holds, those that are forgotten and then the least recently used, until `bytes` more fit.
    /// Returns whether they do.
    pub fn make_room(&self, bytes: u64) -> bool {
        // Freeing takes a while, and nobody is to wait for it.
        let mut dropped = Vec::new();
        let mut state = self.state();
        while state.bytes().saturating_add(bytes) > self.budget {
            if let Some(place) = state.forgotten.iter().position(is_free) {
                dropped.push(state.forgotten.swap_remove(place));
                continue;
            }
            let oldest = state
                .entries
                .iter()
                .filter(|(_, entry)| is_free(&entry.keys))
                .min_by_key(|(_, entry)| entry.used)
                .map(|(id, _)| *id);
            let Some(oldest) = oldest else { return false };
            dropped.extend(state.entries.remove(&oldest).map(|entry| entry.keys));
            state.evictions += 1;
        }
        drop(state);
        true
    }

    /// Takes out the key sets that nobody holds and that are forgotten, or that nobody has asked for since `age` ago.
    pub fn take_idle(&self, age: Duration) -> Vec<Arc<LoadedKeys>> {
        let mut state = self.state();
        let idle = |entry: &Entry| is_free(&entry.keys) && entry.at.elapsed() >= age;
        let mut taken: Vec<_> =
            state.entries.extract_if(|_, entry| idle(entry)).map(|(_, entry)| entry.keys).collect();
        state.releases += taken.len() as u64;
        taken.extend(state.forgotten.extract_if(.., |keys| is_free(keys)));
        taken
    }

    /// Keeps a key set that is made of this, and returns it for use.
    pub fn insert(&self, id: Id, of: Source, keys: LoadedKeys) -> Arc<LoadedKeys> {
        let keys = Arc::new(keys);
        let mut state = self.state();
        state.clock += 1;
        let used = state.clock;
        let entry = Entry { keys: Arc::clone(&keys), of, used, at: Instant::now() };
        let replaced = state.entries.insert(id, entry);
        state.forgotten.extend(replaced.map(|entry| entry.keys));
        keys
    }

    /// Forgets a key set. Its memory is freed by [`take_idle`](Self::take_idle), when nobody holds it.
    pub fn remove(&self, id: Id) {
        let mut state = self.state();
        let removed = state.entries.remove(&id);
        state.forgotten.extend(removed.map(|entry| entry.keys));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn bytes(&self) -> u64 {
        let kept = self.entries.values().map(|entry| &entry.keys);
        kept.chain(&self.forgotten).map(|keys| keys.bytes).sum()
    }
}

/// Whether nobody but the cache holds a key set.
fn is_free(keys: &Arc<LoadedKeys>) -> bool {
    Arc::strong_count(keys) == 1
}

/// The configured number of bytes, or half of the machine's memory for 0.
pub fn budget(configured: u64) -> u64 {
    if configured > 0 { configured } else { memory::total().unwrap_or(ASSUMED_MEMORY) / 2 }
}

#[cfg(test)]
mod tests {
    use refloat::Error;
    use refloat::trace::Observer;

    use super::*;
    use crate::engine::{Runner, Task};

    const OF: Source = [0; 32];

    /// Keys that no job uses.
    struct Idle;

    impl Runner for Idle {
        fn run(&self, _: &Task, _: &[u8], _: &mut dyn Observer) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }
    }

    fn keys(bytes: u64) -> LoadedKeys {
        LoadedKeys::new(bytes, Idle)
    }

    #[test]
    fn least_recently_used_goes_first_and_used_stays() {
        let cache = KeyCache::new(100);
        let [a, b, c] = [1, 2, 3].map(|byte| Id([byte; 16]));
        assert!(cache.make_room(40));
        cache.insert(a, OF, keys(40));
        assert!(cache.make_room(40));
        cache.insert(b, OF, keys(40));
        let held = cache.get(a, OF).unwrap();
        assert!(cache.make_room(40), "b is older than a");
        assert!(cache.get(b, OF).is_none() && cache.bytes() == 40 && cache.evictions() == 1);
        cache.insert(c, OF, keys(40));
        assert!(!cache.make_room(70), "a is held");
        assert!(cache.get(c, OF).is_none() && cache.bytes() == 40);
        drop(held);
        assert!(cache.make_room(100) && cache.bytes() == 0);
        assert!(!cache.make_room(101));
    }

    #[test]
    fn idle_keys_are_released_by_age_and_used_ones_stay() {
        let cache = KeyCache::new(100);
        let [a, b] = [1, 2].map(|byte| Id([byte; 16]));
        let held = cache.insert(a, OF, keys(40));
        drop(cache.insert(b, OF, keys(40)));
        assert!(cache.take_idle(Duration::from_hours(1)).is_empty());
        assert_eq!(cache.take_idle(Duration::ZERO).len(), 1);
        assert!(cache.get(a, OF).is_some() && cache.get(b, OF).is_none() && cache.bytes() == 40);
        drop(held);
        assert_eq!((cache.take_idle(Duration::ZERO).len(), cache.bytes(), cache.releases()), (1, 0, 2));
    }

    #[test]
    fn keys_made_anew_under_a_name_are_others() {
        let cache = KeyCache::new(100);
        let id = Id([1; 16]);
        cache.insert(id, OF, keys(40));
        assert!(cache.get(id, [1; 32]).is_none());
        assert!(cache.get(id, OF).is_none(), "forgotten");
        assert_eq!((cache.take_idle(Duration::from_hours(1)).len(), cache.bytes()), (1, 0));
    }

    #[test]
    fn forgotten_keys_are_in_memory_until_they_are_taken() {
        let cache = KeyCache::new(100);
        let [a, b] = [1, 2].map(|byte| Id([byte; 16]));
        let hour = Duration::from_hours(1);
        let held = cache.insert(a, OF, keys(40));
        cache.remove(a);
        cache.insert(b, OF, keys(40));
        cache.remove(b);
        assert!(cache.get(a, OF).is_none() && cache.get(b, OF).is_none());
        assert_eq!((cache.bytes(), cache.take_idle(hour).len(), cache.bytes()), (80, 1, 40));
        assert!(!cache.make_room(70), "a is held");
        drop(held);
        assert!(cache.make_room(70));
        assert_eq!((cache.bytes(), cache.releases(), cache.evictions()), (0, 0, 0));
        drop((cache.insert(a, OF, keys(40)), cache.insert(a, OF, keys(50))));
        assert_eq!((cache.bytes(), cache.take_idle(hour).len(), cache.bytes()), (90, 1, 50));
    }

    #[test]
    fn the_default_budget_is_positive() {
        assert_eq!(budget(5), 5);
        assert!(budget(0) > 1 << 20);
    }
}
