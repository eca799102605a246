//! Numbers in ciphertexts: slots are complex, and real numbers those without an imaginary part.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{reduction::ReductionSpec, secret::RaisingSecretKey};
use crate::{
    arith::Word,
    bootstrapping::method::{NumberSecret, SlotMode},
    error::Error,
    random::Seed,
    schemes::ckks::{Ciphertext, Complex, Private},
};

impl<R: ReductionSpec, W: Word> NumberSecret<W> for RaisingSecretKey<R, W> {
    fn encrypt_numbers(
        &self,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        let parts = self.parts(mode)?;
        if !numbers.len().is_multiple_of(parts) {
            return Err(Error::InvalidArgument(format!(
                "{} numbers are not pairs of real and imaginary part; add the last imaginary part",
                numbers.len()
            )));
        }
        let slot = |z: &[f64]| Complex::new(z[0], z.get(1).copied().unwrap_or(0.0));
        let slots = Zeroizing::new(numbers.chunks_exact(parts).map(slot).collect::<Vec<Complex>>());
        self.encrypt(&slots, level, randomness)
    }

    fn decrypt_numbers(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
    ) -> Result<Private<Vec<f64>>, Error> {
        let parts = self.parts(mode)?;
        let slots = self.decrypt(ciphertext)?;
        let numbers = slots.reveal_to_key_owner().iter().flat_map(|z| [z.re, z.im].into_iter().take(parts));
        Ok(Private::new(numbers.collect()))
    }
}

impl<R: ReductionSpec, W: Word> RaisingSecretKey<R, W> {
    /// Numbers of a slot.
    fn parts(&self, mode: SlotMode) -> Result<usize, Error> {
        match mode {
            SlotMode::Real => Ok(1),
            SlotMode::Complex => Ok(2),
            SlotMode::Bits | SlotMode::Integers => Err(Error::InvalidArgument(format!(
                "{} mode asked of set {}, which serves {}; choose another set",
                mode.name(),
                self.params().name(),
                SlotMode::Real.kind()
            ))),
        }
    }
}
