//! Comparison and rounding division of slots that are declared to be small.

use alloc::format;

use super::bootstrapper::BgvBootstrapper;
use crate::{
    arith::Word,
    bootstrapping::raising::KeySource,
    circuits::{
        digit_removal::{quotient_of_small, sign_of_small},
        polynomial::{Polynomial, PolynomialEvaluator},
    },
    error::Error,
    schemes::bgv::{BgvCiphertext, Factor},
};

/// From this bound on no polynomial is made, whatever the level.
const TOO_MANY_POINTS: u64 = 1 << 13;

impl<W: Word> BgvBootstrapper<W> {
    /// The sign of every slot, -1, 0 or 1 modulo P, for slots that are integers from -`bound` to `bound`. The sign of a difference says
    /// which of two integers is larger. It takes ceil(log2(2 `bound`)) levels, and the result has factor 1.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a bound for which no polynomial is made, as in [`sign_of_small`]; [`Error::LevelMismatch`] for too
    /// few levels; [`Error::Limit`] for noise that would leave the result wrong; [`Error::ParamsMismatch`] for another set or the keys of
    /// another owner; [`Error::MissingKey`].
    pub fn sign(
        &self,
        x: &BgvCiphertext<W>,
        bound: u64,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_small(x, bound, keys)?;
        self.of_slots(x, sign_of_small(x.ring(), bound)?, keys)
    }

    /// The integer nearest to x / `divisor` for every slot x, for slots that are integers from -`bound` to `bound`: scaling down. Halfway
    /// between two integers it is the one farther from 0. Levels and factor are as in [`Self::sign`].
    ///
    /// # Errors
    /// As [`Self::sign`]; [`Error::InvalidArgument`] for a divisor of 0.
    pub fn scale_down(
        &self,
        x: &BgvCiphertext<W>,
        divisor: u64,
        bound: u64,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        self.check_small(x, bound, keys)?;
        self.of_slots(x, quotient_of_small(x.ring(), divisor, bound)?, keys)
    }

    /// The checks that need no polynomial, because making one takes time that grows with the square of `bound`.
    fn check_small(&self, x: &BgvCiphertext<W>, bound: u64, keys: &dyn KeySource<W>) -> Result<(), Error> {
        self.check(x, keys)?;
        self.bgv().context().check_slots_are_integers("comparisons")?;
        if bound >= TOO_MANY_POINTS || 2 * bound >= x.ring().prime() {
            // Refused where the polynomial is made.
            return Ok(());
        }
        let levels = (2 * bound).max(1).next_power_of_two().ilog2() as usize;
        if levels > x.level() {
            return Err(Error::LevelMismatch(format!(
                "a function of integers up to {bound} takes {levels} levels, the ciphertext is at level {}; bootstrap it first, or declare \
                 a smaller bound",
                x.level()
            )));
        }
        Ok(())
    }

    /// Evaluates a polynomial modulo P in every slot.
    fn of_slots(
        &self,
        x: &BgvCiphertext<W>,
        coefficients: impl IntoIterator<Item = u64>,
        keys: &dyn KeySource<W>,
    ) -> Result<BgvCiphertext<W>, Error> {
        let ring = x.ring();
        let polynomial = Polynomial::of_integers(coefficients.into_iter().map(|c| ring.centered(c)))?;
        let relinearization = keys.relinearization_key()?;
        let polynomials = PolynomialEvaluator::new(self.bgv(), &*relinearization);
        polynomials.evaluate(&polynomial, x, Factor::one(ring))
    }
}
