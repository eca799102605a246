//! The JSON documents of the interface.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use utoipa::ToSchema;

use super::Service;
use super::live::Progress;
use crate::engine::{JobSet, SetInfo, SlotMode, one_round, operation_list};
use crate::problem::{Document, Problem};
use crate::store::jobs::{JobRecord, JobState};
use crate::store::keys::{KeyRecord, KeyState, Part};

/// A parameter set as `GET /v1/params` describes it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParameterSet {
    /// Facts about the set that hold wherever it is used.
    #[serde(flatten)]
    pub info: SetInfo,
    /// Seconds of one bootstrapping as measured by this server, once it has run one.
    pub expected_seconds: Option<f64>,
    /// Operations that jobs of the set may consist of.
    #[serde(default)]
    #[schema(required)]
    pub operations: Vec<String>,
}

/// Answer of `GET /v1/params`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParamsDocument {
    /// The parameter sets offered.
    pub sets: Vec<ParameterSet>,
    /// Bounds of this server.
    pub limits: LimitsDocument,
    /// Arithmetic backend in use.
    pub backend: String,
    /// Threads for homomorphic evaluation.
    pub threads: usize,
}

/// Bounds of the server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LimitsDocument {
    /// Largest piece of a key set in bytes.
    pub chunk_bytes: usize,
    /// Jobs that can wait.
    pub max_queued: usize,
}

/// Body of `POST /v1/keys`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewKeys {
    /// Name of the parameter set.
    pub params: String,
    /// Its fingerprint as the client knows it, in hexadecimal.
    pub fingerprint: String,
    /// Identifier of the secret key: 32 hexadecimal digits.
    pub key_id: String,
    /// Number of pieces the client will send.
    pub parts: usize,
    /// Whether anybody may submit jobs to the set and see what comes of them; the token is still asked for to upload, seal and
    /// delete.
    #[serde(default)]
    pub public: bool,
}

/// A key set, as `POST /v1/keys` and `GET /v1/keys/{id}` describe it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeysDocument {
    /// Identifier of the set.
    pub id: String,
    /// Name of the parameter set.
    pub params: String,
    /// `open` or `sealed`.
    pub state: String,
    /// Digest over the pieces, once sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Pieces the server has.
    pub present: usize,
    /// Pieces in all.
    pub total: usize,
    /// Bytes stored.
    pub bytes: u64,
    /// Indices of the pieces it does not have.
    pub missing: Vec<u32>,
    /// Whether anybody may submit jobs to it.
    #[serde(default)]
    pub public: bool,
    /// BLAKE3 of each piece by index, null where it is missing; in the answer of `GET` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digests: Option<Vec<Option<String>>>,
    /// The token that the server drew for a set opened without one. It is told this once: keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

impl KeysDocument {
    /// Describes a record and the pieces present.
    pub fn new(record: &KeyRecord, present: &[Part]) -> Self {
        Self {
            id: record.id.to_string(),
            params: record.params.clone(),
            state: if record.state == KeyState::Open { "open" } else { "sealed" }.to_owned(),
            digest: record.digest.clone(),
            present: present.len(),
            total: record.parts as usize,
            bytes: record.bytes,
            missing: (0..record.parts)
                .filter(|index| present.binary_search_by_key(index, |part| part.0).is_err())
                .collect(),
            public: record.holder.public,
            digests: None,
            token: None,
        }
    }
}

/// Body of `POST /v1/keys/{id}/commit`; may be left out.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Commit {
    /// BLAKE3 over the BLAKE3 digests of the pieces in order, in hexadecimal.
    pub digest: Option<String>,
}

/// Answer of `POST /v1/keys/{id}/commit`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Committed {
    /// Identifier of the set.
    pub id: String,
    /// Digest over the pieces.
    pub digest: String,
    /// Bytes stored.
    pub bytes: u64,
}

/// A job, as `POST /v1/jobs` and `GET /v1/jobs/{id}` describe it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobDocument {
    /// Identifier of the job.
    pub id: String,
    /// Where it stands.
    pub state: JobState,
    /// What is to be done, comma-separated.
    pub op: String,
    /// What the slots hold.
    pub mode: SlotMode,
    /// Rounds of each bootstrap.
    #[serde(default = "one_round")]
    pub rounds: u32,
    /// The key set.
    pub key: String,
    /// The parameter set.
    pub params: String,
    /// Stage being run; `load_keys` while evaluation keys are read from disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// Finished parts of the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<usize>,
    /// Parts of the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Jobs accepted before this one and still waiting. Key sets, or API keys, take turns, so that another one's later job may
    /// come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_position: Option<usize>,
    /// Seconds the evaluation took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Times it was started.
    #[serde(default)]
    pub attempts: u32,
    /// Why it was put back into the queue last, if that was the server's disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Document>)]
    pub problem: Option<Problem>,
    /// When it was accepted (RFC 3339).
    pub created_at: String,
}

