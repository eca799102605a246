//! Encryption for the owner of a secret key by others.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::{ciphertext::BgvCiphertext, context::BgvContext, factor::Factor, shape::BgvShape};
use crate::{
    arith::Word,
    error::Error,
    random::{Seed, Stream},
    ring::{Binomial, Eval, Poly, SmallPoly, from_integers},
    rlwe::{KeySeeds, SecretKey, expand_a},
};

/// Label of the public key's only sample, apart from every block of evaluation keys.
const BLOCK: [u64; 4] = [u64::MAX, 0, 0, 0];

/// A public encryption key: one sample of zero modulo Q of a level, its second component seeded. It is of ring-LWE, as every sample
/// of the evaluation keys, with the same secret and error and a smaller modulus, and holds for every modulus of plaintexts.
#[derive(Clone)]
pub struct BgvPublicKey<W: Word = u64> {
    pub(crate) key_id: [u8; 16],
    pub(crate) level: usize,
    pub(crate) b: Poly<W, Eval>,
    pub(crate) a: Poly<W, Eval>,
    pub(crate) public_seed: Seed,
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
        let s = Zeroizing::new(key.modulo_q(context.rlwe().q(level)));
        Self::new(context, key_id, level, seeds.sample(BLOCK, level, &s, None).b, seeds.public())
    }

    /// Rebuilds the key from its first component and the public seed.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have or a component at another level.
    pub fn new(
        context: &BgvContext<W>,
        key_id: [u8; 16],
        level: usize,
        b: Poly<W, Eval>,
        public_seed: &Seed,
    ) -> Result<Self, Error> {
        context.rlwe().check_level(level)?;
        let basis = context.rlwe().q(level);
        if !b.basis().same_as(basis) {
            return Err(Error::LevelMismatch(format!(
                "the first component has {} primes, level {level} has {}; make the public key again",
                b.basis().len(),
                basis.len()
            )));
        }
        let a = expand_a(public_seed, BLOCK, level, basis);
        Ok(Self { key_id, level, b, a, public_seed: public_seed.clone() })
    }

    /// Identifier shared with the secret key.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Highest level it encrypts at.
    pub fn level(&self) -> usize {
        self.level
    }

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
        if level > self.level {
            return Err(Error::LevelMismatch(format!(
                "level {level} is above the public key's level {}; encrypt at {} or below",
                self.level, self.level
            )));
        }
        let (rlwe, modulus) = (context.rlwe(), context.message_modulus());
        rlwe.check_level(self.level)?;
        if !self.b.basis().same_as(rlwe.q(self.level)) {
            return Err(Error::ParamsMismatch(format!(
                "a public key of degree {} with {} primes, and a set of degree {} with {} at level {}; use the public key of \
                 this set",
                self.b.basis().degree(),
                self.b.basis().len(),
                rlwe.n(),
                rlwe.q(self.level).len(),
                self.level,
            )));
        }
        let message: Zeroizing<Vec<_>> = Zeroizing::new(modulus.encoder().encode(slots)?);
        let basis = rlwe.q(level);
        let mut stream = randomness.derive("public-key encryption", &[]).stream();
        let error = |stream: &mut Stream| SmallPoly::error_in(basis.ring(), Binomial::Coins21, stream);
        let v = SmallPoly::ternary(basis.degree(), &mut stream);
        let v = Zeroizing::new(v.to_poly::<W>(basis).into_eval());
        let mut payload = from_integers(basis, &message);
        payload.mul_scalars_assign(&modulus.inverses(basis.len()));
        payload.add_assign(&Zeroizing::new(error(&mut stream).to_poly(basis)));
        let payload = Zeroizing::new(payload.into_eval());
        let second = Zeroizing::new(error(&mut stream).to_poly(basis).into_eval());
        let mut b = self.b.truncated_to(basis);
        b.mul_assign(&v);
        b.add_assign(&payload);
        let mut a = self.a.truncated_to(basis);
        a.mul_assign(&v);
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
