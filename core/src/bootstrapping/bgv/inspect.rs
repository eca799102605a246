//! What the holder of the secret key sees between two steps: slots, coefficients, the phase under the ephemeral secret, and the
//! digits of all of them.

use alloc::vec::Vec;

use zeroize::{Zeroize, Zeroizing};

use super::{
    bootstrapper::BgvPrepared,
    run::{BgvRun, BgvState},
    secret::BgvSecretKey,
};
use crate::{
    arith::{PrimePower, Word},
    error::Error,
    ring::{Coeff, Poly, centered, centered_f64, from_integers},
    rlwe::LinkSecret,
    schemes::{
        bgv::{self, BgvCiphertext, Factor, Private},
        evaluator::Label,
        identity::Identity,
    },
};

/// What a run holds, as two digits in each slot or coefficient: I + p^t y.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BgvDigits {
    /// Whether these are slots, and not coefficients.
    pub slots: bool,
    /// I: 0 before the ciphertext is prepared and after the removal.
    pub low: Vec<i64>,
    /// The message that y stands for, below p^r, without its factor. Where digits are apart from the message, from the raise on: the
    /// multiples beside the digits, -I' modulo p^r, and 0 once they are gone.
    pub high: Vec<u64>,
}

impl BgvDigits {
    fn message(slots: bool, high: Vec<u64>) -> Private<Self> {
        Private::new(Self { slots, low: alloc::vec![0; high.len()], high })
    }
}

impl Zeroize for BgvDigits {
    fn zeroize(&mut self) {
        self.low.zeroize();
        self.high.zeroize();
    }
}

impl<W: Word> BgvSecretKey<W> {
    /// The digits of the state of a run. In a prepared message, I counts multiples of q0.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a run of another key; [`Error::InvalidArgument`] for one that an error has ended.
    pub fn digits(&self, run: &BgvRun<'_, W>) -> Result<Private<BgvDigits>, Error> {
        let reveal = |x: Private<Vec<u64>>| x.reveal_to_key_owner().clone();
        Ok(match run.state() {
            BgvState::Input(x) | BgvState::Removed(x) | BgvState::Done(x) => {
                BgvDigits::message(true, reveal(self.decrypt(x)?))
            }
            BgvState::Base(x) => BgvDigits::message(false, reveal(self.decrypt_coefficients(x)?)),
            BgvState::Prepared(x) => {
                let (params, ring) = (self.params(), self.params().messages());
                let q0 = i128::from(params.spec().chain.levels[0][0]);
                let step = i128::from(params.multiplier());
                let unit = x.factor().inverse().value();
                let phase = self.decrypt_prepared(x)?;
                let split = |&x: &i128| {
                    let low = (2 * x + q0).div_euclid(2 * q0);
                    // Up to noise, which is a multiple of p^r times the step.
                    let high = ((x - low * q0) / step).rem_euclid(i128::from(ring.value()));
                    (low as i64, ring.mul(high as u64, unit))
                };
                let (low, high) = phase.reveal_to_key_owner().iter().map(split).unzip();
                Private::new(BgvDigits { slots: false, low, high })
            }
            BgvState::Raised(x, factor) => {
                self.split(false, self.decrypt_coefficients(x)?.reveal_to_key_owner(), *factor)?
            }
            BgvState::Slots(x, factor) => {
                self.split(true, self.decrypt(x)?.reveal_to_key_owner(), *factor)?
            }
            BgvState::Unpacked(all, factor) => {
                // The first coordinate of an integer c is -c in a ring of two axes, and c in a ring of odd index.
                let negated = self.params().context().hypercube().is_none();
                let mut slots: Zeroizing<Vec<u64>> = Zeroizing::new(alloc::vec![0; self.params().n()]);
                for (k, x) in all.iter().enumerate() {
                    let own = self.decrypt(x)?;
                    let own = own.reveal_to_key_owner().iter().step_by(all.len());
                    let to = slots.iter_mut().skip(k).step_by(all.len());
                    to.zip(own).for_each(|(to, &own)| *to = if negated { x.ring().neg(own) } else { own });
                }
                self.split(true, &slots, *factor)?
            }
            BgvState::Digits(x, _) => {
                let slots = !self.params().is_general() || x.level() > self.params().levels().output;
                let values = if slots { self.decrypt(x)? } else { self.decrypt_coefficients(x)? };
                self.apart(slots, values.reveal_to_key_owner())
            }
            BgvState::Failed => {
                return Err(Error::InvalidArgument("an error has ended this run; begin another one".into()));
            }
        })
    }

