//! Counters for operators, in the Prometheus text format.

use std::sync::atomic::Ordering;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry, Unit};

use super::Service;
use super::placement::Reason;
use super::traffic::Traffic;
use crate::memory;
use crate::store::{StoreError, jobs, keys};

/// One label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Label {
    name: String,
}

impl Label {
    /// The label of a name.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned() }
    }
}

/// Two labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StageLabel {
    params: String,
    stage: String,
}

/// How long something took, for each label.
type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// What is counted.
pub struct Metrics {
    /// Requests and connections.
    pub traffic: Traffic,
    /// Workers of a front.
    pub cluster: ClusterMetrics,
    registry: Registry,
    jobs: Family<Label, Counter>,
    job_seconds: Times<Label>,
    stage_seconds: Times<StageLabel>,
    refused: Family<Label, Counter>,
    uploaded: Counter,
    key_loads: Counter,
    key_hits: Counter,
    queue: Gauge,
    running: Gauge,
    cache_bytes: Gauge,
    cache_evictions: Counter,
    cache_releases: Counter,
    ready: Gauge,
    free_disk: Gauge,
    key_bytes: Gauge,
    job_bytes: Gauge,
    limits: Family<Label, Gauge>,
    panics: Counter,
    retries: Counter,
    differences: Counter,
    resident: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("refloat");
        let traffic = Traffic::new(&mut registry);
        let cluster = ClusterMetrics::new(&mut registry);
        let mut new = New(&mut registry);
        Self {
            traffic,
            cluster,
            jobs: new.number("jobs", "Jobs by final state (name)"),
            job_seconds: new.measure(
                "job",
                Unit::Seconds,
                "Run time of jobs by parameter set (name)",
                times(),
            ),
            stage_seconds: new.measure("stage", Unit::Seconds, "Run time of stages", times()),
            refused: new.number("refused", "Requests refused, by problem code (name)"),
            uploaded: new.bytes("uploaded_keys", "Evaluation keys received"),
            key_loads: new.number("key_loads", "Key sets loaded from disk"),
            key_hits: new.number("key_hits", "Jobs whose key set was in memory"),
            queue: new.number("queue_depth", "Jobs waiting"),
            running: new.number("running_jobs", "Jobs running"),
            cache_bytes: new.bytes("key_cache", "Loaded evaluation keys"),
            cache_evictions: new.number("key_cache_evictions", "Key sets dropped to make room"),
            cache_releases: new.number(
                "key_cache_releases",
                "Key sets dropped because nobody used them for long, or the machine was short of memory",
            ),
            ready: new.number("ready", "1 if the server was found to take jobs, 0 otherwise: by /readyz, or every half minute"),
            free_disk: new.bytes("free_disk", "Free space on the disk of the data folder"),
            key_bytes: new.bytes("stored_keys", "Evaluation keys on disk"),
            limits: new.number("limit", "Limits in force, by the name of their setting (name)"),
            job_bytes: new.bytes(
                "stored_jobs",
                "Inputs, results and records of jobs on disk, with room for the results of those that have not ended",
            ),
            panics: new.number("job_panics", "Jobs that ended in a panic"),
            retries: new.number(
                "job_retries",
                "Jobs put back into the queue because a file could not be read or written",
            ),
            differences: new.number(
                "job_differences",
                "Runs of a job whose result differs from that of another run of the same job, which never happens on a sound machine",
            ),
            resident: new.bytes("resident_memory", "Memory of the process"),
            registry,
        }
    }
}

/// What is counted of the workers of a front.
pub struct ClusterMetrics {
    workers: Gauge,
    slots: Gauge,
    out: Gauge,
    placed: Family<Label, Counter>,
    taken_back: Counter,
}

impl ClusterMetrics {
    fn new(registry: &mut Registry) -> Self {
        let mut new = New(registry);
        Self {
            workers: new.number("cluster_workers", "Workers that are alive and take jobs"),
            slots: new.number("cluster_slots", "Jobs that they run at once"),
            out: new.number("cluster_jobs_out", "Jobs that were handed out and have not ended"),
            placed: new.number(
                "cluster_jobs_placed",
                "Jobs handed out, by why it was that worker (name): it had the keys, owns them, or many waited",
            ),
            taken_back: new.number("cluster_jobs_taken_back", "Jobs taken back because there was no sign of them"),
        }
    }

