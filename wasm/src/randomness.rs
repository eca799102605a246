//! Seeds from the platform.

use js_sys::Uint8Array;
use refloat::{Error, random::Seed};
use zeroize::{Zeroize, Zeroizing};

use crate::failure::{Failure, Result};

/// The seed to use with a set: the caller's, where nothing is to be protected, or a fresh one.
pub fn seed_for(set: &str, secure: bool, given: Option<Uint8Array>) -> Result<Seed> {
    let mut bytes = Zeroizing::new([0u8; 32]);
    match given {
        None => getrandom::fill(bytes.as_mut())
            .map_err(|error| Error::Entropy(format!("the platform gives none: {error}")))?,
        Some(_) if secure => {
            return Err(Error::InvalidArgument(format!(
                "{set} is a secure set and draws its own randomness; leave the seed out"
            ))
            .into());
        }
        Some(seed) if seed.length() == 32 => seed.copy_to(bytes.as_mut()),
        Some(seed) => {
            return Err(Failure::invalid(format!("a seed has 32 bytes, and this one {}", seed.length())));
        }
    }
    let seed = Seed::from_bytes(*bytes);
    bytes.zeroize();
    Ok(seed)
}
