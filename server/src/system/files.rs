//! Names, identity and permissions of files.
//!
//! Two things hold everywhere and need no function here: `std::fs::rename` of a file takes the place of another at once, also of
//! one that is open for reading, whose reader goes on with what it opened; and `File::try_lock` keeps other processes out until
//! the file is closed or its process ends, however it ends. On Windows a locked file cannot be read through another handle. Folders
//! are renamed by [`rename_folder`], and temporary files get their names by [`replace`].

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

/// How often renaming a folder whose files are open is tried on Windows, and the pause between two attempts.
const ATTEMPTS: u32 = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Renames a folder, to a name that nothing has. On Unix files in it may be open, and their readers go on with what they opened. Windows
/// does not rename such a folder; there it is tried for a fifth of a second, since readers of a key soon close its files.
///
/// # Errors
/// The disk refuses; of kind `ResourceBusy` if files in the folder are still open, and then it keeps its name.
pub fn rename_folder(from: &Path, to: &Path) -> io::Result<()> {
    let renamed = until_closed(|| fs::rename(from, to), |error| is_in_use(error) && from.is_dir(), PAUSE);
    renamed.map_err(|error| match error.kind() {
        io::ErrorKind::ResourceBusy => io::Error::new(
            error.kind(),
            format!(
                "{} cannot become {} while files in it are open ({error}); try again when they have been read",
                from.display(),
                to.display()
            ),
        ),
        _ => error,
    })
}

/// Whether this is the error of [`rename_folder`] for a folder whose files are open, which only Windows refuses to rename.
pub fn kept_its_name(error: &io::Error) -> bool {
    cfg!(windows) && error.kind() == io::ErrorKind::ResourceBusy
}

/// Whether Windows refuses to rename a folder because something in it is open: access denied, or a sharing violation.
fn is_in_use(error: &io::Error) -> bool {
    cfg!(windows) && matches!(error.raw_os_error(), Some(5 | 32))
}

/// Tries again while something is in use; if it still is at the last attempt, the error is of kind `ResourceBusy`.
fn until_closed(
    attempt: impl Fn() -> io::Result<()>,
    is_in_use: impl Fn(&io::Error) -> bool,
    pause: Duration,
) -> io::Result<()> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(error) if is_in_use(&error) => thread::sleep(pause),
            outcome => return outcome,
        }
    }
    attempt().map_err(|error| {
        if is_in_use(&error) { io::Error::new(io::ErrorKind::ResourceBusy, error) } else { error }
    })
}

/// Closes a temporary file and gives it its name, taking the place of another file at once, also of one that is open for reading,
/// which `NamedTempFile::persist` does not replace on Windows.
///
/// # Errors
/// The disk refuses: the temporary file is removed, and the place is as it was.
pub fn replace(temporary: NamedTempFile, place: &Path) -> io::Result<()> {
    let path = temporary.into_temp_path().keep().map_err(|error| error.error)?;
    fs::rename(&path, place).inspect_err(|_| {
        let _ = fs::remove_file(&path);
    })
}

/// Makes new names in a folder last.
///
/// When this returns, a file that was renamed into the folder has its name there after the process has been killed; on Unix also
/// after a power failure. Windows has no such call: there the journal of the file system keeps one name or the other.
///
/// # Errors
/// The disk refuses. That a file system has nothing to do here is not an error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    match std::fs::File::open(folder)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {}
        outcome => outcome?,
    }
    #[cfg(not(unix))]
    std::fs::metadata(folder)?;
    Ok(())
}

/// Whether two paths lead to one file: by the same name, or by a link; on Unix also by a hard link. A path that leads to no file is the
/// same as no other.
pub fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    fn identity(path: &Path) -> io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    fn identity(path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }
    identity(one).is_ok_and(|one| identity(other).is_ok_and(|other| one == other))
}

/// Whether two files lie on one disk, so that a file can be renamed from beside one to beside the other. Only Unix tells; elsewhere it is
/// assumed, and a rename to another disk fails.
pub fn on_one_disk(one: &Metadata, other: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        one.dev() == other.dev()
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        true
    }
}

/// Whether a file could not be read because another process has locked it, which only Windows does.
pub fn is_locked(error: &io::Error) -> bool {
    const ERROR_LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_LOCK_VIOLATION)
}

