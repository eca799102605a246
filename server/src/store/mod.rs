//! Durable state: one redb table file and plain files, all under one data folder.
//!
//! ```text
//! refloat-data.json        marks the folder as the server's, with the identifier that the database has too
//! refloat.redb             records of keys, pieces, jobs, the queue and the event logs
//! keys/<key id>/<index>    pieces of evaluation keys, as uploaded, unless bytes are kept elsewhere (`blobs`)
//! jobs/<job id>/input      ciphertext to work on, likewise
//! jobs/<job id>/result     ciphertext made of it, likewise
//! incoming/<n>.partial     files being written
//! removed/                 folders being removed
//! lost+found/<date>/       folders without a record, moved aside
//! ```
//!
//! A record is written only after the files it speaks of are on disk, in one transaction that is
//! flushed before the client is answered. A file gets its name inside the transaction, and a folder
//! that is removed loses its name inside the transaction: requests that meet see all of it or nothing.

pub mod events;
mod failure_log;
pub mod files;
pub mod folder;
pub mod holder;
pub mod job_queue;
pub mod jobs;
pub mod keys;
pub(crate) mod leftovers;
pub mod names;
pub mod turns;
mod usage;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use failure_log::Trouble;
use files::Written;
use job_queue::Line;
use redb::{
    Database, Durability, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use usage::Usage;

use crate::blobs::{Blob, FileBlobs, Keeper, Retired, Staged, Standing, Unreachable};
use crate::id::Id;
use crate::system;

pub(crate) const KEYS: TableDefinition<[u8; 16], &[u8]> = TableDefinition::new("keys");
/// Digest and length of each stored piece.
pub(crate) const PARTS: TableDefinition<([u8; 16], u32), ([u8; 32], u64)> = TableDefinition::new("parts");
pub(crate) const JOBS: TableDefinition<[u8; 16], &[u8]> = TableDefinition::new("jobs");
pub(crate) const QUEUE: TableDefinition<u64, [u8; 16]> = TableDefinition::new("queue");
/// A job, and the digest of the request that made it.
type JobAndRequest = ([u8; 16], [u8; 32]);
/// Jobs by key set and Idempotency-Key.
pub(crate) const IDEMPOTENCY: TableDefinition<([u8; 16], &str), JobAndRequest> =
    TableDefinition::new("idempotency");
pub(crate) const EVENTS: TableDefinition<([u8; 16], u64), &[u8]> = TableDefinition::new("events");
pub(crate) const COUNTERS: TableDefinition<&str, u64> = TableDefinition::new("counters");

/// Says how many milliseconds have passed since 1970.
type WallClock = Box<dyn Fn() -> u64 + Send + Sync>;

/// The data folder, opened by this process alone.
pub struct Store {
    /// The database. After an I/O error it refuses everything until it is opened anew; `None` if that has not succeeded yet.
    database: RwLock<Option<Database>>,
    /// Whether the database has to be opened anew.
    broken: AtomicBool,
    /// Bytes of stored jobs.
    usage: Mutex<Usage>,
    /// The jobs that wait and those that run, with the value of `doubts` when they were read; `None` before that.
    line: Mutex<(Line, Option<u64>)>,
    /// How often it became uncertain what the table has.
    doubts: AtomicU64,
    /// What key sets take; `None` if it has to be counted. Records of key sets are changed only while this is locked.
    room: Mutex<Option<keys::Room>>,
    /// Jobs whose submission failed and may have left something on disk.
    failed_jobs: Mutex<Vec<Id>>,
    /// Failures as they were logged.
    trouble: Trouble,
    root: PathBuf,
    /// The bytes of keys and jobs.
    blobs: Arc<dyn Keeper>,
    /// Whether the bytes are in another place than the folder.
    is_elsewhere: bool,
    /// Another clock than the system's.
    clock: OnceLock<WallClock>,
    /// The locked marker: no other server opens the folder.
    _lock: std::fs::File,
}

/// How long another process may have the folder open: one that is just ending, or a child of it that still has its files
/// because it has not begun its own program.
const PATIENCE: Duration = Duration::from_secs(1);

/// The store could not do what was asked.
#[derive(Debug)]
pub enum StoreError {
    /// Another process has the data folder open.
    InUse(PathBuf),
    /// The data folder cannot be used: the reason and the repair.
    Folder(PathBuf, String),
    /// The table file failed.
    Database(redb::Error),
    /// A file failed.
    Io(std::io::Error),
    /// A record does not read back.
    Corrupt(String),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InUse(path) => write!(
                f,
                "data folder {} is in use by another refloat server; stop that one or choose another folder with --data",
                path.display()
            ),
            Self::Folder(path, reason) => write!(f, "data folder {}: {reason}", path.display()),
            Self::Database(error) => write!(f, "job table: {error}"),
            Self::Io(error) if self.is_unreachable() => error.fmt(f),
            Self::Io(error) => write!(f, "data folder: {error}"),
            Self::Corrupt(what) => write!(f, "job table: {what} does not read back"),
        }
    }
}

