//! The workers of a front, as it knows them: for what it accepts, and for operators.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::dispatch::Alive;
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

    /// How many take jobs.
    pub fn workers(&self) -> usize {
        self.state().workers.iter().filter(|alive| alive.slots > 0).count()
    }

    /// Jobs that they run at once, in all.
    pub fn slots(&self) -> usize {
        self.state().workers.iter().map(|alive| alive.slots).sum()
    }

    /// Jobs that are out.
    pub fn out(&self) -> usize {
        self.state().out
    }

    /// Refuses a set whose keys none of those that are alive can hold. Where there is nobody, somebody may come.
    ///
    /// # Errors
    /// `MEMORY`.
    pub fn check_memory(&self, params: &str) -> Result<(), Problem> {
        let state = self.state();
        let mut able = state.workers.iter().filter(|alive| alive.slots > 0).peekable();
        if able.peek().is_none() || able.any(|alive| alive.can_hold(params)) {
            return Ok(());
        }
        let most = state.workers.iter().map(|alive| alive.key_bytes).max().unwrap_or(0);
        let detail = format!(
            "the keys of {params} fit into the memory of none of the workers that are alive, of which the largest gives keys {most} \
             bytes; raise compute.key_cache_bytes of one"
        );
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
        let crew = Crew::default();
        let worker = |slots, too_large: &[&str]| Alive {
            slots,
            key_bytes: 7,
            too_large: too_large.iter().map(ToString::to_string).collect(),
            ..Alive::default()
        };
        assert_eq!(crew.check_memory("large"), Ok(()));
        crew.set(&[worker(1, &["large"]), worker(2, &["large", "other"])], 3);
        let refused = crew.check_memory("large").unwrap_err();
        assert!(refused.code == "MEMORY" && refused.detail.contains("7 bytes"), "{refused:?}");
        assert_eq!((crew.check_memory("other"), crew.check_memory("small")), (Ok(()), Ok(())));
        assert_eq!((crew.workers(), crew.slots(), crew.out()), (2, 3, 3));
        // One that leaves could, and will not.
        crew.set(&[worker(1, &["large"]), worker(0, &[])], 0);
        assert!(crew.check_memory("large").is_err() && crew.workers() == 1);
    }
}
