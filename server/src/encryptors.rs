//! Keys that encrypt for the owner of a secret key: that key itself, or its public one.

use refloat::Error;
use refloat::bootstrapping::method::{NumberSecret, NumberSet};
use refloat::random::Seed;
use refloat::schemes::ckks::{Ciphertext, CkksContext, PublicKey};
use refloat::wire::{self, CkksSet, ObjectKind, SeededSecret, WireWord};

use crate::clients::CiphertextBytes;
use crate::engine::SlotMode;

/// A secret or public key of any integer set, for encrypting.
pub trait IntegerEncryptor {
    /// Encrypts integers below the modulus of the set: for each slot, as many as it holds.
    ///
    /// # Errors
    /// There are too many integers or too large ones, or the level is above that of messages.
    fn encrypt(&self, integers: &[u64], level: usize, randomness: &Seed) -> Result<CiphertextBytes, Error>;
}

/// A secret or public key of any CKKS set, for encrypting.
pub trait CkksEncryptor {
    /// # Errors
    /// As [`NumberSecret::encrypt_numbers`].
    fn encrypt(&self, message: &Message<'_>, randomness: &Seed) -> Result<CiphertextBytes, Error>;
}

/// Numbers to encrypt.
pub struct Message<'a> {
    /// One for each slot, or real and imaginary parts in turn.
    pub numbers: &'a [f64],
    /// What slots hold.
    pub mode: SlotMode,
    /// The level to encrypt at.
    pub level: usize,
}

/// A public key, and its set.
pub(crate) struct CkksPublic<P: CkksSet> {
    pub(crate) params: P,
    pub(crate) key: PublicKey<P::Word>,
}

impl<P: CkksSet + NumberSet<P::Word>> CkksEncryptor for CkksPublic<P> {
    fn encrypt(&self, message: &Message<'_>, randomness: &Seed) -> Result<CiphertextBytes, Error> {
        let Message { numbers, mode, level } = *message;
        let ciphertext = self.params.encrypt_numbers_for(&self.key, numbers, mode, level, randomness)?;
        written(self.params.ckks(), &ciphertext)
    }
}

impl<S> CkksEncryptor for S
where
    S: SeededSecret,
    S::Set: CkksSet,
    S: NumberSecret<<S::Set as CkksSet>::Word>,
{
    fn encrypt(&self, message: &Message<'_>, randomness: &Seed) -> Result<CiphertextBytes, Error> {
        let ciphertext = self.encrypt_numbers(message.numbers, message.mode, message.level, randomness)?;
        written(self.set().ckks(), &ciphertext)
    }
}

fn written<W: WireWord>(context: &CkksContext<W>, x: &Ciphertext<W>) -> Result<CiphertextBytes, Error> {
    Ok(CiphertextBytes::new(x, wire::ciphertext_to_bytes(context, x)?))
}

/// Whether the bytes of a key are those of a public one.
///
/// # Errors
/// The bytes do not begin as those of an object do.
pub(crate) fn is_public(bytes: &[u8]) -> Result<bool, Error> {
    Ok(wire::frame::peek(bytes)?.kind == ObjectKind::PublicKey)
}
