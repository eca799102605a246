//! Evaluation key sets: opened, filled piece by piece in any order, sealed, deleted.

use redb::ReadableTable;
use serde::{Deserialize, Serialize};

use super::files::{Expected, ReadError};
use super::holder::Holder;
use super::jobs::{JobRecord, JobState};
use super::leftovers::{Owner, Retired};
use super::{JOBS, KEYS, PARTS, Store, StoreError, decode, encode, now};
use crate::id::{Id, hex};

/// Whether a key set still takes pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// Pieces are being uploaded.
    Open,
    /// Complete and immutable.
    Sealed,
}

/// What is known of a key set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRecord {
    /// Chosen by the client: the identifier of its secret key.
    pub id: Id,
    /// Name of the parameter set.
    pub params: String,
    /// Fingerprint of the parameter set, in hexadecimal.
    pub fingerprint: String,
    /// Number of pieces.
    pub parts: u32,
    /// Open or sealed.
    pub state: KeyState,
    /// Milliseconds since 1970 of the last change.
    pub touched: u64,
    /// Digest of the pieces' digests in order, once sealed.
    pub digest: Option<String>,
    /// Bytes of the stored pieces.
    pub bytes: u64,
    /// Whether it was sealed and is open again because pieces were damaged on disk.
    #[serde(default)]
    pub damaged: bool,
    /// Whom it belongs to.
    #[serde(default)]
    pub holder: Holder,
}

/// Index, digest and length of a stored piece.
pub type Part = (u32, [u8; 32], u64);

/// What came of opening a key set.
#[derive(Debug)]
pub enum Opened {
    /// It is new.
    New,
    /// It was there, with the same parameters.
    Known(KeyRecord),
    /// It was there with other parameters.
    Differs(KeyRecord),
}

/// What came of storing a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is on disk.
    New,
    /// The same bytes were on disk before.
    Same,
    /// Other bytes were on disk before, and still are: the set is sealed.
    Differs,
    /// The key set does not exist (any more).
    Gone,
}

/// What came of sealing a key set.
#[derive(Debug)]
pub enum Sealed {
    /// It is sealed, now or before.
    Done(KeyRecord),
    /// These pieces are missing.
    Missing(Vec<u32>),
    /// The pieces give another digest than the client's.
    Differs(String),
    /// The key set does not exist.
    Gone,
}

/// What came of deleting a key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    /// It has gone.
    Done,
    /// So many jobs wait for it or run with it.
    InUse(usize),
    /// There was none.
    Gone,
}

/// Opens a key set, or finds it.
///
/// # Errors
/// The store fails.
pub fn open(store: &Store, record: &KeyRecord) -> Result<Opened, StoreError> {
    store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let known: Option<KeyRecord> =
            keys.get(record.id.0)?.map(|bytes| decode("key", bytes.value())).transpose()?;
        match known {
            None => {
                keys.insert(record.id.0, encode(record)?.as_slice())?;
                Ok(Opened::New)
            }
            Some(known) if known.params == record.params && known.fingerprint == record.fingerprint => {
                Ok(Opened::Known(known))
            }
            Some(known) => Ok(Opened::Differs(known)),
        }
    })
}

/// The record of a key set.
///
/// # Errors
/// The store fails.
pub fn get(store: &Store, id: Id) -> Result<Option<KeyRecord>, StoreError> {
    store.read(|txn| txn.open_table(KEYS)?.get(id.0)?.map(|bytes| decode("key", bytes.value())).transpose())
}

/// Each stored piece, by index.
///
/// # Errors
/// The store fails.
pub fn parts(store: &Store, id: Id) -> Result<Vec<Part>, StoreError> {
    store.read(|txn| {
        txn.open_table(PARTS)?
            .range((id.0, 0)..=(id.0, u32::MAX))?
            .map(|entry| {
                let (key, value) = entry?;
                let (digest, length) = value.value();
                Ok((key.value().1, digest, length))
            })
            .collect()
    })
}

/// Digest of piece `index`, if it is stored.
///
/// # Errors
/// The store fails.
pub fn part_digest(store: &Store, id: Id, index: u32) -> Result<Option<[u8; 32]>, StoreError> {
    store.read(|txn| Ok(txn.open_table(PARTS)?.get((id.0, index))?.map(|value| value.value().0)))
}

