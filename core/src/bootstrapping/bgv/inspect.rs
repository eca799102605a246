//! What the holder of the secret key sees between two steps: slots, coefficients, and the phase under the ephemeral secret.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::{bootstrapper::BgvPrepared, secret::BgvSecretKey};
use crate::{
    arith::Word,
    error::Error,
    ring::{Coeff, Poly, centered_f64, from_integers},
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
    pub fn decrypt_prepared(&self, x: &BgvPrepared<W>) -> Private<Vec<i64>> {
        // Modulo the first two levels, which hold 2^7 q0 and more, so below 2^53 as doubles.
        let wide = self.params().context().rlwe().q(1);
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
        Private::new(centered_f64(&phase).into_iter().map(|x| x as i64).collect())
    }
}
