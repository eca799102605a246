//! Numbers in ciphertexts of SHIP sets.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::{ShipParams, ShipSecretKey, secret::slots_of};
use crate::{
    arith::Word,
    bootstrapping::method::{NumberSecret, NumberSet, SlotMode},
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, CkksContext, Complex, MainSecret, Private, Scale},
};

impl<W: Word> NumberSet<W> for ShipParams<W> {
    fn context(&self) -> &CkksContext<W> {
        self.ckks()
    }

    fn message_scale(&self) -> Scale {
        self.scale()
    }

    fn lowest_message_level(&self) -> usize {
        self.input_level()
    }

    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        slots_of(self, numbers, mode).map(Zeroizing::new)
    }
}

impl<W: Word> NumberSecret<W> for ShipSecretKey<W> {
    fn main_secret(&self) -> Result<MainSecret<'_, W>, Error> {
        MainSecret::new(self.params.ckks(), &self.dense, &self.seeds, self.key_id())
    }

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
