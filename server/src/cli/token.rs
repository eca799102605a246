//! The token by which a server knows whose the uploaded keys are.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use zeroize::Zeroizing;

use super::failure::Failure;
use crate::id::hex;

/// File of the random bytes that tokens are made of, beside the keys.
const FILE: &str = "server.token";

/// Keeps tokens apart from every other use of BLAKE3.
const CONTEXT: &str = "refloat 2026-11-22 token of a key folder at a server";

/// The token of the keys in `keys` (a folder, or the file of a secret key) at the server `base`, the same whenever it is
/// asked for. It is derived from a file that is made at the first time, and is of no use at another server.
pub fn server_token(keys: &Path, base: &str) -> Result<String, Failure> {
    let folder = if keys.is_dir() { keys } else { keys.parent().unwrap_or(Path::new(".")) };
    let path = folder.join(FILE);
    let kept = match fs::read(&path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => create(&path)?,
        Err(error) => return Err(Failure::file("read", &path, &error)),
    };
    if kept.len() != 32 {
        return Err(Failure::usage(format!(
            "{} has {} bytes in place of 32; remove it, and delete the keys it uploaded on the server",
            path.display(),
            kept.len()
        )));
    }
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&kept).update(base.as_bytes());
    Ok(hex(hasher.finalize().as_bytes()))
}

fn create(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut bytes = Zeroizing::new(vec![0; 32]);
    getrandom::fill(&mut bytes).map_err(|error| Failure::system(&error))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(&bytes)?;
        file.sync_all()
    });
    written.map_err(|error| Failure::file("write", path, &error))?;
    Ok(bytes)
}
