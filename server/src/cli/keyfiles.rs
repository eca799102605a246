//! Keys in a folder.
//!
//! ```text
//! secret.key                the seed of everything, readable by its owner alone
//! evaluation/keys.json      what the pieces belong to
//! evaluation/00000.part …   evaluation keys, for whoever computes
//! ```

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use refloat::random::Seed;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::data::read_file;
use super::failure::Failure;
use super::output::Output;
use super::progress;
use crate::engine::{Engine, LoadError, LoadedKeys};
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
    /// What it belongs to.
    pub manifest: Manifest,
    /// Bytes of each piece.
    pub sizes: Vec<u64>,
}

impl KeySet {
    /// The evaluation keys of set `name` that belong to `key`.
    pub fn new(name: &str, fingerprint: [u8; 16], key: Id, sizes: Vec<u64>) -> Self {
        let fingerprint = crate::id::hex(&fingerprint);
        let manifest = Manifest { params: name.to_owned(), fingerprint, key_id: key, parts: sizes.len() };
        Self { manifest, sizes }
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
    /// What they belong to.
    pub manifest: Manifest,
}

/// 32 bytes of the operating system's entropy.
pub fn fresh_seed() -> Result<Seed, Failure> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut()).map_err(|error| Failure::system(&error))?;
    Ok(Seed::from_bytes(*bytes))
}

/// The file of the secret key in `path`, which is the file itself or the folder of keys.
pub fn secret_path(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(SECRET) } else { path.to_owned() }
}

/// The folder of the evaluation keys in a folder of keys.
pub fn evaluation_path(folder: &Path) -> PathBuf {
    folder.join(EVALUATION)
}

/// Where a new secret key goes in a folder of keys.
pub fn new_secret_path(folder: &Path) -> PathBuf {
    folder.join(SECRET)
}

/// Writes a secret so that only its owner can read it, and never over another one unless told to.
pub fn write_secret(path: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    if force {
        match fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::file("replace", path, &error));
            }
            _ => {}
        }
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let outcome = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    outcome.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::usage(format!(
            "{} holds a secret key already; choose another folder, or --force to destroy that key and all it protects",
            path.display()
        )),
        _ => Failure::file("write", path, &error),
    })
}

/// Says which file an error is about.
pub fn in_file(path: &Path, error: refloat::Error) -> Failure {
    let failure = Failure::from(error);
    Failure { detail: format!("{}: {}", path.display(), failure.detail), ..failure }
}

impl EvaluationFolder {
    /// Writes evaluation keys piece by piece; the manifest comes last, so that a folder that has one is
    /// complete.
    pub fn create(
        folder: &Path,
        set: &KeySet,
        make: MakePart<'_>,
        output: &Output,
    ) -> Result<(Self, u64), Failure> {
        fs::create_dir_all(folder).map_err(|error| Failure::file("create", folder, &error))?;
        let bar = progress::byte_bar(output, set.bytes(), "evaluation keys");
        for index in 0..set.sizes.len() {
            let path = part_path(folder, index);
            let bytes = make(index)?;
            fs::write(&path, &bytes).map_err(|error| Failure::file("write", &path, &error))?;
            bar.inc(bytes.len() as u64);
        }
        bar.finish_and_clear();
        let path = folder.join(MANIFEST);
        let text = serde_json::to_vec_pretty(&set.manifest).map_err(|error| Failure::system(&error))?;
        fs::write(&path, text).map_err(|error| Failure::file("write", &path, &error))?;
        Ok((Self { folder: folder.to_owned(), manifest: set.manifest.clone() }, set.bytes()))
    }

    /// Finds evaluation keys in a folder, or in its folder of evaluation keys; `None` if there are
    /// none.
    pub fn find(folder: &Path) -> Result<Option<Self>, Failure> {
        for folder in [folder.to_owned(), folder.join(EVALUATION)] {
            let path = folder.join(MANIFEST);
            if path.is_file() {
                let bytes = read_file(&path)?;
                let manifest = serde_json::from_slice(&bytes)
                    .map_err(|error| Failure::file("understand", &path, &error))?;
                return Ok(Some(Self { folder, manifest }));
            }
        }
        Ok(None)
    }

    /// The fingerprint of their parameter set. Its name may have gone to other numbers since.
    pub fn fingerprint(&self) -> Result<[u8; 16], Failure> {
        let Manifest { fingerprint, .. } = &self.manifest;
        let parsed: Result<Id, _> = fingerprint.parse();
        parsed.map(|id| id.0).map_err(|error| {
            Failure::usage(format!("fingerprint {fingerprint:?} in {}: {error}", self.folder.display()))
        })
    }

    /// One piece.
    pub fn part(&self, index: usize) -> Result<Vec<u8>, Failure> {
        let path = part_path(&self.folder, index);
        fs::read(&path).map_err(|error| Failure::file("read", &path, &error))
    }

    /// Loads all pieces for use by an engine that knows their set.
    pub fn load(&self, engine: &dyn Engine, output: &Output) -> Result<LoadedKeys, Failure> {
        let Manifest { params, key_id, fingerprint, .. } = &self.manifest;
        let set = engine.set_by_fingerprint(fingerprint).ok_or_else(|| {
            let known = engine.sets().iter().map(|set| format!("{} with {}", set.name, set.fingerprint));
            Failure::usage(format!(
                "the keys in {} are for {params} with fingerprint {fingerprint}, the ciphertext is of {}; use the \
                 ciphertext's keys",
                self.folder.display(),
                known.collect::<Vec<_>>().join(", ")
            ))
        })?;
        let bar = progress::byte_bar(output, set.key_bytes, "loading keys");
        let mut last = 0;
        let loaded = engine.load_keys(&set.name, *key_id, &mut |index| {
            last = index;
            let bytes = fs::read(part_path(&self.folder, index))?;
            bar.inc(bytes.len() as u64);
            Ok(bytes)
        });
        bar.finish_and_clear();
        let path = part_path(&self.folder, last);
        loaded.map_err(|error| match error {
            LoadError::Io(error) => Failure::file("read", &path, &error),
            LoadError::Engine(error) => in_file(&path, error),
        })
    }

    /// Hands over all pieces, in order.
    pub fn each_part(
        &self,
        mut take: impl FnMut(usize, &[u8]) -> Result<(), refloat::Error>,
    ) -> Result<(), Failure> {
        (0..self.manifest.parts).try_for_each(|index| {
            take(index, &self.part(index)?).map_err(|error| in_file(&part_path(&self.folder, index), error))
        })
    }
}

fn part_path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index:05}.part"))
}
