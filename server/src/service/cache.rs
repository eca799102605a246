//! Evaluation keys in memory: least recently used go first, keys in use stay.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::engine::LoadedKeys;
use crate::id::Id;
use crate::memory;
use crate::recency::Recency;

/// Memory that is assumed where the machine does not tell.
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
    entries: Recency<Id, Entry>,
    /// Removed from the cache but still in memory: [`KeyCache::take_idle`] or making room frees them once nobody holds them.
    forgotten: Vec<Arc<LoadedKeys>>,
    /// Bytes that are set aside for keys which are being loaded.
    loading: BTreeMap<Id, u64>,
    evictions: u64,
    releases: u64,
}

struct Entry {
    keys: Arc<LoadedKeys>,
    /// What the keys were made from.
    of: Source,
    /// When it was asked for last.
    at: Instant,
}

/// The keys are larger than the whole budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge {
    /// Bytes that the cache may hold.
    pub budget: u64,
}

/// What the cache has for a caller that needs a key set.
pub enum Reserved<'a> {
    /// The key set.
    Loaded(Arc<LoadedKeys>),
    /// Room to load it.
    Room(Room<'a>),
    /// Neither, for the moment.
    Nothing,
}

/// Room for keys that are being loaded, until it is filled or dropped. Meanwhile nobody else loads them.
pub struct Room<'a> {
    cache: &'a KeyCache,
    id: Id,
}

