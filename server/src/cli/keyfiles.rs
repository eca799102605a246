//! Keys in a folder.
//!
//! ```text
//! secret.key                the seed of everything, readable by its owner alone
//! evaluation/keys.json      what the pieces belong to
//! evaluation/00000.part …   evaluation keys, for whoever computes
//! ```

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use refloat::random::Seed;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::message_files::read_file;
use super::outfile::OutFile;
use super::output::Output;
use super::progress;
use crate::engine::{LoadError, LoadedKeys, PartReader, SetInfo};
use crate::engines::Engines;
use crate::id::Id;

const SECRET: &str = "secret.key";
const EVALUATION: &str = "evaluation";
const MANIFEST: &str = "keys.json";

/// What the pieces of an evaluation key set belong to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Name of the parameter set.
    pub params: String,
    /// Fingerprint of the parameter set.
    pub fingerprint: String,
    /// Identifier of the secret key.
    pub key_id: Id,
    /// Number of pieces.
    pub parts: usize,
}

/// An evaluation key set as it is written or sent: what it belongs to, and the bytes of its pieces.
pub struct KeySet {
    /// What the pieces belong to.
    pub manifest: Manifest,
    /// Bytes of each piece.
    pub sizes: Vec<u64>,
}

impl KeySet {
    /// The evaluation keys of a set that belong to `key`.
    pub fn of(set: &SetInfo, key: Id) -> Self {
        let sizes: Vec<u64> = set.key_parts.iter().map(|part| part.bytes as u64).collect();
        let (params, fingerprint) = (set.name.clone(), set.fingerprint.clone());
        Self { manifest: Manifest { params, fingerprint, key_id: key, parts: sizes.len() }, sizes }
    }

    /// Bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

/// Makes one piece of an evaluation key set.
pub type MakePart<'a> = &'a dyn Fn(usize) -> Result<Vec<u8>, Failure>;

/// A folder with evaluation keys.
pub struct EvaluationFolder {
    folder: PathBuf,
    /// What the keys belong to.
    pub manifest: Manifest,
}

/// 32 bytes of the operating system's entropy.
pub fn fresh_seed() -> Result<Seed, Failure> {
    Seed::random().map_err(|error| Failure::system(&error))
}

/// The file of the secret key in `path`, which is the file itself or the folder of keys.
pub fn secret_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(SECRET) } else { path.to_owned() }
}

/// The folder of the evaluation keys in a folder of keys.
pub fn evaluation_path(folder: &Path) -> PathBuf {
    folder.join(EVALUATION)
}

/// The path of a new secret key in a folder of keys.
pub fn new_secret_path(folder: &Path) -> PathBuf {
    folder.join(SECRET)
}

/// Whether there is a secret key at `path`. An empty file, which earlier versions left when a disk was full, protects nothing and
/// does not count.
pub fn has_secret(path: &Path) -> Result<bool, Failure> {
    match fs::metadata(path) {
        Ok(found) => Ok(found.len() > 0 || !found.is_file()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::file("look at", path, &error)),
    }
}

/// The file of the secret key that belongs to `path`: `path` itself, a file in it, or one beside it if it is a folder of evaluation keys.
pub fn secret_of(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let beside = path.parent().filter(|parent| path.ends_with(EVALUATION) && !parent.as_os_str().is_empty());
    [Some(path), beside].into_iter().flatten().map(|folder| folder.join(SECRET)).find(|path| path.is_file())
}

/// The command that makes the evaluation keys missing in `folder`: from the secret key in it or beside it, or from a new one.
pub fn repair(folder: &Path) -> String {
    match secret_of(folder).as_deref().and_then(Path::parent) {
        Some(owner) => format!("refloat keygen --resume --out {}", owner.display()),
        None => format!("refloat keygen --out {}", folder.display()),
    }
}

/// What mends a damaged file of the evaluation keys in `folder`. Keys of a new secret key would not fit the ciphertexts there are.
fn mended(folder: &Path) -> String {
    match secret_of(folder) {
        Some(_) => format!("make it again with {}", repair(folder)),
        None => "get it again from where the secret key is".to_owned(),
    }
}

