//! Bytes in an object store: S3, and whatever speaks its language.
//!
//! ```text
//! refloat-data.json                 whose they are: the identifier of the front's data folder
//! keys/<key id>/<index>/<digest>    pieces of evaluation keys
//! jobs/<job id>/input               ciphertext to work on
//! jobs/<job id>/result              ciphertext made of it
//! ```
//!
//! all below one prefix, which one front has for itself; its workers only read there and put results.
//!
//! An object store has no transactions and no renaming. So a piece has its digest in its name, and an upload is complete before the
//! transaction that records it: what the table does not have then is rubbish, which is removed when nobody uploads and after another
//! look at the table.

mod client;
mod names;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use object_store::path::Path;
use object_store::{ObjectStore, PutMode};
use serde::{Deserialize, Serialize};

use self::client::{Client, Found};
use self::names::Names;
use super::{Away, Blob, Blobs, Keeper, Owner, Put, Retired, SpokenOf, Staged};
use crate::id::Id;
use crate::store::files::{Expected, ReadError};

const FORMAT: &str = "refloat-data";
const VERSION: u32 = 1;

/// So long a look at the marker counts.
const FRESH: Duration = Duration::from_secs(5);

/// Objects that are removed while uploads wait.
const BATCH: usize = 100;

/// The bytes of one front below a prefix of a bucket.
pub struct RemoteBlobs {
    client: Client,
    names: Names,
    /// Shared by uploads until they are recorded, for themselves by those that remove objects.
    uploads: RwLock<()>,
    rubbish: Mutex<Rubbish>,
    /// When the marker was seen last.
    checked: Mutex<Option<Instant>>,
    /// Whether a removal has failed since it was last said.
    told: AtomicBool,
}

/// Where there may be objects that no record speaks of.
enum Rubbish {
    /// Anywhere: nobody has looked since the start.
    Anywhere,
    /// Below these prefixes.
    Below(Vec<Path>),
}

impl Rubbish {
    /// Prefixes that are remembered; with more, everything is looked at.
    const MOST: usize = 1000;

