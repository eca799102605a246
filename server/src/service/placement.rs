//! Which worker a job is for: one that has its keys, one of the two that own them, or, where many wait, whoever is free.
//!
//! Loading keys takes much longer than most jobs, so that it pays to wait for a worker that has them. The owners of a key set are the
//! two workers that rank first for it by rendezvous hashing: where one comes or goes, no other key set changes its owners.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::dispatch::Alive;
use crate::id::Id;

/// Workers that load the keys of one set without need.
pub const OWNERS: usize = 2;

/// Why a job is a worker's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It has the keys, or loads them already.
    Warm,
    /// It is one of their owners.
    Owner,
    /// So many wait that one more who loads them is sooner done.
    Overflow,
}

impl Reason {
    /// The name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Owner => "owner",
            Self::Overflow => "overflow",
        }
    }
}

/// A job that is out, as far as placement goes.
#[derive(Debug, Clone, Copy)]
pub struct Out<'a> {
    /// The worker that has it.
    pub worker: &'a str,
    /// Its key set.
    pub key: Id,
    /// Bytes of memory that those keys take.
    pub bytes: u64,
}

/// What waits with one key set.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The key set.
    pub key: Id,
    /// The parameter set of that.
    pub params: &'a str,
    /// Bytes of memory that the keys take.
    pub bytes: u64,
    /// Jobs that wait for them.
    pub backlog: usize,
    /// How many have to wait for each slot of those that have the keys until one more worker loads them.
    pub patience: f64,
}

/// The workers that are alive, and what they have.
pub struct Placement {
    places: Vec<Place>,
}

struct Place {
    alive: Alive,
    free: usize,
    /// Keys in memory, and those that are being loaded.
    warm: HashSet<Id>,
    /// Keys of jobs that are out there, and their bytes.
    in_use: HashMap<Id, u64>,
}

impl Placement {
    /// Workers, the jobs that are out, and key sets of which it is known that a worker has them although it has not said so yet.
    pub fn new<'a>(
        workers: Vec<Alive>,
        out: impl Iterator<Item = Out<'a>>,
        warm: impl Iterator<Item = &'a (String, Id)>,
    ) -> Self {
        let places = workers
            .into_iter()
            .map(|alive| Place {
                free: alive.slots,
                warm: alive.keys.iter().copied().collect(),
                in_use: HashMap::new(),
                alive,
            })
            .collect();
        let mut this = Self { places };
        for (worker, key) in warm {
            this.with(worker, |place| {
                place.warm.insert(*key);
            });
        }
        for Out { worker, key, bytes } in out {
            this.take(worker, key, bytes);
        }
        this
    }

    /// Whether somebody could take a job.
    pub fn has_room(&self) -> bool {
        self.places.iter().any(|place| place.free > 0)
    }

    /// The worker for a job with these keys, if it is not to wait.
    pub fn choose(&self, asked: &Asked<'_>) -> Option<(&str, Reason)> {
        let able = || self.places.iter().filter(|place| place.alive.can_hold(asked.params));
        if let Some(worker) = freest(able().filter(|place| place.warm.contains(&asked.key)), asked) {
            return Some((worker, Reason::Warm));
        }
        let mut owners: Vec<&Place> = able().collect();
        owners.sort_by_cached_key(|place| rank(place, asked.key));
        owners.truncate(OWNERS);
        if let Some(owner) = owners.iter().find(|place| place.fits(asked)) {
            return Some((owner.alive.worker.as_str(), Reason::Owner));
        }
        let own = |place: &&Place| owners.iter().any(|owner| owner.alive.worker == place.alive.worker);
        let having = able().filter(|place| place.warm.contains(&asked.key) || own(place));
        let slots: usize = having.map(|place| place.alive.slots).sum();
        if asked.backlog as f64 >= asked.patience * slots as f64 {
            return Some((freest(able(), asked)?, Reason::Overflow));
        }
        None
    }

    /// Notes that a worker has got a job.
    pub fn take(&mut self, worker: &str, key: Id, bytes: u64) {
        self.with(worker, |place| place.take(key, bytes));
    }

    fn with(&mut self, worker: &str, change: impl FnOnce(&mut Place)) {
        if let Some(place) = self.places.iter_mut().find(|place| place.alive.worker == worker) {
            change(place);
        }
    }
}

impl Place {
    fn take(&mut self, key: Id, bytes: u64) {
        self.free = self.free.saturating_sub(1);
        self.warm.insert(key);
        self.in_use.insert(key, bytes);
    }

