//! A worker: runs jobs that fronts hand out, with keys and inputs from a folder that it shares with them, or from an object store.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rayon::ThreadPool;

use super::counts::{Counts, Now};
use super::settings;
use super::slots::Slots;
use crate::blobs::{Blobs, CachedBlobs, FileBlobs, RemoteBlobs};
use crate::config::Config;
use crate::dispatch::nats::Nats;
use crate::dispatch::{Alive, Dispatch, Done, News, Outcome, Sign};
use crate::engines::Engines;
use crate::id::hex;
use crate::problem::Problem;
use crate::service::cache::{self, KeyCache};
use crate::service::journal::{Desk, Journal};
use crate::service::live::{Live, Stop};
use crate::service::runner::Runner;
use crate::service::storage_health::StorageHealth;
use crate::service::worker::{join, pool_of, release_idle, turn};
use crate::store::StoreError;
use crate::work::Work;

/// Pause after NATS has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// A worker that takes jobs until it is stopped.
pub struct Worker {
    shared: Arc<Shared>,
    /// One thread for each job at once.
    threads: Vec<JoinHandle<()>>,
    patience: Duration,
}

struct Shared {
    config: Config,
    engines: Engines,
    cache: Arc<KeyCache>,
    blobs: Arc<dyn Blobs>,
    /// Copies of keys on a disk of this machine, if there are to be any.
    copies: Option<Arc<CachedBlobs>>,
    slots: Slots,
    counts: Counts,
    storage: Arc<StorageHealth>,
    nats: Nats,
    /// Whether it takes no more jobs.
    stopping: AtomicBool,
    /// Whether a run hung, after which it takes no more jobs either.
    ill: AtomicBool,
    /// Tells running jobs to stop, so that they are given back.
    end: Live,
}

/// Why a worker ended that was not stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// An operator asked for it.
    Drained,
    /// A run hangs or has hung, and the worker is to be started anew.
    Hung,
}

