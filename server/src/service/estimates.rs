//! How long things take on this machine: moving averages over past runs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Weight of the newest measurement.
const WEIGHT: f64 = 0.3;

/// Jobs that wait for a slot before keys are loaded once more, as long as it is not known how long jobs and loading take.
const PATIENCE: f64 = 4.0;

/// How many times its loading time a key set waits until others make room for it: they still get most of a worker's time.
const LOADS: f64 = 4.0;

/// Shortest and longest such wait, in seconds.
const OVERDUE: [f64; 2] = [10.0, 300.0];

/// Measured times per parameter set.
#[derive(Default)]
pub struct Estimates {
    known: Mutex<HashMap<String, Known>>,
}

/// Seconds, as far as they were measured.
#[derive(Default, Clone, Copy)]
struct Known {
    bootstrap: Option<f64>,
    job: Option<f64>,
    load: Option<f64>,
}

impl Estimates {
    /// Takes a finished job into account; jobs without bootstraps do not tell how long one takes.
    pub fn record(&self, set: &str, bootstraps: usize, seconds: f64) {
        let mut known = self.known();
        let known = known.entry(set.to_owned()).or_default();
        average(&mut known.job, seconds);
        if bootstraps > 0 {
            average(&mut known.bootstrap, seconds / bootstraps as f64);
        }
    }

    /// Takes into account that keys of a set were loaded.
    pub fn record_load(&self, set: &str, seconds: f64) {
        average(&mut self.known().entry(set.to_owned()).or_default().load, seconds);
    }

    /// Seconds of one bootstrapping, if one was measured.
    pub fn seconds(&self, set: &str) -> Option<f64> {
        self.of(set).bootstrap
    }

    /// Jobs of a set that are done in the time in which its keys are loaded.
    pub fn jobs_a_load(&self, set: &str) -> f64 {
        let Known { job, load, .. } = self.of(set);
        job.zip(load).map_or(PATIENCE, |(job, load)| (load / job.max(1e-6)).clamp(1e-3, 1e3))
    }

    /// How long keys of a set wait until others make room for them, in milliseconds.
    pub fn overdue(&self, set: &str) -> u64 {
        let [least, most] = OVERDUE;
        (1000.0 * self.of(set).load.map_or(least, |load| (LOADS * load).clamp(least, most))) as u64
    }

    /// Seconds after which one job will have left the queue, between 1 and 60.
    pub fn retry_after(&self, set: &str) -> u64 {
        self.seconds(set).map_or(5, |seconds| seconds.ceil().clamp(1.0, 60.0) as u64)
    }

    fn of(&self, set: &str) -> Known {
        self.known().get(set).copied().unwrap_or_default()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves an average towards a measurement, if that is possible as a time.
fn average(known: &mut Option<f64>, measured: f64) {
    if measured.is_finite() && measured >= 0.0 {
        *known = Some(known.map_or(measured, |average| average + WEIGHT * (measured - average)));
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

    #[test]
    fn how_long_to_wait_for_loaded_keys_is_measured() {
        let estimates = Estimates::default();
        estimates.record("a", 0, 2.0);
        assert_eq!(estimates.jobs_a_load("a").to_bits(), PATIENCE.to_bits());
        estimates.record_load("a", 30.0);
        assert_eq!(estimates.jobs_a_load("a").to_bits(), 15f64.to_bits());
        for nonsense in [-1.0, f64::NAN, f64::INFINITY] {
            estimates.record_load("a", nonsense);
        }
        assert_eq!(estimates.jobs_a_load("a").to_bits(), 15f64.to_bits());
        assert_eq!((estimates.overdue("a"), estimates.overdue("b")), (120_000, 10_000));
        estimates.record_load("c", 1e9);
        assert_eq!(estimates.overdue("c"), 300_000);
    }
}
