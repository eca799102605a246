//! Files that commands write: whole, or not at all.
//!
//! A file is opened before the work begins, so that a path that cannot be written is refused at once. Its bytes go to a
//! temporary name beside the path, which is renamed only when all of them are on the disk; an error or ctrl-C removes it. Until
//! then, an existing file stays as it was. Inputs, keys, other parts of a key folder and objects of unknown kinds are never
//! replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use refloat::wire::ObjectKind;
use refloat::wire::header::{HEADER_LEN, MAGIC};
use tempfile::NamedTempFile;

use super::failure::Failure;
use super::interruption::temporaries;
use super::output::{is_closed_pipe, to_stdout};
use crate::system::files::{self, Readers, is_same, permit, sync_folder};

/// Files of a key folder that hold no object of the wire format.
const KEPT: [&str; 2] = ["keys.json", "server.token"];

/// Kinds of objects that are results; only these may be replaced by new results.
const CIPHERTEXTS: [ObjectKind; 3] =
    [ObjectKind::Ciphertext, ObjectKind::CggiCiphertexts, ObjectKind::BgvCiphertext];

/// Whether objects of a kind are ciphertexts, or lists of them.
pub fn is_ciphertext(kind: ObjectKind) -> bool {
    CIPHERTEXTS.contains(&kind)
}

/// Where bytes go.
enum Sink {
    /// To a file, when they are complete.
    File { temporary: Temporary, place: PathBuf, replace: bool },
    /// To a pipe or a device, as they are.
    Stream(File),
    /// To standard output.
    Stdout,
}

/// A file to be written, or a stream.
pub struct OutFile {
    asked: PathBuf,
    sink: Sink,
}

impl OutFile {
    /// A file that the user named: not a folder, not one of `inputs` under whatever name, not a key.
    pub fn open(path: &Path, inputs: &[&Path]) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Err(Failure::usage(
                "standard output takes only what decrypt writes; name a file with --out",
            ));
        }
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if fs::symlink_metadata(path).is_ok() {
                    return Err(Failure::usage(format!(
                        "{} is a link to a file that is not there; name the file itself",
                        path.display()
                    )));
                }
                return Self::at(path, &place_of(path)?, None, true);
            }
            Err(error) => return Err(Failure::file("write", path, &error)),
        };
        if found.is_dir() {
            return Err(Failure::usage(format!("{} is a folder; name a file in it", path.display())));
        }
        if !found.is_file() {
            let file = OpenOptions::new().write(true).open(path);
            let file = file.map_err(|error| Failure::file("write", path, &error))?;
            return Ok(Self { asked: path.to_owned(), sink: Sink::Stream(file) });
        }
        if let Some(input) = inputs.iter().find(|input| is_same(path, input)) {
            return Err(Failure::usage(format!(
                "{} is the same file as {}, which is read; name another one with --out",
                path.display(),
                input.display()
            )));
        }
        refuse_keys(path)?;
        let place = fs::canonicalize(path).map_err(|error| Failure::file("write", path, &error))?;
        Self::at(path, &place, Some(&found), true)
    }

    /// As [`OutFile::open`], with `-` for standard output.
    pub fn open_or_stdout(path: &Path, inputs: &[&Path]) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self { asked: path.to_owned(), sink: Sink::Stdout });
        }
        Self::open(path, inputs)
    }

    /// A file in a folder that refloat keeps; an earlier version of the file is replaced.
    pub fn own(path: &Path) -> Result<Self, Failure> {
        Self::at(path, path, None, true)
    }

    /// A secret, readable by its owner alone. It replaces an existing file only if `replace` is set.
    pub fn secret(path: &Path, replace: bool) -> Result<Self, Failure> {
        let temporary =
            Temporary::beside(path, Readers::Owner).map_err(|error| Failure::file("write", path, &error))?;
        let sink = Sink::File { temporary, place: path.to_owned(), replace };
        Ok(Self { asked: path.to_owned(), sink })
    }

    fn at(asked: &Path, place: &Path, before: Option<&Metadata>, replace: bool) -> Result<Self, Failure> {
        let made = || -> io::Result<Temporary> {
            let temporary = Temporary::beside(place, Readers::Usual)?;
            if let Some(before) = before {
                temporary.file.as_file().set_permissions(before.permissions())?;
            }
            Ok(temporary)
        };
        let temporary = made().map_err(|error| Failure::file("write", asked, &error))?;
        Ok(Self { asked: asked.to_owned(), sink: Sink::File { temporary, place: place.to_owned(), replace } })
    }

    /// Whether both would be written to the same place.
    pub fn collides(&self, other: &Self) -> bool {
        match (&self.sink, &other.sink) {
            (Sink::File { place, .. }, Sink::File { place: other, .. }) => place == other,
            _ => false,
        }
    }

    /// Writes all the bytes and gives the file its name.
    pub fn write(self, bytes: &[u8]) -> Result<(), Failure> {
        let outcome = match self.sink {
            Sink::File { temporary, place, replace } => temporary.finish(bytes, &place, replace),
            Sink::Stream(mut file) => match file.write_all(bytes) {
                Err(error) if is_closed_pipe(&error) => Ok(()),
                outcome => outcome,
            },
            Sink::Stdout => return to_stdout(bytes),
        };
        outcome.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Failure::usage(format!(
                "{} appeared in the meantime; it is left as it is",
                self.asked.display()
            )),
            _ => Failure::file("write", &self.asked, &error),
        })
    }
}