impl Worker {
    /// Starts to take jobs. Not to be called where asynchronous code runs.
    ///
    /// # Errors
    /// The configuration makes no sense, the folder or object store does not belong to a front, the address of NATS cannot be used, or the
    /// system gives no threads.
    pub fn start(config: Config, engines: Engines) -> io::Result<Self> {
        config.check().map_err(io::Error::other)?;
        let slots = Slots::of(&config, &engines);
        let cache = Arc::new(KeyCache::new(cache::budget(config.compute.key_cache_bytes)));
        let storage = Arc::<StorageHealth>::default();
        let about = about(&config, slots, &engines, &cache, &storage)?;
        let behind = behind(&config)?;
        let copies = copies(&config, &behind)?;
        let blobs = copies.as_ref().map_or(behind, |copies| Arc::clone(copies) as Arc<dyn Blobs>);
        let shared = Arc::new(Shared {
            blobs,
            copies,
            slots,
            counts: Counts::default(),
            storage,
            nats: Nats::connect(settings(&config.cluster, "worker"))?.with_worker(about),
            stopping: AtomicBool::new(false),
            ill: AtomicBool::new(false),
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

    /// The state of the worker, now and later.
    pub fn condition(&self) -> Condition {
        Condition(Arc::clone(&self.shared))
    }

    /// Why the worker has ended by itself, if it has; to be called from time to time.
    pub fn ended(&self) -> Option<End> {
        let hung = self.shared.nats.hung();
        if hung > 0 && !self.shared.ill.swap(true, Ordering::Relaxed) {
            tracing::error!(
                hung,
                seconds = self.shared.config.cluster.hung_seconds,
                "nothing was heard of a run for cluster.hung_seconds; its job goes to another worker, and this one ends when its other jobs have"
            );
        }
        let left = self.threads.iter().filter(|thread| !thread.is_finished()).count();
        if self.shared.ill.load(Ordering::Relaxed) {
            (left <= hung).then_some(End::Hung)
        } else {
            (left == 0).then_some(End::Drained)
        }
    }

    /// Takes no more jobs, lets those that run end for the configured time, and then gives them back.
    pub fn stop(self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        self.shared.nats.leave();
        join(self.threads, self.patience, || self.shared.end.stop(Stop::ShuttingDown));
    }
}

/// The state of a worker, for health checks and metrics.
#[derive(Clone)]
pub struct Condition(Arc<Shared>);

impl Condition {
    /// Checks that the worker takes jobs.
    ///
    /// # Errors
    /// It does not, for the moment or any more.
    pub fn ready(&self) -> Result<(), Problem> {
        let not_ready =
            |code: &str, detail: String| Problem::new(503, code, "Not ready", detail).retry_after(10);
        let shared = &self.0;
        if shared.nats.hung() > 0 || shared.ill.load(Ordering::Relaxed) {
            return Err(not_ready(
                "HUNG",
                format!(
                    "nothing was heard of a run for {} s (cluster.hung_seconds); the worker ends when its other jobs have",
                    shared.config.cluster.hung_seconds
                ),
            ));
        }
        if shared.takes_no_more() {
            return Err(not_ready("STOPPING", "the worker takes no new jobs".to_owned()));
        }
        shared.blobs.check().map_err(|error| not_ready("STORAGE_FAILED", error.to_string()))?;
        if let Some(bytes) = shared.storage.refused_bytes() {
            let detail = format!(
                "a result of {bytes} bytes could not be stored; the worker takes no jobs until there is room for one"
            );
            return Err(not_ready("STORAGE_FAILED", detail));
        }
        if !shared.nats.is_connected() {
            return Err(not_ready(
                "NATS",
                "NATS cannot be reached; cluster.nats says where it is".to_owned(),
            ));
        }
        Ok(())
    }

    /// The text of `GET /metrics`.
    ///
    /// # Errors
    /// None that is known of.
    pub fn metrics(&self) -> Result<String, Problem> {
        let shared = &self.0;
        let now = Now {
            jobs: shared.nats.jobs(),
            slots: if shared.takes_no_more() { 0 } else { shared.slots.count },
            hung: shared.nats.hung(),
            is_connected: shared.nats.is_connected(),
            cache: &shared.cache,
            copies_bytes: shared.copies.as_ref().map_or(0, |copies| copies.bytes()),
        };
        shared.counts.render(&now).map_err(|error| Problem::internal(&error))
    }
}

/// The front's storage of bytes.
fn behind(config: &Config) -> io::Result<Arc<dyn Blobs>> {
    if !config.cluster.blobs.is_empty() {
        let remote = RemoteBlobs::connect(&config.cluster.blobs)?;
        remote.check()?;
        return Ok(Arc::new(remote));
    }
    let files = FileBlobs::new(&config.storage.data);
    files.check().map_err(|error| {
        io::Error::other(format!(
            "{error}; start the front first, and give its workers the same folder, or the same object store by cluster.blobs"
        ))
    })?;
    Ok(Arc::new(files))
}

/// Copies of keys on a disk of this machine, in front of `behind`, if that is configured.
fn copies(config: &Config, behind: &Arc<dyn Blobs>) -> io::Result<Option<Arc<CachedBlobs>>> {
    let (folder, most) = (&config.cluster.cache, config.cluster.cache_bytes);
    if folder.as_os_str().is_empty() {
        return Ok(None);
    }
    let cached = CachedBlobs::new(Arc::clone(behind), folder, most);
    let cached =
        cached.map_err(|error| io::Error::other(format!("cluster.cache = {}: {error}", folder.display())))?;
    tracing::info!(folder = %folder.display(), bytes = cached.bytes(), most, "copies of keys");
    Ok(Some(Arc::new(cached)))
}

/// Describes the worker as it is at each call.
fn about(
    config: &Config,
    slots: Slots,
    engines: &Engines,
    cache: &Arc<KeyCache>,
    storage: &Arc<StorageHealth>,
) -> io::Result<impl Fn() -> Alive + Send + Sync + use<>> {
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn).map_err(io::Error::other)?;
    let key_bytes = cache.budget();
    let sets = engines.infos().map(|set| (set.fingerprint.clone(), set.expanded_key_bytes));
    let alive = Alive {
        worker: format!("{}-{}", config.cluster.name, hex(&drawn)),
        slots: slots.count,
        threads: slots.threads,
        key_bytes,
        sets: sets.collect(),
        ..Alive::default()
    };
    tracing::info!(worker = alive.worker, slots = slots.count, threads = slots.threads, "takes jobs");
    let (cache, storage) = (Arc::clone(cache), Arc::clone(storage));
    Ok(move || {
        let storage_fails = storage.fails();
        let slots = if storage_fails { 0 } else { alive.slots };
        Alive { slots, storage_fails, keys: cache.held(Alive::MOST), ..alive.clone() }
    })
}

impl Shared {
    /// Takes jobs and runs them, one at a time, on the threads of a pool.
    fn run(&self, pool: &ThreadPool) {
        let runner = Runner { engines: &self.engines, cache: &self.cache, pool, blobs: &self.blobs };
        let mut told = false;
        while !self.takes_no_more() {
            // An unmounted folder looks empty: jobs have to go to workers that see their bytes.
            if let Err(error) = self.storage.check(&*self.blobs) {
                if !told {
                    tracing::error!(%error, "takes no jobs until the front's storage can be read and written again");
                }
                told = true;
                std::thread::sleep(PAUSE);
                continue;
            }
            told = false;
            let taken =
                turn(&runner, &self.nats, |work| Journal::new(Telling { shared: self, work: work.clone() }));
            match taken {
                Ok(_) => release_idle(&self.cache, &self.config.compute, pool),
                Err(error) => {
                    tracing::warn!(%error, "no jobs for the moment");
                    std::thread::sleep(PAUSE);
                }
            }
        }
        // The last outcome is worth another try or two: otherwise its job is run again.
        while self.nats.report_unsaid().is_err() && !self.end.is_shutting_down() {
            std::thread::sleep(PAUSE);
        }
        self.give_back();
    }

    fn takes_no_more(&self) -> bool {
        let stops = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        stops(&self.stopping) || stops(&self.ill) || self.nats.has_left()
    }

    /// Gives back the jobs that the front sent before it heard that this worker leaves.
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
struct Telling<'a> {
    shared: &'a Shared,
    work: Work,
}

impl Desk for Telling<'_> {
    fn tell(&mut self, news: News) -> Result<(), StoreError> {
        self.shared.counts.heard(&news);
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
        tracing::error!(%error, "cannot read or write the front's storage");
        StoreError::Io(error)
    }

    fn refused(&mut self, bytes: u64, time: Duration) -> bool {
        self.shared.storage.refused(bytes, time)
    }

    fn ended(&mut self, outcome: &Outcome) {
        self.shared.counts.ended(outcome);
    }
}

#[cfg(test)]
mod tests {
    use refloat::Error;
    use refloat::trace::Observer;

