//! Numbers in ciphertexts of SHIP sets.

use alloc::vec::Vec;

use super::ShipSecretKey;
use crate::{
    arith::Word,
    bootstrapping::method::{NumberSecret, SlotMode},
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, Private},
};

impl<W: Word> NumberSecret<W> for ShipSecretKey<W> {
    fn encrypt_numbers(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        self.encrypt_at(numbers, mode, level, randomness)
    }

    fn decrypt_numbers(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
    ) -> Result<Private<Vec<f64>>, Error> {
        self.decrypt(ciphertext, mode)
    }
}