/// Bytes that this process may still write to the disk of a path; only Unix tells.
///
/// # Errors
/// The disk does not answer.
pub fn free_bytes(path: &Path) -> io::Result<Option<u64>> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(path)?;
        Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
    }
    #[cfg(not(unix))]
    std::fs::metadata(path).map(|_| None)
}

/// Whether this process may make and remove files in a folder; only Unix tells. Nothing is written.
///
/// # Errors
/// It may not, or there is no such folder.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    std::fs::metadata(folder).map(|_| ())
}

/// Makes a folder, and those above it that are missing. On Unix the new ones are for the user alone; those that are there keep their
/// mode.
///
/// # Errors
/// The disk refuses.
pub fn make_folders(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Whether every user of the machine may read a folder or write to it; only Unix tells, and elsewhere it is taken for closed.
pub fn everybody_may_enter(folder: &Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::mode(folder) & 0o007 != 0
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        false
    }
}

/// Makes a file that is not there yet, to be written. On Unix it is for the user alone.
///
/// # Errors
/// There is a file already, or the disk refuses.
pub fn create_new(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.read(true).write(true).create_new(true).open(path)
}

/// Who may read a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Everyone whom the user lets read new files.
    Usual,
    /// On Unix the user alone. Windows has lists for that, which a file inherits from its folder: below a user's own folder the
    /// user and administrators.
    Owner,
}

