//! Who owns a data folder: the marker in folders that the server made, and what is checked before one is used.
//!
//! `refloat-data.json` names the format, its version and a random identifier, which the database holds as well. A folder
//! with anything in it but no marker is somebody else's and is refused, and so is a marker whose database is missing or
//! another's: with an empty database every stored key and result would look like rubbish.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition, TableHandle};
use serde::{Deserialize, Serialize};

use super::files::{self, in_file};
use super::{COUNTERS, EVENTS, IDEMPOTENCY, JOBS, KEYS, PARTS, QUEUE, StoreError};
use crate::blobs::Keeper;
use crate::id::Id;
use crate::system::files::{
    create_new, everybody_may_enter, is_locked, make_folders, on_one_disk, sync_folder,
};

/// The file, or object, that says which data folder the others belong to.
pub(crate) const MARKER: &str = "refloat-data.json";
const DATABASE: &str = "refloat.redb";
/// The database while it is being made.
const NEW_DATABASE: &str = "refloat.redb.partial";
const SECRET: &str = "secret.key";
const FORMAT: &str = "refloat-data";
const VERSION: u32 = 1;
/// What file systems put at the top of a volume, and where folders without a record go.
pub(super) const LOST_AND_FOUND: &str = "lost+found";
/// Folders for the server's files.
const FOLDERS: [&str; 5] = ["keys", "jobs", "incoming", "removed", LOST_AND_FOUND];

/// Identifier of the data folder that the database belongs to.
const FOLDER: TableDefinition<&str, [u8; 16]> = TableDefinition::new("folder");
const IDENTIFIER: &str = "id";
/// The same identifier, where the bytes of keys and jobs are kept elsewhere.
const ELSEWHERE: &str = "elsewhere";

/// What a marker says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Marker {
    format: String,
    version: u32,
    /// Identifier of the data folder.
    pub id: Id,
}

impl Marker {
    /// The marker of a data folder of this version.
    pub fn new(id: Id) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, id }
    }

    /// Reads a marker; `None` if it does not read back.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|marker: &Self| marker.format == FORMAT)
    }

    /// What is wrong with a marker that this version does not understand.
    pub fn too_new(&self) -> Option<String> {
        (self.version > VERSION).then(|| {
            format!(
                "a newer refloat made it (version {} of the format, this refloat knows {VERSION})",
                self.version
            )
        })
    }
}

/// A data folder that this process alone uses.
pub(super) struct Claim {
    /// Its database.
    pub database: Database,
    /// The marker, locked as long as it is open.
    pub lock: File,
    /// Its identifier.
    pub id: Id,
}

/// Makes sure that `keeper` has the bytes of this data folder: in another place if `is_elsewhere`, and otherwise in the folder itself.
pub(super) fn claim_bytes(
    root: &Path,
    claim: &Claim,
    keeper: &dyn Keeper,
    is_elsewhere: bool,
) -> Result<(), StoreError> {
    let txn = claim.database.begin_read()?;
    let was_elsewhere = txn.open_table(FOLDER)?.get(ELSEWHERE)?.is_some();
    let is_empty = txn.open_table(KEYS)?.is_empty()? && txn.open_table(JOBS)?.is_empty()?;
    drop(txn);
    if was_elsewhere && !is_elsewhere {
        return Err(refused(
            root,
            "its keys and results are in an object store; say where by cluster.blobs, as before, or choose another folder with --data"
                .to_owned(),
        ));
    }
    if is_elsewhere && !was_elsewhere && !is_empty {
        return Err(refused(
            root,
            "its keys and results are files in it, and stay there: start the server without cluster.blobs, or choose another folder with --data for what goes to the object store"
                .to_owned(),
        ));
    }
    keeper.claim(claim.id, !was_elsewhere).map_err(|reason| refused(root, reason))?;
    if is_elsewhere && !was_elsewhere {
        let txn = claim.database.begin_write()?;
        txn.open_table(FOLDER)?.insert(ELSEWHERE, claim.id.0)?;
        txn.commit()?;
    }
    Ok(())
}