/// Says which file an error is about.
pub fn in_file(path: &Path, error: refloat::Error) -> Failure {
    let failure = Failure::from(error);
    Failure { detail: format!("{}: {}", path.display(), failure.detail), ..failure }
}

/// Says which file of a key an error is about. What is wrong with bytes that were sent is mended by sending them again, and what is wrong
/// with a file of one's own is not.
pub fn in_key(path: &Path, error: &refloat::Error) -> Failure {
    let Some(problem) = damage(error) else { return in_file(path, error.clone()) };
    let repair = if path.file_name().is_some_and(|name| name == SECRET) {
        "put it back from a backup; without it nothing encrypted with it can be decrypted"
    } else {
        "put it back from a backup, or get it again from where it came"
    };
    let detail = format!("{}: {problem}; the file is damaged or cut off: {repair}", path.display());
    Failure { code: error.code().to_owned(), detail }
}

/// What is wrong, if the bytes of an object are damaged or not all there.
fn damage(error: &refloat::Error) -> Option<&str> {
    let is_damage = matches!(error, refloat::Error::BadBytes(_))
        && error.repair().is_some_and(|repair| repair.contains("send"));
    is_damage.then(|| error.problem())
}

impl EvaluationFolder {
    /// Writes evaluation keys piece by piece, except those that are there and that `keep` accepts. The manifest comes last, so
    /// that a folder that has one is complete. Also returns the number of pieces made.
    pub fn create(
        folder: &Path,
        set: &KeySet,
        make: MakePart<'_>,
        keep: &dyn Fn(usize, &[u8]) -> bool,
        output: &Output,
    ) -> Result<usize, Failure> {
        fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
        let bar = progress::byte_bar(output, set.bytes(), "evaluation keys");
        let mut made = 0;
        for (index, &size) in set.sizes.iter().enumerate() {
            let path = part_path(folder, index);
            let there = fs::metadata(&path).is_ok_and(|found| found.is_file() && found.len() == size);
            if !(there && fs::read(&path).is_ok_and(|bytes| keep(index, &bytes))) {
                OutFile::own(&path)?.write(&make(index)?)?;
                made += 1;
            }
            bar.inc(size);
        }
        bar.finish_and_clear();
        let text = serde_json::to_vec_pretty(&set.manifest).map_err(|error| Failure::system(&error))?;
        OutFile::own(&folder.join(MANIFEST))?.write(&text)?;
        Ok(made)
    }

    /// Whether a folder has all pieces of a set, by names and lengths, and a manifest that matches.
    ///
    /// # Errors
    /// The manifest is of other keys, which are left alone.
    pub fn is_complete(folder: &Path, set: &KeySet) -> Result<bool, Failure> {
        let Some(found) = Self::at(folder)? else { return Ok(false) };
        let (there, here) = (&found.manifest, &set.manifest);
        // Fingerprints are compared, not names: a name may have been given to another set since.
        if (&there.fingerprint, there.key_id, there.parts) != (&here.fingerprint, here.key_id, here.parts) {
            return Err(Failure::usage(format!(
                "{} holds evaluation keys of key {} of {} (fingerprint {}), the secret key is {} of {} ({}); move that folder away",
                folder.display(),
                there.key_id,
                there.params,
                there.fingerprint,
                here.key_id,
                here.params,
                here.fingerprint
            )));
        }
        let whole = |(index, size): (usize, &u64)| {
            fs::metadata(part_path(folder, index)).is_ok_and(|found| found.len() == *size)
        };
        Ok(set.sizes.iter().enumerate().all(whole))
    }

