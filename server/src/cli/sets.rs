//! Sets and keys in files, whatever the method.

use std::path::Path;

use refloat::{Error, wire};

use super::failure::Failure;
use super::keyfiles::{self, in_file, in_key};
use super::machine;
use super::message_files::read_file;
use super::published_sets;
use crate::clients::{
    CiphertextBytes, CkksClient, CkksSecret, IntegerClient, IntegerSecret, KeyClient, KeyOwnerSet, KeySecret,
    SetQuery,
};
use crate::encryptors::{CkksEncryptor, IntegerEncryptor};
use crate::engine::SetInfo;
use crate::engines::Engines;
use crate::id::hex;
use crate::registry::{Memory, Registry, SetFilter};

/// The failure for a set that no keys can be made for. It says how a published set is measured, or which set replaces one of an earlier
/// version, or lists all sets.
pub fn unknown_set(registry: &Registry, name: &str) -> Failure {
    if let Some(hint) = published_sets::hint(name) {
        return Failure::usage(hint);
    }
    let engines = match Engines::with(registry, SetFilter::all()) {
        Ok(engines) => engines,
        Err(error) => return error.into(),
    };
    if let Some(now) = engines.infos().find(|set| set.name == name).and_then(|set| set.successor.as_ref()) {
        return Failure::usage(format!(
            "{name} is the {now} of an earlier version: its keys and ciphertexts are read, and no new keys made of it; \
             take {now}"
        ));
    }
    let today = engines.infos().filter(|set| set.successor.is_none());
    let names: Vec<&str> = today.map(|set| set.name.as_str()).collect();
    Failure::usage(format!("no parameter set is called {name:?}; there are {}", names.join(", ")))
}

/// The failure for a command that cannot use a set: because no set has this name, or because the command does not know its method.
pub fn not_for(registry: &Registry, name: &str, command: &str) -> Failure {
    match registry.client(SetQuery::Name(name)) {
        Ok(Some(client)) => {
            let method = client.keys().info().method.clone();
            Failure::usage(format!("{name} is a set of {method}, which {command} cannot measure yet"))
        }
        _ => unknown_set(registry, name),
    }
}

/// The set with this name, to make keys for.
pub fn named(registry: &Registry, name: &str) -> Result<Box<dyn KeyClient>, Failure> {
    let found = registry.client(SetQuery::Name(name))?;
    found.map(KeyOwnerSet::keys).ok_or_else(|| unknown_set(registry, name))
}

/// Engines for a set within `memory` bytes, or within the available memory.
pub fn engines(registry: &Registry, set: &SetInfo, memory: Option<u64>) -> Result<Engines, Failure> {
    let memory = Memory::Total(memory.or_else(machine::available_memory));
    Ok(Engines::with(registry, SetFilter { only: Some(&set.name), memory })?)
}

/// A secret key and its set.
type WithSet<C, S> = (Box<C>, Box<S>);

/// Reads a key from its file; errors name the file.
fn read_key<K>(path: &Path, read: impl FnOnce(&[u8]) -> Result<K, Error>) -> Result<K, Failure> {
    let bytes = read_file(path)?;
    read(&bytes).map_err(|error| in_key(path, &error))
}

/// Reads a secret key of any set from its file.
pub fn read_secret(
    registry: &Registry,
    path: &Path,
) -> Result<WithSet<dyn KeyClient, dyn KeySecret>, Failure> {
    read_key(path, |bytes| {
        let set = of_bytes(registry, bytes)?.keys();
        let secret = set.read_secret(bytes)?;
        Ok((set, secret))
    })
}

/// Reads a secret key of any CKKS set, from its file or from the folder of keys.
pub fn read_ckks_secret(
    registry: &Registry,
    path: &Path,
) -> Result<WithSet<dyn CkksClient, dyn CkksSecret>, Failure> {
    read_key(&keyfiles::secret_path(path), |bytes| {
        let set = ckks_of_bytes(registry, bytes)?;
        let secret = set.read_ckks_secret(bytes)?;
        Ok((set, secret))
    })
}

/// Reads a secret key of an integer set, from its file or from the folder of keys; `None` if it belongs to another kind of set.
pub fn read_integer_secret(
    registry: &Registry,
    path: &Path,
) -> Result<Option<WithSet<dyn IntegerClient, dyn IntegerSecret>>, Failure> {
    read_key(&keyfiles::secret_path(path), |bytes| {
        let KeyOwnerSet::Integers(set) = of_bytes(registry, bytes)? else { return Ok(None) };
        let secret = set.read_integer_secret(bytes)?;
        Ok(Some((set, secret)))
    })
}

