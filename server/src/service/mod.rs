//! What the server does, free of HTTP: key sets, jobs, their worker and housekeeping.
//!
//! Uploads are checked in `keys` (pieces of evaluation keys, and that nobody sends a secret key) and `jobs` (inputs); `front` hands jobs to
//! workers and takes them back; `runner` runs one; `cache` holds loaded keys.

pub mod access;
pub mod cache;
mod clock;
pub mod crew;
pub mod estimates;
pub mod front;
pub mod jobs;
pub mod journal;
pub mod key_sets;
pub mod keys;
pub mod live;
pub mod metrics;
pub mod placement;
pub mod preload_requests;
pub mod runner;
pub mod shards;
pub mod storage_health;
pub mod traffic;
pub mod views;
mod waits;
pub mod worker;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[cfg(feature = "cluster")]
use crate::blobs::RemoteBlobs;
use crate::blobs::{Blob, Blobs};
use crate::config::{Config, StorageSection};
use crate::dispatch::News;
use crate::engine::{JobSet, SetInfo};
use crate::engines::Engines;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::events::EventLog;
use crate::store::jobs::JobRecord;
use crate::store::{Store, StoreError, jobs as job_store, keys as key_store, names, now};
use cache::KeyCache;
use clock::Clock;
use crew::Crew;
use estimates::Estimates;
use live::LiveJobs;
use metrics::Metrics;
use preload_requests::Wakes;

/// Shared state of a running server.
pub struct Service {
    /// The configuration it was started with.
    pub config: Config,
    /// Homomorphic encryption.
    pub engines: Engines,
    /// Keys and jobs on disk.
    pub store: Arc<Store>,
    /// The bytes of keys and jobs, for those who run them.
    pub blobs: Arc<dyn Blobs>,
    /// What happened to each job.
    pub events: EventLog,
    /// Evaluation keys in memory.
    pub cache: KeyCache,
    /// Counters for operators.
    pub metrics: Metrics,
    /// The running jobs.
    pub live: LiveJobs,
    /// Times measured so far.
    pub estimates: Estimates,
    /// The workers of a front.
    pub crew: Crew,
    /// Key sets that are to be loaded ahead.
    pub wakes: Wakes,
    stopping: AtomicBool,
    /// The clock of housekeeping.
    clock: Clock,
    /// When a write to the data folder succeeded last.
    probed: Mutex<Option<Instant>>,
    found_ready: AtomicBool,
}

/// The data folder, with the bytes of keys and jobs in it or where the configuration says.
fn open_store(config: &Config) -> Result<Store, StoreError> {
    #[cfg(feature = "cluster")]
    if !config.cluster.blobs.is_empty() {
        let blobs =
            RemoteBlobs::connect(&config.cluster.blobs)?.with_spool(config.storage.data.join("incoming"));
        return Store::open_with(&config.storage.data, Arc::new(blobs));
    }
    Store::open(&config.storage.data)
}

impl Service {
    /// Opens the data folder and takes up where the last process stopped: jobs that were running
    /// wait again, jobs that have killed the server too often are given up.
    ///
    /// # Errors
    /// The data folder cannot be used.
    pub fn open(config: Config, engines: Engines) -> Result<Self, StoreError> {
        let service = Self::open_beside(config, engines)?;
        service.drop_unrecorded();
        service
            .take_back(&job_store::Requeue::Crashed, |_| true)
            .map_err(|error| service.store.at_start(error))?;
        Ok(service)
    }

    /// Opens the data folder, and leaves jobs that were running to their workers: they did not end with the last process.
    ///
    /// # Errors
    /// The data folder cannot be used.
    pub fn open_beside(config: Config, engines: Engines) -> Result<Self, StoreError> {
        let store = Arc::new(open_store(&config)?);
        let service = Self {
            blobs: Arc::clone(store.blobs()) as Arc<dyn Blobs>,
            cache: KeyCache::new(cache::budget(config.compute.key_cache_bytes)),
            events: EventLog::new(Arc::clone(&store)),
            metrics: Metrics::default(),
            live: LiveJobs::default(),
            estimates: Estimates::default(),
            crew: Crew::default(),
            wakes: Wakes::default(),
            stopping: AtomicBool::new(false),
            clock: Clock::start(now()),
            probed: Mutex::default(),
            found_ready: AtomicBool::new(true),
            config,
            engines,
            store,
        };
        let name_of = |fingerprint: &str| {
            let set = service.engines.by_fingerprint(fingerprint);
            set.map(|set| set.info().name.clone())
        };
        let taken_up = names::update(&service.store, name_of).and_then(|()| service.learn());
        taken_up.map_err(|error| service.store.at_start(error))?;
        Ok(service)
    }

