//! Bytes of keys and jobs by name, wherever they are kept.
//!
//! The job table records the length and the digest of the bytes; the bytes themselves are here. A process that only runs jobs needs
//! [`Blobs`], and no table. The process with the table also takes bytes in, and removes them as its records come and go: [`Keeper`].

mod cached;
mod files;
#[cfg(feature = "cluster")]
mod remote;

pub use cached::CachedBlobs;
pub use files::FileBlobs;
#[cfg(feature = "cluster")]
pub use remote::RemoteBlobs;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::id::Id;
use crate::store::files::{Expected, ReadError};

/// The name of stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Blob {
    /// A piece of an evaluation key set.
    KeyPart(Id, u32),
    /// The input of a job.
    Input(Id),
    /// The result of a job.
    Result(Id),
}

impl Blob {
    /// The path of the blob's file in the data folder `root`.
    pub fn path(self, root: &Path) -> PathBuf {
        let name = match self {
            Self::KeyPart(_, index) => index.to_string(),
            Self::Input(_) => "input".to_owned(),
            Self::Result(_) => "result".to_owned(),
        };
        self.owner().folder(root).join(name)
    }

    /// The key set or job that the bytes belong to.
    pub fn owner(self) -> Owner {
        match self {
            Self::KeyPart(key, _) => Owner::Key(key),
            Self::Input(job) | Self::Result(job) => Owner::Job(job),
        }
    }
}

/// What bytes belong to, and are removed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// An evaluation key set.
    Key(Id),
    /// A job.
    Job(Id),
}

impl Owner {
    /// The folder of the owner's bytes in the data folder `root`.
    pub fn folder(self, root: &Path) -> PathBuf {
        match self {
            Self::Key(id) => root.join("keys").join(id.to_string()),
            Self::Job(id) => root.join("jobs").join(id.to_string()),
        }
    }
}

/// The outcome of storing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// They are stored.
    New,
    /// The same bytes had the name before.
    Same,
    /// Other bytes had the name before, and still do.
    Differs,
}

/// The store of objects cannot be reached: which one, and why.
#[derive(Debug)]
pub struct Unreachable(pub String);

impl Unreachable {
    /// Whether an error is of this kind.
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Self>)
    }
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

impl From<Unreachable> for io::Error {
    fn from(unreachable: Unreachable) -> Self {
        Self::other(unreachable)
    }
}

/// Stored bytes that were compared with their record, to be sent on.
#[derive(Debug)]
pub enum Source {
    /// A file, at its beginning.
    File(File),
    /// All bytes, in memory.
    Bytes(Vec<u8>),
}

impl Source {
    /// All bytes.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(self) -> io::Result<Vec<u8>> {
        match self {
            Self::File(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::Bytes(bytes) => Ok(bytes),
        }
    }
}

/// A store of bytes. Bytes that [`put`](Self::put) has accepted survive the death of the process and of the machine. Bytes under a name are
/// there whole or not at all, and never change.
pub trait Blobs: Send + Sync + 'static {
    /// Stores bytes under a name that nothing has.
    ///
    /// # Errors
    /// They cannot be stored, for the moment. They may be there all the same.
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put>;

    /// The bytes of a name, checked against what a record says of them.
    ///
    /// # Errors
    /// They are absent or not what was stored, or cannot be read for the moment.
    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError>;

    /// Checks that a name has as many bytes as a record says.
    ///
    /// # Errors
    /// There are none or not as many, or that cannot be told for the moment.
    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError>;

    /// The places in `wanted` of the names that do not have as many bytes as their records say.
    ///
    /// # Errors
    /// It cannot be told for the moment.
    fn missing(&self, wanted: &[(Blob, Expected)]) -> io::Result<Vec<usize>> {
        let mut missing = Vec::new();
        for (place, (blob, expected)) in wanted.iter().enumerate() {
            match self.look(*blob, *expected) {
                Ok(()) => {}
                Err(ReadError::Damaged(_)) => missing.push(place),
                Err(ReadError::Io(error)) => return Err(error),
            }
        }
        Ok(missing)
    }

    /// Removes a name and its bytes; it is not an error if there are none.
    ///
    /// # Errors
    /// They cannot be removed, for the moment.
    fn remove(&self, blob: Blob) -> io::Result<()>;

    /// Checks that this is where the front keeps its bytes: a folder that was unmounted, or another bucket, is not.
    ///
    /// # Errors
    /// It is not, or cannot be reached.
    fn check(&self) -> io::Result<()>;

    /// Checks that `bytes` bytes could be stored now, as far as that can be told without storing them for good.
    ///
    /// # Errors
    /// They could not.
    fn try_room(&self, bytes: u64) -> io::Result<()> {
        let _ = bytes;
        self.check()
    }

    /// As [`get`](Self::get), for a caller that sends the bytes on.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    fn open(&self, blob: Blob, expected: Expected) -> Result<Source, ReadError> {
        self.get(blob, expected).map(Source::Bytes)
    }
}

