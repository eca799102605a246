//! Numbers in ciphertexts of CKKS, whatever method refreshes them.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::SlotMode;
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    schemes::ckks::{
        Ciphertext, CkksContext, Complex, MainSecret, Private, PublicKey, Release, ReleaseBudget, Scale,
    },
};

/// A set whose messages are numbers in slots.
pub trait NumberSet<W: Word> {
    /// Chain and encoder.
    fn context(&self) -> &CkksContext<W>;

    /// Scale of fresh ciphertexts.
    fn message_scale(&self) -> Scale;

    /// Lowest level at which messages are encrypted.
    fn lowest_message_level(&self) -> usize;

    /// Whether the owner of the secret key encrypts messages at a level: at all levels of the chain, unless the set says otherwise.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] if not.
    fn check_message_level(&self, level: usize) -> Result<(), Error> {
        self.context().rlwe().check_level(level)
    }

    /// The slots of the whole ring that stand for `numbers`; see [`NumberSecret::encrypt_numbers`].
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for too many or out-of-range numbers, an odd number of parts, or a mode that the set does not
    /// serve.
    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error>;

    /// Encrypts numbers as [`NumberSecret::encrypt_numbers`] does, for the owner of a public key.
    ///
    /// # Errors
    /// As [`Self::slots_of_numbers`]; [`Error::LevelMismatch`] for a level that messages are not encrypted at;
    /// [`Error::ParamsMismatch`] for a key of another set.
    fn encrypt_numbers_for(
        &self,
        key: &PublicKey<W>,
        numbers: &[f64],
        mode: SlotMode,
        level: usize,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        let lowest = self.lowest_message_level();
        if level < lowest {
            return Err(Error::LevelMismatch(format!(
                "level {level} is below {lowest}, the lowest for messages of this set; encrypt at {lowest} to {}",
                key.level()
            )));
        }
        let slots = self.slots_of_numbers(numbers, mode)?;
        key.encrypt(self.context(), &slots, level, self.message_scale(), randomness)
    }
}

/// Known numbers as slots: one a slot, or for [`SlotMode::Complex`] real and imaginary parts in turn.
///
/// # Errors
/// [`Error::InvalidArgument`] for an odd number of parts.
pub fn slots_of_known(numbers: &[f64], mode: SlotMode) -> Result<Vec<Complex>, Error> {
    if mode != SlotMode::Complex {
        return Ok(numbers.iter().map(|&x| Complex::new(x, 0.0)).collect());
    }
    if !numbers.len().is_multiple_of(2) {
        return Err(Error::InvalidArgument(format!(
            "{} numbers are not pairs of real and imaginary part; add the last imaginary part",
            numbers.len()
        )));
    }
    Ok(numbers.chunks_exact(2).map(|z| Complex::new(z[0], z[1])).collect())
}

/// A secret key of a CKKS set, for its owner.
pub trait NumberSecret<W: Word> {
    /// The set of the key.
    fn number_set(&self) -> &dyn NumberSet<W>;

    /// The key that encrypts messages, from which public keys are made.
    ///
    /// # Errors
    /// None for validated parameters.
    fn main_secret(&self) -> Result<MainSecret<'_, W>, Error>;

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
    ) -> Result<Ciphertext<W>, Error> {
        let set = self.number_set();
        set.check_message_level(level)?;
        let slots = set.slots_of_numbers(numbers, mode)?;
        self.main_secret()?.encrypt(&slots, (level, set.message_scale()), randomness)
    }

    /// Decrypts to numbers, as [`Self::encrypt_numbers`] takes them. Bits are not rounded.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key; [`Error::InvalidArgument`] for a mode that the set does not
    /// serve.
    fn decrypt_numbers(&self, ciphertext: &Ciphertext<W>, mode: SlotMode)
    -> Result<Private<Vec<f64>>, Error>;

    /// Largest error of a number that was encrypted, or has been refreshed by a bootstrap since: how far the decrypted number is from the
    /// one it stands for. `public` says that it may have been encrypted with the public key, whose larger error most bootstraps keep.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set whose promise does not hold for every message.
    fn largest_error(&self, public: bool) -> Result<f64, Error> {
        let _ = public;
        Err(Error::InvalidArgument(
            "nothing is known of the errors of this set; state a bound by ErrorBound::AtMost".into(),
        ))
    }

    /// Decrypts for somebody who is not the owner of the key: floods the result with noise, or refuses. [`Release`] says how much of the
    /// result is released and what is known of its errors, `budget` how many releases the key has. `randomness` must be fresh.
    ///
    /// ```
    /// use refloat::bootstrapping::ckks_msb::MsbSecretKey;
    /// use refloat::bootstrapping::method::{NumberSecret, SlotMode::Real};
    /// use refloat::schemes::ckks::{ErrorBound, Release, ReleaseBudget};
    /// use refloat::{params, random::Seed};
    ///
    /// let params = params::msb_preset("toy-msb11")?.params()?;
    /// let secret = MsbSecretKey::generate(&params, &Seed::random()?);
    /// let mean = secret.encrypt_numbers(&[0.375], Real, params.levels().output, &Seed::random()?)?;
    ///
    /// // The first slot, of a message that the owner encrypted.
    /// let release = Release { numbers: Some(1), error: ErrorBound::Secret(1.0), ..Release::default() };
    /// let mut budget = ReleaseBudget::default();
    /// let told = secret.decrypt_for_release(&mean, Real, &release, &mut budget, &Seed::random()?)?;
    /// assert!((told[0] - 0.375).abs() < 0.01);
    /// # Ok::<(), refloat::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Limit`] if the budget is spent, or if less than one bit of the numbers would be left after flooding;
    /// [`Error::InvalidArgument`] for a release that makes no sense; otherwise as [`Self::largest_error`] and [`Self::decrypt_numbers`].
    /// After an error nothing of the budget is used.
    fn decrypt_for_release(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
        release: &Release,
        budget: &mut ReleaseBudget,
        randomness: &Seed,
    ) -> Result<Vec<f64>, Error> {
        let error = release.error_of(|public| self.largest_error(public))?;
        let numbers = self.decrypt_numbers(ciphertext, mode)?;
        release.flooded(numbers.reveal_to_key_owner(), error, budget, randomness)
    }
}