/// Stores a piece that has been checked, in place of another one while the set is open. When this returns [`Stored::New`] the piece survives
/// the death of the process and of the machine.
///
/// # Errors
/// The store fails.
pub fn put_part(store: &Store, id: Id, index: u32, bytes: &[u8]) -> Result<Stored, StoreError> {
    let digest = *blake3::hash(bytes).as_bytes();
    let Some(record) = get(store, id)? else { return Ok(Stored::Gone) };
    match part_digest(store, id, index)? {
        Some(present) if present == digest => return Ok(Stored::Same),
        Some(_) if record.state == KeyState::Sealed => return Ok(Stored::Differs),
        _ => {}
    }
    let written = store.put_aside(bytes)?;
    store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let mut parts = txn.open_table(PARTS)?;
        let Some(mut record) =
            keys.get(id.0)?.map(|bytes| decode::<KeyRecord>("key", bytes.value())).transpose()?
        else {
            return Ok(Stored::Gone);
        };
        if let Some((present, length)) = parts.get((id.0, index))?.map(|value| value.value()) {
            if present == digest {
                return Ok(Stored::Same);
            }
            if record.state == KeyState::Sealed {
                return Ok(Stored::Differs);
            }
            record.bytes = record.bytes.saturating_sub(length);
        }
        written.publish(&store.key_folder(id), &index.to_string()).map_err(StoreError::Io)?;
        parts.insert((id.0, index), (digest, bytes.len() as u64))?;
        record.bytes += bytes.len() as u64;
        record.touched = now();
        keys.insert(id.0, encode(&record)?.as_slice())?;
        Ok(Stored::New)
    })
}

/// Reads a piece back and compares it with its digest.
///
/// # Errors
/// The piece is damaged or cannot be read.
pub fn read_part(store: &Store, id: Id, (index, digest, length): Part) -> Result<Vec<u8>, ReadError> {
    Expected { length, digest: Some(digest) }.read(&part_path(store, id, index))
}

/// What of a key set is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Presence and length of every piece.
    Sizes,
    /// The digest of one piece.
    Piece(u32),
    /// The digests of all pieces.
    All,
}

/// Looks at the stored pieces of a key set, marks those that are damaged as missing and opens the set for them to be uploaded
/// again. Returns their indices.
///
/// # Errors
/// A piece cannot be read, or the store fails.
pub fn verify(store: &Store, id: Id, look: Look) -> Result<Vec<u32>, StoreError> {
    let mut damaged = Vec::new();
    for (index, digest, length) in parts(store, id)? {
        let path = part_path(store, id, index);
        let expected = Expected { length, digest: Some(digest) };
        let outcome = match look {
            Look::Piece(only) if only != index => continue,
            Look::Sizes => expected.look(&path),
            Look::Piece(_) | Look::All => expected.open(&path).map(drop),
        };
        match outcome {
            Ok(()) => {}
            Err(ReadError::Damaged(_)) => damaged.push((index, digest)),
            Err(ReadError::Io(error)) => return Err(store.failed(error)),
        }
    }
    if damaged.is_empty() {
        return Ok(Vec::new());
    }
    store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let mut parts = txn.open_table(PARTS)?;
        let Some(mut record) =
            keys.get(id.0)?.map(|bytes| decode::<KeyRecord>("key", bytes.value())).transpose()?
        else {
            return Ok(Vec::new());
        };
        let mut marked = Vec::new();
        for (index, digest) in &damaged {
            // It may have been uploaded again in the meantime.
            let row = parts.get((id.0, *index))?.map(|value| value.value());
            let Some((_, length)) = row.filter(|(present, _)| present == digest) else { continue };
            parts.remove((id.0, *index))?;
            record.bytes = record.bytes.saturating_sub(length);
            marked.push(*index);
        }
        if !marked.is_empty() {
            tracing::error!(key = %id, pieces = ?marked, "pieces of a key set are damaged on disk; they have to be uploaded again");
            record.damaged |= record.state == KeyState::Sealed;
            record.state = KeyState::Open;
            record.digest = None;
            record.touched = now();
            keys.insert(id.0, encode(&record)?.as_slice())?;
        }
        Ok(marked)
    })
}

fn part_path(store: &Store, id: Id, index: u32) -> std::path::PathBuf {
    store.key_folder(id).join(index.to_string())
}

/// Seals a complete key set. The digest is BLAKE3 over the pieces' BLAKE3 digests in order.
///
/// # Errors
/// The store fails.
pub fn seal(store: &Store, id: Id, expected: Option<&str>) -> Result<Sealed, StoreError> {
    store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let parts = txn.open_table(PARTS)?;
        let Some(mut record) =
            keys.get(id.0)?.map(|bytes| decode::<KeyRecord>("key", bytes.value())).transpose()?
        else {
            return Ok(Sealed::Gone);
        };
        let mut hasher = blake3::Hasher::new();
        let mut missing = Vec::new();
        for index in 0..record.parts {
            match parts.get((id.0, index))? {
                Some(value) => {
                    hasher.update(&value.value().0);
                }
                None => missing.push(index),
            }
        }
        if !missing.is_empty() {
            return Ok(Sealed::Missing(missing));
        }
        let digest = hex(hasher.finalize().as_bytes());
        if expected.is_some_and(|expected| expected != digest) {
            return Ok(Sealed::Differs(digest));
        }
        if record.state == KeyState::Open {
            record.state = KeyState::Sealed;
            record.damaged = false;
            record.digest = Some(digest);
            record.touched = now();
            keys.insert(id.0, encode(&record)?.as_slice())?;
        }
        Ok(Sealed::Done(record))
    })
}