/// Takes a data folder: makes a new one where there is nothing, opens one that a server made, and refuses every other.
pub(super) fn claim(root: &Path) -> Result<Claim, StoreError> {
    make_folders(root).map_err(|error| {
        refused(
            root,
            format!("there is no folder and none can be made ({error}); choose another with --data"),
        )
    })?;
    check_folders(root)?;
    let names = names(root)?;
    let has = |name: &str| names.iter().any(|known| known == name);
    let claim = if has(MARKER) {
        reopen(root)?
    } else if has(DATABASE) {
        adopt(root)?
    } else if names.is_empty() {
        create(root)?
    } else {
        return Err(foreign(root, &names));
    };
    for name in ["keys", "jobs", "incoming", "removed"] {
        let folder = root.join(name);
        make_folders(&folder).map_err(in_file(&folder))?;
    }
    sync_folder(root).map_err(in_file(root))?;
    if root.metadata().is_ok_and(|metadata| everybody_may_enter(&metadata)) {
        tracing::warn!(path = %root.display(), "everybody on this machine may read the data folder or write to it; keep others out with chmod -R go=");
    }
    let secret = root.join(SECRET);
    if secret.symlink_metadata().is_ok() {
        // It came after the folder was made, and moving it is up to its owner.
        tracing::warn!(path = %secret.display(), "a secret key lies in the data folder, where whoever reads the server's files reads it too; move it away");
    }
    Ok(claim)
}

/// Refuses a folder that no server has made, without a look into its database: for processes that share its files.
///
/// # Errors
/// There is no marker in it, or none of this version's.
pub fn check(root: &Path) -> Result<(), StoreError> {
    let path = root.join(MARKER);
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(4096).read_to_string(&mut text));
    match read {
        // Where locks also block reading, a locked marker belongs to a running server.
        Err(error) if is_locked(&error) => check_folders(root),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(refused(root, format!("no server has made it: there is no {MARKER} in it")))
        }
        Err(error) => Err(in_file(&path)(error)),
        Ok(_) => parse(root, &text).and_then(|_| check_folders(root)),
    }
}

/// Reads a marker; an error unless this version understands it.
fn parse(root: &Path, text: &str) -> Result<Marker, StoreError> {
    let marker = Marker::read(text.as_bytes()).ok_or_else(|| {
        refused(root, format!("{MARKER} in it does not read back; put {MARKER} and {DATABASE} back from one backup, or choose another folder with --data"))
    })?;
    if let Some(why) = marker.too_new() {
        return Err(refused(root, format!("{why}; start that one, or choose another folder with --data")));
    }
    Ok(marker)
}

/// Opens the database of a folder that was claimed.
pub(super) fn open_database(root: &Path) -> Result<Database, StoreError> {
    match Database::open(root.join(DATABASE)) {
        Err(redb::DatabaseError::DatabaseAlreadyOpen) => Err(StoreError::InUse(root.to_owned())),
        other => Ok(other?),
    }
}

/// The error for a database that does not open or does not read back: it says how to mend that.
pub(super) fn damaged(root: &Path, error: &StoreError) -> StoreError {
    refused(
        root,
        format!(
            "{DATABASE} in it does not open ({error}); put it back from a backup, or choose another folder with --data; keys and results in it are left as they are"
        ),
    )
}

/// Whether the system keeps this process from the files of a folder, whatever is in them.
pub(super) fn is_forbidden(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// The error for a folder that this process may not use: it says who can change that.
pub(super) fn forbidden(root: &Path, error: &std::io::Error) -> StoreError {
    let repair = if error.kind() == ErrorKind::ReadOnlyFilesystem {
        "it is on a file system that is read-only; mount that for writing, or choose another folder with --data"
    } else {
        "this process may not read and write it; give it to the user whom the server runs as (chown -R USER), or choose another with --data"
    };
    refused(root, format!("{error}; {repair}"))
}

/// The data folder of a server that `path` is or lies in, whether or not `path` exists.
pub fn data_folder_above(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())?;
    let owner = |folder: &&Path| [MARKER, DATABASE].iter().any(|name| folder.join(name).is_file());
    existing.ancestors().find(owner).map(Path::to_owned)
}

/// Opens the database at the start of the server, when somebody can put it back, and reads the identifier in it.
fn open_first(root: &Path) -> Result<(Database, Option<Id>), StoreError> {
    let open = || {
        let database = open_database(root)?;
        let id = identifier(&database)?;
        Ok((database, id))
    };
    // Some damage makes the library panic.
    let opened = std::panic::catch_unwind(open)
        .unwrap_or_else(|_| Err(StoreError::Corrupt("its structure".to_owned())));
    opened.map_err(|error| match error {
        StoreError::InUse(_) => error,
        StoreError::Io(cause) if is_forbidden(&cause) => in_file(&root.join(DATABASE))(cause),
        error => damaged(root, &error),
    })
}

fn create(root: &Path) -> Result<Claim, StoreError> {
    let marker = Marker::new(Id::random()?);
    let lock = write_marker(root, &marker)?;
    make_database(root, marker.id)?;
    Ok(Claim { database: open_database(root)?, lock, id: marker.id })
}

