//! How many jobs a worker runs at once, and on how many threads.

use crate::config::Config;
use crate::engines::Engines;
use crate::memory;
use crate::service::cache;
use crate::service::worker::threads;

/// The jobs that a worker runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slots {
    /// Number of jobs.
    pub count: usize,
    /// Threads of each job.
    pub threads: usize,
}

impl Slots {
    /// As configured, or as many as this machine has processors and memory for.
    pub fn of(config: &Config, engines: &Engines) -> Self {
        let keys = cache::budget(config.compute.key_cache_bytes);
        let fit = memory::total().map(|total| fitting(total, keys, engines.largest_working()));
        Self::shared(threads(config), config.cluster.slots, config.cluster.threads_per_job, fit)
    }

    /// Shares `all` threads among `asked` jobs or, if that is 0, among as many as can have `each` threads and as `fit` into memory.
    pub fn shared(all: usize, asked: usize, each: usize, fit: Option<usize>) -> Self {
        let count = match asked {
            0 => (all / each.max(1)).min(fit.unwrap_or(usize::MAX)).max(1),
            asked => asked,
        };
        Self { count, threads: (all / count).max(1) }
    }
}

/// Jobs of `working` bytes, the most that one takes, that fit at once into `memory` bytes beside the `keys` bytes set aside for keys.
pub fn fitting(memory: u64, keys: u64, working: u64) -> usize {
    (memory.saturating_sub(keys) / working.max(1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_shared_by_as_many_jobs_as_fit() {
        for (all, asked, each, fit, count, threads) in [
            (32, 0, 2, None, 16, 2),
            (32, 0, 2, Some(5), 5, 6),
            (3, 0, 2, None, 1, 3),
            (1, 0, 2, Some(0), 1, 1),
            (2, 4, 2, Some(1), 4, 1),
            (8, 0, 0, None, 8, 1),
        ] {
            assert_eq!(Slots::shared(all, asked, each, fit), Slots { count, threads });
        }
    }
}
