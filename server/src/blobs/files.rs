//! Bytes as files of the data folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Blob, Blobs, Put};
use crate::store::files::{Expected, ReadError, Written};
use crate::system::files::sync_folder;

/// The files of a data folder that a [`crate::store::Store`] has open.
pub struct FileBlobs {
    root: PathBuf,
}

impl FileBlobs {
    /// Those of a data folder.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }
}

impl Blobs for FileBlobs {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        let path = blob.path(&self.root);
        let expected = Expected { length: bytes.len() as u64, digest: Some(*blake3::hash(bytes).as_bytes()) };
        if path.try_exists()? {
            return found(&path, expected);
        }
        let written = Written::new(&self.root.join("incoming"), bytes)?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str()))
        else {
            return Err(io::Error::other(format!("{} is no place for a file", path.display())));
        };
        // Another process may have stored the same meanwhile.
        if written.publish_new(folder, name)? { Ok(Put::New) } else { found(&path, expected) }
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        expected.read(&blob.path(&self.root))
    }

    fn head(&self, blob: Blob) -> io::Result<Option<u64>> {
        match blob.path(&self.root).metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other.map(|metadata| Some(metadata.len())),
        }
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        match fs::remove_file(blob.path(&self.root)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// What it means for bytes to be stored that the file of their name was there before.
fn found(path: &Path, expected: Expected) -> io::Result<Put> {
    match expected.open(path) {
        Ok(_) => {
            // An earlier attempt may have given the name, and failed before it was sure to last.
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
            assert_eq!(blobs.head(blob).unwrap(), None);
            assert!(matches!(blobs.get(blob, expected(b"one")), Err(ReadError::Damaged(_))));
            assert_eq!(blobs.put(blob, b"one").unwrap(), Put::New);
            assert_eq!(blobs.put(blob, b"one").unwrap(), Put::Same);
            for other in [b"two".as_slice(), b"", b"longer"] {
                assert_eq!(blobs.put(blob, other).unwrap(), Put::Differs);
                assert!(matches!(blobs.get(blob, expected(other)), Err(ReadError::Damaged(_))));
            }
            assert_eq!(blobs.get(blob, expected(b"one")).unwrap(), b"one");
            assert_eq!(blobs.head(blob).unwrap(), Some(3));
            blobs.remove(blob).unwrap();
            blobs.remove(blob).unwrap();
            assert_eq!(blobs.put(blob, b"two").unwrap(), Put::New);
        }
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }
}
