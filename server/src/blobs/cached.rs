//! Pieces of keys on a disk of this machine, in front of stored bytes that are farther away.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::{Blob, Blobs, Put};
use crate::id::{hex, unhex};
use crate::recency::Recency;
use crate::store::files::{Expected, ReadError};
use crate::system;

type Digest = [u8; 32];

/// Bytes of free space that are left on the disk for others.
const MIN_FREE: u64 = 256 << 20;

/// Ending of the name of a copy that is being written.
const PARTIAL: &str = ".partial";

/// Stored bytes, with copies of pieces of keys in a local folder of bounded size; the least recently read copies go first. Each copy is
/// named by its digest and checked against it whenever it is read. Trouble with the folder costs only time.
pub struct CachedBlobs {
    behind: Arc<dyn Blobs>,
    folder: PathBuf,
    most: u64,
    /// Free bytes on the disk of a folder; `None` where the system does not say.
    free: fn(&Path) -> Option<u64>,
    /// Copies by digest, in the order in which they were last read.
    copies: Mutex<Recency<Digest, ()>>,
}

impl CachedBlobs {
    /// Keeps copies of up to `most` bytes in all in `folder`, which is created if absent. Files there with other names are left alone.
    ///
    /// # Errors
    /// The folder cannot be made or listed.
    pub fn new(behind: Arc<dyn Blobs>, folder: &Path, most: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if name.strip_suffix(PARTIAL).is_some_and(|name| digest_of(name).is_some()) {
                // Its writer has died, or will write it anew.
                let _ = fs::remove_file(entry.path());
            } else if let (Some(digest), Ok(metadata)) = (digest_of(name), entry.metadata()) {
                found.push((metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), digest, metadata.len()));
            }
        }
        found.sort();
        let free = |folder: &Path| system::files::free_bytes(folder).ok().flatten();
        let this = Self { behind, folder: folder.to_owned(), most, free, copies: Mutex::default() };
        for (_, digest, length) in found {
            this.keep(digest, length);
        }
        Ok(this)
    }

    /// Bytes of all copies.
    pub fn bytes(&self) -> u64 {
        self.copies().bytes()
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.folder.join(hex(digest))
    }

    /// The copy, if there is a sound one.
    fn copy(&self, digest: &Digest, expected: Expected) -> Option<Vec<u8>> {
        self.copies().peek(digest)?;
        match expected.read(&self.path(digest)) {
            Ok(bytes) => {
                self.keep(*digest, expected.length);
                Some(bytes)
            }
            Err(error) => {
                tracing::warn!(%error, "a copy of a key is dropped");
                self.drop_copy(digest);
                None
            }
        }
    }

    /// Writes a copy under a temporary name first, so that a file with a final name is always whole.
    fn write(&self, digest: &Digest, bytes: &[u8]) -> io::Result<()> {
        let partial = self.folder.join(format!("{}{PARTIAL}", hex(digest)));
        let written = fs::File::create(&partial).and_then(|mut file| file.write_all(bytes));
        let named = written.and_then(|()| fs::rename(&partial, self.path(digest)));
        if named.is_err() {
            let _ = fs::remove_file(&partial);
        }
        named
    }

    /// Notes that a copy is there and was read just now, and removes others until all fit.
    fn keep(&self, digest: Digest, length: u64) {
        let mut removed = Vec::new();
        let mut copies = self.copies();
        copies.insert(digest, length, ());
        while copies.bytes() > self.most
            && let Some((oldest, ())) = copies.take_oldest(|()| true)
        {
            removed.push(oldest);
        }
        drop(copies);
        for digest in removed {
            let _ = fs::remove_file(self.path(&digest));
        }
    }

    /// Whether the disk, which others also write to, has room for another `length` bytes.
    fn has_room(&self, length: u64) -> bool {
        (self.free)(&self.folder).is_none_or(|free| free > length.saturating_add(MIN_FREE))
    }

    fn drop_copy(&self, digest: &Digest) {
        self.copies().remove(digest);
        let _ = fs::remove_file(self.path(digest));
    }

    fn copies(&self) -> MutexGuard<'_, Recency<Digest, ()>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The digest that is the name of a copy; `None` for other names.
fn digest_of(name: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    unhex(name, &mut digest).map(|()| digest)
}

