//! All key sets, as an operator sees them: listed in pages, and removed no matter whose they are.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Service;
use super::views::timestamp;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::jobs;
use crate::store::keys::{self, KeyRecord, KeyState};

/// Key sets on a page unless another number is asked for.
pub const USUAL_PAGE: usize = 100;

/// Key sets on a page at most.
pub const LARGEST_PAGE: usize = 1000;

/// A key set, as operators see it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeySetDocument {
    /// Identifier of the set.
    pub id: String,
    /// Name of the parameter set.
    pub params: String,
    /// `open` or `sealed`; `damaged` where a sealed set lacks pieces that were found damaged on disk.
    pub state: String,
    /// Bytes of the stored pieces.
    pub bytes: u64,
    /// Whether anybody may submit jobs to it.
    pub public: bool,
    /// Name of the API key that it was opened with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// When the set last changed (RFC 3339): when it was sealed, or, while it is open, when a piece was stored.
    pub changed_at: String,
    /// When the latest of its jobs that are still kept was accepted (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_job_at: Option<String>,
    /// Jobs that wait for it or run with it. While there are any, it is not removed.
    pub jobs: usize,
    /// Bytes that its jobs take on disk.
    pub job_bytes: u64,
}

/// Answer of `GET /v1/key-sets`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeySetsDocument {
    /// Key sets in the order of their identifiers.
    pub key_sets: Vec<KeySetDocument>,
    /// What to give as `after` for the next page, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Bytes of the stored pieces of all key sets, on every page.
    pub bytes: u64,
    /// Bytes that they may take: `storage.key_bytes`.
    pub most_bytes: u64,
}

/// What the jobs of a key set tell about its use.
#[derive(Default)]
struct Use {
    /// Jobs that wait or run.
    open: usize,
    /// When the latest job was accepted, in milliseconds since 1970.
    last: u64,
}

impl Service {
    /// Up to `most` key sets, those with identifiers greater than `after`. Reads records, and no pieces.
    ///
    /// # Errors
    /// `most` is 0 or larger than [`LARGEST_PAGE`], or the store fails.
    pub fn key_sets(&self, after: Option<Id>, most: usize) -> Result<KeySetsDocument, Problem> {
        if !(1..=LARGEST_PAGE).contains(&most) {
            return Err(Problem::bad_request(format!(
                "limit is {most}, and a page has 1 to {LARGEST_PAGE} key sets; ask for that many, and for further pages with after"
            )));
        }
        let page = keys::page(&self.store, after, most)?;
        let mut uses: HashMap<Id, Use> =
            page.records.iter().map(|record| (record.id, Use::default())).collect();
        jobs::select(&self.store, |job| {
            if let Some(used) = uses.get_mut(&job.key) {
                used.open += usize::from(!job.state.is_final());
                used.last = used.last.max(job.created);
            }
            false
        })?;
        let key_sets = page.records.iter().map(|record| self.key_set(record, &uses[&record.id])).collect();
        Ok(KeySetsDocument {
            key_sets,
            next: page.last.map(|id| id.to_string()),
            bytes: keys::stored_bytes(&self.store)?,
            most_bytes: self.config.storage.key_bytes,
        })
    }

    fn key_set(&self, record: &KeyRecord, used: &Use) -> KeySetDocument {
        let state = match record.state {
            KeyState::Sealed => "sealed",
            KeyState::Open if record.damaged => "damaged",
            KeyState::Open => "open",
        };
        KeySetDocument {
            id: record.id.to_string(),
            params: record.params.clone(),
            state: state.to_owned(),
            bytes: record.bytes,
            public: record.holder.public,
            api_key: record.holder.api_key.clone(),
            changed_at: timestamp(record.touched),
            last_job_at: (used.last > 0).then(|| timestamp(used.last)),
            jobs: used.open,
            job_bytes: self.store.usage().of_key(record.id),
        }
    }

    /// Removes a key set, no matter whose it is. Its client finds it missing, and can upload it again.
    ///
    /// # Errors
    /// It does not exist, or jobs wait for it or run with it.
    pub fn remove_key_set(&self, id: Id) -> Result<(), Problem> {
        self.remove_keys(id)?;
        tracing::info!(key = %id, "key set removed by an operator");
        Ok(())
    }
}