impl std::error::Error for StoreError {}

impl<E: Into<redb::Error>> From<E> for StoreError {
    fn from(error: E) -> Self {
        match error.into() {
            redb::Error::Io(error) => Self::Io(error),
            error => Self::Database(error),
        }
    }
}

impl StoreError {
    /// The I/O error in it, or itself as one, where only I/O errors can be returned.
    pub(crate) fn into_io(self) -> std::io::Error {
        match self {
            Self::Io(error) => error,
            error => std::io::Error::other(error),
        }
    }

    /// Whether the cause is that the object store cannot be reached.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Io(error) if Unreachable::is(error))
    }

    /// Whether a folder kept its name because files in it are open.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::Io(error) if system::files::kept_its_name(error))
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        matches!(self, Self::Io(error) if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge))
    }
}

impl Store {
    /// Opens a data folder that a server made, or makes one where there is nothing, and clears up what an interrupted request or
    /// a killed server left behind.
    ///
    /// # Errors
    /// The folder is not a server's, cannot be created or read, or another process has it open.
    pub fn open(root: &Path) -> Result<Self, StoreError> {
        Self::open_patiently(root, None)
    }

    /// As [`open`](Self::open), with the bytes of keys and jobs in another place than the folder.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and one if the folder and the place do not belong together.
    #[expect(clippy::needless_pass_by_value, reason = "the store keeps it")]
    pub fn open_with(root: &Path, blobs: Arc<dyn Keeper>) -> Result<Self, StoreError> {
        Self::open_patiently(root, Some(&blobs))
    }

    fn open_patiently(root: &Path, elsewhere: Option<&Arc<dyn Keeper>>) -> Result<Self, StoreError> {
        let waited = Instant::now();
        loop {
            match Self::open_whole(root, elsewhere.cloned()) {
                Err(StoreError::InUse(_)) if waited.elapsed() < PATIENCE => std::thread::sleep(PATIENCE / 20),
                opened => return opened.map_err(|error| at_start(root, error)),
            }
        }
    }

    /// The error that is reported if the server cannot start.
    pub(crate) fn at_start(&self, error: StoreError) -> StoreError {
        at_start(&self.root, error)
    }

    fn open_whole(root: &Path, elsewhere: Option<Arc<dyn Keeper>>) -> Result<Self, StoreError> {
        let claim = folder::claim(root)?;
        let is_elsewhere = elsewhere.is_some();
        let blobs = elsewhere.unwrap_or_else(|| Arc::new(FileBlobs::new(root)));
        folder::claim_bytes(root, &claim, &*blobs, is_elsewhere)?;
        let folder::Claim { database, lock, .. } = claim;
        let store = Self {
            database: RwLock::new(Some(database)),
            broken: AtomicBool::new(false),
            usage: Mutex::default(),
            line: Mutex::default(),
            doubts: AtomicU64::new(0),
            room: Mutex::default(),
            failed_jobs: Mutex::default(),
            trouble: Trouble::default(),
            root: root.to_owned(),
            blobs,
            is_elsewhere,
            clock: OnceLock::new(),
            _lock: lock,
        };
        leftovers::clear(&store)?;
        *store.usage() = Usage::count(&store)?;
        Ok(store)
    }

    /// Sets another clock, of milliseconds since 1970, by which jobs are dated and wait; once.
    pub fn set_clock(&self, clock: impl Fn() -> u64 + Send + Sync + 'static) {
        let _ = self.clock.set(Box::new(clock));
    }

