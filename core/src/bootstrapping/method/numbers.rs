//! Numbers in ciphertexts of CKKS, whatever method refreshes them.

use alloc::vec::Vec;

use super::SlotMode;
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, Private},
};

/// A secret key of a CKKS set, for its owner.
pub trait NumberSecret<W: Word> {
    /// Encrypts numbers: one a slot, or for [`SlotMode::Complex`] real and imaginary parts in turn. Missing slots are zero.
    ///
    /// `randomness` must be fresh for every ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or out-of-range numbers, an odd number of parts, or a mode that the set does not
    /// serve; [`Error::LevelMismatch`] for a level that messages are not encrypted at.
    fn encrypt_numbers(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error>;

    /// Decrypts to numbers, as [`Self::encrypt_numbers`] takes them. Bits are not rounded.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key; [`Error::InvalidArgument`] for a mode that the set does not
    /// serve.
    fn decrypt_numbers(&self, ciphertext: &Ciphertext<W>, mode: SlotMode)
    -> Result<Private<Vec<f64>>, Error>;
}
