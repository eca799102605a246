//! Bytes in an object store: S3, or a store compatible with it.
//!
//! ```text
//! refloat-data.json                 whose they are: the identifier of the front's data folder
//! keys/<key id>/<index>/<digest>    pieces of evaluation keys
//! jobs/<job id>/input               ciphertext to work on
//! jobs/<job id>/result              ciphertext made of it
//! ```
//!
//! all below a prefix that belongs to one front; its workers only read there and put results.
//!
//! An object store has no transactions and no renaming. So a piece has its digest in its name, and an upload is complete before the
//! transaction that records it. Objects that the table does not list after that are superfluous. They are removed once no upload of the
//! same name is under way ([`traffic`]) and another look at the table has confirmed it. Objects of key sets and jobs that the table does
//! not know at all are removed only if this process saw them become superfluous: after a start they look like those of a table that was
//! restored from an older backup.

mod client;
mod names;
mod traffic;

use std::collections::BTreeSet;
use std::io::{self, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use object_store::path::Path;
use object_store::{ObjectStore, PutMode};

use self::client::{Client, Found};
use self::names::Names;
use self::traffic::{Traffic, Uploading};
use super::{Blob, Blobs, Keeper, Owner, Put, Retired, Source, Staged, Standing, StandingOf, Unreachable};
use crate::id::Id;
use crate::store::files::{Expected, ReadError};
use crate::store::folder::{MARKER, Marker};

/// How long a look at the marker counts.
const FRESH: Duration = Duration::from_secs(5);

/// Most objects that are removed together.
const BATCH: usize = 100;

/// The bytes of one front below a prefix of a bucket.
pub struct RemoteBlobs {
    client: Client,
    names: Names,
    traffic: Traffic,
    suspects: Mutex<Suspects>,
    /// When the marker was seen last.
    checked: Mutex<Option<Instant>>,
    /// The identifier of the front's data folder, once it is known.
    owner: OnceLock<Id>,
    /// Folder for copies of results while they are sent.
    spool: Option<PathBuf>,
}

/// Where there may be superfluous objects.
struct Suspects {
    /// Anywhere: nobody has looked since the start, or there were too many prefixes.
    anywhere: bool,
    /// Below these prefixes.
    below: BTreeSet<Path>,
}

impl Suspects {
    /// Most prefixes that are remembered; beyond that, everything is looked at.
    const MOST: usize = 10_000;

    fn add(&mut self, prefix: Path) {
        if self.below.len() < Self::MOST {
            self.below.insert(prefix);
        } else {
            self.anywhere = true;
        }
    }
}

impl RemoteBlobs {
    /// The bytes below `s3://bucket/prefix`. Endpoint, region and credentials come from the environment (`AWS_ENDPOINT`, `AWS_REGION`,
    /// `AWS_ACCESS_KEY_ID` and so on) or from the machine's role.
    ///
    /// # Errors
    /// The address is invalid, or the environment makes no sense.
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
            traffic: Traffic::default(),
            suspects: Mutex::new(Suspects { anywhere: true, below: BTreeSet::new() }),
            checked: Mutex::new(None),
            owner: OnceLock::new(),
            spool: None,
        })
    }

    /// The same, but with results copied into unnamed files in this folder while they are sent, and not into memory.
    #[must_use]
    pub fn with_spool(self, folder: PathBuf) -> Self {
        Self { spool: Some(folder), ..self }
    }

    fn location(&self, blob: Blob, digest: Option<[u8; 32]>) -> io::Result<Path> {
        self.names.of(blob, digest).ok_or_else(|| {
            io::Error::other(format!("{}: {blob:?} has no name without its digest", self.client.shown()))
        })
    }

    /// The marker, if there is one.
    fn marker(&self) -> io::Result<Option<Marker>> {
        let shown = self.client.shown();
        let damaged =
            || Unreachable(format!("{shown}: {MARKER} there does not read back; put it back from a backup"));
        let bytes = match self.client.get(&self.names.marker(), 4096)? {
            Found::Nothing => return Ok(None),
            Found::Bytes(bytes) => bytes,
            Found::OtherLength(_) => return Err(damaged().into()),
        };
        let marker = Marker::read(&bytes).ok_or_else(damaged)?;
        if let Some(why) = marker.too_new() {
            let repair = "start that one, or choose another cluster.blobs";
            return Err(Unreachable(format!("{shown}: {why}; {repair}")).into());
        }
        Ok(Some(marker))
    }

    /// Reads the marker to make sure that the objects still belong to the front that they belonged to before.
    fn is_the_place(&self) -> io::Result<()> {
        let shown = self.client.shown();
        let Some(marker) = self.marker()? else {
            return Err(Unreachable(format!(
                "{shown}: no front keeps its bytes there, as there is no {MARKER}; start the front first, or say where it keeps them by cluster.blobs"
            ))
            .into());
        };
        let owner = *self.owner.get_or_init(|| marker.id);
        if owner != marker.id {
            return Err(Unreachable(format!(
                "{shown}: it has become another front's: {} has identifier {}, and had {owner} before",
                MARKER, marker.id
            ))
            .into());
        }
        Ok(())
    }

    /// The error for an absent object: it was lost, unless this is not the front's place.
    fn absent(&self, location: &Path) -> ReadError {
        match self.is_the_place() {
            Ok(()) => ReadError::Damaged(format!("{}: {location} is absent", self.client.shown())),
            Err(error) => ReadError::Io(error),
        }
    }

    fn altered(&self, location: &Path, what: &str) -> ReadError {
        ReadError::Damaged(format!("{}: {location} {what}", self.client.shown()))
    }

    fn other_length(&self, location: &Path, found: u64, expected: Expected) -> ReadError {
        self.altered(location, &format!("has {found} bytes, its record says {}", expected.length))
    }

    fn suspects(&self) -> MutexGuard<'_, Suspects> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes superfluous objects below a prefix, and ownerless ones if `takes_ownerless`; returns how many ownerless ones it left.
    fn clear(
        &self,
        below: Option<&Path>,
        standing: StandingOf<'_>,
        takes_ownerless: bool,
    ) -> io::Result<usize> {
        let mut left = 0;
        let mut found = Vec::new();
        for location in self.client.list(below)?.into_iter().map(|(location, _)| location) {
            let Some((blob, digest)) = self.names.parse(&location) else { continue };
            match standing(blob, digest)? {
                Standing::Recorded => {}
                Standing::Ownerless if !takes_ownerless => left += 1,
                Standing::Superfluous | Standing::Ownerless => found.push((location, blob, digest)),
            }
        }
        for batch in found.chunks(BATCH) {
            let locations = batch.iter().map(|(location, ..)| location.clone()).collect();
            // Objects that are being uploaded are left for the next sweep.
            let removing = self.traffic.remove(locations);
            let mut gone = Vec::new();
            for (location, blob, digest) in batch {
                if !removing.has(location) {
                    self.suspect(*blob);
                } else if standing(*blob, *digest)? != Standing::Recorded {
                    // Still not recorded.
                    gone.push(location.clone());
                }
            }
            self.client.remove(gone)?;
        }
        Ok(left)
    }

    fn put_at(&self, location: &Path, bytes: &[u8], digest: [u8; 32]) -> io::Result<Put> {
        if self.client.create(location, bytes)? {
            return Ok(Put::New);
        }
        match self.client.get(location, bytes.len() as u64)? {
            Found::Bytes(found) if *blake3::hash(&found).as_bytes() == digest => Ok(Put::Same),
            Found::Bytes(_) | Found::OtherLength(_) => Ok(Put::Differs),
            Found::Nothing => {
                let shown = self.client.shown();
                Err(Unreachable(format!("{shown}: an object disappeared while it was being read")).into())
            }
        }
    }
}

