//! What interrupted requests and killed servers leave behind. Only files in a form that the server alone writes are removed;
//! folders without a record are moved aside, and everything else stays where it is.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use redb::{ReadableTable, TableDefinition};
use time::OffsetDateTime;

use super::files::{self, Expected, in_file};
use super::folder::LOST_AND_FOUND;
use super::{JOBS, KEYS, Store, StoreError, jobs as job_store, keys as key_store};
use crate::blobs::{Owner, Retired, StandingOf};
use crate::id::{Id, hex};
use crate::system::files::{make_folders, rename_folder, sync_folder};

/// The name of an owner's folder outside the folders of keys and jobs.
fn name_of(owner: Owner) -> String {
    match owner {
        Owner::Key(id) => format!("keys-{id}"),
        Owner::Job(id) => format!("jobs-{id}"),
    }
}

fn owner_of(name: &str) -> Option<Owner> {
    let (kind, id) = name.split_once('-')?;
    match kind {
        "keys" => id.parse().ok().map(Owner::Key),
        "jobs" => id.parse().ok().map(Owner::Job),
        _ => None,
    }
}

/// A folder that was renamed out of the way and whose files are removed later.
pub(crate) struct RetiredFolder {
    root: PathBuf,
    from: PathBuf,
    to: PathBuf,
}

impl RetiredFolder {
    /// Takes the name from a folder, so that it can be used anew while the files are removed. `None` if there is no such folder.
    pub(crate) fn new(root: &Path, owner: Owner) -> Result<Option<Self>, StoreError> {
        let from = owner.folder(root);
        let mut salt = [0; 8];
        getrandom::fill(&mut salt).map_err(std::io::Error::other)?;
        let to = root.join("removed").join(format!("{}.{}", name_of(owner), hex(&salt)));
        match rename_folder(&from, &to) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            other => other
                .map(|()| Some(Self { root: root.to_owned(), from: from.clone(), to }))
                .map_err(in_file(&from)),
        }
    }
}

impl Retired for RetiredFolder {
    fn settle(self: Box<Self>, is_on_disk: bool, _: StandingOf<'_>) {
        if is_on_disk {
            remove(&self.root, &self.to);
        } else if let Err(error) = rename_folder(&self.to, &self.from) {
            tracing::error!(folder = %self.from.display(), %error, "cannot put a folder back; the next start does");
        }
    }
}

/// Clears up when the store is opened.
pub(super) fn clear(store: &Store) -> Result<(), StoreError> {
    // Records count whether or not they read back: the files of a damaged one stay where they are.
    let ids = |table: TableDefinition<'_, [u8; 16], &'static [u8]>| {
        store.read(|txn| {
            let table = txn.open_table(table)?;
            table.iter()?.map(|entry| Ok(Id(entry?.0.value()))).collect::<Result<HashSet<Id>, StoreError>>()
        })
    };
    let (keys, jobs) = (ids(KEYS)?, ids(JOBS)?);
    files::remove_partial(&store.root().join("incoming"))?;
    let known = |owner| match owner {
        Owner::Key(id) => keys.contains(&id),
        Owner::Job(id) => jobs.contains(&id),
    };
    for entry in files::entries(&store.root().join("removed"))? {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(|name| owner_of(name.split_once('.')?.0)) else {
            continue;
        };
        if known(owner) {
            give_back(store, owner, &entry.path())?;
        }
        remove(store.root(), &entry.path());
    }
    for (name, owner) in [("keys", Owner::Key as fn(Id) -> Owner), ("jobs", Owner::Job)] {
        for entry in files::entries(&store.root().join(name))? {
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let Some(id) = id.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())) else {
                tracing::warn!(path = %entry.path().display(), "this is not the server's; it is left alone");
                continue;
            };
            files::remove_partial(&entry.path())?;
            if !known(owner(id)) {
                // Removes it only if it is empty.
                let _ = fs::remove_dir(entry.path());
                set_aside(store.root(), &entry.path(), &name_of(owner(id)));
            }
        }
    }
    if store.keeps_bytes_elsewhere() {
        // Those bytes are swept.
        return Ok(());
    }
    for record in job_store::select(store, |record| record.state.is_final())? {
        job_store::drop_files(store, &record)?;
    }
    Ok(())
}

/// Puts back files that a record still lists, after a removal that was not completed. A folder that was made anew meanwhile keeps what it
/// has.
fn give_back(store: &Store, owner: Owner, retired: &Path) -> Result<(), StoreError> {
    let folder = owner.folder(store.root());
    if !folder.exists() {
        return rename_folder(retired, &folder).map_err(in_file(&folder));
    }
    let wanted: Vec<(String, Option<key_store::Part>)> = match owner {
        Owner::Key(id) => {
            let parts = key_store::parts(store, id)?.into_iter();
            parts.map(|part| (part.0.to_string(), Some(part))).collect()
        }
        Owner::Job(_) => vec![("input".to_owned(), None), ("result".to_owned(), None)],
    };
    for (name, row) in wanted {
        let (from, to) = (retired.join(&name), folder.join(&name));
        let fits = |(_, digest, length)| Expected { length, digest: Some(digest) }.open(&from).is_ok();
        if from.is_file() && !to.exists() && row.is_none_or(fits) {
            fs::rename(&from, &to).map_err(in_file(&to))?;
        }
    }
    sync_folder(&folder).map_err(in_file(&folder))
}

/// Removes the server's files in a folder that lost its name; anything else in it is moved aside.
fn remove(root: &Path, folder: &Path) {
    if !folder.exists() {
        return;
    }
    match files::remove_folder(folder) {
        Ok(true) => {}
        Ok(false) => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            set_aside(root, folder, &name);
        }
        Err(error) => tracing::error!(%error, "cannot remove files; it is tried again at the next start"),
    }
}

/// Moves a folder to where an operator can look at it.
fn set_aside(root: &Path, folder: &Path, name: &str) {
    if folder.symlink_metadata().is_err() {
        return;
    }
    let place = root.join(LOST_AND_FOUND).join(OffsetDateTime::now_utc().date().to_string());
    let outcome = make_folders(&place).and_then(|()| {
        let free = |name: &PathBuf| name.symlink_metadata().is_err();
        let names = (1..)
            .map(|count| if count == 1 { place.join(name) } else { place.join(format!("{name}-{count}")) });
        let to = names.into_iter().find(free).unwrap_or_else(|| place.join(name));
        rename_folder(folder, &to).map(|()| to)
    });
    match outcome {
        Ok(to) => {
            tracing::warn!(from = %folder.display(), to = %to.display(), "no record speaks of this folder; it was moved aside");
        }
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "no record speaks of this folder; it could not be moved aside");
        }
    }
}
