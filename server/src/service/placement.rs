//! Which worker a job is for: one that has its keys, one of the two that own them, or, if many jobs wait, any that is free.
//!
//! Loading keys takes much longer than most jobs, so that it pays to wait for a worker that has them. The owners of a key set are the two
//! workers that rank first for it by rendezvous hashing: when a worker comes or goes, few other key sets change their owners.
//!
//! A worker may have no memory for more keys as long as others are in use there. Keys that have waited too long reserve a
//! worker: once the others have had their time, it is given no jobs with other keys until these fit.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use crate::dispatch::Alive;
use crate::id::Id;

/// How many workers own a key set: they load its keys even if few jobs wait.
pub const OWNERS: usize = 2;

/// Why a worker was chosen for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// It has the keys, or loads them already.
    Warm,
    /// It is one of the owners of the keys.
    Owner,
    /// So many jobs wait, or the keys have waited for so long, that loading the keys once more is faster.
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
    /// The fingerprint of the parameter set of those keys, if the front knows the set.
    pub set: Option<&'a str>,
    /// Whether those keys have been in use there for so long that it is the turn of others.
    pub has_had_time: bool,
}

/// The jobs that wait with one key set.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The key set.
    pub key: Id,
    /// The fingerprint of the parameter set of those keys, if the front knows the set.
    pub set: Option<&'a str>,
    /// How many jobs wait.
    pub backlog: usize,
    /// How many jobs have to wait for each slot of the owners and of workers with the keys until one more worker loads them.
    pub patience: f64,
    /// Whether the keys have waited so long that others are to make room for them.
    pub is_overdue: bool,
}

/// A worker, and a key set.
pub type Pair = (String, Id);

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
    /// Keys whose files, or inputs of whose jobs, it has not found as they are.
    unseen: HashSet<Id>,
    /// Keys in use there whose time is not over.
    fresh: HashSet<Id>,
    /// Keys that have reserved the worker: it is given no jobs with others, except keys whose time is not over.
    held: Option<Id>,
}

impl Placement {
    /// Where jobs can go, given the workers and the jobs that are `out`. Of the `warm` key sets it is known that a worker has them although
    /// it has not said so yet; of the `unseen` ones a worker does not find the files, or the inputs of their jobs, as they are.
    pub fn new<'a>(
        workers: Vec<Alive>,
        out: impl Iterator<Item = Out<'a>>,
        warm: impl Iterator<Item = &'a Pair>,
        unseen: impl Iterator<Item = &'a Pair>,
    ) -> Self {
        let places = workers
            .into_iter()
            .map(|alive| Place {
                free: alive.slots,
                warm: alive.keys.iter().copied().collect(),
                in_use: HashMap::new(),
                unseen: HashSet::new(),
                fresh: HashSet::new(),
                held: None,
                alive,
            })
            .collect();
        let mut this = Self { places };
        for (worker, key) in warm {
            this.with(worker, |place| {
                place.warm.insert(*key);
            });
        }
        for (worker, key) in unseen {
            this.with(worker, |place| {
                place.unseen.insert(*key);
            });
        }
        for Out { worker, key, set, has_had_time } in out {
            this.take(worker, key, set);
            if has_had_time {
                this.with(worker, |place| {
                    place.fresh.remove(&key);
                });
            }
        }
        this
    }

    /// Whether some worker has a free slot.
    pub fn has_room(&self) -> bool {
        self.places.iter().any(|place| place.free > 0)
    }

    /// Whether some worker has these keys, or loads them.
    pub fn is_warm(&self, key: Id) -> bool {
        self.places.iter().any(|place| place.warm.contains(&key))
    }

    /// The worker for a job with these keys, unless the job is to wait.
    pub fn choose(&self, asked: &Asked<'_>) -> Option<(&str, Reason)> {
        let able = self.able(asked);
        let warm = || able.iter().copied().filter(|place| place.warm.contains(&asked.key));
        if let Some(worker) = freest(warm(), asked) {
            return Some((worker, Reason::Warm));
        }
        let owners = &able[..OWNERS.min(able.len())];
        if let Some(owner) = owners.iter().find(|place| place.fits(asked)) {
            return Some((owner.name(), Reason::Owner));
        }
        let others = warm().filter(|place| owners.iter().all(|owner| owner.name() != place.name()));
        let slots: usize = owners.iter().copied().chain(others).map(|place| place.alive.slots).sum();
        if asked.is_overdue || asked.backlog as f64 >= asked.patience * slots as f64 {
            return Some((freest(able.iter().copied(), asked)?, Reason::Overflow));
        }
        None
    }

    /// Reserves a worker for keys that no worker has memory for now: the first in their rank that no other keys have reserved. Keys in
    /// use there keep their time first; otherwise many key sets would each be loaded for a single job.
    pub fn hold(&mut self, asked: &Asked<'_>) {
        let able = self.able(asked);
        let has_place = able.iter().any(|place| place.held == Some(asked.key) || place.has_memory(asked));
        let chosen = able.iter().find(|place| place.held.is_none()).map(|place| place.name().to_owned());
        if let Some(worker) = chosen.filter(|_| !has_place) {
            self.with(&worker, |place| place.held = Some(asked.key));
        }
    }

    /// Notes that a worker has got a job.
    pub fn take(&mut self, worker: &str, key: Id, set: Option<&str>) {
        self.with(worker, |place| place.take(key, set));
    }

    /// The workers that can take jobs with these keys, in the order of their rank. Workers that do not find the files are left out, unless
    /// none of them does.
    fn able(&self, asked: &Asked<'_>) -> Vec<&Place> {
        let mut able: Vec<&Place> =
            self.places.iter().filter(|place| place.alive.can_hold(asked.set)).collect();
        if able.iter().any(|place| !place.unseen.contains(&asked.key)) {
            able.retain(|place| !place.unseen.contains(&asked.key));
        }
        ranked(able, asked.key)
    }

    fn with(&mut self, worker: &str, change: impl FnOnce(&mut Place)) {
        if let Some(place) = self.places.iter_mut().find(|place| place.name() == worker) {
            change(place);
        }
    }
}

