//! Slots for p = 1 modulo 2N, where X^N + 1 splits into N linear factors modulo p^k: one integer per slot.

use alloc::{format, vec, vec::Vec};

use zeroize::Zeroizing;

use crate::{
    arith::{PrimePower, Shoup},
    error::Error,
};

/// The transform between coefficients and slots modulo P = p^k.
///
/// Slot (s, j), s < 2, j < N/2, is the value at zeta^(5^j) in row 0 and at zeta^(-5^j) in row 1, where zeta is the
/// [`PrimePower::root_of_unity`] of order 2N, so slots modulo p^k reduce to the slots modulo a smaller power. Row 0 comes first.
///
/// No operation branches on a residue.
pub struct SplitSlots {
    ring: PrimePower,
    /// zeta^brev(i), and the same of 1/zeta.
    forward: Vec<Shoup<u64>>,
    inverse: Vec<Shoup<u64>>,
    /// 1/N.
    scale: Shoup<u64>,
    /// Where each slot is among the outputs of the transform.
    position: Vec<u32>,
}

impl SplitSlots {
    /// Tables for degree `n`, a power of two from 4 to 2^17.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another degree, and unless p is 1 modulo 2n.
    pub fn new(ring: PrimePower, n: usize) -> Result<Self, Error> {
        if !n.is_power_of_two() || !(4..=1 << 17).contains(&n) {
            return Err(Error::InvalidArgument(format!(
                "slots of a ring of degree {n}; take a power of two from 4 to 131072"
            )));
        }
        let order = 2 * n as u64;
        let zeta = ring.root_of_unity(order)?;
        let reversed = |i: usize| i.reverse_bits() >> (usize::BITS - n.trailing_zeros());
        let powers = |root: u64| {
            let mut out = vec![Shoup::default(); n];
            let mut power = 1;
            for i in 0..n {
                out[reversed(i)] = ring.shoup(power);
                power = ring.mul(power, root);
            }
            out
        };
        // Output i is the value at zeta^(2 brev(i) + 1).
        let place = |exponent: u64| reversed((exponent / 2) as usize) as u32;
        let exponents = || core::iter::successors(Some(1u64), |e| Some(e * 5 % order)).take(n / 2);
        let position = exponents().map(place).chain(exponents().map(|e| place(order - e))).collect();
        // Units: n is a power of two and p odd.
        let inverse = |a| ring.inverse(a).unwrap_or(1);
        Ok(Self {
            forward: powers(zeta),
            inverse: powers(inverse(zeta)),
            scale: ring.shoup(inverse(n as u64)),
            ring,
            position,
        })
    }

    /// Z/P.
    pub fn ring(&self) -> PrimePower {
        self.ring
    }

    /// N: coefficients, and slots.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Slots of the polynomial with these N coefficients below P. The coefficients are wiped.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of coefficients.
    pub fn slots_of(&self, coefficients: Vec<u64>) -> Result<Vec<u64>, Error> {
        let mut coefficients = Zeroizing::new(coefficients);
        self.check_length("coefficients", coefficients.len())?;
        let m = self.ring.modulus();
        let n = self.len();
        let (mut groups, mut half) = (1, n / 2);
        while half > 0 {
            for (block, w) in coefficients.chunks_exact_mut(2 * half).zip(&self.forward[groups..]) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let t = m.mul_shoup(*v, w);
                    (*u, *v) = (m.add(*u, t), m.sub(*u, t));
                }
            }
            (groups, half) = (2 * groups, half / 2);
        }
        Ok(self.position.iter().map(|&place| coefficients[place as usize]).collect())
    }

    /// Coefficients of the polynomial with these N slots below P.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for another number of slots.
    pub fn coefficients_of(&self, slots: &[u64]) -> Result<Vec<u64>, Error> {
        self.check_length("slots", slots.len())?;
        let m = self.ring.modulus();
        let n = self.len();
        let mut out = vec![0; n];
        for (&place, &x) in self.position.iter().zip(slots) {
            out[place as usize] = x;
        }
        let (mut groups, mut half) = (n / 2, 1);
        while groups > 0 {
            for (block, w) in out.chunks_exact_mut(2 * half).zip(&self.inverse[groups..]) {
                let (low, high) = block.split_at_mut(half);
                for (u, v) in low.iter_mut().zip(high) {
                    let difference = m.sub(*u, *v);
                    (*u, *v) = (m.add(*u, *v), m.mul_shoup(difference, w));
                }
            }
            (groups, half) = (groups / 2, 2 * half);
        }
        for x in &mut out {
            *x = m.mul_shoup(*x, &self.scale);
        }
        Ok(out)
    }

    fn check_length(&self, what: &str, length: usize) -> Result<(), Error> {
        if length == self.len() {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "{length} {what} in a ring of degree {}; give as many as its degree",
            self.len()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_values_at_powers_of_the_root() {
        for (p, k, n) in [(257, 1, 8), (257, 2, 128), (65537, 2, 64), (786_433, 3, 32), (17, 2, 4)] {
            let ring = PrimePower::new(p, k).expect("a prime");
            let transform = SplitSlots::new(ring, n).expect("the prime splits");
            let zeta = ring.root_of_unity(2 * n as u64).expect("the prime splits");
            let mut x = 1u64;
            let mut next = || {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ring.reduce(x >> 3)
            };
            let coefficients: Vec<u64> = (0..n).map(|_| next()).collect();
            let value = |at: u64| coefficients.iter().rev().fold(0, |sum, &c| ring.add(ring.mul(sum, at), c));
            let mut expected = Vec::new();
            for sign in [1, 2 * n as u64 - 1] {
                let mut exponent = sign;
                for _ in 0..n / 2 {
                    expected.push(value(ring.pow(zeta, exponent)));
                    exponent = exponent * 5 % (2 * n as u64);
                }
            }
            let slots = transform.slots_of(coefficients.clone()).expect("as many as the degree");
            assert_eq!(slots, expected, "{p}^{k}, degree {n}");
            assert_eq!(transform.coefficients_of(&slots).as_ref(), Ok(&coefficients));
            for other in [&slots[1..], &[&slots[..], &[0]].concat()] {
                assert!(
                    transform.coefficients_of(other).is_err() && transform.slots_of(other.to_vec()).is_err()
                );
            }
        }
    }

    #[test]
    fn a_prime_that_does_not_split_is_refused() {
        assert!(SplitSlots::new(PrimePower::new(257, 1).expect("a prime"), 256).is_err());
        assert!(SplitSlots::new(PrimePower::new(8191, 2).expect("a prime"), 8).is_err());
        // Degrees out of range or not powers of two, some of which the prime would split.
        for n in [0, 1, 2, 6, 1 << 18, usize::MAX] {
            assert!(SplitSlots::new(PrimePower::new(13, 1).expect("a prime"), n).is_err(), "{n}");
        }
    }
}
