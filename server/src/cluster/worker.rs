//! A worker: runs jobs that fronts hand out, with keys and inputs from a folder that it shares with them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rayon::ThreadPool;

use super::settings;
use super::slots::Slots;
use crate::blobs::{Blobs, CachedBlobs, FileBlobs};
use crate::config::Config;
use crate::dispatch::nats::Nats;
use crate::dispatch::{Alive, Dispatch, Done, News, Outcome, Sign};
use crate::engines::Engines;
use crate::id::hex;
use crate::service::cache::{self, KeyCache};
use crate::service::journal::{Desk, Journal};
use crate::service::live::{Live, Stop};
use crate::service::runner::Runner;
use crate::service::worker::{join, pool_of, release_idle, turn};
use crate::store::{StoreError, folder};
use crate::work::Work;

/// Pause after NATS has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// A worker that takes jobs until it is stopped.
pub struct Worker {
    shared: Arc<Shared>,
    /// One for each job at once.
    threads: Vec<JoinHandle<()>>,
    patience: Duration,
}

struct Shared {
    config: Config,
    engines: Engines,
    cache: Arc<KeyCache>,
    blobs: Arc<dyn Blobs>,
    nats: Nats,
    /// Whether it takes no more jobs.
    stopping: AtomicBool,
    /// Whether those that run are given back.
    end: Live,
}

impl Worker {
    /// Starts to take jobs. Not to be called where asynchronous code runs.
    ///
    /// # Errors
    /// The configuration makes no sense, the folder is no front's, the address of NATS cannot be used, or the system gives no threads.
    pub fn start(config: Config, engines: Engines) -> io::Result<Self> {
        config.check().map_err(io::Error::other)?;
        folder::check(&config.storage.data).map_err(|error| {
            io::Error::other(format!("{error}; start the front first, and give its workers the same folder"))
        })?;
        let slots = Slots::of(&config, &engines);
        let cache = Arc::new(KeyCache::new(cache::budget(config.compute.key_cache_bytes)));
        let about = about(&config, slots, &engines, &cache)?;
        let shared = Arc::new(Shared {
            blobs: blobs(&config)?,
            nats: Nats::connect(settings(&config.cluster, "worker"))?.with_worker(about),
            stopping: AtomicBool::new(false),
            end: Live::default(),
            cache,
            config,
            engines,
        });
        let patience = Duration::from_secs(shared.config.server.shutdown_seconds);
        let thread = |index: usize| {
            let (run, pool) = (Arc::clone(&shared), pool_of(slots.threads)?);
            Builder::new().name(format!("worker-{index}")).spawn(move || run.run(&pool))
        };
        let threads = (0..slots.count).map(thread).collect::<io::Result<_>>()?;
        Ok(Self { shared, threads, patience })
    }

    /// Whether it has ended by itself: it was drained.
    pub fn is_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Takes no more jobs, lets those that run end for the configured time, and then gives them back.
    pub fn stop(self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.shared.nats.leave();
        join(self.threads, self.patience, || self.shared.end.stop(Stop::ShuttingDown));
    }
}

/// The folder of the front, with copies of keys on a disk of this machine if that is configured.
fn blobs(config: &Config) -> io::Result<Arc<dyn Blobs>> {
    let files: Arc<dyn Blobs> = Arc::new(FileBlobs::new(&config.storage.data));
    let (folder, most) = (&config.cluster.cache, config.cluster.cache_bytes);
    if folder.as_os_str().is_empty() {
        return Ok(files);
    }
    let cached = CachedBlobs::new(files, folder, most);
    let cached =
        cached.map_err(|error| io::Error::other(format!("cluster.cache = {}: {error}", folder.display())))?;
    tracing::info!(folder = %folder.display(), bytes = cached.bytes(), most, "copies of keys");
    Ok(Arc::new(cached))
}

/// What a worker says of itself.
fn about(
    config: &Config,
    slots: Slots,
    engines: &Engines,
    cache: &Arc<KeyCache>,
) -> io::Result<impl Fn() -> Alive + Send + Sync + use<>> {
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn).map_err(io::Error::other)?;
    let key_bytes = cache.budget();
    let too_large = engines.infos().filter(|set| set.expanded_key_bytes > key_bytes);
    let alive = Alive {
        worker: format!("{}-{}", config.cluster.name, hex(&drawn)),
        slots: slots.count,
        threads: slots.threads,
        key_bytes,
        too_large: too_large.map(|set| set.name.clone()).collect(),
        ..Alive::default()
    };
    tracing::info!(worker = alive.worker, slots = slots.count, threads = slots.threads, "takes jobs");
    let cache = Arc::clone(cache);
    Ok(move || Alive { keys: cache.held(Alive::MOST), ..alive.clone() })
}

impl Shared {
    /// Takes jobs and runs them, one at a time, on the threads of a pool.
    fn run(&self, pool: &ThreadPool) {
        let runner = Runner { engines: &self.engines, cache: &self.cache, pool, blobs: &self.blobs };
        let mut told = false;
        while !self.takes_no_more() {
            // A folder that was unmounted is an empty one: jobs are for those that have their files.
            if let Err(error) = folder::check(&self.config.storage.data) {
                if !told {
                    tracing::error!(%error, "takes no jobs until the folder of the front is there again");
                }
                told = true;
                std::thread::sleep(PAUSE);
                continue;
            }
            told = false;
            let taken =
                turn(&runner, &self.nats, |work| Journal::new(Away { shared: self, work: work.clone() }));
            match taken {
                Ok(_) => release_idle(&self.cache, &self.config.compute, pool),
                Err(error) => {
                    tracing::warn!(%error, "no jobs for the moment");
                    std::thread::sleep(PAUSE);
                }
            }
        }
        // What came of the last one is worth another try or two: else it is run again.
        while self.nats.report_unsaid().is_err() && !self.end.is_shutting_down() {
            std::thread::sleep(PAUSE);
        }
        self.give_back();
    }

    fn takes_no_more(&self) -> bool {
        self.stopping.load(Ordering::Relaxed) || self.nats.has_left()
    }

    /// Gives back what the front has sent before it heard that this worker leaves.
    fn give_back(&self) {
        while let Ok(Some(work)) = self.nats.take() {
            let stopped = Done { job: work.job, attempt: work.attempt, outcome: Outcome::Stopped };
            if self.nats.report(&stopped).is_err() {
                break;
            }
        }
    }
}

/// The desk of a run whose job table is elsewhere.
struct Away<'a> {
    shared: &'a Shared,
    work: Work,
}

impl Desk for Away<'_> {
    fn tell(&mut self, news: News) -> Result<(), StoreError> {
        let sign = Sign { job: self.work.job, attempt: self.work.attempt, news: Some(news) };
        if let Err(error) = self.shared.nats.sign(&sign) {
            // The job goes on: only its end has to be heard.
            tracing::debug!(%error, "a sign was not heard");
        }
        Ok(())
    }

    fn stopped(&self) -> Option<Stop> {
        if self.shared.nats.is_cancelled(self.work.job) {
            Some(Stop::Cancelled)
        } else {
            self.shared.end.stopped()
        }
    }

    fn failed(&mut self, error: io::Error) -> StoreError {
        tracing::error!(%error, "the folder of the front fails");
        StoreError::Io(error)
    }
}
