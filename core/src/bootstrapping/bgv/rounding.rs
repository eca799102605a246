//! Rounding division by a power of p, and comparison, for slots that hold arbitrary integers, where p is so small that all digits are read.

use alloc::format;

use super::{bootstrapper::BgvBootstrapper, removal::Removal};
use crate::{
    arith::{PrimePower, Word},
    bootstrapping::raising::KeySource,
    circuits::digit_removal::AllDigits,
    error::Error,
    schemes::bgv::{BgvCiphertext, Factor},
    trace::Counters,
};

impl<W: Word> BgvBootstrapper<W> {
    /// The integer nearest to x / p^`digits` for every slot x, an integer modulo p^k: scaling down. The result is modulo p^(k - `digits`),
    /// with factor 1. Halfway between two integers, which happens for p = 2 alone, it is the larger one. It takes one level more than
    /// [`AllDigits::levels`] says.
    ///
    /// Slots have to hold integers, also in rings where they could hold other elements of Galois rings. For those the result means nothing,
    /// and nobody without the key can tell.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] as [`AllDigits::new`]; [`Error::LevelMismatch`] for too few levels; [`Error::Limit`] for noise that
    /// would leave the result wrong; [`Error::ParamsMismatch`] for another set or the keys of another owner; [`Error::MissingKey`].
    pub fn divide_by_power(
        &self,
        x: &BgvCiphertext<W>,
        digits: u32,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check(x, keys)?;
        let ring = x.ring();
        let all = AllDigits::new(ring, digits)?;
        let levels = all.levels() + 1;
        if levels > x.level() {
            return Err(Error::LevelMismatch(format!(
                "{digits} digits modulo {}^{} take {levels} levels, the ciphertext is at level {}; bootstrap it first",
                ring.prime(),
                ring.exponent(),
                x.level()
            )));
        }
        let relinearization = keys.relinearization_key()?;
        let one = Factor::one(ring);
        let multiple =
            Removal::All(all).evaluate(self.bgv(), &*relinearization, x, one, &mut Counters::default())?;
        self.bgv().divide_by_prime(&multiple, digits)
    }

    /// Whether each slot, an integer modulo 2^k from -2^(k - 1) to 2^(k - 1) - 1, is negative: 1 or 0, modulo 2. For a difference in this
    /// range it says which of two integers is larger. It takes the levels of [`Self::divide_by_power`] with k - 1 digits.
    ///
    /// # Errors
    /// As [`Self::divide_by_power`]; [`Error::InvalidArgument`] for plaintexts that are not modulo a power of 2, 4 or more.
    pub fn is_negative(
        &self,
        x: &BgvCiphertext<W>,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check(x, keys)?;
        let ring: PrimePower = x.ring();
        if ring.prime() != 2 || ring.exponent() < 2 {
            return Err(Error::InvalidArgument(format!(
                "the highest bit of integers modulo {}^{}; take plaintexts modulo 4, 8 or another power of 2, or the sign of integers that \
                 are declared to be small",
                ring.prime(),
                ring.exponent()
            )));
        }
        // The division rounds; with half of the divisor subtracted first, it rounds down.
        let digits = ring.exponent() - 1;
        let shifted = self.bgv().add_constant(x, -(1 << (digits - 1)))?;
        self.divide_by_power(&shifted, digits, keys)
    }
}
