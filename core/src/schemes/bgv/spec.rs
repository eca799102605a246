//! The plaintexts of a parameter set.

use alloc::format;

use super::slots::Hypercube;
use crate::{
    arith::PrimePower,
    error::Error,
    ring::Cyclotomic,
    rlwe::{RlweSpec, identifier},
};

/// Plaintexts modulo a power of p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PlaintextSpec {
    /// p: a prime, 1 modulo 2N. In a ring of two axes, of index 2n' m', one that is 1 modulo 2n' and generates the units modulo
    /// m'. In a ring of odd index one that [`Hypercube`] takes.
    pub prime: u64,
    /// Messages are modulo p^`exponent`.
    pub exponent: u32,
    /// Between the stages of a bootstrap, plaintexts are modulo p to this power at most.
    pub largest_exponent: u32,
}

impl PlaintextSpec {
    /// Checks the plaintexts against a chain and returns the ring of messages.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming what does not fit: p, the exponents or the ring degree.
    pub fn check(&self, chain: &RlweSpec) -> Result<PrimePower, Error> {
        let ring = PrimePower::new(self.prime, self.largest_exponent)?;
        if self.exponent == 0 || self.exponent > self.largest_exponent {
            return Err(Error::InvalidArgument(format!(
                "messages modulo p^{} and plaintexts modulo p^{} at most; take 1 up to the larger",
                self.exponent, self.largest_exponent
            )));
        }
        let cyclotomic = Cyclotomic::new(chain.n, chain.odd_part)?;
        if !(8..=1 << 17).contains(&chain.n) {
            return Err(Error::InvalidArgument(format!(
                "ring degree {} must be from 8 to 131072; choose a set of such a degree",
                chain.n
            )));
        }
        if cyclotomic.odd_index().is_some() {
            Hypercube::new(cyclotomic, self.prime)?;
        } else if chain.odd_part != 1 {
            self.check_two_axes(cyclotomic)?;
        } else if self.prime % (2 * chain.n as u64) != 1 {
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

    /// Checks that the first axis splits modulo p and the second axis stays whole.
    fn check_two_axes(&self, ring: Cyclotomic) -> Result<(), Error> {
        let (order, odd) = (2 * ring.columns() as u64, ring.odd_part());
        // The order of the units is a power of two: an element generates them unless it is a square.
        let half = (odd - 1) / 2;
        let square = (0..half).fold(1, |power, _| power * (self.prime % odd) % odd) != odd - 1;
        if self.prime % order == 1 && !square {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "plaintexts modulo powers of {} in a ring of index {order} times {odd}; take a prime that is 1 modulo {order} and whose \
             powers are all units modulo {odd}, so that every slot is a field of {} numbers",
            self.prime,
            ring.rows()
        )))
    }

    /// 16 bytes that identify a chain with these plaintexts.
    pub fn fingerprint(&self, chain: &RlweSpec) -> [u8; 16] {
        let mut h = blake3::Hasher::new_derive_key("refloat 2026-11-23 bgv parameters v1");
        h.update(&chain.fingerprint());
        for word in [self.prime, self.exponent.into(), self.largest_exponent.into()] {
            h.update(&word.to_le_bytes());
        }
        identifier(&h)
    }
}