    /// A parameter set this server offers.
    ///
    /// # Errors
    /// There is no set of that name, or it is insecure and the server was not told to offer insecure ones.
    pub fn set(&self, name: &str) -> Result<&SetInfo, Problem> {
        let shown: String = name.chars().take(64).collect();
        let set = self.engines.named(name).map(JobSet::info).map_err(|_| {
            let known: Vec<&str> = self.offered().map(|set| set.name.as_str()).collect();
            Problem::not_found(format!(
                "there is no parameter set {shown:?}; this server offers {}",
                known.join(", ")
            ))
        })?;
        if !set.secure && !self.config.server.allow_insecure {
            return Err(Problem::new(
                403,
                "INSECURE",
                "Insecure parameters",
                format!(
                    "{shown} has {:.0} bits of security and this server offers only sets that meet their policy; start it with --allow-insecure to use test sets",
                    set.security_bits
                ),
            ));
        }
        Ok(set)
    }

    /// The parameter sets this server offers.
    pub fn offered(&self) -> impl Iterator<Item = &SetInfo> {
        self.engines.infos().filter(|set| set.secure || self.config.server.allow_insecure)
    }

    /// Whether the server has been asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Whether the server can do its work: write to its data folder, with some space left.
    ///
    /// # Errors
    /// It cannot.
    pub fn ready(&self) -> Result<(), Problem> {
        let outcome = self.look_whether_ready();
        self.found_ready.store(outcome.is_ok(), Ordering::Relaxed);
        outcome
    }

    /// What [`Self::ready`] last found. Asks no disk and no store, which may be silent for long.
    pub fn was_ready(&self) -> bool {
        self.found_ready.load(Ordering::Relaxed) && !self.is_stopping()
    }

    fn look_whether_ready(&self) -> Result<(), Problem> {
        let not_ready =
            |code: &str, detail: String| Problem::new(503, code, "Not ready", detail).retry_after(10);
        if self.is_stopping() {
            return Err(not_ready("STOPPING", "the server is stopping and takes no new jobs".to_owned()));
        }
        let mut probed = self.probed.lock().unwrap_or_else(PoisonError::into_inner);
        if probed.is_none_or(|at| at.elapsed() > Duration::from_secs(1)) {
            *probed = None;
            self.store.probe().map_err(|error| {
                let what = if error.is_full() { "is full" } else { "cannot be written to" };
                not_ready("STORAGE_FAILED", format!("the disk of the data folder {what}"))
            })?;
            *probed = Some(Instant::now());
        }
        if let Err(error) = self.blobs.check() {
            // The log says which place it is; clients need not know.
            self.store.note(&error.into());
            let detail = "the storage of the server's keys and results cannot be reached";
            return Err(not_ready("STORAGE_FAILED", detail.to_owned()));
        }
        let least = self.config.storage.min_free_bytes;
        match self.store.free_bytes() {
            Ok(Some(free)) if free < least => Err(not_ready(
                "STORAGE_FULL",
                format!(
                    "{free} bytes are free on the disk of the data folder, storage.min_free_bytes is {least}"
                ),
            )),
            Ok(_) => Ok(()),
            Err(error) => Err(not_ready(
                "STORAGE_FAILED",
                format!("the disk of the data folder does not answer: {error}"),
            )),
        }
    }

