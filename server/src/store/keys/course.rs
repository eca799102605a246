//! The course of a key set from its opening to its removal. A check and the change that depends on it are one transaction.

use redb::ReadableTable;

use super::{Bounds, KeyRecord, KeyState, Over, find, write};
use crate::blobs::{Blob, Owner};
use crate::id::{Id, hex};
use crate::store::jobs::{JobRecord, JobState};
use crate::store::{JOBS, KEYS, PARTS, Store, StoreError, now};

/// A piece of a key set, checked.
pub struct Piece<'a> {
    /// Its index in the key set.
    pub index: u32,
    /// Its content.
    pub bytes: &'a [u8],
    /// BLAKE3 of the content.
    pub digest: [u8; 32],
}

/// What came of opening a key set.
#[derive(Debug)]
pub enum Opened {
    /// It is new.
    New,
    /// It was there, with the same parameters.
    Known(KeyRecord),
    /// It was there with other parameters.
    Differs(KeyRecord),
    /// There is no room for it.
    Over(Over),
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
    /// There is no room for it.
    Over(Over),
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
    /// This many jobs wait for it or run with it.
    InUse(usize),
    /// There was none.
    Gone,
}

/// Opens a key set that will take `bytes` bytes, or finds it.
///
/// # Errors
/// The store fails.
pub fn open(store: &Store, record: &KeyRecord, bytes: u64, bounds: &Bounds) -> Result<Opened, StoreError> {
    write(store, |_, records| match records.get(record.id)? {
        None => {
            let holder = &record.holder;
            let over = records.room.over_bytes(holder, bytes, bounds);
            let over = over.or_else(|| records.room.over_open(record.opener.as_ref(), bounds));
            if let Some(over) = over {
                return Ok(Opened::Over(over));
            }
            records.put(record)?;
            Ok(Opened::New)
        }
        Some(known) if known.params == record.params && known.fingerprint == record.fingerprint => {
            Ok(Opened::Known(known))
        }
        Some(known) => Ok(Opened::Differs(known)),
    })
}

/// Stores a piece that has been checked, in place of another one while the set is open. When this returns [`Stored::New`], the piece
/// survives the death of the process and of the machine.
///
/// # Errors
/// The store fails.
pub fn put_part(store: &Store, id: Id, piece: &Piece<'_>, bounds: &Bounds) -> Result<Stored, StoreError> {
    let row = (id.0, piece.index);
    let known = store.read(|txn| {
        let record = find(&txn.open_table(KEYS)?, id)?;
        let present = txn.open_table(PARTS)?.get(row)?.map(|value| value.value().0);
        Ok(record.map(|record| refusal(&record, present, piece)))
    })?;
    match known {
        None => return Ok(Stored::Gone),
        Some(Some(stored)) => return Ok(stored),
        Some(None) => {}
    }
    let blob = Blob::KeyPart(id, piece.index);
    let mut staged = store.stage(blob, piece.bytes)?;
    let mut is_first = true;
    let stored = write(store, |txn, records| {
        let mut parts = txn.open_table(PARTS)?;
        let Some(mut record) = records.get(id)? else { return Ok(Stored::Gone) };
        let present = parts.get(row)?.map(|value| value.value());
        if let Some(stored) = refusal(&record, present.map(|(digest, _)| digest), piece) {
            return Ok(stored);
        }
        let (length, replaced) = (piece.bytes.len() as u64, present.map_or(0, |(_, length)| length));
        let more = length.saturating_sub(replaced);
        if let Some(over) = records.room.over_bytes(&record.holder, more, bounds) {
            return Ok(Stored::Over(over));
        }
        staged.publish().map_err(StoreError::Io)?;
        is_first = present.is_none();
        parts.insert(row, (piece.digest, length))?;
        record.bytes = record.bytes.saturating_sub(replaced) + length;
        record.touched = now();
        records.put(&record)?;
        Ok(Stored::New)
    });
    if matches!(stored, Ok(Stored::New)) {
        staged.recorded();
    }
    drop(staged);
    if !is_first {
        store.blobs().suspect(blob);
    }
    stored
}

/// The outcome for a piece that is not written where one with the digest `present` is; `None` if it is written.
fn refusal(record: &KeyRecord, present: Option<[u8; 32]>, piece: &Piece<'_>) -> Option<Stored> {
    match present {
        Some(present) if present == piece.digest => Some(Stored::Same),
        Some(_) if record.state == KeyState::Sealed => Some(Stored::Differs),
        _ => None,
    }
}

/// Seals a complete key set. The digest is BLAKE3 over the pieces' BLAKE3 digests in order.
///
/// # Errors
/// The store fails.
pub fn seal(store: &Store, id: Id, expected: Option<&str>) -> Result<Sealed, StoreError> {
    write(store, |txn, records| {
        let parts = txn.open_table(PARTS)?;
        let Some(mut record) = records.get(id)? else { return Ok(Sealed::Gone) };
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
            record.opener = None;
            record.digest = Some(digest);
            record.touched = now();
            records.put(&record)?;
        }
        Ok(Sealed::Done(record))
    })
}

/// Removes a key set and its files, if `wanted` holds for its record and no job needs it.
///
/// # Errors
/// The store fails.
pub fn delete(store: &Store, id: Id, wanted: impl Fn(&KeyRecord) -> bool) -> Result<Deleted, StoreError> {
    let mut retired = None;
    let outcome = write(store, |txn, records| {
        if !records.get(id)?.is_some_and(|record| wanted(&record)) {
            return Ok(Deleted::Gone);
        }
        let mut users = 0;
        store.each_record("job", &txn.open_table(JOBS)?, |job: JobRecord| {
            users += usize::from(job.key == id && matches!(job.state, JobState::Queued | JobState::Running));
        })?;
        if users > 0 {
            return Ok(Deleted::InUse(users));
        }
        records.remove(id)?;
        txn.open_table(PARTS)?.retain_in::<([u8; 16], u32), _>((id.0, 0)..=(id.0, u32::MAX), |_, _| false)?;
        retired = store.blobs().retire(Owner::Key(id))?;
        Ok(Deleted::Done)
    });
    store.settle(retired, outcome)
}