/// The place of a new file: its folder must exist, and is given without links.
fn place_of(path: &Path) -> Result<PathBuf, Failure> {
    let name = path
        .file_name()
        .filter(|_| !path.as_os_str().to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]));
    let name = name.ok_or_else(|| Failure::usage(format!("{} is not the name of a file", path.display())))?;
    let folder = folder_of(path);
    let folder = fs::canonicalize(folder).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage(format!(
            "there is no folder {} to write {} to; make it first",
            folder.display(),
            path.display()
        )),
        _ => Failure::file("write", path, &error),
    })?;
    Ok(folder.join(name))
}

/// Refuses to replace a key, or an object that this version does not know. If the header is damaged, its first bytes decide.
fn refuse_keys(path: &Path) -> Result<(), Failure> {
    let mut start = [0; HEADER_LEN];
    let mut length = 0;
    let read = File::open(path).and_then(|mut file| {
        while length < HEADER_LEN {
            match file.read(&mut start[length..])? {
                0 => break,
                more => length += more,
            }
        }
        Ok(())
    });
    read.map_err(|error| Failure::file("look at", path, &error))?;
    let named = path.file_name().is_some_and(|name| KEPT.iter().any(|kept| name == *kept));
    let kind = u16::from_le_bytes([start[12], start[13]]);
    let ciphertext = CIPHERTEXTS.iter().any(|known| *known as u16 == kind);
    if !named && (!start.starts_with(&MAGIC) || ciphertext) {
        return Ok(());
    }
    let what = ObjectKind::ALL.into_iter().find(|known| *known as u16 == kind).filter(|_| !named);
    Err(Failure::usage(format!(
        "{} holds a {}, which is not overwritten; name another file with --out",
        path.display(),
        what.map_or("part of a key folder", ObjectKind::name)
    )))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file under a temporary name beside its place, removed when dropped.
struct Temporary {
    file: NamedTempFile,
}

impl Temporary {
    /// Creates the file, for `readers`.
    fn beside(place: &Path, readers: Readers) -> io::Result<Self> {
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(place.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".partial");
        permit(&mut builder, readers);
        // Under the lock, so that no signal comes between making the file and listing it.
        let mut all = temporaries();
        let file = builder.tempfile_in(folder_of(place))?;
        all.insert(file.path().to_owned());
        Ok(Self { file })
    }

    fn finish(mut self, bytes: &[u8], place: &Path, replace: bool) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.as_file().sync_all()?;
        let mut all = temporaries();
        all.remove(self.file.path());
        if replace {
            files::replace(self.file, place)?;
        } else {
            self.file.persist_noclobber(place).map_err(|error| error.error)?;
        }
        drop(all);
        sync_folder(folder_of(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn refused(path: &Path, inputs: &[&Path]) -> String {
        OutFile::open(path, inputs).err().expect("refused").detail
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ct");
        fs::write(&path, "old").unwrap();
        let out = OutFile::open(&path, &[]).unwrap();
        assert_eq!(names(folder.path()).len(), 2);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(out);
        assert_eq!(names(folder.path()), ["a.ct"]);
        OutFile::open(&path, &[]).unwrap().write(b"new").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"new".to_vec(), vec!["a.ct".to_owned()])
        );
    }

    #[test]
    fn secrets_are_not_replaced_unless_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.key");
        let (first, second) =
            (OutFile::secret(&path, false).unwrap(), OutFile::secret(&path, false).unwrap());
        first.write(b"first").unwrap();
        assert!(second.write(b"second").unwrap_err().detail.contains("left as it is"));
        assert_eq!(fs::read(&path).unwrap(), b"first");
        OutFile::secret(&path, true).unwrap().write(b"third").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"third".to_vec(), vec!["secret.key".to_owned()])
        );
    }

    #[test]
    fn places_that_cannot_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(refused(folder.path(), &[]).contains("is a folder"));
        assert!(refused(&at("none/a.ct"), &[]).contains("make it first"));
        assert!(refused(&at("a.ct/"), &[]).contains("not the name of a file"));
        assert!(refused(Path::new("-"), &[]).contains("name a file"));
        for kept in KEPT {
            fs::write(at(kept), "x").unwrap();
            assert!(refused(&at(kept), &[]).contains("part of a key folder"), "{kept}");
        }
        let (one, other) =
            (OutFile::open(&at("a.ct"), &[]).unwrap(), OutFile::open(&at("b.ct"), &[]).unwrap());
        let dotted = folder.path().join(".").join("a.ct");
        assert!(one.collides(&OutFile::open(&dotted, &[]).unwrap()) && !one.collides(&other));
    }

    #[test]
    fn keys_are_known_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("object");
        for kind in ObjectKind::ALL {
            fs::write(&path, refloat::wire::frame::write(kind, [1; 16], [2; 16], b"")).unwrap();
            let ciphertext = kind.name().contains("ciphertext");
            let outcome = OutFile::open(&path, &[]);
            assert_eq!(outcome.is_ok(), ciphertext, "{kind:?}");
            if let Err(failure) = outcome {
                assert!(failure.detail.contains(kind.name()), "{}", failure.detail);
            }
        }
        // Damaged after the first bytes, or cut off, it still counts as a key.
        let mut key = refloat::wire::frame::write(ObjectKind::SecretKey, [1; 16], [2; 16], &[7; 32]);
        key[20] ^= 1;
        for length in [key.len(), 14] {
            fs::write(&path, &key[..length]).unwrap();
            assert!(refused(&path, &[]).contains("secret key"));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_what_they_name() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("input"), "x").unwrap();
        symlink(at("input"), at("soft")).unwrap();
        fs::hard_link(at("input"), at("hard")).unwrap();
        for name in ["input", "soft", "hard"] {
            let detail = refused(&at(name), &[&at("other"), &at("input")]);
            assert!(detail.contains("same file") && detail.contains("input"), "{detail}");
        }
        symlink(at("nowhere"), at("dangling")).unwrap();
        assert!(refused(&at("dangling"), &[]).contains("not there"));
        // Through a link, the file it points to is written, and keeps its permissions.
        fs::set_permissions(at("input"), fs::Permissions::from_mode(0o640)).unwrap();
        OutFile::open(&at("soft"), &[]).unwrap().write(b"y").unwrap();
        assert_eq!(fs::read(at("input")).unwrap(), b"y");
        assert!(fs::symlink_metadata(at("soft")).unwrap().is_symlink());
        assert_eq!(fs::metadata(at("input")).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
