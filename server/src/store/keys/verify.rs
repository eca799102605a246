//! Finds stored pieces that are damaged or gone.

use redb::ReadableTable;

use super::{KeyState, Part, parts, write};
use crate::blobs::Blob;
use crate::id::Id;
use crate::store::files::{Expected, ReadError};
use crate::store::{PARTS, Store, StoreError, now};

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
    let mut damaged = Vec::new();
    let parts = parts(store, id)?;
    if matches!(look, Look::Sizes) {
        let wanted: Vec<_> = parts.iter().map(|part| named(id, part)).collect();
        let missing = store.blobs().missing(&wanted).map_err(|error| store.failed(error))?;
        damaged.extend(missing.into_iter().map(|place| (parts[place].0, parts[place].1)));
    } else {
        for part in parts.iter().filter(|part| !matches!(look, Look::Piece(only) if only != part.0)) {
            let (blob, expected) = named(id, part);
            match store.blobs().get(blob, expected) {
                Ok(_) => {}
                Err(ReadError::Damaged(_)) => damaged.push((part.0, part.1)),
                Err(ReadError::Io(error)) => return Err(store.failed(error)),
            }
        }
    }
    if damaged.is_empty() {
        return Ok(Vec::new());
    }
    write(store, |txn, records| {
        let mut parts = txn.open_table(PARTS)?;
        let Some(mut record) = records.get(id)? else { return Ok(Vec::new()) };
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
            records.put(&record)?;
        }
        Ok(marked)
    })
}
