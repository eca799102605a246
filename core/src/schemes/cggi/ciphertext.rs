//! Ciphertexts.

use alloc::format;

use super::{encoding::Encoding, params::CggiParams};
use crate::{arith::Word, error::Error, rlwe::lwe::LweSample, schemes::identity::identified};

/// Largest noise that bytes may state, in multiples of a bootstrapped ciphertext's.
pub(crate) const MAX_WEIGHT: u32 = 1 << 16;

/// One encrypted message: an LWE sample of dimension N modulo p.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CggiCiphertext<W: Word = u32> {
    pub(crate) fingerprint: [u8; 16],
    pub(crate) key_id: [u8; 16],
    pub(crate) encoding: Encoding,
    /// Variance of the noise in units of that of a bootstrapped ciphertext, rounded up.
    pub(crate) weight: u32,
    pub(crate) sample: LweSample<W>,
}

impl<W: Word> CggiCiphertext<W> {
    /// Takes a sample of the set, dimension N, residues modulo p.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a number of messages that is not supported.
    pub(crate) fn new(
        params: &CggiParams<W>,
        key_id: [u8; 16],
        encoding: Encoding,
        weight: u32,
        sample: LweSample<W>,
    ) -> Result<Self, Error> {
        encoding.check()?;
        debug_assert_eq!(sample.a.len(), params.n());
        Ok(Self { fingerprint: params.fingerprint(), key_id, encoding, weight, sample })
    }

    /// Items `start` to before `end` of a list.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the list has them, and they are at least one.
    pub fn items(list: &[Self], start: usize, end: usize) -> Result<&[Self], Error> {
        list.get(start..end).filter(|part| !part.is_empty()).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "items {start} to {end} of a list of {}; take at least one that it has",
                list.len()
            ))
        })
    }

    /// A message that is not encrypted, usable beside ciphertexts of the key: zero mask, no noise.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a message the encoding does not have.
    pub fn trivial(
        params: &CggiParams<W>,
        key_id: [u8; 16],
        encoding: Encoding,
        message: u32,
    ) -> Result<Self, Error> {
        encoding.check()?;
        encoding.check_message(message)?;
        let (numerator, denominator) = encoding.turns(message);
        let sample = LweSample::trivial(params.n(), params.turns(numerator, denominator));
        Self::new(params, key_id, encoding, 0, sample)
    }

    identified!();

    /// The encoding of its message.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Variance of its noise in units of that of a bootstrapped ciphertext: 1 when fresh or
    /// bootstrapped, 0 for a constant, more after sums.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// The sample: phase b + <a, z> modulo p.
    pub fn sample(&self) -> &LweSample<W> {
        &self.sample
    }
}
