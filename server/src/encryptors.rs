//! Keys that encrypt for the owner of a secret key: that key itself, or its public one.

use refloat::Error;
use refloat::bootstrapping::method::{NumberSecret, NumberSet};
use refloat::random::Seed;
use refloat::schemes::ckks::PublicKey;
use refloat::wire::{self, CkksSet, ObjectKind, SeededSecret};

use crate::clients::CiphertextBytes;
use crate::engine::SlotMode;

/// A key that encrypts, secret or public, of whichever set of integers.
pub trait IntegerEncryptor {
    /// Encrypts integers below the modulus of the set, as many of each slot as it holds.
    ///
    /// # Errors
    /// There are too many or too large ones, or the level is above that of messages.
    fn encrypt(&self, integers: &[u64], level: usize, randomness: &Seed) -> Result<CiphertextBytes, Error>;
}

/// A key that encrypts, secret or public, of whichever set of CKKS.
pub trait CkksEncryptor {
    /// Encrypts numbers: one a slot, or real and imaginary parts in turn.
    ///
    /// # Errors
    /// As [`NumberSecret::encrypt_numbers`].
    fn encrypt(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<CiphertextBytes, Error>;
}

/// A public key, and its set.
pub(crate) struct CkksPublic<P: CkksSet> {
    pub(crate) params: P,
    pub(crate) key: PublicKey<P::Word>,
}

impl<P: CkksSet + NumberSet<P::Word>> CkksEncryptor for CkksPublic<P> {
    fn encrypt(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<CiphertextBytes, Error> {
        let ciphertext = self.params.encrypt_numbers_for(&self.key, numbers, mode, level, randomness)?;
        let bytes = wire::ciphertext_to_bytes(self.params.ckks(), &ciphertext)?;
        Ok(CiphertextBytes::new(&ciphertext, bytes))
    }
}

impl<S> CkksEncryptor for S
where
    S: SeededSecret,
    S::Set: CkksSet,
    S: NumberSecret<<S::Set as CkksSet>::Word>,
{
    fn encrypt(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<CiphertextBytes, Error> {
        let ciphertext = self.encrypt_numbers(numbers, mode, level, randomness)?;
        let bytes = wire::ciphertext_to_bytes(self.set().ckks(), &ciphertext)?;
        Ok(CiphertextBytes::new(&ciphertext, bytes))
    }
}

/// Whether the bytes of a key are those of a public one.
///
/// # Errors
/// They do not begin as those of an object.
pub(crate) fn is_public(bytes: &[u8]) -> Result<bool, Error> {
    Ok(wire::frame::peek(bytes)?.kind == ObjectKind::PublicKey)
}