    /// Takes no further job; the worker ends after the one it has.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.live.wake();
    }

    /// Removes what has outlived its time: key sets never sealed, jobs long finished.
    ///
    /// # Errors
    /// The store fails.
    pub fn tidy(&self) -> Result<(), StoreError> {
        job_store::forget_failed(&self.store);
        // Nothing else depends on it, and the store has logged why it fails.
        let _ = self.store.sweep();
        let now = self.clock.now(now());
        let hours = |hours: u64| now.saturating_sub(hours.saturating_mul(3_600_000));
        let unsealed = hours(self.config.storage.unsealed_hours);
        let empty = now.saturating_sub(self.config.storage.empty_keys_minutes.saturating_mul(60_000));
        let stale = |record: &key_store::KeyRecord| {
            let limit = if record.bytes == 0 { empty.max(unsealed) } else { unsealed };
            record.state == key_store::KeyState::Open && !record.damaged && record.touched < limit
        };
        let (mut sets, mut jobs) = (0_u64, 0_u64);
        for record in key_store::list(&self.store)?.iter().filter(|record| stale(record)) {
            if key_store::delete(&self.store, record.id, stale)? == key_store::Deleted::Done {
                tracing::debug!(key = %record.id, "removed a key set that was never sealed");
                sets += 1;
            }
        }
        if sets > 0 {
            let StorageSection { unsealed_hours: hours, empty_keys_minutes: minutes, .. } =
                self.config.storage;
            tracing::info!(
                "removed {sets} key sets that were never sealed: older than {hours} hours, or empty for {minutes} minutes"
            );
        }
        let finished = hours(self.config.storage.retention_hours);
        for record in job_store::select(&self.store, |job| job.finished.is_some_and(|at| at < finished))? {
            job_store::remove(&self.store, &record)?;
            jobs += 1;
        }
        if jobs > 0 {
            let hours = self.config.storage.retention_hours;
            tracing::info!("removed {jobs} finished jobs older than {hours} hours");
        }
        Ok(())
    }

    /// Removes results that were stored but not recorded when the last process ended: another version may have made them. A result that
    /// cannot be removed is found to differ when the job has run again.
    fn drop_unrecorded(&self) {
        let jobs = job_store::select(&self.store, |job| !job.state.is_final()).unwrap_or_default();
        for job in jobs {
            let _ = self.blobs.remove(Blob::Result(job.id));
        }
    }

    /// Takes back, for the reason `why`, those jobs that the table has as running for which `in_nobodys_hands` holds.
    pub(super) fn take_back(
        &self,
        why: &job_store::Requeue,
        in_nobodys_hands: impl Fn(&JobRecord) -> bool,
    ) -> Result<(), StoreError> {
        let running = job_store::running(&self.store)?;
        let mut left = running.iter().filter(|job| in_nobodys_hands(job));
        left.try_for_each(|job| self.take_back_one(job, why))
    }

    /// Takes back, for the reason `why`, a job that the table has as running and that nobody runs.
    pub(super) fn take_back_one(&self, job: &JobRecord, why: &job_store::Requeue) -> Result<(), StoreError> {
        let (store, attempt) = (&self.store, job.attempts);
        let given_up = if *why == job_store::Requeue::Crashed { self.given_up(job) } else { None };
        if job.cancel {
            job_store::abandon(store, job.id, attempt)?;
        } else if let Some(problem) = given_up {
            if let Some(record) = job_store::fail(store, job.id, attempt, problem)? {
                self.note_end(&record);
            }
        } else {
            tracing::info!(job = %job.id, attempts = attempt, "putting an interrupted job back into the queue");
            job_store::requeue(store, job.id, attempt, why)?;
        }
        self.events.close(job.id);
        self.events.wake(job.id);
        Ok(())
    }

    /// Counts and logs a job that has ended. If the server died under it too often, it is logged as a warning for the operator.
    pub(super) fn note_end(&self, record: &JobRecord) {
        let (job, state, seconds) = (record.id, record.state.name(), record.seconds);
        let code = record.problem.as_ref().map(|problem| problem.code.as_str());
        if code == Some(INTERRUPTED) {
            tracing::warn!(%job, state, code, crashes = record.crashes + 1, "job given up: the server died each time it worked on it");
        } else {
            tracing::info!(%job, state, code, seconds, "job left the worker");
        }
        self.metrics.job(&record.params, record.state, seconds);
    }

    /// The problem of a job that is not tried again after a server died under it once more; `None` if it is tried again.
    pub(super) fn given_up(&self, job: &JobRecord) -> Option<Problem> {
        let crashes = job.crashes + 1;
        (crashes >= self.config.compute.max_attempts).then(|| {
            let detail =
                format!("the server died {crashes} times while it worked on this job, which is not tried again by itself; submit it again");
            Problem::new(500, INTERRUPTED, "Interrupted too often", detail)
        })
    }

    /// Takes note of the news of a run.
    pub(super) fn note(&self, job: Id, attempt: u32, params: &str, news: &News) -> Result<(), StoreError> {
        match news {
            News::At { stage, .. } | News::Stage { stage, .. } if !is_stage(stage) => {
                tracing::error!(%job, "a stage with a name that no stage has; it is dropped");
            }
            News::At { stage, parts } => {
                if let Some(live) = self.live.get(job) {
                    live.set_progress(stage, *parts);
                }
            }
            News::Event { name, data, urgency } => {
                // Anything but an event of a run could end the streams of clients who follow it.
                if !matches!(name.as_str(), "state" | "stage") || data.contains(char::is_control) {
                    tracing::error!(%job, "news of a run that is not an event; it is dropped");
                    return Ok(());
                }
                return self.events.append(job, attempt, name, data, *urgency);
            }
            News::Stage { stage, seconds } => self.metrics.stage(params, stage, *seconds),
            News::Keys { loaded } => {
                self.metrics.keys(loaded.is_none());
                if let Some(seconds) = loaded {
                    self.estimates.record_load(params, *seconds);
                }
            }
            News::Panicked => self.metrics.panicked(),
        }
        Ok(())
    }

    /// Learns from the jobs that are done how long jobs take.
    fn learn(&self) -> Result<(), StoreError> {
        for job in job_store::select(&self.store, |job| job.state == job_store::JobState::Done)? {
            if let Some(seconds) = job.seconds {
                self.estimates.record(&job.params, job.task.bootstraps(), seconds);
            }
        }
        Ok(())
    }
}

