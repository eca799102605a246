//! Files that are either complete or absent, and the removal of folders.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::StoreError;

/// Ending of the name of a file being written.
const PARTIAL: &str = "partial";

/// A file that has all its bytes on disk but not yet its name.
pub struct Written {
    path: PathBuf,
}

impl Written {
    /// Writes `bytes` into a file in `folder` and flushes them.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let path = folder.join(format!("{}.{PARTIAL}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let written = Self { path };
        let mut file = File::create(&written.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(written)
    }

    /// Gives the file its name in `folder`, which is made when absent, replacing what had it, and flushes the folder.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn publish(self, folder: &Path, name: &str) -> io::Result<()> {
        if !folder.is_dir() {
            fs::create_dir_all(folder)?;
            sync_folder(folder.parent().unwrap_or(Path::new(".")))?;
        }
        fs::rename(&self.path, folder.join(name))?;
        sync_folder(folder)
    }
}

impl Drop for Written {
    /// Removes the file unless it was published.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads a file whose length is known, and nothing longer.
///
/// # Errors
/// The file is absent, unreadable, or of another length.
pub fn read_exact(path: &Path, length: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    if found != length {
        return Err(io::Error::other(format!(
            "{} has {found} bytes, its record says {length}",
            path.display()
        )));
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a file in a folder of a key set or job has a name that the server gives: of a piece, an input, a result, or of one
/// being written.
pub fn is_ours(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let named = name.to_str().is_some_and(|name| {
        matches!(name, "input" | "result")
            || is_number(name.strip_suffix(PARTIAL).and_then(|name| name.strip_suffix('.')).unwrap_or(name))
    });
    named && entry.file_type().is_ok_and(|kind| kind.is_file())
}

/// Whether a file was being written by the server.
pub fn is_partial(entry: &DirEntry) -> bool {
    is_ours(entry) && Path::new(&entry.file_name()).extension().is_some_and(|ending| ending == PARTIAL)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

/// Removes what was being written in a folder when its process ended.
///
/// # Errors
/// The disk refuses.
pub fn remove_partial(folder: &Path) -> Result<(), StoreError> {
    for entry in entries(folder)?.iter().filter(|entry| is_partial(entry)) {
        fs::remove_file(entry.path()).map_err(in_file(&entry.path()))?;
    }
    Ok(())
}

/// Removes the server's files in a folder, and the folder if nothing else is in it. Returns whether it has gone.
///
/// # Errors
/// The disk refuses.
pub fn remove_folder(folder: &Path) -> Result<bool, StoreError> {
    for entry in entries(folder)?.iter().filter(|entry| is_ours(entry)) {
        fs::remove_file(entry.path()).map_err(in_file(&entry.path()))?;
    }
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        other => other.map(|()| true).map_err(in_file(folder)),
    }
}

/// What is in a folder.
///
/// # Errors
/// The disk refuses.
pub fn entries(folder: &Path) -> Result<Vec<DirEntry>, StoreError> {
    fs::read_dir(folder).and_then(Iterator::collect).map_err(in_file(folder))
}

/// Makes new names in a folder durable.
///
/// # Errors
/// The disk refuses.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Says which file an error is about.
pub fn in_file(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.display().to_string();
    move |error| StoreError::Io(io::Error::new(error.kind(), format!("{path}: {error}")))
}
