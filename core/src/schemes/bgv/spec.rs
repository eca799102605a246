//! What plaintexts are.

use alloc::format;

use crate::{arith::PrimePower, error::Error, rlwe::RlweSpec};

/// Plaintexts modulo a power of p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaintextSpec {
    /// p: an odd prime, 1 modulo 2N.
    pub prime: u64,
    /// Messages are modulo p^`exponent`.
    pub exponent: u32,
    /// Plaintexts on the way, between the stages of a bootstrap, are modulo p to this power at most.
    pub largest_exponent: u32,
}

impl PlaintextSpec {
    /// The ring of messages, for a chain that fits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what does not: p or the exponents.
    pub fn check(&self, chain: &RlweSpec) -> Result<PrimePower, Error> {
        let ring = PrimePower::new(self.prime, self.largest_exponent)?;
        if self.exponent == 0 || self.exponent > self.largest_exponent {
            return Err(Error::InvalidArgument(format!(
                "messages modulo p^{} and plaintexts modulo p^{} at most; take 1 up to the larger",
                self.exponent, self.largest_exponent
            )));
        }
        if !chain.n.is_power_of_two() || !(8..=1 << 17).contains(&chain.n) {
            return Err(Error::InvalidArgument(format!(
                "ring degree {} must be a power of two from 8 to 131072",
                chain.n
            )));
        }
        if self.prime % (2 * chain.n as u64) != 1 {
            return Err(Error::InvalidArgument(format!(
                "plaintexts modulo powers of {} in a ring of degree {}; take a prime that is 1 modulo {}, so that every slot \
                 holds one integer",
                self.prime,
                chain.n,
                2 * chain.n
            )));
        }
        ring.with_exponent(self.exponent)
    }

    /// 16 bytes that identify a chain with these plaintexts.
    pub fn fingerprint(&self, chain: &RlweSpec) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-23 bgv parameters v1");
        h.update(&chain.fingerprint());
        for word in [self.prime, self.exponent.into(), self.largest_exponent.into()] {
            h.update(&word.to_le_bytes());
        }
        let mut out = [0; 16];
        out.copy_from_slice(&h.finalize().as_bytes()[..16]);
        out
    }
}