/// Reads a key of any CKKS set that can encrypt, secret or public, from its file or from the folder of keys.
pub fn read_ckks_encryptor(
    registry: &Registry,
    path: &Path,
) -> Result<WithSet<dyn CkksClient, dyn CkksEncryptor>, Failure> {
    read_key(&keyfiles::secret_path(path), |bytes| {
        let set = ckks_of_bytes(registry, bytes)?;
        let key = set.read_ckks_encryptor(bytes)?;
        Ok((set, key))
    })
}

/// Reads a key of an integer set that can encrypt, secret or public, from its file or from the folder of keys; `None` if it belongs to
/// another kind of set.
pub fn read_integer_encryptor(
    registry: &Registry,
    path: &Path,
) -> Result<Option<WithSet<dyn IntegerClient, dyn IntegerEncryptor>>, Failure> {
    read_key(&keyfiles::secret_path(path), |bytes| {
        let KeyOwnerSet::Integers(set) = of_bytes(registry, bytes)? else { return Ok(None) };
        let key = set.read_integer_encryptor(bytes)?;
        Ok(Some((set, key)))
    })
}

/// The public key of a secret key in a file, and its set.
pub fn public_key(registry: &Registry, path: &Path) -> Result<(SetInfo, Vec<u8>), Failure> {
    read_key(path, |bytes| match of_bytes(registry, bytes)? {
        KeyOwnerSet::Ckks(set) => Ok((set.info().clone(), set.read_ckks_secret(bytes)?.public_key()?)),
        KeyOwnerSet::Integers(set) => Ok((set.info().clone(), set.read_integer_secret(bytes)?.public_key()?)),
        KeyOwnerSet::Other(set) => Err(Error::InvalidArgument(format!(
            "keys of {} have no public key, and only their owner encrypts; give a secret key of numbers or integers in slots",
            set.info().name
        ))),
    })
}

/// Refuses text or a picture where a ciphertext is expected, judging by the first bytes: a message that was not encrypted.
pub fn must_be_encrypted(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let start = &bytes[..bytes.len().min(64)];
    let is_text = match std::str::from_utf8(start) {
        Ok(_) => !start.contains(&0),
        // The last character may be cut off.
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    let found = match start {
        [] => {
            let detail = format!("{} is empty and no ciphertext; was it written to the end?", path.display());
            return Err(Failure { code: "BAD_BYTES".to_owned(), detail });
        }
        _ if start.starts_with(b"\x89PNG") => "is a picture",
        _ if is_text => "holds text",
        _ => return Ok(()),
    };
    let detail = format!(
        "{0} {found} and is not a ciphertext; encrypt a message first: refloat encrypt --key KEYS --in {0} --out FILE.ct",
        path.display()
    );
    Err(Failure { code: "BAD_BYTES".to_owned(), detail })
}

/// Reads a ciphertext of any set that has bootstraps.
pub fn read_refreshable(registry: &Registry, path: &Path) -> Result<(KeyOwnerSet, CiphertextBytes), Failure> {
    let bytes = read_file(path)?.to_vec();
    must_be_encrypted(path, &bytes)?;
    let read = || {
        let set = of_bytes(registry, &bytes)?;
        let ciphertext = set.ciphertext(bytes)?;
        Ok((set, ciphertext))
    };
    read().map_err(|error| in_file(path, error))
}

/// Reads a ciphertext of any CKKS set.
pub fn read_ciphertext(
    registry: &Registry,
    path: &Path,
) -> Result<(Box<dyn CkksClient>, CiphertextBytes), Failure> {
    let bytes = read_file(path)?.to_vec();
    must_be_encrypted(path, &bytes)?;
    let read = || {
        let set = ckks_of_bytes(registry, &bytes)?;
        let ciphertext = set.ciphertext(bytes)?;
        Ok((set, ciphertext))
    };
    read().map_err(|error| in_file(path, error))
}

fn ckks_of_bytes(registry: &Registry, bytes: &[u8]) -> Result<Box<dyn CkksClient>, Error> {
    match of_bytes(registry, bytes)? {
        KeyOwnerSet::Ckks(set) => Ok(set),
        other => Err(Error::ParamsMismatch(format!(
            "these bytes belong to {}, which is not a set of CKKS; give a key or a ciphertext of one",
            other.keys().info().name
        ))),
    }
}

/// The set that `bytes` claim to belong to.
fn of_bytes(registry: &Registry, bytes: &[u8]) -> Result<KeyOwnerSet, Error> {
    let fingerprint = wire::frame::peek(bytes)?.fingerprint;
    registry.client(SetQuery::Fingerprint(fingerprint))?.ok_or_else(|| {
        Error::ParamsMismatch(format!(
            "no set of this version has fingerprint {}; use the version that made it",
            hex(&fingerprint)
        ))
    })
}