    use super::*;
    use crate::engine::{LoadedKeys, Task};
    use crate::id::Id;
    use crate::registry::{Registry, SetFilter};

    struct Keys;

    impl crate::engine::Runner for Keys {
        fn run(&self, _: &Task, _: &[u8], _: &mut dyn Observer) -> Result<Vec<u8>, Error> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn a_worker_with_more_key_sets_than_one_may_name_names_those_that_it_used_last() {
        let engines = Engines::with(&Registry::default(), SetFilter::all()).unwrap();
        let cache = Arc::new(KeyCache::new(u64::MAX));
        let many = Alive::MOST + 10;
        let id = |index: usize| Id((index as u128).to_be_bytes());
        for index in 0..many {
            cache.insert(id(index), [0; 32], LoadedKeys::new(1, Keys));
        }
        let slots = Slots { count: 2, threads: 1 };
        let storage = Arc::<StorageHealth>::default();
        let about = about(&Config::default(), slots, &engines, &cache, &storage).unwrap();
        let alive = about();
        assert!(alive.is_sound() && alive.keys.len() == Alive::MOST);
        assert!(alive.keys.contains(&id(many - 1)) && !alive.keys.contains(&id(0)));
        // The worker says what keys of each set take here.
        for set in engines.infos() {
            assert_eq!(alive.bytes_of(Some(&set.fingerprint)), Some(set.expanded_key_bytes));
        }
        assert_eq!(alive.bytes_of(Some("of none")), None);
        // It takes no jobs while it cannot store results.
        assert!(alive.slots == 2 && !alive.storage_fails);
        assert!(!storage.refused(7, Duration::ZERO));
        assert!(about().slots == 0 && about().storage_fails);
    }
}