impl Blobs for CachedBlobs {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        self.behind.put(blob, bytes)
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        let (Blob::KeyPart(..), Some(digest)) = (blob, expected.digest) else {
            return self.behind.get(blob, expected);
        };
        if let Some(bytes) = self.copy(&digest, expected) {
            return Ok(bytes);
        }
        let bytes = self.behind.get(blob, expected)?;
        if expected.length <= self.most && self.has_room(expected.length) {
            match self.write(&digest, &bytes) {
                Ok(()) => self.keep(digest, expected.length),
                Err(error) => tracing::debug!(%error, "no copy of a key could be written"),
            }
        }
        Ok(bytes)
    }

    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError> {
        self.behind.look(blob, expected)
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        self.behind.remove(blob)
    }

    fn check(&self) -> io::Result<()> {
        self.behind.check()
    }

    fn try_room(&self, bytes: u64) -> io::Result<()> {
        self.behind.try_room(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::id::Id;

    /// Pieces of 10 bytes that are all the piece's index, and how often one was read.
    #[derive(Default)]
    struct Far(AtomicUsize);

    fn piece(index: u32) -> Vec<u8> {
        vec![index as u8; 10]
    }

    fn expected(index: u32) -> Expected {
        Expected { length: 10, digest: Some(*blake3::hash(&piece(index)).as_bytes()) }
    }

    impl Blobs for Far {
        fn put(&self, _: Blob, _: &[u8]) -> io::Result<Put> {
            Ok(Put::New)
        }
        fn get(&self, blob: Blob, _: Expected) -> Result<Vec<u8>, ReadError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            match blob {
                Blob::KeyPart(_, index) if index < 100 => Ok(piece(index)),
                _ => Err(ReadError::Damaged("absent".into())),
            }
        }
        fn look(&self, _: Blob, _: Expected) -> Result<(), ReadError> {
            Ok(())
        }
        fn remove(&self, _: Blob) -> io::Result<()> {
            Ok(())
        }
        fn check(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn copies_are_read_in_place_of_the_pieces_while_they_are_sound_and_fit() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes"), "not ours").unwrap();
        fs::write(folder.path().join(format!("{}{PARTIAL}", hex(&[7; 32]))), "begun").unwrap();
        let far = Arc::new(Far::default());
        let open = || CachedBlobs::new(Arc::clone(&far) as Arc<dyn Blobs>, folder.path(), 30).unwrap();
        let key = Id([1; 16]);
        let read = |blobs: &CachedBlobs, index| {
            let before = far.0.load(Ordering::Relaxed);
            let bytes = blobs.get(Blob::KeyPart(key, index), expected(index)).unwrap();
            assert_eq!(bytes, piece(index));
            far.0.load(Ordering::Relaxed) > before
        };
        let blobs = open();
        assert!([0, 1, 2].map(|index| read(&blobs, index)) == [true; 3] && blobs.bytes() == 30);
        assert!(!read(&blobs, 0));
        // The fourth takes the place of the one that was read longest ago.
        assert!(read(&blobs, 3) && !read(&blobs, 0) && !read(&blobs, 2) && read(&blobs, 1));
        assert_eq!(blobs.bytes(), 30);
        // An altered copy is found out, and so is one that is gone or too short.
        let path = |index| folder.path().join(hex(&expected(index).digest.unwrap()));
        fs::write(path(1), [9; 10]).unwrap();
        assert!(read(&blobs, 1) && !read(&blobs, 1));
        fs::write(path(1), [1; 9]).unwrap();
        assert!(read(&blobs, 1) && !read(&blobs, 1));
        fs::remove_file(path(1)).unwrap();
        assert!(read(&blobs, 1) && !read(&blobs, 1) && blobs.bytes() == 30);
        // Copies outlive the process, and nothing else in the folder is touched.
        let blobs = open();
        assert!(!read(&blobs, 1) && blobs.bytes() == 30);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
        assert_eq!(fs::read(folder.path().join("notes")).unwrap(), b"not ours");
        // Blobs that are not pieces of keys, have no digest, or are absent are asked for behind the cache.
        assert!(
            blobs.get(Blob::Input(key), expected(0)).is_err()
                && blobs.get(Blob::KeyPart(key, 100), expected(100)).is_err()
        );
        let unsure = Expected { digest: None, ..expected(1) };
        let before = far.0.load(Ordering::Relaxed);
        assert!(
            blobs.get(Blob::KeyPart(key, 1), unsure).is_ok() && far.0.load(Ordering::Relaxed) == before + 1
        );
    }

    #[test]
    fn a_folder_that_takes_nothing_costs_time_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let far = Arc::new(Far::default());
        let blobs = CachedBlobs::new(Arc::clone(&far) as Arc<dyn Blobs>, &cache, 30).unwrap();
        fs::remove_dir(&cache).unwrap();
        for _ in 0..2 {
            assert_eq!(blobs.get(Blob::KeyPart(Id([1; 16]), 5), expected(5)).unwrap(), piece(5));
        }
        assert_eq!((far.0.load(Ordering::Relaxed), blobs.bytes()), (2, 0));
    }

    #[test]
    fn the_rest_of_the_disk_is_left_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let far = Arc::new(Far::default());
        let mut blobs = CachedBlobs::new(Arc::clone(&far) as Arc<dyn Blobs>, folder.path(), 30).unwrap();
        for (free, kept) in [(Some(MIN_FREE + 10), 0), (Some(0), 0), (Some(MIN_FREE + 11), 10), (None, 10)] {
            blobs.free = match free {
                None => |_| None,
                Some(0) => |_| Some(0),
                Some(free) if free == MIN_FREE + 10 => |_| Some(MIN_FREE + 10),
                Some(_) => |_| Some(MIN_FREE + 11),
            };
            assert_eq!(blobs.get(Blob::KeyPart(Id([1; 16]), 5), expected(5)).unwrap(), piece(5));
            assert_eq!(blobs.bytes(), kept, "{free:?}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_costs_time_alone_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let far = Arc::new(Far::default());
        let blobs = CachedBlobs::new(Arc::clone(&far) as Arc<dyn Blobs>, folder.path(), 30).unwrap();
        let read = || blobs.get(Blob::KeyPart(Id([1; 16]), 5), expected(5)).unwrap();
        // Nothing can be written to this file for want of room.
        let partial = folder.path().join(format!("{}{PARTIAL}", hex(&expected(5).digest.unwrap())));
        std::os::unix::fs::symlink("/dev/full", &partial).unwrap();
        assert_eq!((read(), blobs.bytes()), (piece(5), 0));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        // There is room again.
        assert_eq!((read(), blobs.bytes(), read()), (piece(5), 10, piece(5)));
        assert_eq!(far.0.load(Ordering::Relaxed), 2);
    }
}
