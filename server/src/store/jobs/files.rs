//! What a job has on disk: its input until it has ended, and its result.

use std::fs::File;

use super::JobRecord;
use crate::blobs::Blob;
use crate::store::files::{self, Expected, ReadError};
use crate::store::{Store, StoreError};

/// The result of a job that is done, checked and opened at its beginning.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn result(store: &Store, record: &JobRecord) -> Result<File, ReadError> {
    let (digest, length) =
        record.result.as_ref().map_or((None, 0), |(digest, length)| (Some(digest), *length));
    let expected = Expected::new(length, digest.map(String::as_str));
    expected.open(&Blob::Result(record.id).path(store.root()))
}

/// Removes the files that a job which has ended does not need: its input, a result that its record does not have, and its folder
/// if nothing is in it.
///
/// # Errors
/// The disk refuses.
pub fn drop_files(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    files::remove_file(&Blob::Input(record.id).path(store.root()))?;
    if record.result.is_none() {
        files::remove_file(&Blob::Result(record.id).path(store.root()))?;
        // Whatever else somebody put there stays.
        let _ = std::fs::remove_dir(store.job_folder(record.id));
    }
    Ok(())
}
