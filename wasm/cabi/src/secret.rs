//! Secret keys of every method.

use std::sync::Arc;

use refloat::{
    Error,
    random::Seed,
    wire::{self, SeededSecret},
};
use zeroize::Zeroizing;

use crate::{
    entropy::seed_for,
    ffi::{Opaque, Result},
    method::Keyed,
    sets::{self, Set},
};

/// A secret key, wiped when it is freed.
pub struct Secret<P: Keyed> {
    /// Its set.
    pub set: Arc<Set<P>>,
    /// The key.
    pub key: P::Secret,
}

impl<P: Keyed> Opaque for Secret<P> {
    const NAME: &'static str = P::SECRET;
    const SECRET: bool = true;
}

impl<P: Keyed> Secret<P> {
    /// Makes a key. A given seed is for insecure sets only.
    pub fn generate(set: &str, allow_insecure: bool, seed: Option<Zeroizing<[u8; 32]>>) -> Result<Self> {
        let set = sets::allowed::<P>(set, allow_insecure)?;
        let key = set.params.secret(&seed_for(set.name, set.secure, seed)?);
        Ok(Self { set, key })
    }

    /// Reads the wire form.
    pub fn from_bytes(bytes: &[u8], allow_insecure: bool) -> Result<Self> {
        let set = sets::of_bytes::<P>(bytes)?;
        sets::refuse_insecure::<P>(set.name, set.secure || allow_insecure)?;
        let key = wire::secret_key_from_bytes(&set.params, bytes)?;
        Ok(Self { set, key })
    }

    /// The wire form.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(wire::secret_key_to_bytes(&self.key))
    }

    /// Public identifier of everything made with this key.
    pub fn key_id(&self) -> [u8; 16] {
        self.key.key_id()
    }

    /// The token of this key's evaluation keys on the server at an origin.
    pub fn server_token(&self, origin: &str) -> [u8; 32] {
        wire::server_token(&self.to_bytes(), origin)
    }

    /// Number of parts of the evaluation keys.
    pub fn key_parts(&self) -> usize {
        self.set.params.part_lengths().len()
    }

    /// Length of a part in bytes.
    pub fn key_part_len(&self, index: usize) -> Result<usize> {
        let parts = self.set.params.part_lengths();
        let length = parts.get(index).copied().ok_or_else(|| {
            Error::InvalidArgument(format!(
                "part {index} asked of set {}, which has {}",
                self.set.name,
                parts.len()
            ))
        })?;
        Ok(length)
    }

    /// A part of the evaluation keys in wire form.
    pub fn key_part(&self, index: usize) -> Result<Vec<u8>> {
        Ok(self.key.key_part(index)?)
    }

    /// Randomness for one encryption.
    pub fn randomness(&self, seed: Option<Zeroizing<[u8; 32]>>) -> Result<Seed> {
        seed_for(self.set.name, self.set.secure, seed)
    }
}
