//! The main secret, from which public and arithmetic keys are derived.

use super::{
    Ciphertext, Complex, Scale,
    context::CkksContext,
    encrypt::{PublicKey, encrypt, public_key_b},
};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    ring::GaloisElement,
    rlwe::{KeySeeds, SampleBlock, SecretKey},
};

/// The key that encrypts messages, whichever method refreshes them, with the seeds of its key set. It is as secret as the key alone, and
/// makes public keys.
#[derive(Clone, Copy)]
pub struct MainSecret<'a, W: Word> {
    context: &'a CkksContext<W>,
    secret: &'a SecretKey<W>,
    seeds: &'a KeySeeds,
    key_id: [u8; 16],
}

impl<'a, W: Word> MainSecret<'a, W> {
    /// The key of a key set and its seeds.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a key of another chain.
    pub fn new(
        context: &'a CkksContext<W>,
        secret: &'a SecretKey<W>,
        seeds: &'a KeySeeds,
        key_id: [u8; 16],
    ) -> Result<Self, Error> {
        secret.check_chain(context.rlwe())?;
        Ok(Self::of(context, secret, seeds, key_id))
    }

    /// [`Self::new`] for a key that is known to belong to the set.
    pub(super) fn of(
        context: &'a CkksContext<W>,
        secret: &'a SecretKey<W>,
        seeds: &'a KeySeeds,
        key_id: [u8; 16],
    ) -> Self {
        Self { context, secret, seeds, key_id }
    }

    /// The parameter set.
    pub fn context(&self) -> &'a CkksContext<W> {
        self.context
    }

    /// Public identifier of the key set.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Encrypts all N/2 slots of the ring at a level and a scale. `randomness` must be fresh for every ciphertext.
    pub(crate) fn encrypt(
        &self,
        slots: &[Complex],
        (level, scale): (usize, Scale),
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        encrypt(self.context, self.secret, self.key_id, slots, level, scale, randomness)
    }

    /// The public encryption key for levels up to `level`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have.
    pub fn public_key(&self, level: usize) -> Result<PublicKey<W>, Error> {
        self.context.rlwe().check_level(level)?;
        let b = public_key_b(self.context, self.secret, self.seeds, level);
        PublicKey::new(self.context, self.key_id, level, b, self.seeds.public())
    }

    /// The relinearisation key for products at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn relinearization_key(&self, level: usize) -> Result<SampleBlock<W>, Error> {
        self.context.rlwe().check_level(level)?;
        Ok(self.secret.relinearization_key(self.context.rlwe(), self.seeds, level))
    }

    /// The key of an automorphism of ciphertexts at levels up to `level`.
    ///
    /// # Errors
    /// As [`Self::public_key`].
    pub fn galois_key(&self, element: GaloisElement, level: usize) -> Result<SampleBlock<W>, Error> {
        self.context.rlwe().check_level(level)?;
        Ok(self.secret.galois_key(self.context.rlwe(), self.seeds, level, element))
    }
}
