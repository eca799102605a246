//! The workers that a front knows of: it accepts only what they can hold, and operators are told of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dispatch::Alive;
use crate::engine::SetInfo;
use crate::problem::Problem;

/// The workers that are alive.
#[derive(Default)]
pub struct Crew {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    workers: Vec<Alive>,
    out: usize,
}

impl Crew {
    /// Notes who is alive, and how many jobs are out.
    pub fn set(&self, workers: &[Alive], out: usize) {
        let mut state = self.state();
        state.out = out;
        if state.workers != workers {
            workers.clone_into(&mut state.workers);
        }
    }

    /// How many workers take jobs.
    pub fn workers(&self) -> usize {
        self.state().workers.iter().filter(|alive| alive.slots > 0).count()
    }

    /// Jobs that all workers together run at once.
    pub fn slots(&self) -> usize {
        self.state().workers.iter().map(|alive| alive.slots).sum()
    }

    /// Jobs that are out.
    pub fn out(&self) -> usize {
        self.state().out
    }

    /// Refuses a set whose keys none of the living workers can hold. If there are none, nothing is refused: some may come.
    ///
    /// # Errors
    /// `MEMORY`.
    pub fn check_memory(&self, set: &SetInfo) -> Result<(), Problem> {
        let state = self.state();
        let able = || state.workers.iter().filter(|alive| alive.slots > 0);
        if able().next().is_none() || able().any(|alive| alive.can_hold(Some(&set.fingerprint))) {
            return Ok(());
        }
        let (name, fingerprint) = (&set.name, &set.fingerprint);
        let detail = match able().filter_map(|alive| alive.sets.get(fingerprint)).min() {
            Some(least) => format!(
                "the keys of {name} take at least {least} bytes of memory, and the largest of the workers that are alive gives keys {} \
                 bytes; raise compute.key_cache_bytes of one",
                able().map(|alive| alive.key_bytes).max().unwrap_or(0)
            ),
            None => format!(
                "none of the workers that are alive has the set {name} with the fingerprint {fingerprint} of this front; run one build on \
                 all machines"
            ),
        };
        Err(Problem::new(507, "MEMORY", "Keys too large for this server", detail))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_worker_can_hold_is_refused_as_long_as_there_are_any() {
        let registry = crate::registry::Registry::default();
        let sets = registry.sets(crate::registry::SetFilter::all()).unwrap();
        let [small, large] = [0, 1].map(|index| sets[index].info());
        let crew = Crew::default();
        let worker = |slots, key_bytes, sets: &[(&SetInfo, u64)]| Alive {
            slots,
            key_bytes,
            sets: sets.iter().map(|(set, bytes)| (set.fingerprint.clone(), *bytes)).collect(),
            ..Alive::default()
        };
        assert_eq!(crew.check_memory(large), Ok(()));
        crew.set(&[worker(1, 7, &[(small, 5), (large, 9)]), worker(2, 6, &[(small, 5), (large, 8)])], 3);
        let refused = crew.check_memory(large).unwrap_err();
        let both = ["at least 8 bytes", "gives keys 7 bytes"].map(|side| refused.detail.contains(side));
        assert!(refused.code == "MEMORY" && both == [true; 2], "{refused:?}");
        assert_eq!(crew.check_memory(small), Ok(()));
        assert_eq!((crew.workers(), crew.slots(), crew.out()), (2, 3, 3));
        // A worker that leaves does not count, and the other has another set.
        crew.set(&[worker(1, 9, &[(small, 5)]), worker(0, 9, &[(large, 9)])], 0);
        let refused = crew.check_memory(large).unwrap_err();
        assert!(refused.detail.contains(&large.fingerprint) && crew.workers() == 1, "{refused:?}");
        assert_eq!(crew.check_memory(small), Ok(()));
    }
}
