//! Storage failures in the log: once each, however often a request or a retry meets them again.
//!
//! A full disk fails every request and every retry until it has room. Only the first failure of such a series is
//! logged, and at its end how many there were.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A run of failures ends with a successful write, once the failure has not come for this long: on a disk that is almost full, small writes
/// succeed between large ones that fail. Longer than any pause between two tries of one thing.
const QUIET: Duration = Duration::from_mins(1);

/// Failures told apart at a time; texts with a path or a number in them would otherwise grow without bound.
const MOST: usize = 16;

/// The runs of failures that have not ended.
#[derive(Default)]
pub struct Trouble(Mutex<Vec<Run>>);

struct Run {
    error: String,
    times: u64,
    first: Instant,
    last: Instant,
}

/// A run that has ended.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    error: String,
    times: u64,
    lasted: Duration,
}

impl Trouble {
    /// Takes note of a failure, and logs it if its run begins with it.
    pub fn failed(&self, error: &dyn std::fmt::Display) {
        let error = error.to_string();
        if self.note(&error, Instant::now()) {
            tracing::error!(error, "storage fails; the same failure is logged again when it is over");
        }
    }

    /// Takes note of a write that succeeded, and logs the runs that have ended.
    pub fn worked(&self) {
        for Ended { error, times, lasted } in self.ended(Instant::now()) {
            tracing::warn!(error, times, seconds = lasted.as_secs(), "storage works again");
        }
    }

    /// Whether a run begins with this failure.
    fn note(&self, error: &str, now: Instant) -> bool {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = runs.iter_mut().find(|run| run.error == error) {
            run.times += 1;
            run.last = now;
            return false;
        }
        if runs.len() == MOST {
            // The run that has been quiet for longest makes room.
            runs.sort_by_key(|run| run.last);
            runs.remove(0);
        }
        runs.push(Run { error: error.to_owned(), times: 1, first: now, last: now });
        true
    }

    fn ended(&self, now: Instant) -> Vec<Ended> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.extract_if(.., |run| now.duration_since(run.last) >= QUIET)
            .map(|Run { error, times, first, last }| Ended { error, times, lasted: last - first })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_failures_is_told_at_its_beginning_and_at_its_end() {
        let trouble = Trouble::default();
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        assert!(trouble.note("full", at(0)));
        for second in 1..100 {
            assert!(!trouble.note("full", at(second)));
            // Writes between them that succeed do not end it.
            assert_eq!(trouble.ended(at(second)), []);
        }
        assert!(trouble.note("no such device", at(50)), "another failure is another run");
        assert!(!trouble.note("no such device", at(140)));
        let ended = Ended { error: "full".into(), times: 100, lasted: Duration::from_secs(99) };
        assert_eq!(trouble.ended(at(160)), [ended]);
        assert_eq!(trouble.ended(at(161)), [], "it is told once");
        assert!(trouble.note("full", at(162)), "the next run is told again");
    }

    #[test]
    fn failures_with_ever_new_texts_take_bounded_memory() {
        let trouble = Trouble::default();
        for number in 0..10 * MOST {
            trouble.note(&format!("file {number}"), Instant::now());
        }
        assert_eq!(trouble.0.lock().unwrap().len(), MOST);
    }
}
