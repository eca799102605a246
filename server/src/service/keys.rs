//! Evaluation key sets on their way in and out.

use super::Service;
use super::views::{Committed, KeysDocument, NewKeys};
use crate::engine::ParameterSet;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::keys::{self, Deleted, KeyRecord, KeyState, Opened, Sealed, Stored};
use crate::store::now;

impl Service {
    /// Opens a key set for upload, or finds it. Returns whether it is new.
    ///
    /// # Errors
    /// The set is not offered here, differs from the client's, or takes more disk or memory than there is.
    pub fn open_keys(&self, request: &NewKeys) -> Result<(bool, KeysDocument), Problem> {
        // An older client has the name that a set had when its keys were made.
        let known = self.engine.set_by_fingerprint(&request.fingerprint);
        let set = self.set(known.map_or(&request.params, |set| &set.name))?;
        let id: Id =
            request.key_id.parse().map_err(|error| Problem::bad_request(format!("keyId: {error}")))?;
        if request.fingerprint != set.fingerprint {
            return Err(Problem::conflict(
                "PARAMS_MISMATCH",
                format!(
                    "{} has fingerprint {} here and {} at the client; use the same version of refloat on both sides",
                    set.name,
                    set.fingerprint,
                    request.fingerprint.chars().take(64).collect::<String>()
                ),
            ));
        }
        if request.parts != set.key_parts.len() {
            return Err(Problem::conflict(
                "PARAMS_MISMATCH",
                format!(
                    "a key set of {} has {} pieces here and {} at the client",
                    set.name,
                    set.key_parts.len(),
                    request.parts
                ),
            ));
        }
        let exists = keys::get(&self.store, id)?.is_some();
        if !exists {
            self.check_memory(set)?;
        }
        let taken: u64 = keys::list(&self.store)?.iter().map(|record| self.promised_bytes(record)).sum();
        if !exists && taken.saturating_add(set.key_bytes) > self.config.storage.key_bytes {
            return Err(Problem::new(
                507,
                "STORAGE_FULL",
                "No room for keys",
                format!(
                    "a key set of {} takes {} bytes; the server keeps at most {} bytes of keys and {taken} are taken; delete a key set or raise storage.key_bytes",
                    set.name, set.key_bytes, self.config.storage.key_bytes
                ),
            ));
        }
        let record = KeyRecord {
            id,
            params: set.name.clone(),
            fingerprint: set.fingerprint.clone(),
            parts: set.key_parts.len() as u32,
            state: KeyState::Open,
            touched: now(),
            digest: None,
            bytes: 0,
        };
        match keys::open(&self.store, &record)? {
            Opened::New => {
                tracing::info!(key = %id, params = set.name, "key set opened");
                Ok((true, KeysDocument::new(&record, &[])))
            }
            Opened::Known(known) => Ok((false, KeysDocument::new(&known, &keys::present(&self.store, id)?))),
            Opened::Differs(known) => Err(Problem::conflict(
                "PARAMS_MISMATCH",
                format!(
                    "key set {id} is here for {} with fingerprint {}, the request is for {} with fingerprint {}; make new keys or delete the old set",
                    known.params, known.fingerprint, record.params, record.fingerprint
                ),
            )),
        }
    }

    /// A key set and what is present of it.
    ///
    /// # Errors
    /// It does not exist.
    pub fn keys(&self, id: Id) -> Result<KeysDocument, Problem> {
        let record = self.key_record(id)?;
        Ok(KeysDocument::new(&record, &keys::present(&self.store, id)?))
    }

    /// Length in bytes of piece `index` of a key set.
    ///
    /// # Errors
    /// The key set does not exist, or has no such piece.
    pub fn part_bytes(&self, id: Id, index: usize) -> Result<usize, Problem> {
        let record = self.key_record(id)?;
        let set = self.set(&record.params)?;
        set.key_parts.get(index).map(|part| part.bytes).ok_or_else(|| {
            Problem::not_found(format!(
                "a key set of {} has pieces 0 to {}, not {index}",
                set.name,
                set.key_parts.len() - 1
            ))
        })
    }

