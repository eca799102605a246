//! What the holder of the secret key sees between two steps: slots, coefficients, and the phase under the ephemeral secret.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::{bootstrapper::BgvPrepared, secret::BgvSecretKey};
use crate::{
    arith::Word,
    error::Error,
    ring::{Coeff, Poly, centered, from_integers},
    rlwe::LinkSecret,
    schemes::bgv::{self, BgvCiphertext, Private},
};

impl<W: Word> BgvSecretKey<W> {
    /// Decrypts to the N coefficients of the plaintext, below its modulus.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a ciphertext of another key.
    pub fn decrypt_coefficients(&self, ciphertext: &BgvCiphertext<W>) -> Result<Private<Vec<u64>>, Error> {
        bgv::decrypt_coefficients(self.params().context(), &self.main, self.key_id(), ciphertext)
    }

    /// The N coefficients p^t m' + q0 I of a prepared message, over the integers.
    pub fn decrypt_prepared(&self, x: &BgvPrepared<W>) -> Private<Vec<i128>> {
        // Modulo a few levels, which hold (B + 1) q0 and its sign.
        let rlwe = self.params().context().rlwe();
        let needed = rlwe.q(0).log2() + libm::log2(f64::from(self.params().spec().bound) + 1.0) + 2.0;
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
        // Exact: q0 is below 2^61, and B below 2^32.
        let integers = Zeroizing::new(centered(&phase));
        let integer = |(high, low): (f64, f64)| high as i128 + low as i128;
        Private::new(integers.iter().map(|x| integer(x.parts())).collect())
    }
}
