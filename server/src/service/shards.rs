//! Fronts that divide key sets among themselves.
//!
//! Each has a table and workers of its own, and knows the others only by name and address. Which of them takes a new key set follows
//! from its identifier and their names (rendezvous hashing): a front that is added takes its share of new ones, and nothing that is
//! stored moves. A front keeps serving the key sets that it has.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::Service;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{StoreError, keys};

/// A front, and where clients find it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Shard {
    /// Its name.
    pub front: String,
    /// Its address.
    pub url: String,
}

/// Fronts, and the one that a key set is for.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShardsDocument {
    /// The front that answers.
    pub front: String,
    /// All fronts, by name; empty if there is only one.
    pub shards: Vec<Shard>,
    /// The front that holds the key set that was asked for, if this one does; otherwise the front that would take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Shard>,
}

/// The front that takes a new key set, among `shards` with their addresses by name; `None` if there are none.
pub fn shard_of(shards: &BTreeMap<String, String>, key: Id) -> Option<Shard> {
    let weight = |name: &str| {
        let mut hasher = blake3::Hasher::new_derive_key("refloat 2026 which front takes a key set");
        hasher.update(&key.0).update(name.as_bytes());
        *hasher.finalize().as_bytes()
    };
    let (front, url) = shards.iter().max_by_key(|(name, _)| weight(name))?;
    Some(Shard { front: front.clone(), url: url.clone() })
}

impl Service {
    /// The fronts that divide key sets among themselves, and which of them has or takes `key`.
    ///
    /// # Errors
    /// The store fails.
    pub fn shards(&self, key: Option<Id>) -> Result<ShardsDocument, Problem> {
        let cluster = &self.config.cluster;
        let shard = |(front, url): (&String, &String)| Shard { front: front.clone(), url: url.clone() };
        let own = || cluster.shards.get_key_value(&cluster.front).map(shard);
        let of = |key| match keys::get(&self.store, key)? {
            Some(_) => Ok(own()),
            None => Ok(shard_of(&cluster.shards, key)),
        };
        Ok(ShardsDocument {
            front: cluster.front.clone(),
            shards: cluster.shards.iter().map(shard).collect(),
            key: key.map(of).transpose().map_err(|error: StoreError| Problem::from(error))?.flatten(),
        })
    }

    /// Refuses a new key set that another front takes.
    pub(super) fn check_shard(&self, key: Id) -> Result<(), Problem> {
        let cluster = &self.config.cluster;
        match shard_of(&cluster.shards, key) {
            Some(shard) if shard.front != cluster.front => Err(Problem::new(
                421,
                "OTHER_FRONT",
                "Key set of another front",
                format!(
                    "key set {key} goes to the front {:?}, this is {:?}; use the server {}",
                    shard.front, cluster.front, shard.url
                ),
            )
            .with("url", shard.url)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(names: &[&str]) -> BTreeMap<String, String> {
        names.iter().map(|name| ((*name).to_owned(), format!("https://{name}.example"))).collect()
    }

    #[test]
    fn a_front_more_takes_its_share_and_moves_nothing_else() {
        let keys: Vec<Id> = (0..3000_u128).map(|key| Id(key.to_be_bytes())).collect();
        let (three, four) = (shards(&["0", "1", "north"]), shards(&["0", "1", "2", "north"]));
        assert_eq!(shard_of(&shards(&[]), keys[0]), None);
        let mut moved = 0;
        for &key in &keys {
            let (before, after) = (shard_of(&three, key).unwrap(), shard_of(&four, key).unwrap());
            if before != after {
                assert_eq!(after, Shard { front: "2".into(), url: "https://2.example".into() });
                moved += 1;
            }
        }
        // 750 is its share, with a deviation of 24.
        assert!((600..900).contains(&moved), "{moved}");
    }
}
