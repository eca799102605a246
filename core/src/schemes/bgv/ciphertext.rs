//! Ciphertexts with checked metadata.

use alloc::{format, vec, vec::Vec};
use core::fmt;

use super::factor::Factor;
use crate::{
    arith::{PrimePower, Word},
    error::{Error, hex},
    ring::{Eval, Poly},
    rlwe::Pair,
    schemes::components,
};

/// A BGV ciphertext in scaled form: two components, or three between a product and its relinearisation.
#[derive(Clone)]
pub struct BgvCiphertext<W: Word = u64> {
    pub(crate) fingerprint: [u8; 16],
    pub(crate) key_id: [u8; 16],
    pub(crate) level: usize,
    pub(crate) factor: Factor,
    /// Estimated from the operations that made the ciphertext. In a ciphertext read from outside this is only the sender's claim, which is
    /// raised to [`super::NoiseModel::floor`] if it is below.
    pub(crate) noise: f64,
    /// Component i multiplies s^i.
    pub(crate) parts: Vec<Poly<W, Eval>>,
}

/// Shows everything but the residues.
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

    /// The factor f by which the ciphertext multiplies its plaintext.
    pub fn factor(&self) -> Factor {
        self.factor
    }

    /// Z/P, the ring of the plaintext's integers.
    pub fn ring(&self) -> PrimePower {
        self.factor.ring()
    }

    /// An estimate of the largest embedding of the noise, which its coefficients stay below: see [`super::NoiseModel`].
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
        self.capacity_for(self.noise)
    }

    /// What [`Self::capacity`] would be with this noise.
    pub(crate) fn capacity_for(&self, noise: f64) -> f64 {
        self.log_q() - 1.0 - self.ring().modulus().log2() - libm::log2(noise)
    }

    components::of_ciphertext!(W);

    /// The same words with another factor, so that the plaintext is multiplied by the old factor over the new one. The modulus of the
    /// plaintexts becomes that of the new factor.
    pub(crate) fn relabelled(mut self, factor: Factor) -> Self {
        self.factor = factor;
        self
    }

    /// A copy without components.
    pub(crate) fn without_parts(&self) -> Self {
        Self { parts: Vec::new(), ..*self }
    }

    pub(crate) fn with_pair(&self, pair: Pair<W>, level: usize, factor: Factor, noise: f64) -> Self {
        Self { level, factor, noise, parts: vec![pair.b, pair.a], ..*self }
    }

    /// Checks that both ciphertexts belong to one parameter set and one key, and their plaintexts to one ring.
    pub(crate) fn check_same_key(&self, other: &Self) -> Result<(), Error> {
        self.check_same_secret(other)?;
        self.check_ring(other.ring())
    }

    /// Checks that both ciphertexts belong to one parameter set and one key.
    pub(crate) fn check_same_secret(&self, other: &Self) -> Result<(), Error> {
        self.identity().check_same(&other.identity())
    }

    /// Checks that the plaintexts are modulo the P of `other`.
    pub(crate) fn check_ring(&self, other: PrimePower) -> Result<(), Error> {
        let own = self.ring();
        if own == other {
            return Ok(());
        }
        Err(Error::PlaintextMismatch(format!(
            "plaintexts modulo {}^{} and {}^{}; bring both to one power of one prime, by a product with it or an exact division by it",
            own.prime(),
            own.exponent(),
            other.prime(),
            other.exponent(),
        )))
    }

    pub(crate) fn check_same_factor(&self, other: Factor) -> Result<(), Error> {
        self.factor.check_same(other)
    }
}