impl Place {
    fn name(&self) -> &str {
        &self.alive.worker
    }

    fn take(&mut self, key: Id, set: Option<&str>) {
        self.free = self.free.saturating_sub(1);
        self.warm.insert(key);
        if !self.in_use.contains_key(&key) {
            self.fresh.insert(key);
        }
        self.in_use.insert(key, self.alive.bytes_of(set).unwrap_or(0));
        if self.held == Some(key) {
            self.held = None;
        }
    }

    /// Whether the worker has a slot and the memory for a job with these keys, and is not reserved for others.
    fn fits(&self, asked: &Asked<'_>) -> bool {
        let may = |held: Id| held == asked.key || self.fresh.contains(&asked.key);
        self.free > 0 && self.held.is_none_or(may) && self.has_memory(asked)
    }

    /// Whether the worker has memory for the keys beside those in use.
    fn has_memory(&self, asked: &Asked<'_>) -> bool {
        let others = self.in_use.iter().filter(|(key, _)| **key != asked.key).map(|(_, bytes)| bytes);
        let others = others.fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let own = self.alive.bytes_of(asked.set);
        others == 0 || own.is_some_and(|own| others.saturating_add(own) <= self.alive.key_bytes)
    }
}

/// The worker with most slots free among those that can take a job; the first of them in their rank.
fn freest<'a>(ranked: impl Iterator<Item = &'a Place>, asked: &Asked<'_>) -> Option<&'a str> {
    ranked.filter(|place| place.fits(asked)).min_by_key(|place| Reverse(place.free)).map(Place::name)
}

