//! A job as a worker sees it: identifiers, digests and what to do, and nothing that only the job table knows. [`ContentId`] names a result
//! by its content: by everything that it was computed from.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::engine::{SlotMode, Task};
use crate::id::{Id, hex, unhex};
use crate::store::files::Expected;
use crate::store::jobs::JobRecord;
use crate::store::keys::{KeyRecord, Part};

/// One digest of everything that determines a result: parameters, keys, task, input and the version of the program. Equal digests mean
/// equal results, bit for bit, whatever the machine, arithmetic backend and number of threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentId(pub [u8; 32]);

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, mut bytes) = (String::deserialize(deserializer)?, [0; 32]);
        unhex(&text, &mut bytes).ok_or_else(|| {
            serde::de::Error::custom("the identifier of a result is 64 lowercase hexadecimal digits")
        })?;
        Ok(Self(bytes))
    }
}

/// An attempt at a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The job.
    pub job: Id,
    /// Which attempt at the job this is; outcomes of earlier ones no longer count.
    pub attempt: u32,
    /// What the result is made of; `None` where pieces of the keys are missing, or an older version stored no digest of the input.
    pub content: Option<ContentId>,
    /// The parameter set.
    pub params: String,
    /// Its fingerprint, as the keys have it.
    pub fingerprint: String,
    /// The evaluation key set.
    pub key: Id,
    /// Its stored pieces, by index.
    pub pieces: Vec<Part>,
    /// What to do.
    pub task: Task,
    /// What is known of the input.
    pub input: Expected,
    /// Bytes that the result takes at most; 0 if that is not known.
    pub most_result_bytes: u64,
}

impl Work {
    /// The number of an attempt that only loads keys and runs no job. Attempts at jobs begin with 1.
    pub const WAKING: u32 = 0;

    /// Work that only loads a key set.
    pub fn waking(keys: &KeyRecord, pieces: Vec<Part>) -> Self {
        Self {
            job: keys.id,
            attempt: Self::WAKING,
            content: None,
            params: keys.params.clone(),
            fingerprint: keys.fingerprint.clone(),
            key: keys.id,
            pieces,
            task: Task { mode: SlotMode::Real, operations: Vec::new(), rounds: 1 },
            input: Expected { length: 0, digest: None },
            most_result_bytes: 0,
        }
    }

    /// The current attempt at a running job, from its record and from the record and the pieces of its key set.
    pub fn new(job: &JobRecord, keys: &KeyRecord, pieces: Vec<Part>) -> Self {
        Self {
            job: job.id,
            attempt: job.attempts,
            content: content(job, keys, &pieces),
            params: job.params.clone(),
            fingerprint: keys.fingerprint.clone(),
            key: job.key,
            pieces,
            task: job.task.clone(),
            input: Expected::new(job.input_bytes, job.input_digest.as_deref()),
            most_result_bytes: job.most_result_bytes,
        }
    }

    /// Digest of what the keys are made of: parameters and pieces.
    pub fn source(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("refloat 2026 what keys in memory are made of");
        for text in [&self.params, &self.fingerprint] {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        for (index, digest, length) in &self.pieces {
            hasher.update(&index.to_le_bytes()).update(digest).update(&length.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

fn content(job: &JobRecord, keys: &KeyRecord, pieces: &[Part]) -> Option<ContentId> {
    let complete = pieces.iter().map(|(index, ..)| *index).eq(0..keys.parts);
    let (true, Some(input)) = (complete, &job.input_digest) else { return None };
    let mut digests = blake3::Hasher::new();
    for (_, digest, _) in pieces {
        digests.update(digest);
    }
    let task = serde_json::to_vec(&job.task).ok()?;
    let mut hasher = blake3::Hasher::new_derive_key("refloat 2026 what a result is made of");
    let digest = digests.finalize();
    let fields: [&[u8]; 6] = [
        env!("CARGO_PKG_VERSION").as_bytes(),
        keys.fingerprint.as_bytes(),
        &keys.id.0,
        digest.as_bytes(),
        &task,
        input.as_bytes(),
    ];
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes()).update(field);
    }
    Some(ContentId(*hasher.finalize().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> (JobRecord, KeyRecord, Vec<Part>) {
        let id = Id([1; 16]);
        let job = serde_json::json!({
            "id": Id([0; 16]), "sequence": 1, "key": id, "params": "p", "state": "running", "cancel": false,
            "task": { "mode": "real", "operations": ["bootstrap"] },
            "attempts": 1, "crashes": 0, "created": 0, "inputBytes": 5, "inputDigest": hex(&[2; 32]),
        });
        let keys = serde_json::json!({
            "id": id, "params": "p", "fingerprint": "f", "parts": 2, "state": "sealed", "touched": 0, "bytes": 6,
        });
        let (job, keys) = (serde_json::from_value(job).unwrap(), serde_json::from_value(keys).unwrap());
        (job, keys, vec![(0, [3; 32], 3), (1, [4; 32], 3)])
    }

    #[test]
    fn whatever_can_change_a_result_changes_its_identifier() {
        let (job, keys, pieces) = records();
        let first = content(&job, &keys, &pieces).unwrap();
        // Another job, attempt or name for the same.
        let again = JobRecord { id: Id([9; 16]), attempts: 7, params: "q".into(), ..job.clone() };
        assert_eq!(content(&again, &keys, &pieces), Some(first));
        let with = |change: &dyn Fn(&mut JobRecord, &mut KeyRecord, &mut Vec<Part>)| {
            let (mut job, mut keys, mut pieces) = records();
            change(&mut job, &mut keys, &mut pieces);
            content(&job, &keys, &pieces)
        };
        let others = [
            with(&|job, _, _| job.task.rounds = 2),
            with(&|job, _, _| job.task.operations.push(crate::engine::Operation::new("square"))),
            with(&|job, _, _| job.input_digest = Some(hex(&[5; 32]))),
            with(&|_, keys, _| keys.fingerprint = "g".into()),
            with(&|_, keys, _| keys.id = Id([2; 16])),
            with(&|_, _, pieces| pieces[1].1 = [5; 32]),
            with(&|_, _, pieces| (pieces[0].1, pieces[1].1) = ([4; 32], [3; 32])),
        ];
        let mut all: Vec<ContentId> = others.into_iter().map(|other| other.unwrap()).chain([first]).collect();
        all.sort_by_key(|id| id.0);
        all.dedup();
        assert_eq!(all.len(), 8);
        let text = serde_json::to_string(&first).unwrap();
        assert_eq!(serde_json::from_str::<ContentId>(&text).unwrap(), first);
        assert!(serde_json::from_str::<ContentId>("\"00\"").is_err());
        assert_eq!(with(&|_, _, pieces| pieces.truncate(1)), None);
        assert_eq!(with(&|_, _, pieces| *pieces = pieces.split_off(1)), None);
        assert_eq!(with(&|job, _, _| job.input_digest = None), None);
    }
}
