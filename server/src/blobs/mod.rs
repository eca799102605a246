//! Bytes of keys and jobs by name, wherever they are kept.
//!
//! A record of the job table says how long the bytes of a name are and what their digest is; here are the bytes. What runs a job needs
//! these alone, and not the table.

mod cached;
mod files;

pub use cached::CachedBlobs;
pub use files::FileBlobs;

use std::io;
use std::path::{Path, PathBuf};

use crate::id::Id;
use crate::store::files::{Expected, ReadError};

/// The name of stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Blob {
    /// A piece of an evaluation key set.
    KeyPart(Id, u32),
    /// What a job works on.
    Input(Id),
    /// What a job has made.
    Result(Id),
}

impl Blob {
    /// Where it is below a data folder.
    pub fn path(self, root: &Path) -> PathBuf {
        match self {
            Self::KeyPart(key, index) => root.join("keys").join(key.to_string()).join(index.to_string()),
            Self::Input(job) => root.join("jobs").join(job.to_string()).join("input"),
            Self::Result(job) => root.join("jobs").join(job.to_string()).join("result"),
        }
    }
}

/// What came of storing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// They are stored.
    New,
    /// The same bytes had the name before.
    Same,
    /// Other bytes had the name before, and still do.
    Differs,
}

/// Stored bytes. What [`put`](Self::put) has answered for survives the death of the process and of the machine; bytes under a name are
/// there whole or not at all, and never change.
pub trait Blobs: Send + Sync + 'static {
    /// Stores bytes under a name that nothing has.
    ///
    /// # Errors
    /// They cannot be stored, for the moment. They may be there all the same.
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put>;

    /// The bytes of a name, compared with what a record says of them.
    ///
    /// # Errors
    /// They are absent or not what was stored, or cannot be read for the moment.
    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError>;

    /// How many bytes a name has; `None` if there is nothing.
    ///
    /// # Errors
    /// They cannot be looked at, for the moment.
    fn head(&self, blob: Blob) -> io::Result<Option<u64>>;

    /// Takes a name away with its bytes; that there is nothing is no error.
    ///
    /// # Errors
    /// They cannot be removed, for the moment.
    fn remove(&self, blob: Blob) -> io::Result<()>;
}