impl JobDocument {
    /// Describes a record, with where it is in the queue or in its run.
    pub fn new(record: &JobRecord, progress: Option<Progress>, queue_position: Option<usize>) -> Self {
        let (stage, parts) = progress.map_or((None, None), |progress| (Some(progress.stage), progress.parts));
        Self {
            id: record.id.to_string(),
            state: record.state,
            op: operation_list(&record.task.operations),
            mode: record.task.mode,
            rounds: record.task.rounds,
            key: record.key.to_string(),
            params: record.params.clone(),
            stage: stage.filter(|stage| !stage.is_empty()),
            done: parts.map(|(done, _)| done),
            total: parts.map(|(_, total)| total),
            queue_position,
            seconds: record.seconds,
            attempts: record.attempts,
            trouble: record.trouble.clone(),
            problem: record.problem.clone(),
            created_at: timestamp(record.created),
        }
    }
}

/// Data of the `end` event of a job.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct End {
    /// The final state.
    pub state: JobState,
    /// Seconds the evaluation took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Document>)]
    pub problem: Option<Problem>,
}

/// Data of a `stage` event: what the core reports, with the time since the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StageDocument {
    /// `enter`, `progress` or `exit`.
    pub kind: String,
    /// The stage.
    pub stage: String,
    /// Finished parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<usize>,
    /// Parts in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<usize>,
    /// Level of the ciphertext after the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
    /// log2 of its modulus.
    #[serde(rename = "logQ", default, skip_serializing_if = "Option::is_none")]
    pub log_q: Option<f64>,
    /// log2 of its scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_scale: Option<f64>,
    /// Work done by the stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersDocument>,
    /// Milliseconds since the run began.
    pub at_ms: f64,
}

/// Work of a stage in units that do not depend on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountersDocument {
    /// Number-theoretic transforms of one residue row.
    pub ntt: u64,
    /// Pointwise multiply-accumulates of one residue row.
    pub limb_mac: u64,
    /// Key-switching inner products.
    pub key_switch: u64,
}

impl StageDocument {
    /// The document of an event of the core; `None` for kinds this version does not know.
    pub fn new(event: &refloat::trace::StageEvent, at_ms: f64) -> Option<Self> {
        use refloat::trace::StageEvent;
        let empty = |kind: &str, stage: &str| Self {
            kind: kind.to_owned(),
            stage: stage.to_owned(),
            done: None,
            total: None,
            level: None,
            log_q: None,
            log_scale: None,
            counters: None,
            at_ms: (at_ms * 1000.0).round() / 1000.0,
        };
        match *event {
            StageEvent::Enter { stage } => Some(empty("enter", stage)),
            StageEvent::Progress { stage, done, total } => {
                Some(Self { done: Some(done), total: Some(total), ..empty("progress", stage) })
            }
            StageEvent::Exit { stage, level, log_q, log_scale, counters } => Some(Self {
                level: Some(level),
                log_q: Some(log_q),
                log_scale: Some(log_scale),
                counters: Some(CountersDocument {
                    ntt: counters.ntt,
                    limb_mac: counters.limb_mac,
                    key_switch: counters.key_switch,
                }),
                ..empty("exit", stage)
            }),
            _ => None,
        }
    }
}

/// Answer of `GET /version`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VersionDocument {
    /// Name of the program.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Arithmetic backend in use.
    pub backend: String,
}

impl Service {
    fn operations(&self, set: &str) -> Vec<String> {
        let named = self.engines.named(set).map_or(&[][..], JobSet::operations);
        named.iter().map(|&name| name.to_owned()).collect()
    }

    /// The document of `GET /v1/params`; with the pieces of key sets if `parts`.
    pub fn params(&self, parts: bool) -> ParamsDocument {
        let sets: Vec<ParameterSet> = self
            .offered()
            .map(|set| ParameterSet {
                info: SetInfo {
                    key_parts: if parts { set.key_parts.clone() } else { Vec::new() },
                    ..set.clone()
                },
                expected_seconds: self.estimates.seconds(&set.name),
                operations: self.operations(&set.name),
            })
            .collect();
        let chunk_bytes =
            self.offered().flat_map(|set| &set.key_parts).map(|part| part.bytes).max().unwrap_or(0);
        ParamsDocument {
            sets,
            limits: LimitsDocument { chunk_bytes, max_queued: self.config.limits.max_queued },
            backend: refloat::about().backend_u32.to_owned(),
            threads: super::worker::threads(&self.config),
        }
    }
}

/// A time in milliseconds since 1970, as RFC 3339 writes it.
pub(super) fn timestamp(milliseconds: u64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}
