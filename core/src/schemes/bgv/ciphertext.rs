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
    /// What follows from the operations it came from. Whoever reads a ciphertext from outside has only somebody's word for it, and
    /// takes [`super::NoiseModel::floor`] where that says less.
    pub(crate) noise: f64,
    /// Component i multiplies s^i.
    pub(crate) parts: Vec<Poly<W, Eval>>,
}

/// Everything but its residues.
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

    /// An estimate of the largest embedding of its noise, and above its coefficients: see [`super::NoiseModel`].
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

    /// [`Self::capacity`] if this were its noise.
    pub(crate) fn capacity_for(&self, noise: f64) -> f64 {
        self.log_q() - 1.0 - self.ring().modulus().log2() - libm::log2(noise)
    }

    components::of_ciphertext!(W);

    /// The same words with another factor: the plaintext times the old factor over the new one. Its power of p is that of the
    /// plaintexts.
    pub(crate) fn relabelled(mut self, factor: Factor) -> Self {
        self.factor = factor;
        self
    }

    /// The same without its components.
    pub(crate) fn without_parts(&self) -> Self {
        Self { parts: Vec::new(), ..*self }
    }

    pub(crate) fn with_pair(&self, pair: Pair<W>, level: usize, factor: Factor, noise: f64) -> Self {
        Self { level, factor, noise, parts: vec![pair.b, pair.a], ..*self }
    }

    /// Both ciphertexts belong to one parameter set and one key, and their plaintexts to one ring.
    pub(crate) fn check_same_key(&self, other: &Self) -> Result<(), Error> {
        self.check_same_secret(other)?;
        self.check_ring(other.ring())
    }

    /// Both ciphertexts belong to one parameter set and one key.
    pub(crate) fn check_same_secret(&self, other: &Self) -> Result<(), Error> {
        self.identity().check_same(&other.identity())
    }

    /// Its plaintexts are modulo the P of something else.
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