/// Says who may read the files that a builder makes.
pub fn permit(builder: &mut tempfile::Builder<'_, '_>, readers: Readers) {
    #[cfg(unix)]
    {
        let mode = if readers == Readers::Owner { 0o600 } else { 0o666 };
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = (builder, readers);
}

/// The folder where the system wants programs to keep the user's data, if the environment says where the user's folder is.
pub fn data_folder() -> Option<PathBuf> {
    data_folder_by(|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn data_folder_by(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, TryLockError};
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn a_renamed_file_takes_the_place_of_one_that_is_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&old, "old").unwrap();
        fs::write(&new, "new").unwrap();
        let mut reader = File::open(&old).unwrap();
        fs::rename(&new, &old).unwrap();
        sync_folder(folder.path()).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&old).unwrap().as_str()), ("old", "new"));
        assert!(!new.exists());
        assert!(sync_folder(&folder.path().join("none")).is_err());
    }

    #[test]
    fn a_folder_that_is_made_is_not_for_everybody() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a");
        make_folders(&folder).unwrap();
        assert!(!everybody_may_enter(&folder.metadata().unwrap()));
        #[cfg(unix)]
        for (mode, open) in [(0o755, true), (0o703, true), (0o770, false)] {
            let mode: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&folder, mode).unwrap();
            assert_eq!(everybody_may_enter(&folder.metadata().unwrap()), open);
        }
    }

    #[test]
    fn a_folder_is_renamed_while_its_files_are_read_where_the_system_lets_it() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("part"), "text").unwrap();
        let mut reader = File::open(from.join("part")).unwrap();
        let outcome = rename_folder(&from, &to);
        if cfg!(windows) {
            let error = outcome.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::ResourceBusy, "{error}");
            assert!(error.to_string().contains("are open") && from.is_dir() && !to.exists(), "{error}");
        } else {
            outcome.unwrap();
            // The name is free at once, and what is made there is another folder.
            fs::create_dir(&from).unwrap();
            assert!(!from.join("part").exists());
            fs::remove_dir(&from).unwrap();
        }
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        drop(reader);
        // Once its files are closed, the folder is renamed everywhere.
        let (now, next) = (if from.exists() { from } else { to }, folder.path().join("c"));
        rename_folder(&now, &next).unwrap();
        assert_eq!(fs::read_to_string(next.join("part")).unwrap(), "text");
        assert_eq!(rename_folder(&now, &next).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_folder_in_use_is_tried_again_and_another_fault_is_not() {
        let tried = std::cell::Cell::new(0);
        let attempt = |busy: u32, code: i32| {
            tried.set(0);
            let outcome = until_closed(
                || {
                    tried.set(tried.get() + 1);
                    if tried.get() <= busy { Err(io::Error::from_raw_os_error(code)) } else { Ok(()) }
                },
                |error| error.raw_os_error() == Some(32),
                Duration::ZERO,
            );
            (outcome.map_err(|error| error.kind()), tried.get())
        };
        assert_eq!(attempt(0, 32), (Ok(()), 1));
        assert_eq!(attempt(3, 32), (Ok(()), 4));
        assert_eq!(attempt(ATTEMPTS, 32), (Err(io::ErrorKind::ResourceBusy), ATTEMPTS));
        let other = io::Error::from_raw_os_error(2).kind();
        assert_eq!(attempt(1, 2), (Err(other), 1));
    }

    #[test]
    fn a_temporary_file_takes_the_place_of_one_that_is_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        let temporary = |text: &str| {
            let mut file = NamedTempFile::new_in(folder.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file
        };
        replace(temporary("first"), &place).unwrap();
        let mut reader = File::open(&place).unwrap();
        replace(temporary("second"), &place).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), fs::read_to_string(&place).unwrap().as_str()), ("first", "second"));
        // A file that cannot go there leaves nothing behind.
        assert!(replace(temporary("third"), &folder.path().join("none").join("a")).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_removed_file_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "text").unwrap();
        let mut reader = File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        // The name is free at once.
        fs::write(&path, "other").unwrap();
        fs::remove_file(&path).unwrap();
        fs::remove_dir(folder.path()).unwrap();
    }

    #[test]
    fn a_lock_keeps_others_out_until_its_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marker");
        let open = || fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        fs::write(&path, "").unwrap();
        let mut first = open();
        first.try_lock().unwrap();
        assert!(matches!(open().try_lock(), Err(TryLockError::WouldBlock)));
        // The holder of the lock reads and writes.
        first.write_all(b"mine").unwrap();
        first.rewind().unwrap();
        let mut text = String::new();
        first.read_to_string(&mut text).unwrap();
        assert_eq!(text, "mine");
        drop(first);
        open().try_lock().unwrap();
    }

    #[test]
    fn files_are_the_same_whatever_leads_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "x").unwrap();
        fs::write(at("b"), "x").unwrap();
        assert!(is_same(&at("a"), &folder.path().join(".").join("a")));
        assert!(!is_same(&at("a"), &at("b")));
        assert!(!is_same(&at("none"), &at("none")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
            fs::hard_link(at("a"), at("hard")).unwrap();
            assert!(is_same(&at("a"), &at("soft")) && is_same(&at("hard"), &at("soft")));
        }
    }

    #[test]
    fn a_file_lies_on_the_disk_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        assert!(on_one_disk(&folder.path().metadata().unwrap(), &path.metadata().unwrap()));
        #[cfg(target_os = "linux")]
        assert!(!on_one_disk(&path.metadata().unwrap(), &Path::new("/proc").metadata().unwrap()));
        assert_eq!(free_bytes(folder.path()).unwrap().is_some(), cfg!(unix));
        assert!(free_bytes(&folder.path().join("none")).is_err());
    }

    #[test]
    fn what_a_server_makes_is_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (made, above) = (folder.path().join("a/b"), folder.path().join("a"));
        make_folders(&made).unwrap();
        make_folders(&made).unwrap();
        create_new(&made.join("c")).unwrap().write_all(b"c").unwrap();
        assert_eq!(create_new(&made.join("c")).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        check_writable(&made).unwrap();
        assert!(check_writable(&folder.path().join("none")).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&above), mode(&made), mode(&made.join("c"))), (0o700, 0o700, 0o600));
            fs::set_permissions(&above, fs::Permissions::from_mode(0o750)).unwrap();
            make_folders(&made).unwrap();
            assert_eq!(mode(&above), 0o750);
        }
    }

    #[test]
    fn a_secret_is_read_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        for readers in [Readers::Usual, Readers::Owner] {
            let mut builder = tempfile::Builder::new();
            permit(&mut builder, readers);
            let file = builder.tempfile_in(folder.path()).unwrap();
            assert!(File::open(file.path()).is_ok());
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let others = file.as_file().metadata().unwrap().permissions().mode() & 0o077;
                assert!(readers == Readers::Usual || others == 0, "{others:o}");
            }
        }
    }

    #[test]
    fn data_lies_where_the_system_keeps_it() {
        let set =
            |names: &'static [&str]| move |name: &str| names.contains(&name).then(|| PathBuf::from(name));
        let found = |names| data_folder_by(set(names));
        let all = found(&["XDG_DATA_HOME", "HOME", "LOCALAPPDATA"]).unwrap();
        assert_eq!(all, Path::new(if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME" }));
        let home = found(&["HOME"]);
        assert_eq!(home, (!cfg!(windows)).then(|| PathBuf::from("HOME/.local/share")));
        assert_eq!(found(&[]), None);
    }
}