    /// Splits values I + p^t y modulo p^e into I and m, where y = f m/q0.
    fn split(&self, slots: bool, values: &[u64], factor: Factor) -> Result<Private<BgvDigits>, Error> {
        let params = self.params();
        if params.is_apart() {
            return Ok(self.apart(slots, values));
        }
        let (ring, raised) = (params.messages(), params.raised());
        let base = Factor::new(params.spec().chain.levels[0][0], ring)?;
        let unit = base.div(factor).value();
        let below: PrimePower = ring.with_exponent(params.spec().digit_exponent)?;
        let split = |&x: &u64| {
            let low = below.centered(below.reduce(x));
            let multiple = raised.sub(x, raised.reduce_signed(low));
            (low, ring.mul(ring.reduce(multiple / below.value()), unit))
        };
        let (low, high) = values.iter().map(split).unzip();
        Ok(Private::new(BgvDigits { slots, low, high }))
    }

    /// Splits values I + D J modulo p^e into I and J.
    fn apart(&self, slots: bool, values: &[u64]) -> Private<BgvDigits> {
        let (params, step) = (self.params(), i128::from(self.params().multiplier()));
        let (ring, raised) = (params.messages(), params.raised());
        let split = |&x: &u64| {
            let x = i128::from(raised.centered(x));
            let multiple = (2 * x + step).div_euclid(2 * step);
            ((x - multiple * step) as i64, ring.reduce_signed(multiple as i64))
        };
        let (low, high) = values.iter().map(split).unzip();
        Private::new(BgvDigits { slots, low, high })
    }

    /// Decrypts to the N coefficients of the plaintext, below its modulus.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt_coefficients(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<u64>>, Error> {
        bgv::decrypt_coefficients(self.params().context(), &self.main, self.key_id(), ciphertext)
    }

    /// The N coefficients of a ciphertext's noise: the phase of its textbook form, divided by the plaintext modulus P. Their deviation is
    /// estimated by [`NoiseModel::deviation`](crate::schemes::bgv::NoiseModel::deviation) of [`BgvCiphertext::noise`]. The plaintext, as a
    /// fraction of P, is included. As long as the plaintext is not lost, the noise is exact to the precision of a double.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn noise(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<f64>>, Error> {
        self.check_own(ciphertext)?;
        let modulus = self.params().context().modulus(ciphertext.ring().exponent())?;
        let mut phase = self.main.phase(ciphertext.parts());
        let residues = modulus.residues(phase.basis().len());
        phase.mul_scalars_assign(&residues);
        let p = ciphertext.ring().value() as f64;
        let mut noise = centered_f64(&phase);
        for x in &mut noise {
            *x /= p;
        }
        Ok(Private::new(noise))
    }

    fn check_own(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        let own = Identity { fingerprint: self.params().fingerprint(), key_id: self.key_id() };
        x.identity().check_decryption(&own)
    }

    /// The N coefficients p^t m' + q0 I of a prepared message, over the integers.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for one of another key.
    pub fn decrypt_prepared(&self, x: &BgvPrepared<W>) -> Result<Private<Vec<i128>>, Error> {
        self.check_own(&x.origin)?;
        // Modulo a few levels, which hold the largest digit, half the weight of the ephemeral secret, and its sign.
        let rlwe = self.params().context().rlwe();
        let weight = f64::from(self.params().spec().ephemeral.weight);
        let needed = rlwe.q(0).log2() + libm::log2(weight + 1.0) + 1.0;
        let level = (1..=rlwe.max_level()).find(|&level| rlwe.q(level).log2() > needed);
        let wide = rlwe.q(level.unwrap_or(rlwe.max_level()));
        let lift = |part: &Poly<W, Coeff>| {
            let m = part.basis().modulus(0);
            let centred: Zeroizing<Vec<i64>> =
                Zeroizing::new(part.row(0).iter().map(|&x| m.centered(x)).collect());
            from_integers(wide, &centred)
        };
        let [b, a] = x.pair().parts();
        let s = Zeroizing::new(self.ephemeral.small().to_poly(wide).into_eval());
        let mut phase = lift(a).into_eval();
        phase.mul_assign(&s);
        let mut phase = Zeroizing::new(phase.into_coeff());
        phase.add_assign(&lift(b));
        // Exact: q0 is below 2^61, and digits are below 2^32.
        let integers = Zeroizing::new(centered(&phase));
        let integer = |(high, low): (f64, f64)| high as i128 + low as i128;
        Ok(Private::new(integers.iter().map(|x| integer(x.parts())).collect()))
    }
}