    fn add(&mut self, prefix: Path) {
        if let Self::Below(prefixes) = self
            && !prefixes.contains(&prefix)
        {
            prefixes.push(prefix);
            if prefixes.len() > Self::MOST {
                *self = Self::Anywhere;
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Marker {
    format: String,
    version: u32,
    id: Id,
}

impl RemoteBlobs {
    /// The bytes below `s3://bucket/prefix`. Endpoint, region and credentials come from the environment (`AWS_ENDPOINT`, `AWS_REGION`,
    /// `AWS_ACCESS_KEY_ID` and so on) or from the machine's role.
    ///
    /// # Errors
    /// The address is none, or the environment makes no sense.
    pub fn connect(address: &str) -> io::Result<Self> {
        let (objects, prefix) = client::s3(address)?;
        Self::new(objects, prefix, address.to_owned())
    }

    /// The bytes in a store of objects below `prefix`, which errors call `shown`.
    ///
    /// # Errors
    /// The system gives no threads.
    pub fn new(objects: Arc<dyn ObjectStore>, prefix: Path, shown: String) -> io::Result<Self> {
        Ok(Self {
            client: Client::new(objects, shown)?,
            names: Names::new(prefix),
            uploads: RwLock::new(()),
            rubbish: Mutex::new(Rubbish::Anywhere),
            checked: Mutex::new(None),
            told: AtomicBool::new(false),
        })
    }

    fn location(&self, blob: Blob, digest: Option<[u8; 32]>) -> io::Result<Path> {
        self.names.of(blob, digest).ok_or_else(|| {
            io::Error::other(format!("{}: {blob:?} has no name without its digest", self.client.shown()))
        })
    }

    /// The marker, if there is one.
    fn marker(&self) -> Result<Option<Marker>, String> {
        let shown = self.client.shown();
        let found = self.client.get(&self.names.marker(), 4096).map_err(|error| error.to_string())?;
        let damaged =
            || format!("{shown}: {} there does not read back; put it back from a backup", names::MARKER);
        let bytes = match found {
            Found::Nothing => return Ok(None),
            Found::Bytes(bytes) => bytes,
            Found::OtherLength(_) => return Err(damaged()),
        };
        let marker: Marker = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if marker.format != FORMAT {
            return Err(damaged());
        }
        if marker.version > VERSION {
            return Err(format!(
                "{shown}: a newer refloat made it (version {} of the format, this refloat knows {VERSION}); start that one, or choose another cluster.blobs",
                marker.version
            ));
        }
        Ok(Some(marker))
    }

    fn no_front(&self) -> String {
        format!(
            "{}: no front keeps its bytes there, as there is no {}; start the front first, or say where it keeps them by cluster.blobs",
            self.client.shown(),
            names::MARKER
        )
    }

    /// What it means that an object is absent: it was altered, unless the whole place is another.
    fn absent(&self, location: &Path) -> ReadError {
        match self.marker() {
            Ok(Some(_)) => ReadError::Damaged(format!("{}: {location} is absent", self.client.shown())),
            Ok(None) => ReadError::Io(Away(self.no_front()).into()),
            Err(error) => ReadError::Io(Away(error).into()),
        }
    }

    fn rubbish(&self) -> MutexGuard<'_, Rubbish> {
        self.rubbish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what no record speaks of below a prefix.
    fn clear(&self, below: Option<&Path>, spoken_of: SpokenOf<'_>) -> io::Result<()> {
        let parsed =
            |location: Path| self.names.parse(&location).map(|(blob, digest)| (location, blob, digest));
        let mut found = Vec::new();
        for (location, blob, digest) in self.client.list(below)?.into_iter().filter_map(parsed) {
            if !spoken_of(blob, digest)? {
                found.push((location, blob, digest));
            }
        }
        for batch in found.chunks(BATCH) {
            let _alone = self.uploads.write().unwrap_or_else(PoisonError::into_inner);
            let mut gone = Vec::new();
            for (location, blob, digest) in batch {
                // It may have been recorded meanwhile.
                if !spoken_of(*blob, *digest)? {
                    gone.push(location.clone());
                }
            }
            self.client.remove(gone)?;
        }
        Ok(())
    }
}

impl Blobs for RemoteBlobs {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        let digest = *blake3::hash(bytes).as_bytes();
        let location = self.location(blob, Some(digest))?;
        if self.client.put(&location, bytes, PutMode::Create)? {
            return Ok(Put::New);
        }
        match self.client.get(&location, bytes.len() as u64)? {
            Found::Bytes(found) if *blake3::hash(&found).as_bytes() == digest => Ok(Put::Same),
            Found::Bytes(_) | Found::OtherLength(_) => Ok(Put::Differs),
            Found::Nothing => Err(io::Error::other(format!(
                "{}: {location} went while it was looked at",
                self.client.shown()
            ))),
        }
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        let location = self.location(blob, expected.digest)?;
        let altered =
            |what: String| ReadError::Damaged(format!("{}: {location} {what}", self.client.shown()));
        match self.client.get(&location, expected.length)? {
            Found::Nothing => Err(self.absent(&location)),
            Found::OtherLength(found) => {
                Err(altered(format!("has {found} bytes, its record says {}", expected.length)))
            }
            Found::Bytes(bytes) => {
                if expected.digest.is_some_and(|digest| digest != *blake3::hash(&bytes).as_bytes()) {
                    return Err(altered("is not what was stored".to_owned()));
                }
                Ok(bytes)
            }
        }
    }

    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError> {
        let location = self.location(blob, expected.digest)?;
        match self.client.length(&location)? {
            None => Err(self.absent(&location)),
            Some(found) if found == expected.length => Ok(()),
            Some(found) => Err(ReadError::Damaged(format!(
                "{}: {location} has {found} bytes, its record says {}",
                self.client.shown(),
                expected.length
            ))),
        }
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        let gone = match self.names.of(blob, None) {
            Some(location) => vec![location],
            None => self.client.list(Some(&self.names.below(blob)))?,
        };
        self.client.remove(gone)
    }

    fn check(&self) -> io::Result<()> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.is_some_and(|at| at.elapsed() < FRESH) {
            return Ok(());
        }
        *checked = None;
        match self.marker() {
            Ok(Some(_)) => {
                *checked = Some(Instant::now());
                Ok(())
            }
            Ok(None) => Err(Away(self.no_front()).into()),
            Err(error) => Err(Away(error).into()),
        }
    }
}

impl Keeper for RemoteBlobs {
    fn claim(&self, folder: Id, is_new: bool) -> Result<(), String> {
        let shown = self.client.shown();
        match self.marker()? {
            Some(marker) if marker.id == folder => return Ok(()),
            Some(marker) => {
                return Err(format!(
                    "{shown}: another front keeps its bytes there ({} has identifier {}, this data folder has {folder}); choose another prefix by cluster.blobs",
                    names::MARKER,
                    marker.id
                ));
            }
            None => {}
        }
        if !is_new {
            return Err(format!(
                "{shown}: the bytes of this data folder are not there, as there is no {}; say where they are by cluster.blobs; nothing was changed",
                names::MARKER
            ));
        }
        if let Some(found) = self.client.first(self.names.prefix()).map_err(|error| error.to_string())? {
            return Err(format!(
                "{shown}: there are objects that are not the server's, such as {found}; choose another prefix by cluster.blobs; nothing was changed"
            ));
        }
        let marker = Marker { format: FORMAT.to_owned(), version: VERSION, id: folder };
        let text = serde_json::to_vec_pretty(&marker).map_err(|error| error.to_string())?;
        let made = self.client.put(&self.names.marker(), &text, PutMode::Create);
        match made.map_err(|error| error.to_string())? {
            true => Ok(()),
            false => Err(format!(
                "{shown}: another front has just begun to keep its bytes there; choose another prefix by cluster.blobs"
            )),
        }
    }

    fn stage(&self, blob: Blob, bytes: &[u8]) -> io::Result<Box<dyn Staged + '_>> {
        let digest = *blake3::hash(bytes).as_bytes();
        let location = self.location(blob, Some(digest))?;
        let uploading = self.uploads.read().unwrap_or_else(PoisonError::into_inner);
        let staged = Upload { to: self, blob, is_published: false, _uploading: uploading };
        self.client.put(&location, bytes, PutMode::Overwrite)?;
        Ok(Box::new(staged))
    }

    fn replaced(&self, blob: Blob) {
        self.rubbish().add(self.names.below(blob));
    }

    fn retire(&self, owner: Owner) -> io::Result<Option<Box<dyn Retired + '_>>> {
        Ok(Some(Box::new(RetiredObjects { of: self, owner })))
    }

