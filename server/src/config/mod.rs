//! Configuration of the server: defaults, overlaid by a TOML file, by the environment, by flags.
//!
//! Environment variables are `REFLOAT__SECTION__KEY`, e.g. `REFLOAT__LIMITS__MAX_QUEUED=16`. A key
//! that no section knows is an error wherever it comes from.

mod access;
mod cluster;
mod names;
mod sources;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use utoipa::ToSchema;

use crate::system;

pub use access::{AccessSection, ApiKey, api_key_hash, api_key_hash_of};
#[cfg(feature = "cluster")]
pub(crate) use cluster::bucket_and_prefix;
pub(crate) use cluster::is_token;
pub use cluster::{ClusterSection, Role};
pub(crate) use sources::strays;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where the server listens and whom it answers.
    pub server: ServerSection,
    /// Where and how long things are kept.
    pub storage: StorageSection,
    /// Who may do what.
    pub access: AccessSection,
    /// Bounds on what clients can make the server do.
    pub limits: LimitsSection,
    /// Processors and memory for homomorphic evaluation.
    pub compute: ComputeSection,
    /// Many machines that share one queue.
    pub cluster: ClusterSection,
    /// What is logged, and how.
    pub log: LogSection,
}

/// Section `[server]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    /// Address and port.
    #[schema(value_type = String)]
    pub listen: SocketAddr,
    /// Allows the server to listen, without transport encryption, on an address that other hosts can reach.
    pub insecure_listen: bool,
    /// Web origins, besides the server's own, whose pages may call the server: `https://example.org`.
    pub allowed_origins: Vec<String>,
    /// Host names under which the server may be addressed while it listens on loopback, besides the loopback names. Other names are
    /// refused as a protection against DNS rebinding.
    pub allowed_hosts: Vec<String>,
    /// Folder of the built demo; empty: look for it near the binary and the working directory.
    #[schema(value_type = String)]
    pub demo: PathBuf,
    /// Offers parameter sets that are below 128 bits, for demonstrations and tests.
    pub allow_insecure: bool,
    /// Where `/metrics` is served: nowhere (`off`), with everything else (`public`), or on a listener of its own (an address and port),
    /// which also answers `/healthz` and `/readyz`, and lets an operator list and remove key sets from the machine itself
    /// (`refloat key-sets`). A worker has no other listener.
    #[schema(value_type = String)]
    pub metrics_listen: MetricsListen,
    /// Addresses of proxies in front of this server. For requests that come through them, limits per peer count the address that they add
    /// to `X-Forwarded-For`; otherwise all clients of a proxy count as one.
    #[schema(value_type = Vec<String>)]
    pub trusted_proxies: Vec<IpAddr>,
    /// Origins whose pages may show this server's pages in a frame; none if empty.
    pub frame_ancestors: Vec<String>,
    /// Seconds that open requests and running jobs get to finish when the server is asked to stop; 0: none.
    pub shutdown_seconds: u64,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 7878)),
            insecure_listen: false,
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            demo: PathBuf::new(),
            allow_insecure: false,
            metrics_listen: MetricsListen::Off,
            trusted_proxies: Vec::new(),
            frame_ancestors: Vec::new(),
            shutdown_seconds: 30,
        }
    }
}

/// Where counters are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MetricsListen {
    /// Nowhere.
    #[default]
    Off,
    /// Where everything else is.
    Public,
    /// On a listener of its own.
    At(SocketAddr),
}

impl TryFrom<String> for MetricsListen {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            "off" => Ok(Self::Off),
            "public" => Ok(Self::Public),
            _ => text.parse().map(Self::At).map_err(|_| {
                format!(
                    "server.metrics_listen is off, public or an address such as 127.0.0.1:9090, not {text:?}"
                )
            }),
        }
    }
}

impl From<MetricsListen> for String {
    fn from(listen: MetricsListen) -> Self {
        match listen {
            MetricsListen::Off => "off".to_owned(),
            MetricsListen::Public => "public".to_owned(),
            MetricsListen::At(address) => address.to_string(),
        }
    }
}

/// Section `[storage]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StorageSection {
    /// The one folder for keys, jobs and their table.
    #[schema(value_type = String, default = "$XDG_DATA_HOME/refloat or ~/.local/share/refloat")]
    pub data: PathBuf,
    /// Bytes that all evaluation keys together may take on disk.
    pub key_bytes: u64,
    /// Hours after which a key set that was never sealed is removed.
    pub unsealed_hours: u64,
    /// Minutes after which a key set that has no parts yet is removed; 0: within a minute.
    pub empty_keys_minutes: u64,
    /// Hours that a finished job and its result are kept.
    pub retention_hours: u64,
    /// Bytes that all jobs together may take on disk: inputs until their jobs end, results, and 4096 bytes for the record of each job.
    pub job_bytes: u64,
    /// Bytes that the jobs of one key set may take on disk.
    pub key_job_bytes: u64,
    /// Bytes of free space on the disk of the data folder below which the server reports that it is not ready; 0: it never does for that.
    pub min_free_bytes: u64,
}