/// Removes a key set and its files, if `wanted` holds of its record and no job needs it.
///
/// # Errors
/// The store fails.
pub fn delete(store: &Store, id: Id, wanted: impl Fn(&KeyRecord) -> bool) -> Result<Deleted, StoreError> {
    let mut retired = None;
    let outcome = store.write(|txn| {
        let mut keys = txn.open_table(KEYS)?;
        let record: Option<KeyRecord> =
            keys.get(id.0)?.map(|bytes| decode("key", bytes.value())).transpose()?;
        if !record.is_some_and(|record| wanted(&record)) {
            return Ok(Deleted::Gone);
        }
        let mut users = 0;
        store.each_record("job", &txn.open_table(JOBS)?, |job: JobRecord| {
            users += usize::from(job.key == id && matches!(job.state, JobState::Queued | JobState::Running));
        })?;
        if users > 0 {
            return Ok(Deleted::InUse(users));
        }
        keys.remove(id.0)?;
        txn.open_table(PARTS)?.retain_in::<([u8; 16], u32), _>((id.0, 0)..=(id.0, u32::MAX), |_, _| false)?;
        retired = Retired::new(store, Owner::Key(id))?;
        Ok(Deleted::Done)
    });
    Retired::settle(retired, store, outcome)
}

/// All key sets; those whose records are damaged are left out.
///
/// # Errors
/// The store fails.
pub fn list(store: &Store) -> Result<Vec<KeyRecord>, StoreError> {
    store.read(|txn| {
        let mut records = Vec::new();
        store.each_record("key", &txn.open_table(KEYS)?, |record| records.push(record))?;
        Ok(records)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: Id) -> KeyRecord {
        KeyRecord {
            id,
            params: "p".into(),
            fingerprint: "f".into(),
            parts: 2,
            state: KeyState::Open,
            touched: now(),
            digest: None,
            bytes: 0,
            damaged: false,
            holder: Holder::default(),
        }
    }

    #[test]
    fn a_set_is_filled_sealed_and_survives() {
        let folder = tempfile::tempdir().unwrap();
        let id = Id([1; 16]);
        let expected = {
            let mut hasher = blake3::Hasher::new();
            hasher.update(blake3::hash(b"zero").as_bytes()).update(blake3::hash(b"one").as_bytes());
            hex(hasher.finalize().as_bytes())
        };
        {
            let store = Store::open(folder.path()).unwrap();
            assert!(matches!(open(&store, &record(id)).unwrap(), Opened::New));
            assert_eq!(put_part(&store, id, 1, b"one").unwrap(), Stored::New);
            assert_eq!(put_part(&store, id, 1, b"one").unwrap(), Stored::Same);
            assert_eq!(put_part(&store, id, 1, b"two").unwrap(), Stored::New);
            assert_eq!(put_part(&store, id, 1, b"one").unwrap(), Stored::New);
            assert!(matches!(seal(&store, id, None).unwrap(), Sealed::Missing(missing) if missing == [0]));
        }
        // What a process that died while writing would leave.
        std::fs::write(folder.path().join(format!("keys/{id}/7.partial")), b"half").unwrap();
        std::fs::write(folder.path().join("incoming/8.partial"), b"half").unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert!(!folder.path().join(format!("keys/{id}/7.partial")).exists());
        assert!(!folder.path().join("incoming/8.partial").exists());
        assert_eq!(parts(&store, id).unwrap().iter().map(|part| part.0).collect::<Vec<_>>(), [1]);
        assert_eq!(put_part(&store, id, 0, b"zero").unwrap(), Stored::New);
        assert!(
            matches!(seal(&store, id, Some("00")).unwrap(), Sealed::Differs(digest) if digest == expected)
        );
        let Sealed::Done(sealed) = seal(&store, id, Some(&expected)).unwrap() else { panic!("not sealed") };
        assert_eq!(
            (sealed.state, sealed.bytes, sealed.digest.as_deref()),
            (KeyState::Sealed, 7, Some(expected.as_str()))
        );
        let rows = parts(&store, id).unwrap();
        assert_eq!(read_part(&store, id, rows[1]).unwrap(), b"one");
        std::fs::write(folder.path().join(format!("keys/{id}/1")), b"eno").unwrap();
        assert!(read_part(&store, id, rows[1]).is_err());
        assert_eq!(delete(&store, id, |_| false).unwrap(), Deleted::Gone);
        assert_eq!(delete(&store, id, |_| true).unwrap(), Deleted::Done);
        assert!(get(&store, id).unwrap().is_none() && parts(&store, id).unwrap().is_empty());
        assert_eq!(put_part(&store, id, 0, b"zero").unwrap(), Stored::Gone);
        assert!(!folder.path().join(format!("keys/{id}")).exists());
    }

    #[test]
    fn other_parameters_under_the_same_identifier_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let id = Id([2; 16]);
        open(&store, &record(id)).unwrap();
        assert!(matches!(open(&store, &record(id)).unwrap(), Opened::Known(_)));
        let other = KeyRecord { fingerprint: "g".into(), ..record(id) };
        assert!(matches!(open(&store, &other).unwrap(), Opened::Differs(_)));
        assert!(matches!(Store::open(folder.path()), Err(StoreError::InUse(_))));
    }
}
