//! What a worker counts.

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::dispatch::{News, Outcome};
use crate::memory;
use crate::service::cache::KeyCache;
use crate::service::metrics::{Label, New, rise};

/// Counters of a worker, and gauges that are set when somebody asks.
pub struct Counts {
    registry: Registry,
    ended: Family<Label, Counter>,
    key_loads: Counter,
    key_hits: Counter,
    jobs: Gauge,
    slots: Gauge,
    hung: Gauge,
    connected: Gauge,
    cache_bytes: Gauge,
    copies_bytes: Gauge,
    evictions: Counter,
    resident: Gauge,
}

/// Values for the gauges.
pub struct Now<'a> {
    pub jobs: usize,
    pub slots: usize,
    pub hung: usize,
    pub is_connected: bool,
    pub cache: &'a KeyCache,
    pub copies_bytes: u64,
}

impl Default for Counts {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("refloat");
        let mut new = New(&mut registry);
        Self {
            ended: new.number("worker_runs", "Runs by how they ended (name)"),
            key_loads: new.number("key_loads", "Key sets loaded from disk"),
            key_hits: new.number("key_hits", "Jobs whose key set was in memory"),
            jobs: new.number("worker_jobs", "Jobs that the worker has"),
            slots: new.number("worker_slots", "Jobs that it runs at once; 0 if it takes no more"),
            hung: new.number("worker_hung", "Runs that are no longer heard of"),
            connected: new.number("worker_nats", "1 if NATS can be reached"),
            cache_bytes: new.bytes("key_cache", "Loaded evaluation keys"),
            copies_bytes: new.bytes("key_copies", "Copies of evaluation keys on the disk of this machine"),
            evictions: new.number("key_cache_evictions", "Key sets dropped to make room"),
            resident: new.bytes("resident_memory", "Memory of the process"),
            registry,
        }
    }
}

impl Counts {
    /// Counts a run that has ended.
    pub fn ended(&self, outcome: &Outcome) {
        self.ended.get_or_create(&Label::new(outcome.name())).inc();
    }

    /// Counts the news of a run.
    pub fn heard(&self, news: &News) {
        if let News::Keys { loaded } = news {
            let counter = if loaded.is_some() { &self.key_loads } else { &self.key_hits };
            counter.inc();
        }
    }

    /// The text of `GET /metrics`.
    ///
    /// # Errors
    /// None that is known of.
    pub fn render(&self, now: &Now<'_>) -> Result<String, std::fmt::Error> {
        self.jobs.set(now.jobs as i64);
        self.slots.set(now.slots as i64);
        self.hung.set(now.hung as i64);
        self.connected.set(i64::from(now.is_connected));
        self.cache_bytes.set(now.cache.bytes() as i64);
        self.copies_bytes.set(now.copies_bytes as i64);
        rise(&self.evictions, now.cache.evictions());
        self.resident.set(memory::resident().unwrap_or(0) as i64);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
