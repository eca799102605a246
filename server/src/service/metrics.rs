//! Counters for operators, in the Prometheus text format.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::Service;
use super::traffic::Traffic;
use crate::memory;
use crate::store::{StoreError, jobs};

/// One label.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Label {
    name: String,
}

/// Two labels.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct StageLabel {
    params: String,
    stage: String,
}

/// What is counted.
pub struct Metrics {
    /// Requests and connections.
    pub traffic: Traffic,
    registry: Registry,
    jobs: Family<Label, Counter>,
    job_seconds: Family<Label, Histogram>,
    stage_seconds: Family<StageLabel, Histogram>,
    refused: Family<Label, Counter>,
    uploaded: Counter,
    key_loads: Counter,
    key_hits: Counter,
    queue: Gauge,
    running: Gauge,
    cache_bytes: Gauge,
    cache_evictions: Gauge,
    cache_releases: Gauge,
    job_bytes: Gauge,
    panics: Counter,
    retries: Counter,
    resident: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("refloat");
        let histogram = || Histogram::new([0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]);
        let traffic = Traffic::new(&mut registry);
        let metrics = Self {
            traffic,
            jobs: Family::default(),
            job_seconds: Family::new_with_constructor(histogram),
            stage_seconds: Family::new_with_constructor(histogram),
            refused: Family::default(),
            uploaded: Counter::default(),
            key_loads: Counter::default(),
            key_hits: Counter::default(),
            queue: Gauge::default(),
            running: Gauge::default(),
            cache_bytes: Gauge::default(),
            cache_evictions: Gauge::default(),
            cache_releases: Gauge::default(),
            job_bytes: Gauge::default(),
            panics: Counter::default(),
            retries: Counter::default(),
            resident: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("jobs", "Jobs by final state (name)", metrics.jobs.clone());
        registry.register_with_unit(
            "job",
            "Run time of jobs by parameter set (name)",
            Unit::Seconds,
            metrics.job_seconds.clone(),
        );
        registry.register_with_unit(
            "stage",
            "Run time of stages",
            Unit::Seconds,
            metrics.stage_seconds.clone(),
        );
        registry.register("refused", "Requests refused, by problem code (name)", metrics.refused.clone());
        registry.register_with_unit(
            "uploaded_keys",
            "Evaluation keys received",
            Unit::Bytes,
            metrics.uploaded.clone(),
        );
        registry.register("key_loads", "Key sets loaded from disk", metrics.key_loads.clone());
        registry.register("key_hits", "Jobs whose key set was in memory", metrics.key_hits.clone());
        registry.register("queue_depth", "Jobs waiting", metrics.queue.clone());
        registry.register("running_jobs", "Jobs running", metrics.running.clone());
        registry.register_with_unit(
            "key_cache",
            "Loaded evaluation keys",
            Unit::Bytes,
            metrics.cache_bytes.clone(),
        );
        registry.register(
            "key_cache_evictions",
            "Key sets dropped to make room",
            metrics.cache_evictions.clone(),
        );
        registry.register(
            "key_cache_releases",
            "Key sets dropped because nobody used them for long, or the machine was short of memory",
            metrics.cache_releases.clone(),
        );
        registry.register_with_unit(
            "stored_jobs",
            "Inputs and results of jobs on disk",
            Unit::Bytes,
            metrics.job_bytes.clone(),
        );
        registry.register("job_panics", "Jobs that ended in a panic", metrics.panics.clone());
        registry.register(
            "job_retries",
            "Jobs put back into the queue because a file could not be read or written",
            metrics.retries.clone(),
        );
        registry.register_with_unit(
            "resident_memory",
            "Memory of the process",
            Unit::Bytes,
            metrics.resident.clone(),
        );
        Self { registry, ..metrics }
    }
}

impl Metrics {
    /// Counts a job that came to its end; `seconds` if it was done.
    pub fn job(&self, params: &str, state: jobs::JobState, seconds: Option<f64>) {
        self.jobs.get_or_create(&Label { name: state.name().to_owned() }).inc();
        if let Some(seconds) = seconds {
            self.job_seconds.get_or_create(&Label { name: params.to_owned() }).observe(seconds);
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
        self.refused.get_or_create(&Label { name: code.to_owned() }).inc();
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
    metrics.cache_evictions.set(service.cache.evictions() as i64);
    metrics.cache_releases.set(service.cache.releases() as i64);
    metrics.job_bytes.set(service.store.usage().total() as i64);
    metrics.resident.set(memory::resident().unwrap_or(0) as i64);
    let mut text = String::new();
    encode(&mut text, &metrics.registry).map_err(|error| StoreError::Io(std::io::Error::other(error)))?;
    Ok(text)
}