fn reopen(root: &Path) -> Result<Claim, StoreError> {
    let path = root.join(MARKER);
    let mut lock = OpenOptions::new().read(true).write(true).open(&path).map_err(in_file(&path))?;
    take(&lock, root)?;
    let mut text = String::new();
    let read = (&lock).take(4096).read_to_string(&mut text);
    // The server makes the marker first, then the database, then everything else.
    let begun = !["keys", "jobs", DATABASE].iter().any(|name| root.join(name).exists());
    if read.is_ok() && text.is_empty() && begun {
        let marker = Marker::new(Id::random()?);
        fill(&mut lock, &marker).map_err(in_file(&path))?;
        make_database(root, marker.id)?;
        return Ok(Claim { database: open_database(root)?, lock, id: marker.id });
    }
    let marker = parse(root, &text)?;
    if begun {
        make_database(root, marker.id)?;
    }
    if !root.join(DATABASE).is_file() {
        return Err(refused(
            root,
            format!(
                "it belongs to a refloat server, but its database {DATABASE} is missing; put {DATABASE} back from a backup, or choose another folder with --data; keys and results in it are left as they are"
            ),
        ));
    }
    let (database, found) = open_first(root)?;
    if found != Some(marker.id) {
        let found = found.map_or_else(|| "none".to_owned(), |id| id.to_string());
        return Err(refused(
            root,
            format!(
                "{MARKER} has identifier {}, {DATABASE} has {found}: they are of different folders; put both back from one backup, or choose another folder with --data",
                marker.id
            ),
        ));
    }
    Ok(Claim { database, lock, id: marker.id })
}

/// Marks a folder that a version without markers made, after a look at everything in it.
fn adopt(root: &Path) -> Result<Claim, StoreError> {
    if let Some(path) = stranger(root)? {
        return Err(refused_for(root, &path));
    }
    let (database, found) = open_first(root)?;
    let txn = database.begin_read()?;
    let tables: Vec<String> = txn.list_tables()?.map(|table| table.name().to_owned()).collect();
    drop(txn);
    let ours = [KEYS.name(), JOBS.name()].iter().all(|name| tables.iter().any(|table| table == name));
    let used =
        ["keys", "jobs"].iter().any(|name| names(&root.join(name)).is_ok_and(|names| !names.is_empty()));
    if !ours && (used || !tables.is_empty()) {
        return Err(refused(
            root,
            format!(
                "{DATABASE} in it has no tables of keys and jobs; put it back from a backup, or choose another folder with --data"
            ),
        ));
    }
    let id = found.map_or_else(Id::random, Ok)?;
    prepare(&database, id)?;
    let lock = write_marker(root, &Marker::new(id))?;
    tracing::info!(folder = %root.display(), "took over the data folder of an older version");
    Ok(Claim { database, lock, id })
}

/// A path in a folder without a marker that is not the server's and would matter: a secret key directly in it, or anything in the folders
/// of keys and jobs that the server did not name.
fn stranger(root: &Path) -> Result<Option<PathBuf>, StoreError> {
    if root.join(SECRET).symlink_metadata().is_ok() {
        return Ok(Some(root.join(SECRET)));
    }
    for name in ["keys", "jobs"] {
        let folder = root.join(name);
        if !folder.exists() {
            continue;
        }
        for entry in files::entries(&folder)? {
            let ours = entry.file_name().to_str().is_some_and(|name| name.parse::<Id>().is_ok());
            if !ours || !entry.file_type().map_err(in_file(&folder))?.is_dir() {
                return Ok(Some(entry.path()));
            }
            for file in files::entries(&entry.path())? {
                if !files::is_ours(&file) {
                    return Ok(Some(file.path()));
                }
            }
        }
    }
    Ok(None)
}

/// Refuses server folders that are links or files, or lie on another disk.
fn check_folders(root: &Path) -> Result<(), StoreError> {
    for name in FOLDERS {
        let path = root.join(name);
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if !metadata.is_dir() {
            return Err(refused(
                root,
                format!(
                    "{name} in it is not a folder but a {}; choose another folder with --data (the whole data folder may lie on another disk, not a part of it)",
                    if metadata.is_symlink() { "symbolic link" } else { "file" }
                ),
            ));
        }
        if !on_one_disk(&metadata, &root.metadata().map_err(in_file(root))?) {
            return Err(refused(
                root,
                format!("{name} in it is on another disk; put the whole data folder there with --data"),
            ));
        }
    }
    Ok(())
}

