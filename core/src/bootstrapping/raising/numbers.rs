//! Numbers in ciphertexts: slots are complex, and the imaginary parts of real numbers are 0.

use alloc::{format, vec::Vec};

use zeroize::Zeroizing;

use super::{params::RaisingParams, reduction::ReductionSpec, secret::RaisingSecretKey};
use crate::{
    arith::Word,
    bootstrapping::method::{
        NumberSecret, NumberSet, Promise, SlotMode, limits::check_encryption_level, slots_of_known,
    },
    error::Error,
    schemes::ckks::{Ciphertext, CkksContext, Complex, MainSecret, Private, Scale, flooding::fresh_error},
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

    fn check_message_level(&self, level: usize) -> Result<(), Error> {
        check_encryption_level(level, self.levels().output)
    }

    fn slots_of_numbers(&self, numbers: &[f64], mode: SlotMode) -> Result<Zeroizing<Vec<Complex>>, Error> {
        self.parts(mode)?;
        self.ring_slots(&Zeroizing::new(slots_of_known(numbers, mode)?))
    }
}

impl<R: ReductionSpec, W: Word> NumberSecret<W> for RaisingSecretKey<R, W> {
    fn number_set(&self) -> &dyn NumberSet<W> {
        self.params()
    }

    fn main_secret(&self) -> Result<MainSecret<'_, W>, Error> {
        MainSecret::new(self.params().ckks(), &self.main, &self.seeds, self.key_id())
    }

    fn decrypt_numbers(&self, x: &Ciphertext<W>, mode: SlotMode) -> Result<Private<Vec<f64>>, Error> {
        let parts = self.params().parts(mode)?;
        let slots = self.decrypt(x)?;
        let numbers = slots.reveal_to_key_owner().iter().flat_map(|z| [z.re, z.im].into_iter().take(parts));
        Ok(Private::new(numbers.collect()))
    }

    fn largest_error(&self, public: bool) -> Result<f64, Error> {
        self.params().largest_error(public)
    }
}

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// As [`NumberSecret::largest_error`]: what the set promises of a bootstrap, and the error of encryption where that is larger, or
    /// where others encrypt.
    fn largest_error(&self, public: bool) -> Result<f64, Error> {
        let promise = R::promise(self.spec());
        let Some(Promise::Precision { worst, .. }) =
            promise.filter(|promise| promise.holds_for_every_message())
        else {
            let what = if promise.is_some() {
                "promises precision for messages that are random with mean zero only"
            } else {
                "differs from every named set, and precision is promised only for those"
            };
            return Err(Error::InvalidArgument(format!(
                "set {} {what}; state a bound on the errors of its results by ErrorBound::AtMost",
                self.name()
            )));
        };
        let fresh = |public| fresh_error(self.ckks(), self.scale(), public);
        let refreshed = libm::exp2(-worst);
        Ok(if public { refreshed + fresh(true) } else { refreshed.max(fresh(false)) })
    }

    /// Numbers per slot.
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
