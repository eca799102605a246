//! Encryption and decryption.

use alloc::{format, vec, vec::Vec};

use zeroize::{Zeroize, Zeroizing};

use super::{ciphertext::Ciphertext, context::CkksContext, scale::Scale};
use crate::{
    arith::{Word, complex::Complex},
    error::Error,
    random::{Seed, Stream},
    ring::{Eval, Poly, SmallPoly, centered, from_wide_integers, uniform_rows},
    rlwe::{PublicSample, SecretKey},
    schemes::{identity::Identity, private::Private, public_key_parts},
};

/// Encrypts slots under the secret key at a level and scale, with fresh randomness.
///
/// # Errors
/// As [`super::Encoder::encode_wide`]; [`Error::InvalidArgument`] for a message larger than the modulus;
/// [`Error::LevelMismatch`] for a level the chain does not have;
/// [`Error::ParamsMismatch`] for a secret key of another chain.
pub fn encrypt<W: Word>(
    context: &CkksContext<W>,
    key: &SecretKey<W>,
    key_id: [u8; 16],
    slots: &[Complex],
    level: usize,
    scale: Scale,
    randomness: &Seed,
) -> Result<Ciphertext<W>, Error> {
    context.rlwe().check_level(level)?;
    key.check_chain(context.rlwe())?;
    let basis = context.rlwe().q(level);
    let mut message = encode_below(context, slots, level, scale)?;
    let mut uniform = randomness.derive("ciphertext second component", &[]).stream();
    let a = Poly::<W, Eval>::from_rows(basis, uniform_rows(basis, &mut uniform));
    let mut errors = randomness.derive("ciphertext error", &[]).stream();
    let mut b = a.clone();
    b.mul_assign(&key.modulo_q(basis));
    b.neg_assign();
    b.add_assign(&noisy(&mut message, basis, &mut errors));
    Ok(Ciphertext { fingerprint: context.fingerprint(), key_id, level, scale, parts: vec![b, a] })
}

/// The encoded message, which the modulus of the level must hold together with an error. All coefficients are treated alike; only a message
/// that is refused reveals more of itself.
pub(super) fn encode_below<W: Word>(
    context: &CkksContext<W>,
    slots: &[Complex],
    level: usize,
    scale: Scale,
) -> Result<Vec<i128>, Error> {
    let mut message = context.encoder().encode_wide(slots, scale, context.largest_message())?;
    let largest = message.iter().fold(0, |largest, m| m.abs().max(largest)) + 21;
    let log_q = context.rlwe().q(level).log2();
    // Coefficients are below 2^100.
    if largest >= libm::exp2((log_q - 1.0).min(101.0)) as i128 {
        message.zeroize();
        return Err(Error::InvalidArgument(format!(
            "a coefficient of 2^{:.1} at scale 2^{:.1} does not fit the modulus 2^{log_q:.1} of level {level}; take a \
             higher level or a smaller scale",
            libm::log2(largest as f64),
            scale.log2()
        )));
    }
    Ok(message)
}

/// message + error, evaluation domain; wipes the message.
fn noisy<W: Word>(
    message: &mut Vec<i128>,
    basis: &crate::ring::Basis<W>,
    errors: &mut Stream,
) -> Zeroizing<Poly<W, Eval>> {
    let error = SmallPoly::error(basis.n(), errors);
    for (m, &e) in message.iter_mut().zip(error.coefficients()) {
        *m += i128::from(e);
    }
    let out = Zeroizing::new(from_wide_integers(basis, message).into_eval());
    message.zeroize();
    out
}

/// A public encryption key: one sample of zero at a level, its second component seeded.
#[derive(Clone)]
pub struct PublicKey<W: Word = u32> {
    pub(crate) key_id: [u8; 16],
    pub(crate) sample: PublicSample<W>,
}

/// b = -a s + e modulo Q_level, the part of a public key that is not expanded from the seed.
pub fn public_key_b<W: Word>(
    context: &CkksContext<W>,
    key: &SecretKey<W>,
    seeds: &crate::rlwe::KeySeeds,
    level: usize,
) -> Poly<W, Eval> {
    PublicSample::first_component(context.rlwe(), key, seeds, level)
}

impl<W: Word> PublicKey<W> {
    public_key_parts!(CkksContext<W>, W);

    /// Encrypts slots: (v b + e_0 + m, v a + e_1) with v ternary.
    ///
    /// # Errors
    /// As [`super::Encoder::encode_wide`]; [`Error::InvalidArgument`] for a message larger than the modulus;
    /// [`Error::LevelMismatch`] above the key's level;
    /// [`Error::ParamsMismatch`] for a key of another set.
    pub fn encrypt(
        &self,
        context: &CkksContext<W>,
        slots: &[Complex],
        level: usize,
        scale: Scale,
        randomness: &Seed,
    ) -> Result<Ciphertext<W>, Error> {
        self.sample.check(context.rlwe(), level)?;
        let basis = context.rlwe().q(level);
        let mut message = encode_below(context, slots, level, scale)?;
        let mut stream = randomness.derive("public-key encryption", &[]).stream();
        let [mut b, mut a] = self.sample.masked(basis, &mut stream);
        b.add_assign(&noisy(&mut message, basis, &mut stream));
        a.add_assign(&noisy(&mut vec![0; basis.n()], basis, &mut stream));
        Ok(Ciphertext {
            fingerprint: context.fingerprint(),
            key_id: self.key_id,
            level,
            scale,
            parts: vec![b, a],
        })
    }
}

/// Decrypts to complex slots.
///
/// # Errors
/// [`Error::ParamsMismatch`] if the ciphertext belongs to another set or key.
pub fn decrypt_slots<W: Word>(
    context: &CkksContext<W>,
    key: &SecretKey<W>,
    key_id: [u8; 16],
    ciphertext: &Ciphertext<W>,
) -> Result<Private<Vec<Complex>>, Error> {
    ciphertext.identity().check_decryption(&Identity { fingerprint: context.fingerprint(), key_id })?;
    key.check_chain(context.rlwe())?;
    let phase = key.phase(&ciphertext.parts);
    let mut coefficients = centered(&phase);
    // Integers modulo n are encrypted at a scale divided by n, and n may be as large as messages.
    let largest = context.largest_message() * context.largest_message();
    let slots = context.encoder().decode_wide(&coefficients, ciphertext.scale, largest);
    coefficients.zeroize();
    Ok(Private::new(slots?))
}
