//! CKKS sets in files, whatever the method that refreshes their ciphertexts.

use std::path::Path;

use refloat::{Error, params, wire};

use super::data::read_file;
use super::failure::Failure;
use super::keyfiles::{self, KeySet, in_file};
use super::machine;
use crate::clients::{CiphertextBytes, CkksClient, CkksSecret, Which};
use crate::engines::Engines;
use crate::id::{Id, hex};
use crate::registry::{Memory, Registry, Wanted, ckks_client};

/// Says that keys are made of no set of this name: the one to take instead of a set of an earlier version, or all there are.
pub fn unknown_set(name: &str) -> Failure {
    if let Some(now) = params::successor(name) {
        return Failure::usage(format!(
            "{name} is the {now} of an earlier version: its keys and ciphertexts are read, and no new keys made of it; \
             take {now}"
        ));
    }
    let names = match Engines::new(u64::MAX) {
        Ok(engines) => {
            engines.infos().filter(|set| set.successor.is_none()).map(|set| set.name.clone()).collect()
        }
        Err(_) => Vec::new(),
    };
    Failure::usage(format!("no parameter set is called {name:?}; there are {}", names.join(", ")))
}

/// The set of a name, if it is one of CKKS.
pub fn named(name: &str) -> Result<Option<Box<dyn CkksClient>>, Failure> {
    Ok(ckks_client(Which::Name(name))?)
}

/// The evaluation keys of a set that belong to a key.
pub fn key_set(set: &dyn CkksClient, key: Id) -> KeySet {
    let sizes = set.info().key_parts.iter().map(|part| part.bytes as u64).collect();
    KeySet::new(&set.info().name, set.fingerprint(), key, sizes)
}

/// What computes with a set in at most `memory` bytes, or in what is available.
pub fn engines(set: &dyn CkksClient, memory: Option<u64>) -> Result<Engines, Failure> {
    let memory = Memory::Total(memory.or_else(machine::available_memory));
    Ok(Engines::with(&Registry::default(), Wanted { only: Some(&set.info().name), memory })?)
}

/// Reads a secret key of any CKKS set, from its file or from the folder of keys.
pub fn read_secret(path: &Path) -> Result<(Box<dyn CkksClient>, Box<dyn CkksSecret>), Failure> {
    let path = keyfiles::secret_path(path);
    let bytes = read_file(&path)?;
    let read = || -> Result<_, Error> {
        let set = of_bytes(&bytes)?;
        let secret = set.read_secret(&bytes)?;
        Ok((set, secret))
    };
    read().map_err(|error| in_file(&path, error))
}

/// Reads a ciphertext of any CKKS set.
pub fn read_ciphertext(path: &Path) -> Result<(Box<dyn CkksClient>, CiphertextBytes), Failure> {
    let bytes = read_file(path)?.to_vec();
    let read = || -> Result<_, Error> {
        let set = of_bytes(&bytes)?;
        let ciphertext = set.ciphertext(bytes)?;
        Ok((set, ciphertext))
    };
    read().map_err(|error| in_file(path, error))
}

/// The set that bytes claim to belong to.
fn of_bytes(bytes: &[u8]) -> Result<Box<dyn CkksClient>, Error> {
    let fingerprint = wire::frame::peek(bytes)?.fingerprint;
    ckks_client(Which::Fingerprint(fingerprint))?.ok_or_else(|| {
        Error::ParamsMismatch(format!(
            "no CKKS set of this version has fingerprint {}; use the version that made it",
            hex(&fingerprint)
        ))
    })
}