    /// Counts a job that was handed out.
    pub fn placed(&self, reason: Reason) {
        self.placed.get_or_create(&Label::new(reason.name())).inc();
    }

    /// Counts a job that was taken back because there was no sign of it.
    pub fn taken_back(&self) {
        self.taken_back.inc();
    }
}

fn times<L: Clone + std::hash::Hash + Eq>() -> Times<L> {
    Family::new_with_constructor(|| Histogram::new([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]))
}

/// Makes metrics under their names in a registry.
pub(crate) struct New<'a>(pub &'a mut Registry);

impl New<'_> {
    /// A number of something.
    pub fn number<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    /// A number of bytes.
    pub fn bytes<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        self.measure(name, Unit::Bytes, help, M::default())
    }

    /// A metric with a unit.
    pub fn measure<M: Metric + Clone>(&mut self, name: &str, unit: Unit, help: &str, metric: M) -> M {
        self.0.register_with_unit(name, help, unit, metric.clone());
        metric
    }
}

impl Metrics {
    /// Counts a job that came to its end; `seconds` if it was done.
    pub fn job(&self, params: &str, state: jobs::JobState, seconds: Option<f64>) {
        self.jobs.get_or_create(&Label::new(state.name())).inc();
        if let Some(seconds) = seconds {
            self.job_seconds.get_or_create(&Label::new(params)).observe(seconds);
        }
    }

    /// Counts a finished stage.
    pub fn stage(&self, params: &str, stage: &str, seconds: f64) {
        self.stage_seconds
            .get_or_create(&StageLabel { params: params.to_owned(), stage: stage.to_owned() })
            .observe(seconds);
    }

    /// Counts a request that was refused.
    pub fn refused(&self, code: &str) {
        self.refused.get_or_create(&Label::new(code)).inc();
    }

    /// Counts a stored piece of a key set.
    pub fn uploaded(&self, bytes: u64) {
        self.uploaded.inc_by(bytes);
    }

    /// Counts a job that panicked.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// Counts a job that is tried again because a file could not be read or written.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// Counts a run whose result differs from that of another run of the same job.
    pub fn differed(&self) {
        self.differences.inc();
    }

    /// Counts a job's way to its keys: from memory, or from disk.
    pub fn keys(&self, from_memory: bool) {
        if from_memory {
            self.key_hits.inc()
        } else {
            self.key_loads.inc()
        };
    }
}

/// The text of `GET /metrics`.
///
/// # Errors
/// The store fails.
pub fn render(service: &Service) -> Result<String, StoreError> {
    let metrics = &service.metrics;
    metrics.queue.set(jobs::queued(&service.store)? as i64);
    metrics.running.set(service.live.count() as i64);
    metrics.cache_bytes.set(service.cache.bytes() as i64);
    rise(&metrics.cache_evictions, service.cache.evictions());
    rise(&metrics.cache_releases, service.cache.releases());
    metrics.cluster.workers.set(service.crew.workers() as i64);
    metrics.cluster.slots.set(service.crew.slots() as i64);
    metrics.cluster.out.set(service.crew.out() as i64);
    metrics.ready.set(service.was_ready().into());
    metrics.free_disk.set(service.store.free_bytes().ok().flatten().unwrap_or(0) as i64);
    metrics.key_bytes.set(keys::stored_bytes(&service.store)? as i64);
    metrics.job_bytes.set(service.store.usage().total() as i64);
    let (storage, limits) = (&service.config.storage, &service.config.limits);
    for (name, limit) in [
        ("storage.key_bytes", storage.key_bytes),
        ("storage.job_bytes", storage.job_bytes),
        ("storage.min_free_bytes", storage.min_free_bytes),
        ("limits.max_queued", limits.max_queued as u64),
    ] {
        metrics.limits.get_or_create(&Label::new(name)).set(i64::try_from(limit).unwrap_or(i64::MAX));
    }
    metrics.resident.set(memory::resident().unwrap_or(0) as i64);
    let mut text = String::new();
    encode(&mut text, &metrics.registry)
        .map_err(|error| service.store.failed(std::io::Error::other(error)))?;
    Ok(text)
}

/// Raises a counter to a number that is counted elsewhere.
pub(crate) fn rise(counter: &Counter, to: u64) {
    counter.inner().fetch_max(to, Ordering::Relaxed);
}
