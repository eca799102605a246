//! Public-key encryption.

use alloc::{vec, vec::Vec};

use zeroize::Zeroizing;

use super::{ciphertext::BgvCiphertext, context::BgvContext, factor::Factor, shape::BgvShape};
use crate::{
    arith::Word,
    error::Error,
    random::{Seed, Stream},
    ring::{Binomial, SmallPoly, from_integers},
    rlwe::{KeySeeds, PublicSample, SecretKey},
    schemes::public_key_parts,
};

/// A public encryption key: one ring-LWE sample of zero modulo Q of a level, its second component seeded. It has the secret and the error
/// of the evaluation keys' samples and a smaller modulus, and serves every modulus of plaintexts.
#[derive(Clone)]
pub struct BgvPublicKey<W: Word = u64> {
    pub(crate) key_id: [u8; 16],
    pub(crate) sample: PublicSample<W>,
}

impl<W: Word> BgvPublicKey<W> {
    /// The public key of a key set for levels up to `level`.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have; [`Error::ParamsMismatch`] for a key of another chain.
    pub fn generate(
        context: &BgvContext<W>,
        key: &SecretKey<W>,
        seeds: &KeySeeds,
        key_id: [u8; 16],
        level: usize,
    ) -> Result<Self, Error> {
        context.rlwe().check_level(level)?;
        key.check_chain(context.rlwe())?;
        let b = PublicSample::first_component(context.rlwe(), key, seeds, level);
        Self::new(context, key_id, level, b, seeds.public())
    }

    public_key_parts!(BgvContext<W>, W);

    /// Encrypts integers modulo P, with factor 1: (v b + e_0 + m / P, v a + e_1), v ternary. Missing slots are 0.
    ///
    /// # Errors
    /// As [`super::BgvEncoder::encode`]; [`Error::LevelMismatch`] above the key's level; [`Error::ParamsMismatch`] for a key of another
    /// set; [`Error::Limit`] where a fresh ciphertext does not fit the level.
    pub fn encrypt(
        &self,
        context: &BgvContext<W>,
        slots: &[u64],
        level: usize,
        randomness: &Seed,
    ) -> Result<BgvCiphertext<W>, Error> {
        let (rlwe, modulus) = (context.rlwe(), context.message_modulus());
        self.sample.check(rlwe, level)?;
        let message: Zeroizing<Vec<_>> = Zeroizing::new(modulus.encoder().encode(slots)?);
        let basis = rlwe.q(level);
        let mut stream = randomness.derive("public-key encryption", &[]).stream();
        let error = |stream: &mut Stream| SmallPoly::error_in(basis.ring(), Binomial::Coins21, stream);
        let [mut b, mut a] = self.sample.masked(basis, &mut stream);
        let mut payload = from_integers(basis, &message);
        payload.mul_scalars_assign(&modulus.inverses(basis.len()));
        payload.add_assign(&Zeroizing::new(error(&mut stream).to_poly(basis)));
        let payload = Zeroizing::new(payload.into_eval());
        let second = Zeroizing::new(error(&mut stream).to_poly(basis).into_eval());
        b.add_assign(&payload);
        a.add_assign(&second);
        let out = BgvCiphertext {
            fingerprint: context.fingerprint(),
            key_id: self.key_id,
            level,
            factor: Factor::one(modulus.ring()),
            noise: context.noise().fresh_public(),
            parts: vec![b, a],
        };
        BgvShape::of(&out).check_room(out.log_q())?;
        Ok(out)
    }
}
