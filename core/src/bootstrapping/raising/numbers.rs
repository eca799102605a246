//! Numbers in ciphertexts: slots are complex, and real numbers those without an imaginary part.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{params::RaisingParams, reduction::ReductionSpec, secret::RaisingSecretKey};
use crate::{
    arith::Word,
    bootstrapping::method::{NumberSecret, NumberSet, SlotMode, slots_of_known},
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, CkksContext, Complex, MainSecret, Private, Scale},
};

impl<R: ReductionSpec, W: Word> NumberSet<W> for RaisingParams<R, W> {
    fn context(&self) -> &CkksContext<W> {
        self.ckks()
    }

    fn message_scale(&self) -> Scale {
        self.scale()
    }

    fn lowest_message_level(&self) -> usize {
        0
    }

    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        self.parts(mode)?;
        self.ring_slots(&Zeroizing::new(slots_of_known(numbers, mode)?))
    }
}

impl<R: ReductionSpec, W: Word> NumberSecret<W> for RaisingSecretKey<R, W> {
    fn main_secret(&self) -> Result<MainSecret<'_, W>, Error> {
        MainSecret::new(self.params().ckks(), &self.main, &self.seeds, self.key_id())
    }

    fn encrypt_numbers(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        self.params().parts(mode)?;
        self.encrypt(&Zeroizing::new(slots_of_known(numbers, mode)?), level, randomness)
    }

    fn decrypt_numbers(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
    ) -> Result<Private<Vec<f64>>, Error> {
        let parts = self.params().parts(mode)?;
        let slots = self.decrypt(ciphertext)?;
        let numbers = slots.reveal_to_key_owner().iter().flat_map(|z| [z.re, z.im].into_iter().take(parts));
        Ok(Private::new(numbers.collect()))
    }
}

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// Numbers of a slot.
    fn parts(&self, mode: SlotMode) -> Result<usize, Error> {
        match mode {
            SlotMode::Real => Ok(1),
            SlotMode::Complex => Ok(2),
            SlotMode::Bits | SlotMode::Integers => Err(Error::InvalidArgument(format!(
                "{} mode asked of set {}, which serves {}; choose another set",
                mode.name(),
                self.name(),
                SlotMode::Real.kind()
            ))),
        }
    }
}