impl Blobs for RemoteBlobs {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        let digest = *blake3::hash(bytes).as_bytes();
        self.put_at(&self.location(blob, Some(digest))?, bytes, digest)
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        let location = self.location(blob, expected.digest)?;
        match self.client.get(&location, expected.length)? {
            Found::Nothing => Err(self.absent(&location)),
            Found::OtherLength(found) => Err(self.other_length(&location, found, expected)),
            Found::Bytes(bytes) if bytes.len() as u64 != expected.length => {
                Err(self.other_length(&location, bytes.len() as u64, expected))
            }
            Found::Bytes(bytes) => {
                if expected.digest.is_some_and(|digest| digest != *blake3::hash(&bytes).as_bytes()) {
                    return Err(self.altered(&location, "is not what was stored"));
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
            Some(found) => Err(self.other_length(&location, found, expected)),
        }
    }

    fn missing(&self, wanted: &[(Blob, Expected)]) -> io::Result<Vec<usize>> {
        let Some((first, _)) = wanted.first() else { return Ok(Vec::new()) };
        let owner = first.owner();
        if wanted.iter().any(|(blob, _)| blob.owner() != owner) {
            return Err(io::Error::other("names of several owners are looked at one after the other"));
        }
        // One request for all.
        let found = self.client.list(Some(&self.names.folder(owner)))?;
        let lengths: std::collections::HashMap<Path, u64> = found.into_iter().collect();
        let mut missing = Vec::new();
        for (place, (blob, expected)) in wanted.iter().enumerate() {
            if lengths.get(&self.location(*blob, expected.digest)?) != Some(&expected.length) {
                missing.push(place);
            }
        }
        if !missing.is_empty() {
            self.is_the_place()?;
        }
        Ok(missing)
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        let gone = match self.names.of(blob, None) {
            Some(location) => Ok(vec![location]),
            None => self
                .client
                .list(Some(&self.names.below(blob)))
                .map(|found| found.into_iter().map(|(location, _)| location).collect()),
        };
        gone.and_then(|gone| self.client.remove(gone)).inspect_err(|_| self.suspect(blob))
    }

    fn check(&self) -> io::Result<()> {
        let checked = || self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh =
            |at: Instant| at.elapsed() < FRESH && self.client.failed_last().is_none_or(|failed| failed < at);
        if checked().is_some_and(is_fresh) {
            return Ok(());
        }
        let outcome = self.is_the_place();
        *checked() = outcome.is_ok().then(Instant::now);
        outcome
    }

    fn open(&self, blob: Blob, expected: Expected) -> Result<Source, ReadError> {
        let Some(spool) = &self.spool else { return self.get(blob, expected).map(Source::Bytes) };
        let location = self.location(blob, expected.digest)?;
        let copied = tempfile::tempfile_in(spool)
            .and_then(|mut file| Ok((self.client.copy(&location, expected.length, &mut file)?, file)));
        let (found, mut file) = match copied {
            Ok(copied) => copied,
            Err(error) if Unreachable::is(&error) => return Err(error.into()),
            // Trouble with the local disk does not keep the result back.
            Err(_) => return self.get(blob, expected).map(Source::Bytes),
        };
        match found {
            Found::Nothing => Err(self.absent(&location)),
            Found::OtherLength(found) => Err(self.other_length(&location, found, expected)),
            Found::Bytes(digest) => {
                if expected.digest.is_some_and(|expected| expected != *digest.as_bytes()) {
                    return Err(self.altered(&location, "is not what was stored"));
                }
                file.rewind()?;
                Ok(Source::File(file))
            }
        }
    }
}

impl Keeper for RemoteBlobs {
    fn claim(&self, folder: Id, is_new: bool) -> Result<(), String> {
        let shown = self.client.shown();
        let told = |error: io::Error| error.to_string();
        match self.marker().map_err(told)? {
            Some(marker) if marker.id != folder => {
                return Err(format!(
                    "{shown}: another front keeps its bytes there ({} has identifier {}, this data folder has {folder}); choose another prefix by cluster.blobs",
                    MARKER, marker.id
                ));
            }
            None if !is_new => {
                return Err(format!(
                    "{shown}: the bytes of this data folder are not there, as there is no {MARKER}; say where they are by cluster.blobs; nothing was changed"
                ));
            }
            marker => {
                let others = self.client.first(self.names.prefix(), 2).map_err(told)?;
                let other =
                    others.into_iter().map(|(found, _)| found).find(|found| *found != self.names.marker());
                match (marker, other) {
                    (Some(_), Some(other)) if is_new => {
                        return Err(format!(
                            "{shown}: the database of this data folder is new, and there are objects that it does not know, such as {other}; put refloat.redb back from a backup, or choose another prefix by cluster.blobs; nothing was changed"
                        ));
                    }
                    (None, Some(other)) => {
                        return Err(format!(
                            "{shown}: there are objects that are not the server's, such as {other}; choose another prefix by cluster.blobs; nothing was changed"
                        ));
                    }
                    (Some(_), _) => {}
                    (None, None) => self.mark(folder)?,
                }
            }
        }
        let _ = self.owner.set(folder);
        Ok(())
    }

