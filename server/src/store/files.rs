//! Files that are either complete or absent.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of a file being written; such files are removed when the store is opened.
const PARTIAL: &str = "partial";

/// A file that has all its bytes on disk but not yet its name.
pub struct Written {
    path: PathBuf,
}

impl Written {
    /// Writes `bytes` beside their later place and flushes them.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if !folder.is_dir() {
            fs::create_dir_all(folder)?;
            sync_folder(folder.parent().unwrap_or(Path::new(".")))?;
        }
        let path = folder.join(format!("{}.{PARTIAL}", NEXT.fetch_add(1, Ordering::Relaxed)));
        let written = Self { path };
        let mut file = File::create(&written.path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(written)
    }

    /// Gives the file its name, replacing what had it, and flushes the folder.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn publish(self, name: &str) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
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

/// Removes a folder and its files; an absent folder is no error.
///
/// # Errors
/// The disk refuses.
pub fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        other => other,
    }
}

/// Removes what was being written in a folder when its process ended.
///
/// # Errors
/// The disk refuses.
pub fn remove_partial(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == PARTIAL) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Makes new names in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
