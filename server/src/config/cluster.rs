//! Section `[cluster]`: one server on many machines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ConfigError;

/// Section `[cluster]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClusterSection {
    /// What this process does.
    pub role: Role,
    /// Address of NATS: `nats://host:4222`, or several separated by commas; `tls://` for encryption. Empty if one process does
    /// everything.
    pub nats: String,
    /// File with the credentials that NATS asks for; empty: none.
    #[schema(value_type = String)]
    pub credentials: PathBuf,
    /// Object store for keys, inputs and results, which the front and its workers use: `s3://bucket/prefix`, with a prefix of its own for
    /// each front. Empty: the data folder of the front. Endpoint, region and credentials come from the usual environment variables
    /// (`AWS_ENDPOINT`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`), or from the role of the machine.
    pub blobs: String,
    /// Name of this front, or of the front that this worker works for: letters, digits, `-` and `_`. Each front has its own name and its
    /// own data folder.
    pub front: String,
    /// Fronts that divide new key sets among themselves, including this one: the name and address of each, such as
    /// `{ "0" = "https://a.example.org", "1" = "https://b.example.org" }`, the same on all of them. Empty: there is only one front.
    pub shards: BTreeMap<String, String>,
    /// Seconds without a report about a running job after which the job is handed out again.
    pub lease_seconds: u64,
    /// Seconds after which a run on a worker counts as hung if it neither reports progress nor checks whether it should stop. Its job
    /// goes to another worker; this one exits when its other jobs have ended, for its supervisor to restart it.
    pub hung_seconds: u64,
    /// Beginning of the name of this worker, as `refloat cluster status` shows it: letters, digits, `-` and `_`. A worker whose name no
    /// other has gets the same keys after a restart.
    pub name: String,
    /// Jobs that a worker runs at once, with the same keys in memory; 0: as many as can have `threads_per_job` threads each and fit in
    /// memory beside the keys.
    pub slots: usize,
    /// Minimum number of threads for each job if `slots` is 0; 0: as 1.
    pub threads_per_job: usize,
    /// Folder on a local disk in which a worker keeps copies of the keys that it has read; empty: none.
    #[schema(value_type = String)]
    pub cache: PathBuf,
    /// Bytes that those copies may take; the least recently read ones are removed first; 0: none are kept.
    pub cache_bytes: u64,
}

impl Default for ClusterSection {
    fn default() -> Self {
        Self {
            role: Role::All,
            nats: String::new(),
            credentials: PathBuf::new(),
            blobs: String::new(),
            front: "0".to_owned(),
            shards: BTreeMap::new(),
            lease_seconds: 20,
            hung_seconds: 600,
            name: "worker".to_owned(),
            slots: 0,
            threads_per_job: 2,
            cache: PathBuf::new(),
            cache_bytes: 64 << 30,
        }
    }
}

/// What a process of the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Answers requests and runs jobs.
    #[default]
    All,
    /// Answers requests, has the table of jobs and hands them out.
    Front,
    /// Runs jobs that a front hands out, with keys and inputs from the front's data folder or object store.
    Worker,
}

/// Least value of a lease and of the time until a run counts as hung: signs of life come every three seconds.
const LEAST_LEASE: u64 = 10;

