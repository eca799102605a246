//! Finds stored pieces of key sets that are damaged or gone: whenever a set is asked for, written or sealed, and when a job cannot read
//! its keys.

use redb::ReadableTable;

use super::{KeyState, Part, parts, write};
use crate::blobs::Blob;
use crate::id::Id;
use crate::store::files::{Expected, ReadError};
use crate::store::{PARTS, Store, StoreError, now};

/// Which parts of a key set are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Presence and length of every piece.
    Sizes,
    /// The digest of one piece.
    Piece(u32),
    /// The digests of all pieces.
    All,
}

/// A piece by its name, and what its record says.
fn named(id: Id, (index, digest, length): &Part) -> (Blob, Expected) {
    (Blob::KeyPart(id, *index), Expected { length: *length, digest: Some(*digest) })
}

/// Looks at the stored pieces of a key set, marks those that are damaged as missing and opens the set for them to be uploaded
/// again. Returns their indices.
///
/// # Errors
/// A piece cannot be read, or the store fails.
pub fn verify(store: &Store, id: Id, look: Look) -> Result<Vec<u32>, StoreError> {
    let damaged = damaged(store, id, look)?;
    if damaged.is_empty() { Ok(Vec::new()) } else { mark(store, id, &damaged) }
}

/// The pieces that are not what their records say, at this moment: others may be changing the set.
fn damaged(store: &Store, id: Id, look: Look) -> Result<Vec<Part>, StoreError> {
    let parts = parts(store, id)?;
    if matches!(look, Look::Sizes) {
        let wanted: Vec<_> = parts.iter().map(|part| named(id, part)).collect();
        let missing = store.blobs().missing(&wanted).map_err(|error| store.failed(error))?;
        return Ok(missing.into_iter().map(|place| parts[place]).collect());
    }
    let mut damaged = Vec::new();
    for part in parts.iter().filter(|part| !matches!(look, Look::Piece(only) if only != part.0)) {
        if is_damaged(store, id, part)? {
            damaged.push(*part);
        }
    }
    Ok(damaged)
}

fn is_damaged(store: &Store, id: Id, part: &Part) -> Result<bool, StoreError> {
    let (blob, expected) = named(id, part);
    match store.blobs().get(blob, expected) {
        Ok(_) => Ok(false),
        Err(ReadError::Damaged(_)) => Ok(true),
        Err(ReadError::Io(error)) => Err(store.failed(error)),
    }
}

/// Marks as missing those of the pieces that are still damaged. It looks again within the transaction, where nobody else can change
/// them: since the first look the set may have been removed and uploaded once more, with the very same pieces.
fn mark(store: &Store, id: Id, damaged: &[Part]) -> Result<Vec<u32>, StoreError> {
    write(store, |txn, records| {
        let mut parts = txn.open_table(PARTS)?;
        let Some(mut record) = records.get(id)? else { return Ok(Vec::new()) };
        let mut marked = Vec::new();
        for part @ (index, digest, length) in damaged {
            let row = parts.get((id.0, *index))?.map(|value| value.value());
            if row != Some((*digest, *length)) || !is_damaged(store, id, part)? {
                continue;
            }
            parts.remove((id.0, *index))?;
            record.bytes = record.bytes.saturating_sub(*length);
            marked.push(*index);
        }
        if !marked.is_empty() {
            tracing::error!(key = %id, pieces = ?marked, "pieces of a key set are damaged on disk; they have to be uploaded again");
            record.damaged |= record.state == KeyState::Sealed;
            record.state = KeyState::Open;
            record.digest = None;
            record.touched = now();
            records.put(&record)?;
        }
        Ok(marked)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Bounds, KeyRecord, Piece, Stored, delete, open, put_part};
    use super::*;

    #[test]
    fn pieces_that_were_uploaded_anew_since_they_were_looked_at_are_not_marked() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let id = Id([3; 16]);
        let upload = || {
            open(&store, &KeyRecord::new(id, "p", "f", 2), 0, &Bounds::NONE).unwrap();
            for index in 0..2 {
                let piece = Piece { index, bytes: b"bytes", digest: *blake3::hash(b"bytes").as_bytes() };
                assert_eq!(put_part(&store, id, &piece, &Bounds::NONE).unwrap(), Stored::New);
            }
        };
        for look in [Look::Sizes, Look::Piece(1), Look::All] {
            upload();
            std::fs::remove_file(Blob::KeyPart(id, 1).path(folder.path())).unwrap();
            let found = damaged(&store, id, look).unwrap();
            assert_eq!(found.iter().map(|part| part.0).collect::<Vec<_>>(), [1]);
            delete(&store, id, |_| true).unwrap();
            upload();
            assert_eq!(mark(&store, id, &found).unwrap(), [0; 0]);
            assert_eq!(parts(&store, id).unwrap().len(), 2);
            std::fs::remove_file(Blob::KeyPart(id, 1).path(folder.path())).unwrap();
            assert_eq!(verify(&store, id, look).unwrap(), [1]);
            delete(&store, id, |_| true).unwrap();
        }
    }
}
