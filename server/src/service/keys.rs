//! Evaluation key sets on their way in and out: opening a set, checking and storing each uploaded piece, sealing, deletion.

use super::Service;
use super::access::{Act, Caller, Token, token_of};
use super::views::{Committed, KeysDocument, NewKeys};
use crate::config::{ApiKey, Role};
use crate::engine::SetInfo;
use crate::id::{Id, hex};
use crate::problem::Problem;
use crate::store::holder::{Holder, Opener};
use crate::store::keys::{self, Bounds, Deleted, KeyRecord, Look, Opened, Over, Part, Piece, Sealed, Stored};

impl Service {
    /// Opens a key set for upload, or finds it. Returns whether it is new. A new set belongs to the token of `caller`, or to a token that
    /// is drawn here and is in the document this once.
    ///
    /// # Errors
    /// The set is not offered here, differs from the client's, takes more disk or memory than there is, or belongs to
    /// another token.
    pub fn open_keys(&self, request: &NewKeys, caller: &Caller) -> Result<(bool, KeysDocument), Problem> {
        let account = self.account(caller)?;
        // An older client uses the name that a set had when its keys were made.
        let known = self.engines.by_fingerprint(&request.fingerprint);
        let set = self.set(known.map_or(&request.params, |set| &set.info().name))?;
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
        if keys::get(&self.store, id)?.is_none() {
            self.check_shard(id)?;
            self.check_memory(set)?;
        }
        let what = format!("key set {id}");
        let given = token_of(caller, &what)?;
        let drawn = if given.is_some() { None } else { Some(Token::random()) };
        let drawn = drawn.transpose().map_err(|error| Problem::internal(&error))?;
        let token = given.or(drawn.as_ref());
        let api_key = account.map(|account| account.name.clone());
        let opener = api_key.clone().map_or(Opener::Address(caller.peer.address()), Opener::ApiKey);
        let record = KeyRecord {
            holder: Holder { token: token.map(|token| hex(&token.hash())), public: request.public, api_key },
            opener: Some(opener),
            ..KeyRecord::new(id, &set.name, &set.fingerprint, set.key_parts.len())
        };
        let known = match keys::open(&self.store, &record, set.key_bytes, &self.key_bounds(&record))? {
            Opened::New => {
                let api_key = record.holder.api_key.as_deref().unwrap_or_default();
                tracing::info!(key = %id, params = set.name, api_key, "key set opened");
                let token = drawn.map(|token| token.to_hex());
                return Ok((true, KeysDocument { token, ..KeysDocument::new(&record, &[]) }));
            }
            Opened::Known(known) | Opened::Differs(known) => known,
            Opened::Over(over) => return Err(self.no_room(over, set.key_bytes, &record)),
        };
        self.admit(caller, &known.holder, Act::Change, &what)?;
        if known.params != record.params || known.fingerprint != record.fingerprint {
            return Err(Problem::conflict(
                "PARAMS_MISMATCH",
                format!(
                    "key set {id} is here for {} with fingerprint {}, the request is for {} with fingerprint {}; make new keys or delete the old set",
                    known.params, known.fingerprint, record.params, record.fingerprint
                ),
            ));
        }
        if request.public && !known.holder.public {
            return Err(Problem::conflict(
                "NOT_PUBLIC",
                format!(
                    "key set {id} is here and not public; delete it and upload it anew to make it public"
                ),
            ));
        }
        keys::verify(&self.store, id, Look::Sizes)?;
        // It may have been deleted just now; the request still found it.
        let known = keys::get(&self.store, id)?.unwrap_or(known);
        Ok((false, KeysDocument::new(&known, &keys::parts(&self.store, id)?)))
    }

    /// Bounds on what a key set takes.
    fn key_bounds(&self, record: &KeyRecord) -> Bounds {
        let own = self.account_of(record).map(|account| account.max_key_bytes);
        Bounds {
            bytes: self.config.storage.key_bytes,
            own_bytes: own.filter(|most| *most > 0),
            open: self.config.limits.max_open_key_sets,
        }
    }

    /// The API key that a key set counts for.
    fn account_of(&self, record: &KeyRecord) -> Option<&ApiKey> {
        let name = record.holder.api_key.as_ref()?;
        self.config.access.api_keys.iter().find(|account| account.name == *name)
    }

