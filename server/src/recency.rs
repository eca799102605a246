//! The entries of a cache in the order of their last use, and the bytes that they take together.
//!
//! [`KeyCache`](crate::service::cache::KeyCache) uses it for keys in memory, and [`CachedBlobs`](crate::blobs::CachedBlobs) for copies of
//! keys on a disk. The cache decides when there is no room, and which entries have to stay.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Entries by name, in the order of their last use.
pub struct Recency<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// Names by last use, the least recent first.
    order: BTreeMap<u64, K>,
    /// Uses so far.
    uses: u64,
    bytes: u64,
}

struct Entry<V> {
    value: V,
    bytes: u64,
    /// Its place in the order.
    used: u64,
}

impl<K, V> Default for Recency<K, V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), order: BTreeMap::new(), uses: 0, bytes: 0 }
    }
}

impl<K: Copy + Eq + Hash, V> Recency<K, V> {
    /// Bytes of all entries.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// An entry, without using it.
    pub fn peek(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Uses an entry.
    pub fn get(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        self.order.remove(&entry.used);
        self.order.insert(self.uses, *key);
        entry.used = self.uses;
        Some(&mut entry.value)
    }

    /// Adds an entry of `bytes` bytes, which counts as a use, and returns the one that had its name.
    pub fn insert(&mut self, key: K, bytes: u64, value: V) -> Option<V> {
        let replaced = self.remove(&key);
        self.uses += 1;
        self.order.insert(self.uses, key);
        self.entries.insert(key, Entry { value, bytes, used: self.uses });
        self.bytes += bytes;
        replaced
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.used);
        self.bytes -= entry.bytes;
        Some(entry.value)
    }

    /// Takes out the least recently used of the entries that `may_go`.
    pub fn take_oldest(&mut self, may_go: impl Fn(&V) -> bool) -> Option<(K, V)> {
        let key = *self.order.values().find(|key| self.peek(key).is_some_and(&may_go))?;
        self.remove(&key).map(|value| (key, value))
    }

    /// Takes out all entries that `may_go`, the least recently used first.
    pub fn take_all(&mut self, may_go: impl Fn(&V) -> bool) -> Vec<V> {
        std::iter::from_fn(|| self.take_oldest(&may_go)).map(|(_, value)| value).collect()
    }

    /// The names, the most recently used first.
    pub fn newest(&self) -> impl Iterator<Item = K> {
        self.order.values().rev().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(recency: &Recency<u8, &str>) -> Vec<u8> {
        recency.newest().collect()
    }

    #[test]
    fn uses_and_insertions_make_an_entry_the_newest() {
        let mut recency = Recency::default();
        for (key, value) in [(1, "one"), (2, "two"), (3, "three")] {
            assert_eq!(recency.insert(key, 10 * u64::from(key), value), None);
        }
        assert_eq!((order(&recency), recency.bytes()), (vec![3, 2, 1], 60));
        assert_eq!(recency.peek(&1), Some(&"one"));
        assert_eq!(order(&recency), [3, 2, 1], "peeking does not count as use");
        assert_eq!(recency.get(&1).copied(), Some("one"));
        assert_eq!(order(&recency), [1, 3, 2]);
        assert_eq!(recency.insert(2, 5, "again"), Some("two"));
        assert_eq!((order(&recency), recency.bytes()), (vec![2, 1, 3], 45));
        assert!(recency.get(&4).is_none() && recency.peek(&4).is_none() && recency.remove(&4).is_none());
        assert_eq!((recency.remove(&1), order(&recency), recency.bytes()), (Some("one"), vec![2, 3], 35));
    }

    #[test]
    fn the_oldest_that_may_go_goes() {
        let mut recency = Recency::default();
        for (key, value) in [(1, "held"), (2, "free"), (3, "held"), (4, "free"), (5, "free")] {
            recency.insert(key, 1, value);
        }
        let free = |value: &&str| *value == "free";
        assert_eq!(recency.take_oldest(free), Some((2, "free")));
        assert_eq!(recency.take_oldest(|_| true), Some((1, "held")));
        assert_eq!(recency.take_all(free), ["free"; 2]);
        assert_eq!((recency.take_oldest(free), order(&recency), recency.bytes()), (None, vec![3], 1));
    }
}