/// Workers in the order in which they own a key set. The order goes by the names that operators give to workers, so that a worker owns the
/// same after a restart. Workers that share a name get a rank each, assigned by their whole names: so none has more keys than another, and
/// when one of them leaves few keys move.
fn ranked(places: Vec<&Place>, key: Id) -> Vec<&Place> {
    let digest = |name: &str, index: u32| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&key.0).update(name.as_bytes()).update(&index.to_le_bytes());
        *hasher.finalize().as_bytes()
    };
    let mut groups: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    for place in places {
        let name = place.name();
        groups.entry(name.rsplit_once('-').map_or(name, |(given, _)| given)).or_default().push(place);
    }
    let mut ranked = Vec::new();
    for (given, mut group) in groups {
        let mut ranks: Vec<_> = (0..group.len() as u32).map(|index| digest(given, index)).collect();
        ranks.sort_unstable();
        group.sort_by_cached_key(|place| digest(place.name(), 0));
        ranked.extend(ranks.into_iter().zip(group));
    }
    ranked.sort_unstable_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: Option<&str> = Some("of p");

    fn worker(name: &str, slots: usize) -> Alive {
        let sets = [("of p", 60), ("of small", 40), ("of large", 500)];
        Alive {
            worker: name.into(),
            slots,
            key_bytes: 100,
            sets: sets.map(|(set, bytes)| (set.into(), bytes)).into(),
            ..Alive::default()
        }
    }

    fn asked(key: u8, backlog: usize) -> Asked<'static> {
        Asked { key: Id([key; 16]), set: SET, backlog, patience: 5.0, is_overdue: false }
    }

    fn placement(workers: &[Alive]) -> Placement {
        let none = || std::iter::empty();
        Placement::new(workers.to_vec(), std::iter::empty(), none(), none())
    }

    #[test]
    fn keys_are_loaded_by_their_owners_and_by_others_only_if_many_wait() {
        let workers: Vec<Alive> = ["a", "b", "c", "d"].map(|name| worker(name, 2)).to_vec();
        let mut placement = placement(&workers);
        let mut took = Vec::new();
        while let Some((name, reason)) = placement.choose(&asked(1, 1)) {
            let name = name.to_owned();
            placement.take(&name, Id([1; 16]), SET);
            took.push((name, reason));
        }
        // The first owner, its second slot, and then the same of the other owner.
        let reasons: Vec<Reason> = took.iter().map(|(_, reason)| *reason).collect();
        assert_eq!(reasons, [Reason::Owner, Reason::Warm, Reason::Owner, Reason::Warm]);
        assert!(took[0].0 == took[1].0 && took[2].0 == took[3].0 && took[0].0 != took[2].0);
        assert!(placement.has_room() && placement.choose(&asked(1, 19)).is_none());
        let (name, reason) = placement.choose(&asked(1, 20)).unwrap();
        assert!(reason == Reason::Overflow && took.iter().all(|(other, _)| other != name));
        // Or if the keys have waited for long.
        let overdue = Asked { is_overdue: true, ..asked(1, 1) };
        assert_eq!(placement.choose(&overdue).unwrap().1, Reason::Overflow);
    }

    fn owner(workers: &[Alive], key: u128) -> String {
        let asked = Asked { key: Id(key.to_be_bytes()), ..asked(0, 1) };
        placement(workers).choose(&asked).unwrap().0.to_owned()
    }

    #[test]
    fn where_a_worker_goes_only_its_keys_move() {
        let workers: Vec<Alive> = (0..5).map(|index| worker(&format!("w{index}-1"), 1)).collect();
        let mut moved = 0;
        for key in 0..100 {
            let (before, after) = (owner(&workers, key), owner(&workers[1..], key));
            assert!(before == after || before == "w0-1");
            moved += usize::from(before != after);
        }
        assert!((5..40).contains(&moved), "{moved} of 100 keys had one of five owners");
        // A worker that is started anew owns what it owned.
        let mut anew = workers.clone();
        anew[3].worker = "w3-2".into();
        let same = |key| owner(&workers, key).split('-').next() == owner(&anew, key).split('-').next();
        assert!((0..100).all(same));
    }

    #[test]
    fn workers_that_share_a_name_own_as_much_as_others() {
        let names = ["gpu-1", "gpu-2", "gpu-3", "gpu-4", "gpu-5", "gpu-6", "big-1", "small-1"];
        let workers = names.map(|name| worker(name, 1));
        let keys = 1600;
        let count =
            |workers: &[Alive], name: &str| (0..keys).filter(|key| owner(workers, *key) == name).count();
        for name in names {
            let owned = count(&workers, name);
            assert!((140..260).contains(&owned), "{name} owns {owned} of {keys}, and 200 were due");
        }
        // When one of them leaves, its keys move, and few others.
        let rest = [&workers[..2], &workers[3..]].concat();
        let moved = (0..keys).filter(|key| owner(&workers, *key) != owner(&rest, *key)).count();
        assert!((140..440).contains(&moved), "{moved} of {keys} moved with one of eight");
        // A worker that is heard after its end, with the given name of the one that was started in its place, takes no keys from others.
        let both = [&workers[..], &[worker("big-2", 1)]].concat();
        let stayed = |key| owner(&both, key).starts_with("big-");
        assert!((0..keys).filter(|key| owner(&workers, *key) == "big-1").all(stayed));
    }

    #[test]
    fn memory_is_for_keys_that_fit_together() {
        let mut one = worker("a", 3);
        let mut placement = placement(std::slice::from_ref(&one));
        placement.take("a", Id([1; 16]), SET);
        assert!(placement.choose(&asked(1, 1)).is_some() && placement.choose(&asked(2, 1000)).is_none());
        let small = Asked { set: Some("of small"), ..asked(2, 1) };
        assert!(placement.choose(&small).is_some());
        // The worker gets no jobs with a set that does not fit or that it does not have, whatever waits, but with a set that nobody knows.
        for set in ["of large", "of another"] {
            let other = Asked { set: Some(set), is_overdue: true, ..asked(1, 1000) };
            assert!(self::placement(&[one.clone()]).choose(&other).is_none(), "{set}");
        }
        let other = Asked { set: None, ..asked(1, 1) };
        assert!(self::placement(&[one.clone()]).choose(&other).is_some());
        // A worker that names no sets has them all.
        let any = Alive { sets: BTreeMap::new(), ..one.clone() };
        assert!(self::placement(&[any]).choose(&Asked { set: Some("of large"), ..asked(1, 1) }).is_some());
        one.slots = 0;
        assert!(self::placement(&[one]).choose(&other).is_none());
    }

    #[test]
    fn keys_that_have_waited_long_hold_a_place_until_they_fit() {
        let workers = [worker("a", 3), worker("b", 3)];
        let busy = |workers: &[Alive], has_had_time| {
            let out = workers.iter().zip(1..).map(|(alive, key)| Out {
                worker: &alive.worker,
                key: Id([key; 16]),
                set: SET,
                has_had_time,
            });
            Placement::new(workers.to_vec(), out, std::iter::empty(), std::iter::empty())
        };
        let overdue = Asked { is_overdue: true, ..asked(3, 1) };
        let free = |placement: &Placement| [1, 2].map(|key| placement.choose(&asked(key, 1)).is_some());
        let mut placement = busy(&workers, true);
        assert!(placement.choose(&overdue).is_none());
        placement.hold(&overdue);
        placement.hold(&overdue);
        let others = free(&placement);
        assert!(others == [true, false] || others == [false, true], "one place, and no more: {others:?}");
        // Others that have waited hold the other place, and then there is none.
        placement.hold(&Asked { key: Id([4; 16]), ..overdue });
        placement.hold(&Asked { key: Id([5; 16]), ..overdue });
        assert_eq!(free(&placement), [false, false]);
        // Keys in use have their time first, and no others are let in.
        let mut one = busy(&workers[..1], false);
        let other = Asked { set: Some("of small"), ..asked(6, 1) };
        assert!(one.choose(&other).is_some());
        one.hold(&overdue);
        assert!(one.choose(&asked(1, 1)).is_some() && one.choose(&other).is_none());
        // If there is room, nothing is held. When a held place gets room, the keys have it, and it is held no longer.
        let mut one = self::placement(&workers[..1]);
        one.hold(&overdue);
        assert!(one.choose(&asked(1, 1)).is_some());
        let mut one = busy(&workers[..1], true);
        one.hold(&overdue);
        assert!(one.choose(&asked(1, 1)).is_none() && one.choose(&overdue).is_none());
        one.places[0].in_use.clear();
        assert_eq!(one.choose(&overdue), Some(("a", Reason::Owner)));
        one.take("a", overdue.key, SET);
        assert!(one.places[0].held.is_none() && one.choose(&asked(3, 1)).is_some());
    }

    #[test]
    fn who_does_not_find_the_files_is_asked_last() {
        let workers = [worker("a", 1), worker("b", 1)];
        let owner = placement(&workers).choose(&asked(1, 1)).unwrap().0.to_owned();
        let pair = |name: &str| (name.to_owned(), Id([1; 16]));
        let without = |unseen: &[Pair]| {
            let none = std::iter::empty();
            let placement = Placement::new(workers.to_vec(), std::iter::empty(), none, unseen.iter());
            placement.choose(&asked(1, 1)).unwrap().0.to_owned()
        };
        assert_ne!(without(&[pair(&owner)]), owner);
        assert_eq!(without(&[pair("a"), pair("b")]), owner);
    }

    #[test]
    fn nobody_is_given_more_than_slots_and_memory_hold() {
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for _ in 0..300 {
            let workers: Vec<Alive> =
                (0..=below(5)).map(|index| worker(&format!("w{}-{index}", index / 2), below(4))).collect();
            let mut placement = placement(&workers);
            let mut given: BTreeMap<String, Vec<(Id, u64)>> = BTreeMap::new();
            for _ in 0..40 {
                let set = [("of p", 60), ("of small", 40), ("of large", 500)][below(3)];
                let key = Id([(set.1 + below(2) as u64) as u8; 16]);
                let asked = Asked {
                    key,
                    set: Some(set.0),
                    backlog: below(30),
                    patience: 1.0,
                    is_overdue: below(4) == 0,
                };
                match placement.choose(&asked).map(|(worker, _)| worker.to_owned()) {
                    Some(worker) => {
                        placement.take(&worker, key, asked.set);
                        given.entry(worker).or_default().push((key, set.1));
                    }
                    None if asked.is_overdue => placement.hold(&asked),
                    None => {}
                }
            }
            for alive in &workers {
                let jobs = given.remove(&alive.worker).unwrap_or_default();
                assert!(jobs.len() <= alive.slots);
                let keys: HashMap<Id, u64> = jobs.into_iter().collect();
                assert!(keys.values().sum::<u64>() <= alive.key_bytes, "{keys:?}");
            }
        }
    }
}