    /// Milliseconds since 1970.
    pub(crate) fn now(&self) -> u64 {
        self.clock.get().map_or_else(now, |clock| clock())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The bytes of keys and jobs.
    pub fn blobs(&self) -> &Arc<dyn Keeper> {
        &self.blobs
    }

    /// Bytes of stored jobs.
    pub(crate) fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The line as it is, which may differ from the table: for changes of the table, inside their transaction.
    fn line_to_change(&self) -> MutexGuard<'_, (Line, Option<u64>)> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` on the line, which agrees with the table. No transaction is to begin in `work`.
    fn with_line<T>(&self, work: impl FnOnce(&mut Line) -> T) -> Result<T, StoreError> {
        let doubts = self.doubts.load(Ordering::Acquire);
        if self.line_to_change().1 != Some(doubts) {
            // Nobody changes the table meanwhile.
            self.write_with(Durability::None, |txn| {
                let (line, unusable) = Line::read(self, txn)?;
                let mut queue = txn.open_table(QUEUE)?;
                for sequence in unusable {
                    queue.remove(sequence)?;
                }
                *self.line_to_change() = (line, Some(doubts));
                Ok(())
            })?;
        }
        Ok(work(&mut self.line_to_change().0))
    }

    /// What key sets take.
    fn room(&self) -> MutexGuard<'_, Option<keys::Room>> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Jobs whose submission failed.
    fn failed_jobs(&self) -> MutexGuard<'_, Vec<Id>> {
        self.failed_jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that a file, a name in each folder, and a record can be written.
    ///
    /// # Errors
    /// One of them cannot.
    pub fn probe(&self) -> Result<(), StoreError> {
        drop(Written::new(&self.root.join("incoming"), &[0; 4096]).map_err(|error| self.failed(error))?);
        for name in ["keys", "jobs", "removed"] {
            let folder = self.root.join(name);
            system::files::check_writable(&folder).map_err(|error| {
                let what = format!("cannot write to {}: {error}", folder.display());
                self.failed(std::io::Error::new(error.kind(), what))
            })?;
        }
        self.write(|txn| {
            txn.open_table(COUNTERS)?.insert("probe", now())?;
            Ok(())
        })
    }

    /// Brings bytes to where they are kept, to be given their name in the transaction that records them.
    pub(crate) fn stage(&self, blob: Blob, bytes: &[u8]) -> Result<Box<dyn Staged + '_>, StoreError> {
        self.blobs.stage(blob, bytes).map_err(|error| self.failed(error))
    }

    /// Removes bytes that have lost their names once the transaction that took the names is on disk; gives the names back if it failed.
    pub(crate) fn settle<T>(
        &self,
        retired: Option<Box<dyn Retired + '_>>,
        outcome: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(retired) = retired {
            retired.settle(outcome.is_ok(), &|blob, digest| self.standing(blob, digest));
        }
        outcome
    }

    /// Removes stored bytes that no record lists, wherever there may be any.
    ///
    /// # Errors
    /// They cannot be removed, for the moment.
    pub fn sweep(&self) -> Result<(), StoreError> {
        self.blobs.sweep(&|blob, digest| self.standing(blob, digest)).map_err(|error| self.failed(error))
    }

    /// Whether the bytes of keys and jobs are in another place than the folder.
    pub(crate) fn keeps_bytes_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    /// What the table says of bytes with this digest under this name.
    fn standing(&self, blob: Blob, digest: Option<[u8; 32]>) -> std::io::Result<Standing> {
        let standing = match blob {
            Blob::KeyPart(key, index) => self.standing_of_piece(key, index, digest),
            Blob::Input(job) | Blob::Result(job) => match jobs::get(self, job) {
                Ok(None) => Ok(Standing::Ownerless),
                Ok(Some(record)) => {
                    let has_result = matches!(blob, Blob::Result(_)) && record.result.is_some();
                    let is_recorded = !record.state.is_final() || has_result;
                    Ok(if is_recorded { Standing::Recorded } else { Standing::Superfluous })
                }
                // Nobody knows what the record lists.
                Err(StoreError::Corrupt(_)) => Ok(Standing::Recorded),
                Err(error) => Err(error),
            },
        };
        standing.map_err(StoreError::into_io)
    }

    fn standing_of_piece(
        &self,
        key: Id,
        index: u32,
        digest: Option<[u8; 32]>,
    ) -> Result<Standing, StoreError> {
        self.read(|txn| {
            if txn.open_table(KEYS)?.get(key.0)?.is_none() {
                return Ok(Standing::Ownerless);
            }
            let known = txn.open_table(PARTS)?.get((key.0, index))?.map(|value| value.value().0);
            let is_recorded = known.is_some() && (digest.is_none() || known == digest);
            Ok(if is_recorded { Standing::Recorded } else { Standing::Superfluous })
        })
    }

    /// A failure of a file in the data folder; it is logged.
    pub(crate) fn failed(&self, error: std::io::Error) -> StoreError {
        let error = StoreError::Io(error);
        self.trouble.failed(&error);
        error
    }

    /// Takes note of a failure that does not end what is being done.
    pub(crate) fn note(&self, error: &StoreError) {
        self.trouble.failed(error);
    }