    fn forget(&self, job: Id) -> io::Result<()> {
        self.remove(Blob::Input(job))?;
        self.remove(Blob::Result(job))
    }

    fn sweep(&self, spoken_of: SpokenOf<'_>) -> io::Result<()> {
        let rubbish = std::mem::replace(&mut *self.rubbish(), Rubbish::Below(Vec::new()));
        match rubbish {
            Rubbish::Anywhere => self.clear(self.names.prefix(), spoken_of).inspect_err(|_| {
                *self.rubbish() = Rubbish::Anywhere;
            }),
            Rubbish::Below(prefixes) => {
                for (index, prefix) in prefixes.iter().enumerate() {
                    self.clear(Some(prefix), spoken_of).inspect_err(|_| {
                        let mut rubbish = self.rubbish();
                        prefixes[index..].iter().for_each(|prefix| rubbish.add(prefix.clone()));
                    })?;
                }
                Ok(())
            }
        }
    }
}

/// An object that is uploaded and not yet recorded; nothing is removed meanwhile.
struct Upload<'a> {
    to: &'a RemoteBlobs,
    blob: Blob,
    is_published: bool,
    _uploading: RwLockReadGuard<'a, ()>,
}

impl Staged for Upload<'_> {
    fn publish(mut self: Box<Self>) -> io::Result<()> {
        self.is_published = true;
        Ok(())
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        if !self.is_published {
            self.to.replaced(self.blob);
        }
    }
}

/// The objects of a key set or job whose record goes.
struct RetiredObjects<'a> {
    of: &'a RemoteBlobs,
    owner: Owner,
}

impl Retired for RetiredObjects<'_> {
    fn settle(self: Box<Self>, is_on_disk: bool, spoken_of: SpokenOf<'_>) {
        if !is_on_disk {
            return;
        }
        let below = self.of.names.folder(self.owner);
        if let Err(error) = self.of.clear(Some(&below), spoken_of) {
            self.of.rubbish().add(below);
            if !self.of.told.swap(true, Ordering::Relaxed) {
                tracing::warn!(%error, "cannot remove objects; it is tried again");
            }
        } else {
            self.of.told.store(false, Ordering::Relaxed);
        }
    }
}
