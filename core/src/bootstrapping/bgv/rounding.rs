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
    /// The integer nearest to x / p^`digits` of every slot x, an integer modulo p^k: scaling down. Plaintexts are modulo p^(k - `digits`)
    /// then, with factor 1. Of two integers equally near, which there are for p = 2 alone, the one to the right. It takes a level more
    /// than [`AllDigits::levels`] says.
    ///
    /// Slots have to be integers, also in rings where they could be other elements of Galois rings: the result means nothing for those, and
    /// nobody without the key can tell.
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

    /// Of every slot, an integer modulo 2^k from -2^(k - 1) to 2^(k - 1) - 1, whether it is negative: 1 or 0, modulo 2. Of a difference
    /// that is no larger than these, which of two integers is the larger. Levels as [`Self::divide_by_power`] of k - 1 digits.
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
        // The division rounds: half of what it divides by makes the quotient the one below.
        let digits = ring.exponent() - 1;
        let shifted = self.bgv().add_constant(x, -(1 << (digits - 1)))?;
        self.divide_by_power(&shifted, digits, keys)
    }
}