    /// The refusal that says which bound `more` bytes of a key set, or one more open set, would exceed.
    fn no_room(&self, over: Over, more: u64, record: &KeyRecord) -> Problem {
        match over {
            Over::Bytes(taken) => {
                let limit = self.config.storage.key_bytes;
                let detail = format!(
                    "{more} bytes more of keys do not fit; the server keeps at most {limit} bytes and {taken} are taken; delete a key set or raise storage.key_bytes"
                );
                let problem = Problem::new(507, "STORAGE_FULL", "No room for keys", detail);
                problem.with("limit", "storage.key_bytes")
            }
            Over::OwnBytes(taken) => {
                let most = self.account_of(record).map_or(0, |account| account.max_key_bytes);
                let detail = format!(
                    "{more} bytes more of keys do not fit; max_key_bytes of API key {:?} is {most} and {taken} are taken; delete a key set",
                    record.holder.api_key.as_deref().unwrap_or_default()
                );
                Problem::new(507, "QUOTA", "Quota used up", detail).with("quota", "max_key_bytes")
            }
            Over::Open(own) => {
                let most = self.config.limits.max_open_key_sets;
                let who = record.opener.as_ref().map(Opener::to_string).unwrap_or_default();
                let detail = format!(
                    "{own} key sets of {who} are open and limits.max_open_key_sets is {most}; complete or delete one"
                );
                let problem = Problem::new(429, "QUOTA", "Too many open key sets", detail);
                problem.with("limit", "limits.max_open_key_sets").retry_after(60)
            }
        }
    }

    /// A key set and what is present of it.
    ///
    /// # Errors
    /// It does not exist, or is not the caller's.
    pub fn keys(&self, id: Id, caller: &Caller) -> Result<KeysDocument, Problem> {
        self.keys_for(id, caller, Act::Use)?;
        keys::verify(&self.store, id, Look::Sizes)?;
        let record = self.key_record(id)?;
        let parts = keys::parts(&self.store, id)?;
        Ok(KeysDocument { digests: Some(digests(&record, &parts)), ..KeysDocument::new(&record, &parts) })
    }

    /// Length in bytes of piece `index` of a key set.
    ///
    /// # Errors
    /// The key set does not exist, is not the caller's, or has no such piece.
    pub fn part_bytes(&self, id: Id, index: usize, caller: &Caller) -> Result<usize, Problem> {
        self.place(id, index, caller).map(|(_, _, bytes)| bytes)
    }

    /// The record of a key set, its parameter set, and the length of piece `index` of it.
    fn place(&self, id: Id, index: usize, caller: &Caller) -> Result<(KeyRecord, &SetInfo, usize), Problem> {
        let record = self.keys_for(id, caller, Act::Change)?;
        let set = self.set(&record.params)?;
        let part = set.key_parts.get(index).ok_or_else(|| {
            Problem::not_found(format!(
                "a key set of {} has pieces 0 to {}, not {index}",
                set.name,
                set.key_parts.len() - 1
            ))
        })?;
        Ok((record, set, part.bytes))
    }