impl ClusterSection {
    /// Rejects inconsistent settings.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let fail = |what: String| Err(ConfigError(what));
        if self.lease_seconds < LEAST_LEASE {
            return fail(format!(
                "cluster.lease_seconds = {}: workers give a sign every few seconds; the least is {LEAST_LEASE}",
                self.lease_seconds
            ));
        }
        if self.hung_seconds < LEAST_LEASE {
            return fail(format!(
                "cluster.hung_seconds = {}: stages of large sets take seconds; the least is {LEAST_LEASE}",
                self.hung_seconds
            ));
        }
        if !is_token(&self.front) {
            return fail(format!(
                "cluster.front = {:?}: the name of a front has up to {LONGEST_NAME} letters, digits, - and _",
                self.front
            ));
        }
        if !is_token(&self.name) || self.name.len() > LONGEST_NAME / 2 {
            return fail(format!(
                "cluster.name = {:?}: the name of a worker has up to {} letters, digits, - and _",
                self.name,
                LONGEST_NAME / 2
            ));
        }
        if self.slots > MOST_SLOTS {
            return fail(format!("cluster.slots = {}: the most is {MOST_SLOTS}", self.slots));
        }
        self.check_shards()?;
        if !self.blobs.is_empty() {
            if bucket_and_prefix(&self.blobs).is_none() {
                return fail(format!(
                    "cluster.blobs = {:?}: an object store is s3://bucket or s3://bucket/prefix",
                    self.blobs
                ));
            }
            if !cfg!(feature = "cluster") {
                return fail("cluster.blobs: this program was built without the feature \"cluster\"; it can only keep bytes in its data folder".to_owned());
            }
        }
        match (self.role, self.nats.is_empty()) {
            // The address is not shown, because it may have a password.
            (Role::All, false) => fail(
                "cluster.nats is set and cluster.role = \"all\": a server that does everything itself asks no NATS; choose the role \
                 front or worker, or leave cluster.nats out"
                    .to_owned(),
            ),
            (Role::Front | Role::Worker, true) => fail(format!(
                "cluster.role = {:?} without cluster.nats: say where NATS is, such as nats://127.0.0.1:4222",
                if self.role == Role::Front { "front" } else { "worker" }
            )),
            (Role::Front | Role::Worker, false) if !cfg!(feature = "cluster") => {
                fail("cluster.role: this program was built without the feature \"cluster\"; it can only do everything itself".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl ClusterSection {
    fn check_shards(&self) -> Result<(), ConfigError> {
        let fail = |what: String| Err(ConfigError(what));
        if let Some(name) = self.shards.keys().find(|name| !is_token(name)) {
            return fail(format!(
                "cluster.shards: {name:?} is not the name of a front, which has up to {LONGEST_NAME} letters, digits, - and _"
            ));
        }
        if let Some((name, url)) = self.shards.iter().find(|(_, url)| !is_address(url)) {
            return fail(format!(
                "cluster.shards: the address of {name:?} is {url:?}; it begins with https:// or http:// and is what clients are given"
            ));
        }
        if !self.shards.is_empty() && self.role != Role::Worker && !self.shards.contains_key(&self.front) {
            return fail(format!(
                "cluster.shards does not have this front, cluster.front = {:?}; it lists all of them, this one too",
                self.front
            ));
        }
        Ok(())
    }
}

/// The bucket and the prefix of `s3://bucket/prefix`. An address with a user or a password is refused, because logs show it.
pub(crate) fn bucket_and_prefix(address: &str) -> Option<(&str, &str)> {
    let rest = address.strip_prefix("s3://")?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    (!bucket.is_empty() && bucket.chars().all(fits)).then_some((bucket, prefix.trim_end_matches('/')))
}

/// Whether clients can be sent to an address.
fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && url.len() <= 200
            && url.chars().all(|letter| {
                letter.is_ascii_graphic() && !matches!(letter, '"' | '<' | '>' | '@' | '?' | '#')
            })
    })
}

/// Jobs that a worker runs at once, at most.
const MOST_SLOTS: usize = 1024;

/// Longest name of a front, or of a worker.
const LONGEST_NAME: usize = 64;

/// Whether a name can be part of a subject.
pub(crate) fn is_token(name: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_is_named_by_what_a_subject_can_have() {
        let named = |front: &str| ClusterSection { front: front.to_owned(), ..ClusterSection::default() };
        assert_eq!(named("north-2_b").check(), Ok(()));
        for name in ["", "a.b", "a b", "*", ">", "é", &"x".repeat(65)] {
            assert!(named(name).check().unwrap_err().0.starts_with("cluster.front = "), "{name}");
        }
    }

    #[test]
    fn all_fronts_are_known_with_an_address() {
        let with = |shards: &[(&str, &str)]| ClusterSection {
            shards: shards.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect(),
            ..ClusterSection::default()
        };
        assert_eq!(with(&[("0", "https://a.example"), ("1", "http://127.0.0.1:7979")]).check(), Ok(()));
        for (shards, names) in [
            (with(&[("0", "https://a.example"), ("a.b", "https://b.example")]), "\"a.b\""),
            (with(&[("1", "https://b.example")]), "cluster.front = \"0\""),
            (with(&[("0", "a.example")]), "\"a.example\""),
            (with(&[("0", "https://")]), "\"https://\""),
            (with(&[("0", "https://user@a.example")]), "user@"),
            (with(&[("0", "https://a.example/ <b>")]), "<b>"),
        ] {
            let error = shards.check().unwrap_err().0;
            assert!(error.starts_with("cluster.shards") && error.contains(names), "{error}");
        }
        let worker = ClusterSection {
            role: Role::Worker,
            nats: "nats://a".into(),
            ..with(&[("1", "https://b.example")])
        };
        assert_eq!(worker.check().is_ok(), cfg!(feature = "cluster"));
    }

    #[test]
    fn roles_and_nats_go_together() {
        let with =
            |role, nats: &str| ClusterSection { role, nats: nats.to_owned(), ..ClusterSection::default() };
        assert_eq!(ClusterSection::default().check(), Ok(()));
        for (section, names) in [
            (with(Role::All, "nats://127.0.0.1:4222"), "cluster.role = \"all\""),
            (with(Role::Front, ""), "cluster.role = \"front\""),
            (with(Role::Worker, ""), "cluster.role = \"worker\""),
            (ClusterSection { name: "a.b".into(), ..ClusterSection::default() }, "cluster.name = \"a.b\""),
            (
                ClusterSection { blobs: "gs://a".into(), ..ClusterSection::default() },
                "cluster.blobs = \"gs://a\"",
            ),
            (
                ClusterSection { blobs: "s3:///a".into(), ..ClusterSection::default() },
                "cluster.blobs = \"s3:///a\"",
            ),
            (ClusterSection { slots: 1025, ..ClusterSection::default() }, "cluster.slots = 1025"),
            (ClusterSection { hung_seconds: 9, ..ClusterSection::default() }, "cluster.hung_seconds = 9"),
            (ClusterSection { lease_seconds: 9, ..ClusterSection::default() }, "cluster.lease_seconds = 9"),
        ] {
            let error = section.check().unwrap_err().0;
            assert!(error.contains(names), "{error}");
        }
        let fits = with(Role::Worker, "nats://127.0.0.1:4222").check();
        assert_eq!(fits.is_ok(), cfg!(feature = "cluster"));
    }
}
