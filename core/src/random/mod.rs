//! Randomness: a 256-bit [`Seed`], labelled derivation, and the `ChaCha20` [`Stream`] it expands to.
//!
//! One seed is drawn, and every key, mask and error is derived from it. With the feature `getrandom` the seed comes from the operating
//! system, by `Seed::random`; without it the core has no source of entropy, and the program that embeds it brings a [`CryptoRng`]
//! ([`Seed::from_rng`]) or the bytes ([`Seed::from_bytes`]).
//!
//! ```
//! # use refloat::random::Seed;
//! let master = Seed::random()?;
//! let mut errors = master.derive("refloat example: error", &[3, 0]).stream();
//! let mut e = [0i8; 1024];
//! errors.cbd21(&mut e);
//! # Ok::<(), refloat::Error>(())
//! ```
//!
//! The same seed gives the same bits on every target: the stream is defined as little-endian bytes,
//! and every sampler states how many of them it takes. A call whose bytes do not fill a last word of four skips the rest of it.
//!
//! Samplers of secret values ([`Stream::binary`], [`Stream::ternary`], [`Stream::cbd21`],
//! [`Stream::cbd32`], [`Stream::cbd36`], [`Stream::below`]) take a number of bytes that does not depend on what they draw, and neither branch on it nor index by it.

mod keystream;
mod samplers;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use rand_core::{Infallible, TryCryptoRng, TryRng};
use zeroize::{Zeroize, ZeroizeOnDrop};

use keystream::Keystream;

pub use rand_core::CryptoRng;

/// Domain of [`Seed::derive`]: changing it changes every key that follows from a given seed.
const DERIVE_CONTEXT: &str = "refloat 2026-11-21 seed derivation v1";

/// A 256-bit secret from which streams of randomness are derived. Zeroed on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Takes 32 bytes as they are. They must be uniformly random, or already public.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Draws a fresh seed from the operating system. Every key and every encryption needs its own seed.
    ///
    /// # Errors
    /// [`Error::Entropy`](crate::error::Error::Entropy) where the system gives no randomness.
    #[cfg(feature = "getrandom")]
    pub fn random() -> Result<Self, crate::error::Error> {
        let mut seed = Self([0; 32]);
        match getrandom::fill(&mut seed.0) {
            Ok(()) => Ok(seed),
            Err(error) => Err(crate::error::Error::Entropy(alloc::format!("the system gives none: {error}"))),
        }
    }

    /// Draws a fresh seed from a cryptographic generator.
    pub fn from_rng<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        Self(bytes)
    }

    /// The bytes of the seed: as secret as everything derived from it.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// An independent seed for one purpose.
    ///
    /// `label` names the purpose ("refloat secret key", "refloat error", …) and `indices` say which
    /// instance of it. The child is BLAKE3 in key-derivation mode over the seed, the label and the
    /// indices, each with its length, so different arguments never give the same child. It reveals
    /// nothing about its parent or siblings, and may be published when the stream it expands to is
    /// public (the masks of evaluation keys).
    #[must_use]
    pub fn derive(&self, label: &'static str, indices: &[u64]) -> Self {
        // Hashed in one piece: many small updates take longer than copying their bytes together.
        let mut message = Vec::with_capacity(self.0.len() + 8 + label.len() + 8 + 8 * indices.len());
        message.extend_from_slice(&self.0);
        message.extend_from_slice(&(label.len() as u64).to_le_bytes());
        message.extend_from_slice(label.as_bytes());
        message.extend_from_slice(&(indices.len() as u64).to_le_bytes());
        for index in indices {
            message.extend_from_slice(&index.to_le_bytes());
        }
        let mut hasher = blake3::Hasher::new_derive_key(DERIVE_CONTEXT);
        hasher.update(&message);
        message.zeroize();
        let child = Self(*hasher.finalize().as_bytes());
        hasher.zeroize();
        child
    }

    /// The `ChaCha20` stream keyed by this seed, from its beginning.
    ///
    /// Two calls give the same stream: derive a seed per purpose instead of sharing one.
    pub fn stream(&self) -> Stream {
        Stream { rng: Keystream::from_seed(self.0) }
    }
}

/// The `ChaCha20` keystream of a [`Seed`] (20 rounds, 64-bit block counter, nonce 0), read in order.
///
/// Its state and buffer are zeroed on drop. It is a [`CryptoRng`], and also has the samplers of
/// lattice cryptography, such as [`fill_uniform_u32`](Self::fill_uniform_u32),
/// [`fill_uniform_u64`](Self::fill_uniform_u64), [`ternary`](Self::ternary), [`cbd21`](Self::cbd21)
/// and [`below`](Self::below).
pub struct Stream {
    rng: Keystream,
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.rng.next())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let low = self.rng.next();
        Ok(samplers::joined([low, self.rng.next()]))
    }

    /// The next bytes of the stream; it then skips to a multiple of four.
    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.rng.fill_bytes(out);
        Ok(())
    }
}

impl TryCryptoRng for Stream {}

impl ZeroizeOnDrop for Stream {}