impl Default for StorageSection {
    fn default() -> Self {
        Self {
            data: default_data_folder(),
            key_bytes: 64 << 30,
            unsealed_hours: 24,
            empty_keys_minutes: 10,
            retention_hours: 168,
            job_bytes: 16 << 30,
            key_job_bytes: 8 << 30,
            min_free_bytes: 256 << 20,
        }
    }
}

/// Section `[limits]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSection {
    /// Jobs that may wait; further ones are refused.
    pub max_queued: usize,
    /// Key sets that one network address, or one API key, may have open at once: begun but not sealed.
    pub max_open_key_sets: usize,
    /// Bodies being received at once.
    pub max_uploads: usize,
    /// Bodies being received from one address at once.
    pub max_uploads_per_peer: usize,
    /// Results and demo files being sent at once.
    pub max_downloads: usize,
    /// Results and demo files being sent to one address at once.
    pub max_downloads_per_peer: usize,
    /// Event streams open at once.
    pub max_event_streams: usize,
    /// Event streams to one address open at once.
    pub max_event_streams_per_peer: usize,
    /// Connections open at once.
    pub max_connections: usize,
    /// Connections open at once from one address; those from `server.trusted_proxies` are exempt.
    pub max_connections_per_peer: usize,
    /// Seconds that a client may take for the header of a request, and that a connection may stay open without a request.
    pub header_seconds: u64,
    /// Seconds without a byte after which a body is given up.
    pub idle_seconds: u64,
    /// Seconds after which a connection is closed if its client takes no bytes of an answer.
    pub write_idle_seconds: u64,
    /// Lowest allowed average speed of a body or a result, after the first `idle_seconds`.
    pub min_bytes_per_second: u64,
}

impl Default for LimitsSection {
    fn default() -> Self {
        Self {
            max_queued: 64,
            max_open_key_sets: 16,
            max_uploads: 8,
            max_uploads_per_peer: 4,
            max_downloads: 64,
            max_downloads_per_peer: 16,
            max_event_streams: 256,
            max_event_streams_per_peer: 64,
            max_connections: 1024,
            max_connections_per_peer: 256,
            header_seconds: 10,
            idle_seconds: 30,
            write_idle_seconds: 30,
            min_bytes_per_second: 16 << 10,
        }
    }
}

/// Section `[compute]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComputeSection {
    /// Threads for homomorphic evaluation; 0: one per processor.
    pub threads: usize,
    /// Bytes of memory for loaded evaluation keys; 0: half of the memory of the machine or the container.
    pub key_cache_bytes: u64,
    /// Seconds after which evaluation keys that no job uses are dropped from memory; 0: as soon as no job uses them.
    pub key_idle_seconds: u64,
    /// Bytes of free memory, on the machine or in the container, below which evaluation keys that no job uses are dropped at once; 0:
    /// never.
    pub min_free_memory_bytes: u64,
    /// How many times a job is started before it counts as failed, if the server dies while running it or its files cannot be read or
    /// written.
    pub max_attempts: u32,
}

impl Default for ComputeSection {
    fn default() -> Self {
        Self {
            threads: 0,
            key_cache_bytes: 0,
            key_idle_seconds: 600,
            min_free_memory_bytes: 512 << 20,
            max_attempts: 3,
        }
    }
}

/// Section `[log]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogSection {
    /// How much is logged; each level includes those before it.
    pub level: LogLevel,
    /// Lines for people, or one JSON object per line.
    pub format: LogFormat,
    /// Logs a line for every request, at level info, once its answer has been sent.
    pub access: bool,
}

impl Default for LogSection {
    fn default() -> Self {
        Self { level: LogLevel::Info, format: LogFormat::Text, access: true }
    }
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Only what failed inside the server.
    Error,
    /// And what looks wrong.
    Warn,
    /// And what happens to keys and jobs, and every request unless log.access is false.
    Info,
    /// And how connections end.
    Debug,
    /// Everything.
    Trace,
}