    /// Checks and stores a piece. `digest` is the client's BLAKE3 of it.
    ///
    /// # Errors
    /// The piece does not conform, or differs from what is stored or was sent.
    pub fn put_part(
        &self,
        id: Id,
        index: usize,
        bytes: &[u8],
        digest: Option<[u8; 32]>,
        caller: &Caller,
    ) -> Result<(), Problem> {
        let (record, set, expected) = self.place(id, index, caller)?;
        refuse_secret_key(bytes)?;
        if bytes.len() != expected {
            return Err(Problem::bad_bytes(format!(
                "the body has {} bytes, piece {index} of a key set of {} has exactly {expected}",
                bytes.len(),
                set.name
            )));
        }
        let found = check_digest(bytes, digest)?;
        let piece = Piece { index: index as u32, bytes, digest: *found.as_bytes() };
        if keys::part_digest(&self.store, id, piece.index)? != Some(piece.digest) {
            self.engines.named(&set.name)?.verify_part(id, index, bytes)?;
        }
        // A piece that the disk has lost is written anew.
        keys::verify(&self.store, id, Look::Piece(piece.index))?;
        match keys::put_part(&self.store, id, &piece, &self.key_bounds(&record))? {
            Stored::New => {
                // The keys in memory may be made from another piece.
                self.cache.remove(id);
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
            Stored::Over(over) => Err(self.no_room(over, bytes.len() as u64, &record)),
        }
    }

    /// Seals a key set.
    ///
    /// # Errors
    /// Pieces are missing, the digest differs, or the set is not the caller's.
    pub fn commit_keys(&self, id: Id, digest: Option<&str>, caller: &Caller) -> Result<Committed, Problem> {
        self.keys_for(id, caller, Act::Change)?;
        keys::verify(&self.store, id, Look::Sizes)?;
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
                "PIECES_DIFFER",
                format!(
                    "the pieces of key set {id} give digest {found}, the client expected {}; GET /v1/keys/{id} lists the digest of each piece: upload those that differ again",
                    digest.unwrap_or_default().chars().take(64).collect::<String>()
                ),
            )),
            Sealed::Gone => Err(no_keys(id)),
        }
    }

    /// Deletes a key set.
    ///
    /// # Errors
    /// It does not exist, is not the caller's, or jobs wait for it.
    pub fn delete_keys(&self, id: Id, caller: &Caller) -> Result<(), Problem> {
        self.keys_for(id, caller, Act::Change)?;
        self.remove_keys(id)?;
        tracing::info!(key = %id, "key set deleted");
        Ok(())
    }

    /// Removes a key set, no matter whose it is, unless jobs wait for it or run with it.
    pub(super) fn remove_keys(&self, id: Id) -> Result<(), Problem> {
        match keys::delete(&self.store, id, |_| true)? {
            Deleted::Done => self.cache.remove(id),
            Deleted::Gone => return Err(no_keys(id)),
            Deleted::InUse(users) => {
                return Err(Problem::conflict(
                    "KEY_IN_USE",
                    match users {
                        1 => format!(
                            "a job with key set {id} has not ended; wait for its end, or cancel it first"
                        ),
                        _ => format!(
                            "{users} jobs with key set {id} have not ended; wait for their end, or cancel them first"
                        ),
                    },
                ));
            }
        }
        Ok(())
    }

    /// Refuses a set whose keys cannot be loaded here.
    pub(super) fn check_memory(&self, set: &SetInfo) -> Result<(), Problem> {
        if self.config.cluster.role == Role::Front {
            return self.crew.check_memory(set);
        }
        if set.expanded_key_bytes <= self.cache.budget() {
            return Ok(());
        }
        Err(Problem::new(
            507,
            "MEMORY",
            "Keys too large for this server",
            format!(
                "a key set of {} takes {} bytes of memory, this server gives keys {} bytes; raise compute.key_cache_bytes, or --memory with which the server was started",
                set.name,
                set.expanded_key_bytes,
                self.cache.budget()
            ),
        ))
    }

    /// The record of a key set, if the caller may do `act` with it.
    ///
    /// # Errors
    /// It does not exist, or is not the caller's.
    pub fn keys_for(&self, id: Id, caller: &Caller, act: Act) -> Result<KeyRecord, Problem> {
        let record = self.key_record(id)?;
        self.admit(caller, &record.holder, act, &format!("key set {id}"))?;
        Ok(record)
    }

    /// The record of a key set.
    pub(super) fn key_record(&self, id: Id) -> Result<KeyRecord, Problem> {
        keys::get(&self.store, id)?.ok_or_else(|| no_keys(id))
    }
}

/// Digests of the pieces by index; `None` where a piece is missing.
fn digests(record: &KeyRecord, parts: &[Part]) -> Vec<Option<String>> {
    let mut digests = vec![None; record.parts as usize];
    for (index, digest, _) in parts {
        if let Some(place) = digests.get_mut(*index as usize) {
            *place = Some(hex(digest));
        }
    }
    digests
}

/// The digest of a body; refuses a body whose sender has `stated` another digest.
pub(super) fn check_digest(bytes: &[u8], stated: Option<[u8; 32]>) -> Result<blake3::Hash, Problem> {
    let found = blake3::hash(bytes);
    let Some(stated) = stated.filter(|stated| found != *stated) else { return Ok(found) };
    Err(Problem::new(
        422,
        "DIGEST_MISMATCH",
        "Body altered on its way",
        format!(
            "the body has digest {}, its refloat-digest says {}; nothing was stored; send it again",
            found.to_hex(),
            hex(&stated)
        ),
    ))
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
