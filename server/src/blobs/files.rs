//! Bytes as files of the data folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Blob, Blobs, Keeper, Owner, Put, Retired, Source, Staged, StandingOf};
use crate::id::Id;
use crate::store::StoreError;
use crate::store::files::{self, Expected, ReadError, Written};
use crate::store::folder;
use crate::store::leftovers::RetiredFolder;
use crate::system::files::sync_folder;

/// The files of a data folder that a [`crate::store::Store`] has open.
pub struct FileBlobs {
    root: PathBuf,
}

impl FileBlobs {
    /// The files of the data folder at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<Written> {
        Written::new(&self.root.join("incoming"), bytes)
    }
}

/// Folder and name of the file of a blob.
fn place(root: &Path, blob: Blob) -> io::Result<(PathBuf, String)> {
    let path = blob.path(root);
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(folder), Some(name)) => Ok((folder.to_owned(), name.to_owned())),
        _ => Err(io::Error::other(format!("{} is not a place for a file", path.display()))),
    }
}

impl Blobs for FileBlobs {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        let path = blob.path(&self.root);
        let expected = Expected { length: bytes.len() as u64, digest: Some(*blake3::hash(bytes).as_bytes()) };
        if path.try_exists()? {
            return found(&path, expected);
        }
        let written = self.write(bytes)?;
        let (folder, name) = place(&self.root, blob)?;
        // Another process may have stored the same meanwhile.
        if written.publish_new(&folder, &name)? { Ok(Put::New) } else { found(&path, expected) }
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        expected.read(&blob.path(&self.root))
    }

    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError> {
        expected.look(&blob.path(&self.root))
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        let path = blob.path(&self.root);
        files::remove_file(&path).map_err(StoreError::into_io)?;
        if let (Owner::Job(_), Some(folder)) = (blob.owner(), path.parent()) {
            // Fails, and keeps the folder, if anything else is in it: the job's input, or a file that somebody put there.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        folder::check(&self.root).map_err(io::Error::other)
    }

    /// Writes a temporary file, which is removed at once.
    fn try_room(&self, bytes: u64) -> io::Result<()> {
        let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
        self.write(&vec![0; bytes]).map(drop)
    }

    fn open(&self, blob: Blob, expected: Expected) -> Result<Source, ReadError> {
        expected.open(&blob.path(&self.root)).map(Source::File)
    }
}

impl Keeper for FileBlobs {
    /// Nothing to claim: the bytes are in the data folder itself.
    fn claim(&self, _: Id, _: bool) -> Result<(), String> {
        Ok(())
    }

    fn stage(&self, blob: Blob, bytes: &[u8]) -> io::Result<Box<dyn Staged + '_>> {
        let (folder, name) = place(&self.root, blob)?;
        Ok(Box::new(StagedFile { written: Some(self.write(bytes)?), folder, name }))
    }

    /// Nothing to note: a new file takes the place of the old one.
    fn suspect(&self, _: Blob) {}

    fn retire(&self, owner: Owner) -> io::Result<Option<Box<dyn Retired + '_>>> {
        let retired = RetiredFolder::new(&self.root, owner).map_err(StoreError::into_io)?;
        Ok(retired.map(|retired| Box::new(retired) as Box<dyn Retired>))
    }

    fn forget(&self, job: Id) -> io::Result<()> {
        let folder = Owner::Job(job).folder(&self.root);
        if folder.exists() {
            files::remove_folder(&folder).map_err(StoreError::into_io)?;
        }
        Ok(())
    }

    /// Nothing: a data folder is cleared when it is opened.
    fn sweep(&self, _: StandingOf<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// A file that has all its bytes on disk, and the name that it is to get.
struct StagedFile {
    /// `None` once it has its name.
    written: Option<Written>,
    folder: PathBuf,
    name: String,
}

impl Staged for StagedFile {
    fn publish(&mut self) -> io::Result<()> {
        self.written.take().map_or(Ok(()), |written| written.publish(&self.folder, &self.name))
    }
}

/// The outcome of storing bytes under a name that has a file already.
fn found(path: &Path, expected: Expected) -> io::Result<Put> {
    match expected.open(path) {
        Ok(_) => {
            // An earlier attempt may have given the name and failed before the folders were synced.
            for folder in path.ancestors().skip(1).take(2) {
                sync_folder(folder)?;
            }
            Ok(Put::Same)
        }
        Err(ReadError::Damaged(_)) => Ok(Put::Differs),
        Err(ReadError::Io(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(bytes: &[u8]) -> Expected {
        Expected { length: bytes.len() as u64, digest: Some(*blake3::hash(bytes).as_bytes()) }
    }

    #[test]
    fn a_name_keeps_its_bytes_and_tells_when_they_are_altered() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("incoming")).unwrap();
        let blobs = FileBlobs::new(folder.path());
        let key = crate::id::Id([1; 16]);
        for blob in [Blob::KeyPart(key, 7), Blob::Input(key), Blob::Result(key)] {
            assert!(matches!(blobs.look(blob, expected(b"one")), Err(ReadError::Damaged(_))));
            assert!(matches!(blobs.get(blob, expected(b"one")), Err(ReadError::Damaged(_))));
            assert_eq!(blobs.put(blob, b"one").unwrap(), Put::New);
            assert_eq!(blobs.put(blob, b"one").unwrap(), Put::Same);
            for other in [b"two".as_slice(), b"", b"longer"] {
                assert_eq!(blobs.put(blob, other).unwrap(), Put::Differs);
                assert!(matches!(blobs.get(blob, expected(other)), Err(ReadError::Damaged(_))));
            }
            assert_eq!(blobs.get(blob, expected(b"one")).unwrap(), b"one");
            assert!(blobs.look(blob, expected(b"one")).is_ok());
            assert!(matches!(blobs.look(blob, expected(b"longer")), Err(ReadError::Damaged(_))));
            blobs.remove(blob).unwrap();
            blobs.remove(blob).unwrap();
            assert_eq!(blobs.put(blob, b"two").unwrap(), Put::New);
        }
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }
}