    fn stage(&self, blob: Blob, bytes: &[u8]) -> io::Result<Box<dyn Staged + '_>> {
        let digest = *blake3::hash(bytes).as_bytes();
        let location = self.location(blob, Some(digest))?;
        let uploading = self.traffic.upload(location.clone());
        let staged = Upload { to: self, blob, is_recorded: false, _uploading: uploading };
        self.client.put(&location, bytes, PutMode::Overwrite)?;
        Ok(Box::new(staged))
    }

    fn suspect(&self, blob: Blob) {
        self.suspects().add(self.names.below(blob));
    }

    fn retire(&self, owner: Owner) -> io::Result<Option<Box<dyn Retired + '_>>> {
        Ok(Some(Box::new(RetiredObjects { of: self, owner })))
    }

    fn forget(&self, job: Id) -> io::Result<()> {
        self.remove(Blob::Input(job))?;
        self.remove(Blob::Result(job))
    }

    fn sweep(&self, standing: StandingOf<'_>) -> io::Result<()> {
        let (anywhere, below) = {
            let mut suspects = self.suspects();
            (std::mem::take(&mut suspects.anywhere), std::mem::take(&mut suspects.below))
        };
        let mut outcome = Ok(());
        if anywhere {
            match self.clear(self.names.prefix(), standing, false) {
                Ok(0) => {}
                Ok(left) => tracing::warn!(
                    objects = left,
                    place = self.client.shown(),
                    "there are objects of key sets and jobs that the database does not know; they are left alone"
                ),
                Err(error) => {
                    self.suspects().anywhere = true;
                    outcome = Err(error);
                }
            }
        }
        for prefix in below {
            // Trouble with one prefix does not hold up the others.
            if let Err(error) = self.clear(Some(&prefix), standing, true) {
                self.suspects().add(prefix);
                outcome = Err(error);
            }
        }
        outcome
    }
}