/// How it is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The configuration cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Overlays the sources in order. `flags` holds what the command line set, in the same
    /// sections as a file.
    ///
    /// # Errors
    /// A source cannot be read, has an unknown key or a value of the wrong kind; the message names
    /// the source.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: Table,
    ) -> Result<Self, ConfigError> {
        let mut table = Table::try_from(Self::default()).map_err(|error| ConfigError(error.to_string()))?;
        if let Some(path) = file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                ConfigError(format!("cannot read configuration {}: {error}", path.display()))
            })?;
            let source = text
                .parse::<Table>()
                .map_err(|error| ConfigError(format!("configuration {}: {error}", path.display())))?;
            sources::overlay(&mut table, source, &path.display().to_string())?;
        }
        for (name, text) in environment {
            sources::check_underscores(&name)?;
            if let Some(source) = sources::from_variable(&name, &text)? {
                sources::overlay(&mut table, source, &format!("environment variable {name}"))?;
            }
        }
        sources::overlay(&mut table, flags, "the command line")?;
        let mut config: Self =
            table.try_into().map_err(|error: toml::de::Error| ConfigError(error.message().to_owned()))?;
        config.access.resolve()?;
        config.check_zeros()?;
        names::check(&config)?;
        if config.storage.data.as_os_str().is_empty() {
            let what =
                "storage.data is empty: give the folder for keys and jobs, or leave it out for the default";
            return Err(ConfigError(what.to_owned()));
        }
        config.check()?;
        Ok(config)
    }

    /// Refuses an operator's zeros that would remove everything or take nothing in. A program that embeds the server may mean them.
    fn check_zeros(&self) -> Result<(), ConfigError> {
        let storage = Table::try_from(&self.storage).map_err(|error| ConfigError(error.to_string()))?;
        match ZEROS.iter().find(|(key, _)| storage.get(*key) == Some(&Value::Integer(0))) {
            None => Ok(()),
            Some((key, what)) => Err(ConfigError(format!(
                "storage.{key} = 0: with 0 {what}; the least is 1; leave it out for the default"
            ))),
        }
    }

    /// Refuses numbers that no server can work with: times beyond every clock, and bounds that let nobody in.
    ///
    /// # Errors
    /// There is one; the message names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let sections = serde_json::to_value(self).map_err(|error| ConfigError(error.to_string()))?;
        for (section, values) in sections.as_object().into_iter().flatten() {
            for (key, value) in values.as_object().into_iter().flatten() {
                let Some(value) = value.as_u64() else { continue };
                let fail = |what: String| Err(ConfigError(format!("{section}.{key} = {value}: {what}")));
                let unit = UNITS.iter().find(|(ending, _)| key.ends_with(ending));
                if let Some(most) = unit.map(|(_, seconds)| LONGEST / seconds).filter(|most| value > *most) {
                    return fail(format!("the longest time that can be set is {most}, which is ten years"));
                }
                if value == 0 && serves_nobody(section, key) {
                    return fail("with 0 nobody would be served; the least is 1".to_owned());
                }
            }
        }
        let threads = self.compute.threads;
        if threads > MOST_THREADS {
            let what =
                format!("compute.threads = {threads}: the most is {MOST_THREADS}; 0 is one per processor");
            return Err(ConfigError(what));
        }
        self.cluster.check()
    }
}

/// Endings of the names of times, and the seconds of their units.
const UNITS: [(&str, u64); 3] = [("_seconds", 1), ("_minutes", 60), ("_hours", 3600)];

/// Ten years in seconds.
const LONGEST: u64 = 10 * 365 * 24 * 3600;

/// Threads that a server may have for jobs.
const MOST_THREADS: usize = 1024;

/// Storage settings that may not be 0, and what 0 would do.
const ZEROS: [(&str, &str); 5] = [
    ("retention_hours", "every finished job and its result would be removed within a minute"),
    ("unsealed_hours", "every key set would be removed while it is uploaded"),
    ("key_bytes", "no evaluation keys could be uploaded"),
    ("job_bytes", "no job could be submitted"),
    ("key_job_bytes", "no job could be submitted"),
];

/// Whether 0 in this setting is a bound that lets nobody in.
fn serves_nobody(section: &str, key: &str) -> bool {
    section == "limits" || key == "max_attempts"
}

fn default_data_folder() -> PathBuf {
    system::files::data_folder()
        .map_or_else(|| PathBuf::from("refloat-data"), |folder| folder.join("refloat"))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn variable(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn numbers_that_no_server_can_work_with_are_refused() {
        for (name, value) in [
            ("LIMITS__IDLE_SECONDS", "9223372036854775807"),
            ("LIMITS__WRITE_IDLE_SECONDS", "315360001"),
            ("SERVER__SHUTDOWN_SECONDS", "9223372036854775807"),
            ("STORAGE__RETENTION_HOURS", "87601"),
            ("STORAGE__EMPTY_KEYS_MINUTES", "9223372036854775807"),
            ("LIMITS__MAX_UPLOADS", "0"),
            ("LIMITS__MAX_CONNECTIONS", "0"),
            ("LIMITS__MIN_BYTES_PER_SECOND", "0"),
            ("LIMITS__MAX_QUEUED", "0"),
            ("COMPUTE__MAX_ATTEMPTS", "0"),
            ("STORAGE__RETENTION_HOURS", "0"),
            ("STORAGE__UNSEALED_HOURS", "0"),
            ("STORAGE__KEY_BYTES", "0"),
            ("STORAGE__JOB_BYTES", "0"),
            ("STORAGE__KEY_JOB_BYTES", "0"),
            ("COMPUTE__THREADS", "1000000000"),
        ] {
            let set = variable(&format!("REFLOAT__{name}"), value);
            let error = Config::load(None, set, Table::new()).unwrap_err().0;
            let named = name.to_lowercase().replace("__", ".");
            assert!(error.starts_with(&format!("{named} = {value}: ")), "{error}");
        }
        let mut most = variable("REFLOAT__STORAGE__RETENTION_HOURS", "87600");
        most.extend(variable("REFLOAT__SERVER__SHUTDOWN_SECONDS", "0"));
        most.extend(variable("REFLOAT__COMPUTE__KEY_CACHE_BYTES", "9223372036854775807"));
        Config::load(None, most, Table::new()).unwrap();
    }
}
