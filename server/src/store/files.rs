//! Files that are either complete or absent, and the removal of folders.

use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::id::unhex;
use crate::system::files::{create_new, make_folders, sync_folder};

/// Ending of the name of a file being written.
const PARTIAL: &str = "partial";

/// A file that has all its bytes on disk but not yet its name.
pub struct Written {
    path: PathBuf,
}

impl Written {
    /// Writes `bytes` into a file in `folder`, which other processes may write to as well, and flushes them.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn new(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        Self::write(folder, bytes).map_err(doing("write a file in", folder))
    }

    fn write(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let path = folder.join(format!("{}.{PARTIAL}", u64::from_le_bytes(number)));
        let mut file = create_new(&path)?;
        let written = Self { path };
        file.write_all(bytes)?;
        file.sync_all()?;
        Ok(written)
    }

    /// Gives the file its name in `folder`, which is made when absent, replacing any file that had it, and flushes the folder.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn publish(self, folder: &Path, name: &str) -> io::Result<()> {
        let rename = || {
            make_folder(folder)?;
            fs::rename(&self.path, folder.join(name))?;
            sync_folder(folder)
        };
        rename().map_err(doing("give a file its name below", above(folder)))
    }

    /// As [`publish`](Self::publish), but replaces nothing: returns whether the name was free. If the file system has no hard links, two
    /// processes that publish at the same moment both succeed.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn publish_new(self, folder: &Path, name: &str) -> io::Result<bool> {
        make_folder(folder).map_err(doing("make a folder in", above(folder)))?;
        let path = folder.join(name);
        match fs::hard_link(&self.path, &path) {
            Ok(()) => sync_folder(folder).map(|()| true),
            Err(_) if path.try_exists()? => Ok(false),
            Err(_) => self.publish(folder, name).map(|()| true),
        }
    }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    make_folders(folder)?;
    sync_folder(above(folder))
}

fn above(folder: &Path) -> &Path {
    folder.parent().unwrap_or(Path::new("."))
}

/// Says what was being done where, in words that are the same for every file there: the log has each failure once.
fn doing(what: &str, folder: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("cannot {what} {}: {error}", folder.display()))
}

impl Drop for Written {
    /// Removes the file unless it was published.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Why a stored object cannot be had.
#[derive(Debug)]
pub enum ReadError {
    /// It is absent or not what was stored.
    Damaged(String),
    /// The system does not give it, for the moment.
    Io(io::Error),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(what) => f.write_str(what),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Length and digest of a stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// Number of bytes.
    pub length: u64,
    /// BLAKE3 of them; `None` for objects that a version without digests stored.
    pub digest: Option<[u8; 32]>,
}

impl Expected {
    /// What a record says, with the digest in hexadecimal.
    pub fn new(length: u64, digest: Option<&str>) -> Self {
        let mut bytes = [0; 32];
        Self { length, digest: digest.map(|text| unhex(text, &mut bytes).map_or([0; 32], |()| bytes)) }
    }

    /// Reads the object whole.
    ///
    /// # Errors
    /// It is damaged, or cannot be read.
    pub fn read(self, path: &Path) -> Result<Vec<u8>, ReadError> {
        let file = self.open_unchecked(path)?;
        let mut bytes = Vec::with_capacity(self.length as usize);
        file.take(self.length).read_to_end(&mut bytes)?;
        self.check(path, bytes.len() as u64, &blake3::hash(&bytes))?;
        Ok(bytes)
    }

    /// Checks the object without holding it in memory, and gives it opened at its beginning.
    ///
    /// # Errors
    /// It is damaged, or cannot be read.
    pub fn open(self, path: &Path) -> Result<File, ReadError> {
        let mut file = self.open_unchecked(path)?;
        let mut hasher = blake3::Hasher::new();
        let length = io::copy(&mut (&mut file).take(self.length), &mut hasher)?;
        self.check(path, length, &hasher.finalize())?;
        file.rewind()?;
        Ok(file)
    }

    /// Looks whether the object is there with its length.
    ///
    /// # Errors
    /// It is not, or the system does not tell.
    pub fn look(self, path: &Path) -> Result<(), ReadError> {
        match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(absent(path)),
            other => self.check_length(path, other?.len()),
        }
    }

    fn open_unchecked(self, path: &Path) -> Result<File, ReadError> {
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(absent(path)),
            other => other?,
        };
        self.check_length(path, file.metadata()?.len())?;
        Ok(file)
    }

    fn check(self, path: &Path, length: u64, digest: &blake3::Hash) -> Result<(), ReadError> {
        self.check_length(path, length)?;
        if self.digest.is_some_and(|expected| expected != *digest.as_bytes()) {
            return Err(ReadError::Damaged(format!(
                "{} is not what was stored; the disk altered it",
                path.display()
            )));
        }
        Ok(())
    }

    fn check_length(self, path: &Path, found: u64) -> Result<(), ReadError> {
        if found == self.length {
            return Ok(());
        }
        Err(ReadError::Damaged(format!(
            "{} has {found} bytes, its record says {}",
            path.display(),
            self.length
        )))
    }
}

fn absent(path: &Path) -> ReadError {
    ReadError::Damaged(format!("{} is absent", path.display()))
}

/// Removes a file; an absent one is not an error.
///
/// # Errors
/// The disk refuses.
pub fn remove_file(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(in_file(path)(error)),
        _ => Ok(()),
    }
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
        // A worker may have just given it its name.
        remove_file(&entry.path())?;
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

/// Says which file an error is about.
pub fn in_file(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.display().to_string();
    move |error| StoreError::Io(io::Error::new(error.kind(), format!("{path}: {error}")))
}