    /// Hands the records of a table to `take`. A damaged record is skipped, so that the others can be used, and noted in the log.
    pub(crate) fn each_record<T: DeserializeOwned>(
        &self,
        what: &str,
        table: &impl ReadableTable<[u8; 16], &'static [u8]>,
        mut take: impl FnMut(T),
    ) -> Result<(), StoreError> {
        for entry in table.iter()? {
            let (id, record) = entry?;
            match decode(&format!("{what} {}", Id(id.value())), record.value()) {
                Ok(record) => take(record),
                Err(error) => self.trouble.failed(&error),
            }
        }
        Ok(())
    }

    /// Bytes that are free on the disk of the data folder, where the system tells.
    ///
    /// # Errors
    /// The disk does not answer.
    pub fn free_bytes(&self) -> std::io::Result<Option<u64>> {
        system::files::free_bytes(&self.root)
    }

    /// Runs `work` in a transaction that is on disk when this returns.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.write_with(Durability::Immediate, work).inspect(|_| self.trouble.worked())
    }

    /// Runs `work` in a transaction; with [`Durability::None`] it reaches the disk with the next
    /// one that does.
    pub(crate) fn write_with<T>(
        &self,
        durability: Durability,
        work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_database(|database| {
            let mut txn = database.begin_write()?;
            txn.set_durability(durability)?;
            let value = work(&txn)?;
            txn.commit()?;
            Ok(value)
        })
    }

    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_database(|database| work(&database.begin_read()?))
    }

    /// Runs `work` with the database, which is opened anew before if it failed. The log takes note of failures.
    fn with_database<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_open_database(work).inspect_err(|error| self.trouble.failed(error))
    }

    fn with_open_database<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.broken.load(Ordering::Acquire) {
            let mut slot = self.database.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have done it while this one waited.
            if self.broken.load(Ordering::Acquire) {
                drop(slot.take());
                *slot = Some(folder::open_database(&self.root)?);
                self.broken.store(false, Ordering::Release);
                tracing::debug!("opened the job table anew after an I/O error");
            }
        }
        let slot = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let Some(database) = slot.as_ref() else { return Err(redb::Error::PreviousIo.into()) };
        // Some damage makes the library panic.
        let mut doubt = Doubt { doubts: &self.doubts, is_real: true };
        let outcome = work(database);
        doubt.is_real = matches!(outcome, Err(StoreError::Io(_) | StoreError::Database(_)));
        if doubt.is_real {
            self.broken.store(true, Ordering::Release);
        }
        outcome
    }
}

/// Counts, when dropped, that it became uncertain what the table has, if `is_real`.
struct Doubt<'a> {
    doubts: &'a AtomicU64,
    is_real: bool,
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if self.is_real {
            self.doubts.fetch_add(1, Ordering::Release);
        }
    }
}

/// A damaged database can be put back at the start, and a folder be made this process's own; the error says how.
fn at_start(root: &Path, error: StoreError) -> StoreError {
    match error {
        StoreError::Database(_) | StoreError::Corrupt(_) => folder::damaged(root, &error),
        StoreError::Io(cause) if folder::is_forbidden(&cause) => folder::forbidden(root, &cause),
        error => error,
    }
}

/// A record as it is kept: JSON on a line, and its BLAKE3 in hexadecimal on the next.
pub(crate) fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = serde_json::to_vec(record).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let digest = blake3::hash(&bytes).to_hex();
    bytes.push(b'\n');
    bytes.extend_from_slice(digest.as_bytes());
    Ok(bytes)
}

/// A record as it was kept; older versions kept no digest.
pub(crate) fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, StoreError> {
    let end = bytes.iter().rposition(|&byte| byte == b'\n');
    let json = &bytes[..end.unwrap_or(bytes.len())];
    if end.is_some_and(|end| bytes[end + 1..] != *blake3::hash(json).to_hex().as_bytes()) {
        return Err(StoreError::Corrupt(format!("{what} (the disk altered it)")));
    }
    serde_json::from_slice(json).map_err(|error| StoreError::Corrupt(format!("{what} ({error})")))
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_that_flips_in_a_record_is_found() {
        let record = vec!["bootstrap".to_owned(), "a\nb".to_owned()];
        let kept = encode(&record).unwrap();
        assert_eq!(decode::<Vec<String>>("record", &kept).unwrap(), record);
        for bit in 0..8 * kept.len() {
            let mut damaged = kept.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(decode::<Vec<String>>("record", &damaged).is_err(), "bit {bit}");
        }
        for length in 0..kept.len() {
            let shorter = decode::<Vec<String>>("record", &kept[..length]);
            assert!(shorter.is_err() || length == kept.len() - 65, "{length}");
        }
        // As older versions kept it.
        assert_eq!(decode::<Vec<String>>("record", br#"["bootstrap","a\nb"]"#).unwrap(), record);
    }
}