/// What the job table says about stored bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A record lists them.
    Recorded,
    /// They belong to a key set or a job that has a record, but the record does not list them.
    Superfluous,
    /// They belong to a key set or a job that has no record.
    Ownerless,
}

/// Tells the standing of a name's bytes with this digest; `None` where the digest is not known.
pub type StandingOf<'a> = &'a dyn Fn(Blob, Option<[u8; 32]>) -> io::Result<Standing>;

/// Stored bytes, for the one process that has the records of them.
pub trait Keeper: Blobs {
    /// Makes sure that the bytes kept here are those of the data folder with this identifier, and of no other. If the folder is new and
    /// nothing is kept here yet, this place belongs to it from now on.
    ///
    /// # Errors
    /// They are not, or it cannot be told: the reason and the repair.
    fn claim(&self, folder: Id, is_new: bool) -> Result<(), String>;

    /// Brings bytes to where they are kept, which may take long, so that [`Staged::publish`] is quick.
    ///
    /// # Errors
    /// They cannot be stored, for the moment.
    fn stage(&self, blob: Blob, bytes: &[u8]) -> io::Result<Box<dyn Staged + '_>>;

    /// Notes that bytes which had this name, or were to have it, may be left over; the next [`sweep`](Self::sweep) looks for them.
    fn suspect(&self, blob: Blob);

    /// Takes away the names of all bytes of an owner, so that the names can be used anew; [`Retired::settle`] then removes the bytes.
    /// `None` if the owner has none.
    ///
    /// # Errors
    /// The names cannot be taken.
    fn retire(&self, owner: Owner) -> io::Result<Option<Box<dyn Retired + '_>>>;

    /// Removes what is left of a job that has no record and will get none.
    ///
    /// # Errors
    /// It cannot be removed, for the moment.
    fn forget(&self, job: Id) -> io::Result<()>;

    /// Removes stored bytes that no record lists, wherever there may be any. Others may be at work meanwhile.
    ///
    /// # Errors
    /// They cannot be listed or removed, for the moment.
    fn sweep(&self, standing: StandingOf<'_>) -> io::Result<()>;
}

/// Bytes that are stored but do not have their name yet. Nothing removes them before this is dropped, which is to be after the transaction
/// that records them. If that has failed they are removed then, or later.
pub trait Staged {
    /// Gives the bytes their name, replacing any that had it. Called once, in the transaction that records them.
    ///
    /// # Errors
    /// The name cannot be given.
    fn publish(&mut self) -> io::Result<()>;

    /// Notes that the transaction which records them is on disk.
    fn recorded(&mut self) {}
}

/// Bytes that have lost their names.
pub trait Retired {
    /// Removes them if the transaction that took the names is on disk, and gives the names back otherwise.
    fn settle(self: Box<Self>, is_on_disk: bool, standing: StandingOf<'_>);
}
