//! How long a bootstrapping takes here: a moving average over the jobs that were run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Weight of the newest measurement.
const WEIGHT: f64 = 0.3;

/// Measured times per parameter set.
#[derive(Default)]
pub struct Estimates {
    seconds: Mutex<HashMap<String, f64>>,
}

impl Estimates {
    /// Takes a finished job into account; jobs without a bootstrapping say nothing.
    pub fn record(&self, set: &str, bootstraps: usize, seconds: f64) {
        if bootstraps == 0 {
            return;
        }
        let each = seconds / bootstraps as f64;
        let mut known = self.seconds.lock().unwrap_or_else(PoisonError::into_inner);
        known
            .entry(set.to_owned())
            .and_modify(|average| *average += WEIGHT * (each - *average))
            .or_insert(each);
    }

    /// Seconds of one bootstrapping, if one was measured.
    pub fn seconds(&self, set: &str) -> Option<f64> {
        self.seconds.lock().unwrap_or_else(PoisonError::into_inner).get(set).copied()
    }

    /// Seconds after which one job will have left the queue, between 1 and 60.
    pub fn retry_after(&self, set: &str) -> u64 {
        self.seconds(set).map_or(5, |seconds| seconds.ceil().clamp(1.0, 60.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_follow_the_measurements() {
        let estimates = Estimates::default();
        assert_eq!((estimates.seconds("a"), estimates.retry_after("a")), (None, 5));
        estimates.record("a", 0, 9.0);
        assert_eq!(estimates.seconds("a"), None);
        estimates.record("a", 2, 8.0);
        assert_eq!((estimates.seconds("a"), estimates.retry_after("a")), (Some(4.0), 4));
        estimates.record("a", 1, 2.0);
        assert!(estimates.seconds("a").is_some_and(|seconds| seconds > 2.0 && seconds < 4.0));
        assert_eq!(estimates.seconds("b"), None);
    }
}