impl RemoteBlobs {
    /// Claims an empty prefix for a data folder.
    fn mark(&self, folder: Id) -> Result<(), String> {
        let shown = self.client.shown();
        let text = serde_json::to_vec_pretty(&Marker::new(folder)).map_err(|error| error.to_string())?;
        let (marker, digest) = (self.names.marker(), *blake3::hash(&text).as_bytes());
        let told = |error: io::Error| error.to_string();
        if self.put_at(&marker, &text, digest).map_err(told)? == Put::Differs {
            return Err(format!(
                "{shown}: another front has just begun to keep its bytes there; choose another prefix by cluster.blobs"
            ));
        }
        // The store has to refuse to replace the marker.
        if self.client.put(&marker, &text, PutMode::Create).map_err(told)? {
            return Err(format!(
                "{shown}: the store replaces objects that are to be put only where there are none (If-None-Match), so that results could be lost; use a store that honours it"
            ));
        }
        Ok(())
    }
}

/// An object that is uploaded, and is not removed before this is dropped.
struct Upload<'a> {
    to: &'a RemoteBlobs,
    blob: Blob,
    is_recorded: bool,
    _uploading: Uploading<'a>,
}

impl Staged for Upload<'_> {
    /// Nothing to do: the object has its name already.
    fn publish(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn recorded(&mut self) {
        self.is_recorded = true;
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        if !self.is_recorded {
            self.to.suspect(self.blob);
        }
    }
}

/// The objects of a key set or job whose record is being removed.
struct RetiredObjects<'a> {
    of: &'a RemoteBlobs,
    owner: Owner,
}

impl Retired for RetiredObjects<'_> {
    fn settle(self: Box<Self>, is_on_disk: bool, standing: StandingOf<'_>) {
        let below = self.of.names.folder(self.owner);
        if is_on_disk && let Err(error) = self.of.clear(Some(&below), standing, true) {
            tracing::debug!(%error, "objects could not be removed");
            self.of.suspects().add(below);
        }
    }
}