/// Names in a folder, except what file systems put at the top of a volume.
fn names(folder: &Path) -> Result<Vec<OsString>, StoreError> {
    let entries = files::entries(folder)?;
    Ok(entries.iter().map(fs::DirEntry::file_name).filter(|name| name != LOST_AND_FOUND).collect())
}

fn identifier(database: &Database) -> Result<Option<Id>, StoreError> {
    let txn = database.begin_read()?;
    match txn.open_table(FOLDER) {
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        table => Ok(table?.get(IDENTIFIER)?.map(|id| Id(id.value()))),
    }
}

/// Makes a database under a temporary name first, so that one with the final name is complete.
fn make_database(root: &Path, id: Id) -> Result<(), StoreError> {
    let path = root.join(NEW_DATABASE);
    files::remove_file(&path)?;
    // The database then opens this file, and keeps its mode.
    drop(create_new(&path).map_err(in_file(&path))?);
    prepare(&Database::create(&path)?, id)?;
    fs::rename(&path, root.join(DATABASE)).map_err(in_file(&path))?;
    sync_folder(root).map_err(in_file(root))
}

/// Writes the identifier, and makes tables where they are missing.
fn prepare(database: &Database, id: Id) -> Result<(), StoreError> {
    let txn = database.begin_write()?;
    txn.open_table(FOLDER)?.insert(IDENTIFIER, id.0)?;
    txn.open_table(KEYS)?;
    txn.open_table(PARTS)?;
    txn.open_table(JOBS)?;
    txn.open_table(QUEUE)?;
    txn.open_table(IDEMPOTENCY)?;
    txn.open_table(EVENTS)?;
    txn.open_table(COUNTERS)?;
    txn.commit()?;
    Ok(())
}

fn write_marker(root: &Path, marker: &Marker) -> Result<File, StoreError> {
    let path = root.join(MARKER);
    let mut file = match create_new(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(StoreError::InUse(root.to_owned()));
        }
        other => other.map_err(in_file(&path))?,
    };
    take(&file, root)?;
    fill(&mut file, marker).map_err(in_file(&path))?;
    sync_folder(root).map_err(in_file(root))?;
    Ok(file)
}

fn fill(file: &mut File, marker: &Marker) -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(marker)? + "\n";
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Locks the marker; a file system without locks leaves that to the database.
fn take(marker: &File, root: &Path) -> Result<(), StoreError> {
    match marker.try_lock() {
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(root.to_owned())),
        Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => {
            Err(in_file(&root.join(MARKER))(error))
        }
        _ => Ok(()),
    }
}

fn foreign(root: &Path, names: &[OsString]) -> StoreError {
    let secret = [root.join(SECRET), root.join("keys").join(SECRET), root.join("jobs").join(SECRET)];
    let path = secret.into_iter().find(|path| path.symlink_metadata().is_ok());
    let path = path.or_else(|| names.iter().min().map(|name| root.join(name)));
    refused_for(root, &path.unwrap_or_default())
}

fn refused_for(root: &Path, path: &Path) -> StoreError {
    let shown = path.strip_prefix(root).unwrap_or(path).display();
    let reason = if path.file_name().is_some_and(|name| name == SECRET) {
        format!("it holds a secret key ({shown}), which must not lie where a server keeps its files")
    } else {
        format!("it holds files that are not the server's, such as {shown}")
    };
    refused(root, format!("{reason}; choose a new or an empty folder with --data; nothing was changed"))
}

fn refused(root: &Path, reason: String) -> StoreError {
    StoreError::Folder(root.to_owned(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_the_system_closes_is_named_with_who_can_open_it() {
        let root = Path::new("/srv/refloat");
        let of = |kind: ErrorKind| {
            let StoreError::Io(cause) = in_file(&root.join(MARKER))(kind.into()) else { unreachable!() };
            assert!(is_forbidden(&cause));
            forbidden(root, &cause).to_string()
        };
        let refused = of(ErrorKind::PermissionDenied);
        assert!(
            refused.starts_with("data folder /srv/refloat: /srv/refloat/refloat-data.json: "),
            "{refused}"
        );
        assert!(refused.contains("chown -R USER") && refused.ends_with("with --data"), "{refused}");
        let fixed = of(ErrorKind::ReadOnlyFilesystem);
        assert!(fixed.contains("mount that for writing") && fixed.ends_with("with --data"), "{fixed}");
        assert!(!is_forbidden(&ErrorKind::StorageFull.into()));
    }
}