    /// Checks and stores a piece.
    ///
    /// # Errors
    /// The piece does not conform, or differs from what is stored.
    pub fn put_part(&self, id: Id, index: usize, bytes: &[u8]) -> Result<(), Problem> {
        let record = self.key_record(id)?;
        let set = self.set(&record.params)?;
        refuse_secret_key(bytes)?;
        let expected = self.part_bytes(id, index)?;
        if bytes.len() != expected {
            return Err(Problem::bad_bytes(format!(
                "the body has {} bytes, piece {index} of a key set of {} has exactly {expected}",
                bytes.len(),
                set.name
            )));
        }
        if keys::part_digest(&self.store, id, index as u32)? != Some(*blake3::hash(bytes).as_bytes()) {
            self.engine.verify_part(&set.name, id, index, bytes)?;
        }
        match keys::put_part(&self.store, id, index as u32, bytes)? {
            Stored::New => {
                self.metrics.uploaded(bytes.len() as u64);
                Ok(())
            }
            Stored::Same => Ok(()),
            Stored::Differs => Err(Problem::conflict(
                "CHUNK_CONFLICT",
                format!(
                    "piece {index} of key set {id} is stored with other bytes; delete the key set to replace it"
                ),
            )),
            Stored::Gone => Err(no_keys(id)),
        }
    }

    /// Seals a key set.
    ///
    /// # Errors
    /// Pieces are missing, or the digest differs.
    pub fn commit_keys(&self, id: Id, digest: Option<&str>) -> Result<Committed, Problem> {
        match keys::seal(&self.store, id, digest)? {
            Sealed::Done(record) => {
                tracing::info!(key = %id, bytes = record.bytes, "key set sealed");
                Ok(Committed {
                    id: id.to_string(),
                    digest: record.digest.unwrap_or_default(),
                    bytes: record.bytes,
                })
            }
            Sealed::Missing(missing) => Err(Problem::conflict(
                "KEYS_INCOMPLETE",
                format!("{} pieces of key set {id} are missing; upload them and commit again", missing.len()),
            )
            .with("missing", missing)),
            Sealed::Differs(found) => Err(Problem::conflict(
                "DIGEST_MISMATCH",
                format!(
                    "the pieces of key set {id} give digest {found}, the client expected {}",
                    digest.unwrap_or_default().chars().take(64).collect::<String>()
                ),
            )),
            Sealed::Gone => Err(no_keys(id)),
        }
    }

    /// Deletes a key set.
    ///
    /// # Errors
    /// It does not exist, or jobs wait for it.
    pub fn delete_keys(&self, id: Id) -> Result<(), Problem> {
        match keys::delete(&self.store, id, |_| true)? {
            Deleted::Done => {}
            Deleted::Gone => return Err(no_keys(id)),
            Deleted::InUse(users) => {
                return Err(Problem::conflict(
                    "KEY_IN_USE",
                    format!("{users} jobs wait for key set {id}; cancel them or wait for them first"),
                ));
            }
        }
        self.cache.remove(id);
        tracing::info!(key = %id, "key set deleted");
        Ok(())
    }

    /// Refuses a set whose keys cannot be loaded here.
    pub(super) fn check_memory(&self, set: &ParameterSet) -> Result<(), Problem> {
        if set.expanded_key_bytes <= self.cache.budget() {
            return Ok(());
        }
        Err(Problem::new(
            507,
            "MEMORY",
            "Keys too large for this server",
            format!(
                "a key set of {} takes {} bytes of memory, this server gives keys {} bytes; raise compute.key_cache_bytes",
                set.name,
                set.expanded_key_bytes,
                self.cache.budget()
            ),
        ))
    }

    /// The record of a key set.
    pub(super) fn key_record(&self, id: Id) -> Result<KeyRecord, Problem> {
        keys::get(&self.store, id)?.ok_or_else(|| no_keys(id))
    }

    /// Bytes a key set takes or will take.
    fn promised_bytes(&self, record: &KeyRecord) -> u64 {
        self.engine.set(&record.params).map_or(record.bytes, |set: &ParameterSet| set.key_bytes)
    }
}

/// Refuses a body that holds a secret key. There is no use for one here, so whoever sends one has
/// made a mistake and is told so.
pub(super) fn refuse_secret_key(bytes: &[u8]) -> Result<(), Problem> {
    use refloat::wire::{ObjectKind, frame};
    if frame::peek(bytes).is_ok_and(|header| header.kind == ObjectKind::SecretKey) {
        return Err(Problem::new(
            422,
            "SECRET_KEY_REFUSED",
            "This is a secret key",
            "the body is a secret key, which must never leave the device that made it; nothing was stored; send evaluation keys or ciphertexts instead, and consider this key exposed",
        ));
    }
    Ok(())
}

fn no_keys(id: Id) -> Problem {
    Problem::not_found(format!("there is no key set {id}; open one with POST /v1/keys"))
}