/// The code of jobs under which the server died too often.
const INTERRUPTED: &str = "INTERRUPTED";

/// Longest name of a stage.
const LONGEST_STAGE: usize = 64;

/// Whether this can be the name of a stage, which metrics and documents repeat.
fn is_stage(name: &str) -> bool {
    let fits = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'-' | b'.');
    (1..=LONGEST_STAGE).contains(&name.len()) && name.bytes().all(fits)
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        // The store has logged what failed.
        if error.is_unreachable() {
            let detail = "the object store that holds the server's keys and results cannot be reached; try again in a moment";
            return Self::new(503, "STORAGE_FAILED", "Storage failed", detail).retry_after(5);
        }
        if error.is_full() {
            let detail = "the server's disk is full; try again when its operator has made room";
            return Self::new(507, "STORAGE_FULL", "Storage full", detail);
        }
        if error.is_in_use() {
            let detail = "a job is reading these files, and Windows cannot remove files that are open; try again when the job has ended";
            return Self::new(503, "STORAGE_FAILED", "Storage failed", detail).retry_after(5);
        }
        if matches!(error, StoreError::Io(_)) {
            let detail = "the server cannot read or write a file in its data folder; try again when its operator has fixed that";
            return Self::new(503, "STORAGE_FAILED", "Storage failed", detail).retry_after(10);
        }
        if matches!(error, StoreError::Corrupt(_)) {
            let detail = "the server's disk altered what the server keeps about this job or key set; submit the job again, or make new keys; \
                          the operator finds which record it is in the log";
            return Self::new(500, "RECORD_DAMAGED", "Stored record damaged", detail);
        }
        Self::internal_logged()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_short_plain_names() {
        let sets = crate::registry::Registry::default().sets(crate::registry::SetFilter::all()).unwrap();
        let known = sets.iter().flat_map(|set| &set.info().stages).map(|stage| stage.id.as_str());
        assert!(known.chain(["load_keys"]).all(is_stage));
        for name in ["", "a b", "a\"b", "a\nb", "é", &"x".repeat(65)] {
            assert!(!is_stage(name), "{name}");
        }
    }
}
