//! Randomness, which comes only from the system.

use refloat::{Error, random::Seed};
use zeroize::Zeroizing;

use crate::{
    ffi::Result,
    status::{ENTROPY, Failure},
};

/// 32 bytes of the system's randomness.
pub fn draw() -> Result<Zeroizing<[u8; 32]>> {
    let mut bytes = Zeroizing::new([0; 32]);
    fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(not(target_family = "wasm"))]
fn fill(bytes: &mut [u8; 32]) -> Result<()> {
    getrandom::fill(bytes)
        .map_err(|error| Failure::new(ENTROPY, format!("the system gives no randomness: {error}")))
}

#[cfg(target_family = "wasm")]
fn fill(bytes: &mut [u8; 32]) -> Result<()> {
    if crate::ffi::host::entropy(bytes) {
        return Ok(());
    }
    Err(Failure::new(ENTROPY, "the host gives no randomness: getentropy failed"))
}

/// The seed to use with a set: the caller's, where nothing is to be protected, or a fresh one.
pub fn seed_for(set: &str, secure: bool, given: Option<Zeroizing<[u8; 32]>>) -> Result<Seed> {
    let bytes = match given {
        None => draw()?,
        Some(_) if secure => {
            return Err(Error::InvalidArgument(format!(
                "{set} is a secure set and draws its own randomness; pass NULL as the seed"
            ))
            .into());
        }
        Some(bytes) => bytes,
    };
    Ok(Seed::from_bytes(*bytes))
}