    /// Makes a folder count as incomplete, because its key is about to be replaced.
    pub fn forget(folder: &Path) -> Result<(), Failure> {
        let path = folder.join(MANIFEST);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::file("remove", &path, &error)),
            _ => Ok(()),
        }
    }

    /// Makes a folder count as incomplete if its manifest does not read back, so that it is made again. The file keeps its bytes under
    /// another name: it may be somebody else's.
    pub fn set_damaged_aside(folder: &Path) -> Result<(), Failure> {
        let path = folder.join(MANIFEST);
        if !path.is_file() || serde_json::from_slice::<Manifest>(&read_file(&path)?).is_ok() {
            return Ok(());
        }
        let aside = path.with_extension("json.damaged");
        if aside.exists() {
            return Err(Failure::file(
                "set aside",
                &path,
                &format!("{} is there already; remove it", aside.display()),
            ));
        }
        fs::rename(&path, &aside).map_err(|error| Failure::file("rename", &path, &error))
    }

    /// Finds evaluation keys in a folder, or in its subfolder of evaluation keys; `None` if there are
    /// none.
    pub fn find(folder: &Path) -> Result<Option<Self>, Failure> {
        match Self::at(folder)? {
            None => Self::at(&folder.join(EVALUATION)),
            found => Ok(found),
        }
    }

    /// The evaluation keys in a folder itself.
    pub fn at(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(MANIFEST);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = read_file(&path)?;
        let manifest = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::file("understand", &path, &format!("{error}; the file is damaged: {}", mended(folder)))
        })?;
        Ok(Some(Self { folder: folder.to_owned(), manifest }))
    }

    /// One piece.
    pub fn part(&self, index: usize) -> Result<Vec<u8>, Failure> {
        let path = part_path(&self.folder, index);
        fs::read(&path).map_err(|error| self.unread(&path, &error))
    }

    fn unread(&self, path: &Path, error: &std::io::Error) -> Failure {
        let failure = Failure::file("read", path, error);
        Failure { detail: format!("{}; {}", failure.detail, mended(&self.folder)), ..failure }
    }

    fn refused(&self, path: &Path, error: refloat::Error) -> Failure {
        let code = error.code().to_owned();
        let detail = match damage(&error) {
            Some(problem) => format!("{}: {problem}", path.display()),
            None => in_file(path, error).detail,
        };
        Failure { code, detail: format!("{detail}; {}", mended(&self.folder)) }
    }

    /// Loads all pieces for use with their set, which must be among `engines`.
    pub fn load(&self, engines: &Engines, output: &Output) -> Result<LoadedKeys, Failure> {
        let Manifest { params, key_id, fingerprint, .. } = &self.manifest;
        let set = engines.by_fingerprint(fingerprint).ok_or_else(|| {
            let known = engines.infos().map(|set| format!("{} with {}", set.name, set.fingerprint));
            Failure::usage(format!(
                "the keys in {} are for {params} with fingerprint {fingerprint}, the ciphertext is of {}; use the \
                 ciphertext's keys",
                self.folder.display(),
                known.collect::<Vec<_>>().join(", ")
            ))
        })?;
        let here = self.folder.clone();
        let later: PartReader = Arc::new(move |index| {
            let path = part_path(&here, index);
            let repair = || format!("{}; {}", path.display(), mended(&here));
            fs::read(&path)
                .map_err(|error| std::io::Error::new(error.kind(), format!("{error}: {}", repair())))
        });
        if let Some(opened) = set.open(*key_id, &later) {
            return opened.map_err(|error| match damage(&error) {
                Some(_) => self.refused(&self.folder, error),
                None => in_file(&self.folder, error),
            });
        }
        let bar = progress::byte_bar(output, set.info().key_bytes, "loading keys");
        let mut last = 0;
        let loaded = set.load(*key_id, &mut |index| {
            last = index;
            let bytes = fs::read(part_path(&self.folder, index))?;
            bar.inc(bytes.len() as u64);
            Ok(bytes)
        });
        bar.finish_and_clear();
        let path = part_path(&self.folder, last);
        loaded.map_err(|error| match error {
            LoadError::Io(error) => self.unread(&path, &error),
            LoadError::Refused(error) => self.refused(&path, error),
        })
    }
}

fn part_path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index:05}.part"))
}