impl Room<'_> {
    /// Keeps the key set that was loaded, made from `of`, and returns it for use.
    pub fn fill(self, of: Source, keys: LoadedKeys) -> Arc<LoadedKeys> {
        self.cache.insert(self.id, of, keys)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.cache.state().loading.remove(&self.id);
    }
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

    /// A loaded key set, if it was made from `of`; any other under its name is forgotten. It stays loaded as long as the caller holds it.
    pub fn get(&self, id: Id, of: Source) -> Option<Arc<LoadedKeys>> {
        self.state().get(id, of)
    }

    /// Up to `most` key sets in memory, most recently used first.
    pub fn held(&self, most: usize) -> Vec<Id> {
        self.state().entries.newest().take(most).collect()
    }

    /// The key set made from `of`, or room for its `bytes` bytes. Room is made by dropping unused sets, forgotten ones first, then the
    /// least recently used. `Nothing` if the set is being loaded or the others are in use.
    ///
    /// # Errors
    /// It takes more than the cache may hold.
    pub fn reserve(&self, id: Id, of: Source, bytes: u64) -> Result<Reserved<'_>, TooLarge> {
        if bytes > self.budget {
            return Err(TooLarge { budget: self.budget });
        }
        // Freeing takes a while, and nobody is to wait for it.
        let mut dropped = Vec::new();
        let mut state = self.state();
        // Somebody may have loaded it since it was asked for.
        if let Some(keys) = state.get(id, of) {
            return Ok(Reserved::Loaded(keys));
        }
        if state.loading.contains_key(&id) || !state.make_room(bytes, self.budget, &mut dropped) {
            drop(state);
            return Ok(Reserved::Nothing);
        }
        state.loading.insert(id, bytes);
        drop(state);
        Ok(Reserved::Room(Room { cache: self, id }))
    }

    /// Takes out the key sets that nobody holds and that are forgotten, or were not asked for within `age`.
    pub fn take_idle(&self, age: Duration) -> Vec<Arc<LoadedKeys>> {
        let mut state = self.state();
        let idle = |entry: &Entry| is_free(&entry.keys) && entry.at.elapsed() >= age;
        let mut taken: Vec<_> = state.entries.take_all(idle).into_iter().map(|entry| entry.keys).collect();
        state.releases += taken.len() as u64;
        taken.extend(state.forgotten.extract_if(.., |keys| is_free(keys)));
        taken
    }

    /// Keeps a key set made from `of`, and returns it for use.
    pub fn insert(&self, id: Id, of: Source, keys: LoadedKeys) -> Arc<LoadedKeys> {
        let keys = Arc::new(keys);
        let mut state = self.state();
        let entry = Entry { keys: Arc::clone(&keys), of, at: Instant::now() };
        let replaced = state.entries.insert(id, keys.bytes, entry);
        state.forgotten.extend(replaced.map(|entry| entry.keys));
        keys
    }

    /// Forgets a key set. [`take_idle`](Self::take_idle) or making room frees its memory once nobody holds it.
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
    fn get(&mut self, id: Id, of: Source) -> Option<Arc<LoadedKeys>> {
        if self.entries.peek(&id).is_some_and(|entry| entry.of != of) {
            let other = self.entries.remove(&id);
            self.forgotten.extend(other.map(|entry| entry.keys));
        }
        let entry = self.entries.get(&id)?;
        entry.at = Instant::now();
        Some(Arc::clone(&entry.keys))
    }

    fn bytes(&self) -> u64 {
        let forgotten: u64 = self.forgotten.iter().map(|keys| keys.bytes).sum();
        self.entries.bytes() + forgotten + self.loading.values().sum::<u64>()
    }

    /// Takes out key sets that nobody holds, until another `bytes` bytes fit; `false` if they do not.
    fn make_room(&mut self, bytes: u64, budget: u64, dropped: &mut Vec<Arc<LoadedKeys>>) -> bool {
        while self.bytes().saturating_add(bytes) > budget {
            if let Some(place) = self.forgotten.iter().position(is_free) {
                dropped.push(self.forgotten.swap_remove(place));
                continue;
            }
            let oldest = self.entries.take_oldest(|entry| is_free(&entry.keys));
            let Some((_, oldest)) = oldest else { return false };
            dropped.push(oldest.keys);
            self.evictions += 1;
        }
        true
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

    /// Whether there is room, or can be made.
    fn make_room(cache: &KeyCache, bytes: u64) -> bool {
        room(cache, Id([0xff; 16]), bytes).is_some()
    }

    /// Room for keys that are not in memory.
    fn room(cache: &KeyCache, id: Id, bytes: u64) -> Option<Room<'_>> {
        match cache.reserve(id, OF, bytes) {
            Ok(Reserved::Room(room)) => Some(room),
            Ok(Reserved::Loaded(_)) => panic!("{id} is in memory"),
            Ok(Reserved::Nothing) | Err(_) => None,
        }
    }

    fn keys(bytes: u64) -> LoadedKeys {
        LoadedKeys::new(bytes, Idle)
    }

    #[test]
    fn least_recently_used_goes_first_and_used_stays() {
        let cache = KeyCache::new(100);
        let [a, b, c] = [1, 2, 3].map(|byte| Id([byte; 16]));
        assert!(make_room(&cache, 40));
        cache.insert(a, OF, keys(40));
        assert!(make_room(&cache, 40));
        cache.insert(b, OF, keys(40));
        let held = cache.get(a, OF).unwrap();
        assert!(make_room(&cache, 40), "b is older than a");
        assert!(cache.get(b, OF).is_none() && cache.bytes() == 40 && cache.evictions() == 1);
        cache.insert(c, OF, keys(40));
        assert!(!make_room(&cache, 70), "a is held");
        assert!(cache.get(c, OF).is_none() && cache.bytes() == 40);
        drop(held);
        assert!(make_room(&cache, 100) && cache.bytes() == 0);
        assert!(!make_room(&cache, 101));
    }

    #[test]
    fn keys_are_loaded_once_and_together_within_the_budget() {
        let cache = KeyCache::new(100);
        let [a, b] = [1, 2].map(|byte| Id([byte; 16]));
        assert_eq!(cache.reserve(a, OF, 101).err(), Some(TooLarge { budget: 100 }));
        let loading = room(&cache, a, 60).unwrap();
        assert!(room(&cache, a, 10).is_none(), "somebody loads them");
        assert!(room(&cache, b, 60).is_none(), "there is no room beside them");
        let held = loading.fill(OF, keys(60));
        // A caller that asked for them before they were there does not load them again.
        let again = cache.reserve(a, OF, 60).unwrap();
        assert!(matches!(again, Reserved::Loaded(keys) if Arc::ptr_eq(&keys, &held)));
        assert!(
            cache.get(a, OF).is_some()
                && cache.bytes() == 60
                && cache.held(2) == [a]
                && cache.held(0).is_empty()
        );
        assert!(room(&cache, b, 60).is_none(), "a is held");
        drop(held);
        drop(room(&cache, b, 60).unwrap());
        assert_eq!((cache.bytes(), cache.evictions()), (0, 1), "loading b failed");
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
        cache.insert(id, [1; 32], keys(40));
        assert!(room(&cache, id, 20).is_some() && cache.get(id, [1; 32]).is_none());
        assert_eq!((cache.take_idle(Duration::from_hours(1)).len(), cache.bytes()), (2, 0));
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
        assert!(!make_room(&cache, 70), "a is held");
        drop(held);
        assert!(make_room(&cache, 70));
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
