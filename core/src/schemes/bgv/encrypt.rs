//! Encryption and decryption.

use alloc::{vec, vec::Vec};

use zeroize::{Zeroize, Zeroizing};

use super::{ciphertext::BgvCiphertext, context::BgvContext, factor::Factor, shape::BgvShape};
use crate::{
    arith::Word,
    error::Error,
    random::Seed,
    ring::{Binomial, Eval, Poly, SmallPoly, centered_residues, from_integers, uniform_rows},
    rlwe::SecretKey,
    schemes::{identity::Identity, private::Private},
};

/// Encrypts integers modulo p^r under the secret key at a level, with fresh randomness and factor 1; missing slots are 0.
///
/// # Errors
/// As [`super::BgvEncoder::encode`]; [`Error::LevelMismatch`] for a level the chain does not have;
/// [`Error::ParamsMismatch`] for a secret key of another chain; [`Error::Limit`] where a fresh ciphertext does not fit the level.
pub fn encrypt<W: Word>(
    context: &BgvContext<W>,
    key: &SecretKey<W>,
    key_id: [u8; 16],
    slots: &[u64],
    level: usize,
    randomness: &Seed,
) -> Result<BgvCiphertext<W>, Error> {
    let (rlwe, modulus) = (context.rlwe(), context.message_modulus());
    rlwe.check_level(level)?;
    key.check_chain(rlwe)?;
    let message = Zeroizing::new(modulus.encoder().encode(slots)?);
    let basis = rlwe.q(level);
    let mut uniform = randomness.derive("ciphertext second component", &[]).stream();
    let a = Poly::<W, Eval>::from_rows(basis, uniform_rows(basis, &mut uniform));
    let mut errors = randomness.derive("ciphertext error", &[]).stream();
    // m/P + e, in one piece of memory.
    let mut payload = from_integers(basis, &message);
    payload.mul_scalars_assign(&modulus.inverses(basis.len()));
    let error =
        Zeroizing::new(SmallPoly::error_in(basis.ring(), Binomial::Coins21, &mut errors).to_poly(basis));
    payload.add_assign(&error);
    let payload = Zeroizing::new(payload.into_eval());
    let mut b = a.clone();
    b.mul_assign(&key.modulo_q(basis));
    b.neg_assign();
    b.add_assign(&payload);
    let out = BgvCiphertext {
        fingerprint: context.fingerprint(),
        key_id,
        level,
        factor: Factor::one(modulus.ring()),
        noise: context.noise().fresh(),
        parts: vec![b, a],
    };
    BgvShape::of(&out).check_room(out.log_q())?;
    Ok(out)
}

/// Decrypts to integers below P, [`BgvContext::slot_degree`] for each slot.
///
/// # Errors
/// [`Error::ParamsMismatch`] if the ciphertext belongs to another set or key; [`Error::Limit`] if, by its estimate, noise may have
/// destroyed the plaintext.
pub fn decrypt<W: Word>(
    context: &BgvContext<W>,
    key: &SecretKey<W>,
    key_id: [u8; 16],
    ciphertext: &BgvCiphertext<W>,
) -> Result<Private<Vec<u64>>, Error> {
    let coefficients = decrypt_coefficients(context, key, key_id, ciphertext)?;
    let encoder = context.modulus(ciphertext.ring().exponent())?.encoder();
    Ok(Private::new(encoder.decode(coefficients.reveal_to_key_owner().clone())?))
}

/// Decrypts to the coefficients of the plaintext polynomial, below P.
///
/// # Errors
/// As [`decrypt`].
pub(crate) fn decrypt_coefficients<W: Word>(
    context: &BgvContext<W>,
    key: &SecretKey<W>,
    key_id: [u8; 16],
    ciphertext: &BgvCiphertext<W>,
) -> Result<Private<Vec<u64>>, Error> {
    ciphertext.identity().check_decryption(&Identity { fingerprint: context.fingerprint(), key_id })?;
    BgvShape::of(ciphertext).check_room(ciphertext.log_q())?;
    key.check_chain(context.rlwe())?;
    let modulus = context.modulus(ciphertext.ring().exponent())?;
    // No more primes than the phase needs: a prefix that is large enough holds it as well as all of them. A stated noise below the floor is
    // not believed.
    let rlwe = context.rlwe();
    let needed = 2.0 * ciphertext.ring().value() as f64 * ciphertext.noise.max(context.noise().floor());
    let level = (0..ciphertext.level).find(|&l| rlwe.q(l).log2() > libm::log2(needed) + 1.0);
    let basis = rlwe.q(level.unwrap_or(ciphertext.level));
    let parts: Vec<_> = ciphertext.parts.iter().map(|part| part.truncated_to(basis)).collect();
    let mut phase = key.phase(&parts);
    phase.mul_scalars_assign(&modulus.residues(basis.len()));
    let ring = modulus.ring();
    let mut residues = centered_residues(&phase, ring.modulus());
    let unit = ring.shoup(ciphertext.factor.inverse().value());
    let plain = residues.iter().map(|&x| ring.modulus().mul_shoup(x, &unit)).collect();
    residues.zeroize();
    Ok(Private::new(plain))
}
