//! Ciphertexts with checked metadata.

use alloc::{format, vec, vec::Vec};
use core::fmt;

use super::factor::Factor;
use crate::{
    arith::{PrimePower, Word},
    error::Error,
    ring::{Eval, Poly},
    rlwe::Pair,
    schemes::identity::hex,
};

/// A BGV ciphertext in scaled form: two components, or three between a product and its relinearisation.
#[derive(Clone)]
pub struct BgvCiphertext<W: Word = u64> {
    pub(crate) fingerprint: [u8; 16],
    pub(crate) key_id: [u8; 16],
    pub(crate) level: usize,
    pub(crate) factor: Factor,
    pub(crate) noise: f64,
    /// Component i multiplies s^i.
    pub(crate) parts: Vec<Poly<W, Eval>>,
}

/// Where it stands, not its residues.
impl<W: Word> fmt::Debug for BgvCiphertext<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BgvCiphertext")
            .field("level", &self.level)
            .field("plaintexts", &format_args!("{}^{}", self.ring().prime(), self.ring().exponent()))
            .field("factor", &self.factor.value())
            .field("log_noise", &self.log_noise())
            .field("components", &self.components())
            .field("fingerprint", &hex(&self.fingerprint))
            .field("key_id", &hex(&self.key_id))
            .finish_non_exhaustive()
    }
}

impl<W: Word> BgvCiphertext<W> {
    /// Level: number of rescalings left.
    pub fn level(&self) -> usize {
        self.level
    }

    /// What it multiplies its plaintext by.
    pub fn factor(&self) -> Factor {
        self.factor
    }

    /// Z/P, where its plaintext lives.
    pub fn ring(&self) -> PrimePower {
        self.factor.ring()
    }

    /// Size of the embeddings of its noise, which bounds the coefficients: see [`super::NoiseModel`].
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// log2 of [`Self::noise`].
    pub fn log_noise(&self) -> f64 {
        libm::log2(self.noise)
    }

    /// log2 of the modulus.
    pub fn log_q(&self) -> f64 {
        self.parts[0].basis().log2()
    }

    /// Bits that the noise may grow by before the plaintext is lost: log2 Q - log2(2 P noise).
    pub fn capacity(&self) -> f64 {
        self.log_q() - 1.0 - self.ring().modulus().log2() - self.log_noise()
    }

    /// Fingerprint of the parameter set.
    pub fn fingerprint(&self) -> [u8; 16] {
        self.fingerprint
    }

    /// Public identifier of the key that encrypts it.
    pub fn key_id(&self) -> [u8; 16] {
        self.key_id
    }

    /// Number of components: 2, or 3 before relinearisation.
    pub fn components(&self) -> usize {
        self.parts.len()
    }

    /// Components, evaluation domain.
    pub fn parts(&self) -> &[Poly<W, Eval>] {
        &self.parts
    }

    /// The same words with another factor: the plaintext times the old factor over the new one. Its power of p is that of the
    /// plaintexts.
    pub(crate) fn relabelled(mut self, factor: Factor) -> Self {
        self.factor = factor;
        self
    }

    pub(crate) fn two_parts(&self) -> Result<[&Poly<W, Eval>; 2], Error> {
        let [b, a] = self.parts.as_slice() else {
            return Err(Error::InvalidArgument(format!(
                "a ciphertext of {} components must be relinearised first",
                self.parts.len()
            )));
        };
        Ok([b, a])
    }

    pub(crate) fn pair(&self) -> Result<Pair<W>, Error> {
        let [b, a] = self.two_parts()?;
        Ok(Pair { b: b.clone(), a: a.clone() })
    }

    /// Where it stands, without its residues.
    pub(crate) fn without_parts(&self) -> Self {
        Self { parts: Vec::new(), ..*self }
    }

    pub(crate) fn with_pair(&self, pair: Pair<W>, level: usize, factor: Factor, noise: f64) -> Self {
        Self { level, factor, noise, parts: vec![pair.b, pair.a], ..*self }
    }

    /// Both ciphertexts belong to one parameter set and one key, and their plaintexts to one ring.
    pub(crate) fn check_same_key(&self, other: &Self) -> Result<(), Error> {
        if self.fingerprint != other.fingerprint {
            return Err(Error::ParamsMismatch(format!(
                "ciphertexts of parameter sets {} and {}; encrypt both with the same set",
                hex(&self.fingerprint),
                hex(&other.fingerprint)
            )));
        }
        if self.key_id != other.key_id {
            return Err(Error::ParamsMismatch(format!(
                "ciphertexts under keys {} and {}; encrypt both with the same key",
                hex(&self.key_id),
                hex(&other.key_id)
            )));
        }
        let (own, theirs) = (self.ring(), other.ring());
        if own != theirs {
            return Err(Error::ScaleMismatch(format!(
                "plaintexts modulo {}^{} and {}^{}; bring both to one power, by a product with {} or an exact division by it",
                own.prime(),
                own.exponent(),
                theirs.prime(),
                theirs.exponent(),
                own.prime()
            )));
        }
        Ok(())
    }

    pub(crate) fn check_same_factor(&self, other: Factor) -> Result<(), Error> {
        if self.factor == other {
            return Ok(());
        }
        Err(Error::ScaleMismatch(format!(
            "operands have factors {} modulo {} and {} modulo {}; bring one to the factor of the other before they are rescaled, \
             since a product with the quotient costs as much noise as one with a constant",
            self.factor.value(),
            self.ring().value(),
            other.value(),
            other.ring().value(),
        )))
    }
}
