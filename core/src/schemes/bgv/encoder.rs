//! Integers in slots and polynomials.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use super::slots::SplitSlots;
use crate::{arith::PrimePower, error::Error};

/// Slots to plaintext polynomials modulo P and back.
pub struct BgvEncoder {
    slots: SplitSlots,
}

impl BgvEncoder {
    /// Tables for plaintexts of degree `n` in `ring`.
    ///
    /// # Errors
    /// As [`SplitSlots::new`].
    pub fn new(ring: PrimePower, n: usize) -> Result<Self, Error> {
        Ok(Self { slots: SplitSlots::new(ring, n)? })
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.slots.ring()
    }

    /// N: two rows of N/2 slots, one after the other.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The N coefficients, centred, of the polynomial with these slots; missing ones are 0.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for more slots than there are, or a value that is not below P.
    pub fn encode(&self, values: &[u64]) -> Result<Vec<i64>, Error> {
        let (ring, n) = (self.ring(), self.slots());
        if values.len() > n {
            return Err(Error::InvalidArgument(format!(
                "{} values for {n} slots; split them, or choose a set with more",
                values.len()
            )));
        }
        if let Some(i) = values.iter().position(|&x| x >= ring.value()) {
            return Err(Error::InvalidArgument(format!(
                "value {i} is {}, slots hold integers below {}; reduce it",
                values[i],
                ring.value()
            )));
        }
        // At its full length at once: memory that grows is left behind with the message in it.
        let mut slots = Zeroizing::new(vec![0; n]);
        slots[..values.len()].copy_from_slice(values);
        let coefficients = Zeroizing::new(self.slots.coefficients_of(&slots)?);
        Ok(coefficients.iter().map(|&c| ring.centered(c)).collect())
    }

    /// The slots of the polynomial with these N coefficients below P, which are wiped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of coefficients.
    pub fn decode(&self, coefficients: Vec<u64>) -> Result<Vec<u64>, Error> {
        self.slots.slots_of(coefficients)
    }
}
