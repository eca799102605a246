//! What a job has stored: its input until it has ended, and its result.

use super::JobRecord;
use crate::blobs::{Blob, Source};
use crate::store::files::{Expected, ReadError};
use crate::store::{Store, StoreError};

/// The result of a job that is done, checked and at its beginning.
///
/// # Errors
/// It is damaged or cannot be read.
pub fn result(store: &Store, record: &JobRecord) -> Result<Source, ReadError> {
    let (digest, length) =
        record.result.as_ref().map_or((None, 0), |(digest, length)| (Some(digest), *length));
    store.blobs().open(Blob::Result(record.id), Expected::new(length, digest.map(String::as_str)))
}

/// Removes what a job that has ended does not need: its input, and a result that its record does not list.
///
/// # Errors
/// It cannot be removed, for the moment.
pub fn drop_files(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    store.blobs().remove(Blob::Input(record.id))?;
    if record.result.is_none() {
        store.blobs().remove(Blob::Result(record.id))?;
    }
    Ok(())
}
