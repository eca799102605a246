//! What is known of a job.

use serde::{Deserialize, Serialize};

use super::course::LONGEST_PAUSE;
use crate::engine::Task;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::holder::Holder;
use crate::work::ContentId;

/// Bytes that count for the record of a job and its events, which stay until the job is removed: more than the few hundred bytes
/// of most jobs, so that jobs that leave nothing else, cancelled ones for instance, cannot fill the disk.
pub const RECORD_BYTES: u64 = 4096;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Accepted and waiting.
    Queued,
    /// Being worked on.
    Running,
    /// The result is there.
    Done,
    /// It cannot be done.
    Failed,
    /// The client cancelled it.
    Cancelled,
}

impl JobState {
    /// Whether nothing will happen any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// The name used in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What is known of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// Chosen by the server.
    pub id: Id,
    /// Position in the order of acceptance.
    pub sequence: u64,
    /// The evaluation key set.
    pub key: Id,
    /// Its parameter set.
    pub params: String,
    /// What to do.
    pub task: Task,
    /// Where it stands.
    pub state: JobState,
    /// Whether the client has cancelled it while it ran.
    pub cancel: bool,
    /// Times it was started.
    pub attempts: u32,
    /// Times the server died while it ran.
    pub crashes: u32,
    /// Times it went back into the queue because a file could not be read or written.
    #[serde(default)]
    pub failures: u32,
    /// Why it went back into the queue last.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Milliseconds since 1970 before which it is not tried again.
    #[serde(default)]
    pub not_before: u64,
    /// Milliseconds since 1970 at which it was accepted.
    pub created: u64,
    /// Milliseconds since 1970 at which it came to its final state.
    pub finished: Option<u64>,
    /// Seconds of the run that finished it.
    pub seconds: Option<f64>,
    /// Bytes of the ciphertext to work on.
    pub input_bytes: u64,
    /// BLAKE3 of the ciphertext in hexadecimal; older versions stored none.
    #[serde(default)]
    pub input_digest: Option<String>,
    /// Bytes that its result takes at most; older versions stored none.
    #[serde(default)]
    pub most_result_bytes: u64,
    /// Digest of the result in hexadecimal, and its length.
    pub result: Option<(String, u64)>,
    /// What the result is made of; older versions stored none.
    #[serde(default)]
    pub content: Option<ContentId>,
    /// Why it failed.
    pub problem: Option<Problem>,
    /// The client's Idempotency-Key.
    pub idempotency: Option<String>,
    /// Whom it belongs to.
    #[serde(default)]
    pub holder: Holder,
}

impl JobRecord {
    /// Bytes that it takes on disk: the input and room for the result until it has ended, and then the result; and its record.
    pub fn stored_bytes(&self) -> u64 {
        let files = if self.state.is_final() {
            self.result.as_ref().map_or(0, |(_, length)| *length)
        } else {
            self.input_bytes.saturating_add(self.most_result_bytes)
        };
        files.saturating_add(RECORD_BYTES)
    }
}

/// Whether a job that must not begin before `not_before` may begin at `now`. A longer wait than any pause means that the clock was set
/// back, and is ignored.
pub fn may_begin(not_before: u64, now: u64) -> bool {
    let wait = not_before.saturating_sub(now);
    wait == 0 || u128::from(wait) > LONGEST_PAUSE.as_millis()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_and_outlives_no_clock() {
        let document = serde_json::json!({
            "id": Id([0; 16]), "sequence": 1, "key": Id([0; 16]), "params": "p", "state": "queued", "cancel": false,
            "task": { "mode": "real", "operations": ["bootstrap"] },
            "attempts": 0, "crashes": 0, "created": 0, "inputBytes": 5,
        });
        let mut record: JobRecord = serde_json::from_value(document).unwrap();
        assert_eq!(record.not_before, 0, "of an older version");
        assert_eq!([99_999, 100_000, 30_000].map(|now| may_begin(100_000, now)), [false, true, true]);
        record.most_result_bytes = 7;
        assert_eq!(record.stored_bytes(), RECORD_BYTES + 12);
        record.result = Some((String::new(), 6));
        record.state = JobState::Done;
        assert_eq!(record.stored_bytes(), RECORD_BYTES + 6);
        record.result = None;
        record.state = JobState::Cancelled;
        assert_eq!(record.stored_bytes(), RECORD_BYTES);
    }
}
