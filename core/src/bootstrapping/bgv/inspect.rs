//! What the holder of the secret key sees between two steps: slots, coefficients, and the phase under the ephemeral secret.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::{bootstrapper::BgvPrepared, secret::BgvSecretKey};
use crate::{
    arith::Word,
    error::Error,
    ring::{Coeff, Poly, centered, centered_f64, from_integers},
    rlwe::LinkSecret,
    schemes::{
        bgv::{self, BgvCiphertext, Private},
        identity::Identity,
    },
};

impl<W: Word> BgvSecretKey<W> {
    /// Decrypts to the N coefficients of the plaintext, below its modulus.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt_coefficients(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<u64>>, Error> {
        bgv::decrypt_coefficients(self.params().context(), &self.main, self.key_id(), ciphertext)
    }

    /// The N coefficients of its noise, the phase of the textbook form over P: what
    /// [`NoiseModel::deviation`](crate::schemes::bgv::NoiseModel::deviation) of [`BgvCiphertext::noise`] is an estimate of. A plaintext
    /// counts with its fraction of P. As long as the plaintext is not lost, it is exact to the precision of a double.
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