    /// Whether it has a slot for a job, and memory for its keys beside those in use.
    fn fits(&self, asked: &Asked<'_>) -> bool {
        let others = self.in_use.iter().filter(|(key, _)| **key != asked.key).map(|(_, bytes)| bytes);
        let others = others.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        self.free > 0 && (others == 0 || others.saturating_add(asked.bytes) <= self.alive.key_bytes)
    }
}

/// The worker with most slots free among those that can take a job: the same one, in whatever order workers are heard.
fn freest<'a>(places: impl Iterator<Item = &'a Place>, asked: &Asked<'_>) -> Option<&'a str> {
    let free = places.filter(|place| place.fits(asked));
    let first = free.min_by_key(|place| (Reverse(place.free), rank(place, asked.key)));
    first.map(|place| place.alive.worker.as_str())
}

/// The place of a worker among those that could own a key set; the least comes first. It goes by what its operator calls it, so that it
/// owns the same after a new start, and then by its whole name.
fn rank(place: &Place, key: Id) -> [[u8; 32]; 2] {
    let name = &place.alive.worker;
    let given = name.rsplit_once('-').map_or(name.as_str(), |(given, _)| given);
    [given, name]
        .map(|name| *blake3::Hasher::new().update(&key.0).update(name.as_bytes()).finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(name: &str, slots: usize) -> Alive {
        Alive { worker: name.into(), slots, key_bytes: 100, ..Alive::default() }
    }

    fn asked(key: u8, backlog: usize) -> Asked<'static> {
        Asked { key: Id([key; 16]), params: "p", bytes: 60, backlog, patience: 5.0 }
    }

    fn placement(workers: &[Alive]) -> Placement {
        Placement::new(workers.to_vec(), std::iter::empty(), std::iter::empty())
    }

    #[test]
    fn keys_are_loaded_by_their_owners_and_by_others_only_if_many_wait() {
        let workers: Vec<Alive> = ["a", "b", "c", "d"].map(|name| worker(name, 2)).to_vec();
        let mut placement = placement(&workers);
        let mut took = Vec::new();
        while let Some((name, reason)) = placement.choose(&asked(1, 1)) {
            let name = name.to_owned();
            placement.take(&name, Id([1; 16]), 60);
            took.push((name, reason));
        }
        // The first owner, its second slot, and so the other.
        let reasons: Vec<Reason> = took.iter().map(|(_, reason)| *reason).collect();
        assert_eq!(reasons, [Reason::Owner, Reason::Warm, Reason::Owner, Reason::Warm]);
        assert!(took[0].0 == took[1].0 && took[2].0 == took[3].0 && took[0].0 != took[2].0);
        assert!(placement.has_room() && placement.choose(&asked(1, 19)).is_none());
        let (name, reason) = placement.choose(&asked(1, 20)).unwrap();
        assert!(reason == Reason::Overflow && took.iter().all(|(other, _)| other != name));
    }

    #[test]
    fn where_a_worker_goes_only_its_keys_move() {
        let workers: Vec<Alive> = (0..5).map(|index| worker(&format!("w{index}-1"), 1)).collect();
        let owner = |workers: &[Alive], key| placement(workers).choose(&asked(key, 1)).unwrap().0.to_owned();
        let mut moved = 0;
        for key in 0..100 {
            let before = owner(&workers, key);
            let after = owner(&workers[1..], key);
            assert!(before == after || before == "w0-1");
            moved += usize::from(before != after);
        }
        assert!((5..40).contains(&moved), "{moved} of 100 keys had one of five owners");
        // One that is started anew owns what it owned.
        let mut anew = workers.clone();
        anew[3].worker = "w3-2".into();
        let same = |key| owner(&workers, key).split('-').next() == owner(&anew, key).split('-').next();
        assert!((0..100).all(same));
    }

    #[test]
    fn memory_is_for_keys_that_fit_together() {
        let mut one = worker("a", 3);
        let mut placement = placement(std::slice::from_ref(&one));
        placement.take("a", Id([1; 16]), 60);
        assert!(placement.choose(&asked(1, 1)).is_some() && placement.choose(&asked(2, 1000)).is_none());
        let small = Asked { bytes: 40, ..asked(2, 1) };
        assert!(placement.choose(&small).is_some());
        // A set that does not fit is no job of it, whatever waits; a set that it says fits is, with nothing beside.
        one.too_large = vec!["p".into()];
        assert!(self::placement(&[one.clone()]).choose(&asked(1, 1000)).is_none());
        let other = Asked { params: "q", bytes: 500, ..asked(1, 1) };
        assert!(self::placement(&[one.clone()]).choose(&other).is_some());
        one.slots = 0;
        assert!(self::placement(&[one]).choose(&other).is_none());
    }
}
