//! What a job has on disk: its input until it has ended, and its result.

use std::fs::File;

use super::JobRecord;
use crate::store::files::{self, Expected, ReadError};
use crate::store::{Store, StoreError};

/// The ciphertext to work on.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn input(store: &Store, record: &JobRecord) -> Result<Vec<u8>, ReadError> {
    let expected = Expected::new(record.input_bytes, record.input_digest.as_deref());
    expected.read(&store.job_folder(record.id).join("input"))
}

/// The result of a job that is done, checked and opened at its beginning.
///
/// # Errors
/// The file is damaged or cannot be read.
pub fn result(store: &Store, record: &JobRecord) -> Result<File, ReadError> {
    let (digest, length) =
        record.result.as_ref().map_or((None, 0), |(digest, length)| (Some(digest), *length));
    let expected = Expected::new(length, digest.map(String::as_str));
    expected.open(&store.job_folder(record.id).join("result"))
}

/// Removes the files that a job which has ended does not need: its input, a result that its record does not have, and its folder
/// if nothing is in it.
///
/// # Errors
/// The disk refuses.
pub fn drop_files(store: &Store, record: &JobRecord) -> Result<(), StoreError> {
    let folder = store.job_folder(record.id);
    files::remove_file(&folder.join("input"))?;
    if record.result.is_none() {
        files::remove_file(&folder.join("result"))?;
        // Whatever else somebody put there stays.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(())
}
