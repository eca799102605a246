//! The public key, which others encrypt with: a sample of zero under a secret key.

use alloc::format;

use zeroize::Zeroizing;

use super::{KeySeeds, RlweContext, SecretKey, expand_a};
use crate::{
    arith::Word,
    error::Error,
    random::{Seed, Stream},
    ring::{Basis, Eval, Poly, SmallPoly},
};

/// Label of the only sample, apart from every block of evaluation keys.
const BLOCK: [u64; 4] = [u64::MAX, 0, 0, 0];

/// A ring-LWE sample of zero modulo Q of a level, with a seeded second component. It has the secret and the error of the samples of the
/// evaluation keys, and a smaller modulus.
#[derive(Clone)]
pub(crate) struct PublicSample<W: Word> {
    /// Highest level the sample encrypts at.
    pub level: usize,
    /// The first component.
    pub b: Poly<W, Eval>,
    a: Poly<W, Eval>,
    /// The seed that the second component is expanded from.
    pub seed: Seed,
}

impl<W: Word> PublicSample<W> {
    /// b = -a s + e modulo Q of a level, the component that is not expanded from the seed.
    pub fn first_component(
        rlwe: &RlweContext<W>,
        key: &SecretKey<W>,
        seeds: &KeySeeds,
        level: usize,
    ) -> Poly<W, Eval> {
        let s = key.modulo_q(rlwe.q(level));
        seeds.sample(BLOCK, level, &s, None).b
    }

    /// Rebuilds the sample from its first component and the public seed.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] for a level the chain does not have or a component at another level.
    pub fn new(rlwe: &RlweContext<W>, level: usize, b: Poly<W, Eval>, seed: &Seed) -> Result<Self, Error> {
        rlwe.check_level(level)?;
        let basis = rlwe.q(level);
        if !b.basis().same_as(basis) {
            return Err(Error::LevelMismatch(format!(
                "the first component has {} primes, level {level} has {}; make the public key again",
                b.basis().len(),
                basis.len()
            )));
        }
        Ok(Self { level, a: expand_a(seed, BLOCK, level, basis), b, seed: seed.clone() })
    }

    /// Checks that a message of a chain can be encrypted with this sample at a level.
    ///
    /// # Errors
    /// [`Error::LevelMismatch`] above the sample's own level; [`Error::ParamsMismatch`] for another chain.
    pub fn check(&self, rlwe: &RlweContext<W>, level: usize) -> Result<(), Error> {
        if level > self.level {
            return Err(Error::LevelMismatch(format!(
                "level {level} is above the public key's level {}; encrypt at {} or below",
                self.level, self.level
            )));
        }
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
        Ok(())
    }

    /// (v b, v a) modulo a prefix of its primes, with a ternary v.
    pub fn masked(&self, basis: &Basis<W>, stream: &mut Stream) -> [Poly<W, Eval>; 2] {
        let v = SmallPoly::ternary(basis.degree(), stream);
        let v = Zeroizing::new(v.to_poly::<W>(basis).into_eval());
        [&self.b, &self.a].map(|component| {
            let mut out = component.truncated_to(basis);
            out.mul_assign(&v);
            out
        })
    }
}
