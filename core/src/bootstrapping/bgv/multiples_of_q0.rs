//! Digits read from the removed multiples of q0 instead of the message: where they come from, and how they are subtracted from it.

use super::bootstrapper::{BgvBootstrapper, BgvPrepared};
use crate::{
    arith::Word,
    bootstrapping::raising::KeySource,
    error::Error,
    schemes::{
        bgv::{BgvCiphertext, Factor},
        evaluator::Label,
    },
    trace::Counters,
};

impl<W: Word> BgvBootstrapper<W> {
    /// The multiples of q0 that were taken off a message, raised: I - D I' in the coefficients, modulo p^e, where [`Self::mod_raise`] gives
    /// I + D m'/q0, and D is p^t or the step of the set.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a set whose digits are read from the message itself; as [`Self::mod_raise`].
    pub fn raise_multiples(
        &self,
        x: &BgvPrepared<W>,
        keys: &dyn KeySource<W>,
        counters: &mut Counters,
    ) -> Result<BgvCiphertext<W>, Error> {
        // Before what is missing is said in the name of this set.
        self.check(&x.origin, keys)?;
        let Some(multiples) = &x.multiples else {
            return Err(Error::InvalidArgument(alloc::format!(
                "multiples of q0 for the set {}, whose digits are read from the raised message; raise that",
                self.params().name()
            )));
        };
        let factor = Factor::one(self.params().raised());
        self.raised(x, multiples, factor, self.params().multiples_noise(), keys, counters)
    }

    /// The message m modulo p^r, with factor 1: `digits`, I, subtracted from `raised`, I + D f m/q0 modulo p^e, where f is the factor that
    /// m had when it was prepared. Both are in coefficients, or both in slots.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a message that is not above the level of its digits; [`Error::PlaintextMismatch`] for plaintexts that
    /// are not modulo p^e; [`Error::ParamsMismatch`] for ciphertexts of two keys; [`Error::Limit`] for the noise.
    pub fn take_off(
        &self,
        raised: &BgvCiphertext<W>,
        digits: &BgvCiphertext<W>,
        factor: Factor,
    ) -> Result<BgvCiphertext<W>, Error> {
        let (params, bgv) = (self.params(), self.bgv());
        for x in [raised, digits] {
            params.check_set(x)?;
            params.check_ring("digits are taken off", x, params.raised())?;
        }
        let settled = bgv.at_factor(&self.lowered(raised, digits.level() + 1)?, digits.factor())?;
        let multiple = bgv.sub(&settled, digits)?;
        let quotient = bgv.divide_by_prime(&multiple, params.spec().digit_exponent)?;
        let own = digits.factor().div(self.digit_factor(factor)?);
        Ok(quotient.relabelled(own.modulo(params.messages().exponent())?))
    }

    /// The factor of I with which a message with `factor` comes out with factor 1: q0/f, divided by the step if there is one, modulo p^e.
    pub(super) fn digit_factor(&self, factor: Factor) -> Result<Factor, Error> {
        let (params, own) = (self.params(), self.base_modulus()?.div(factor));
        let own = match params.spec().approach.step() {
            Some(step) => own.div(Factor::new(step, params.messages())?),
            None => own,
        };
        own.modulo(params.raised().exponent())
    }
}
