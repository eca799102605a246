//! In which base a number is read.

use alloc::{format, vec::Vec};

use crate::error::Error;

/// Largest base of one digit: one table holds so many values.
pub const MAX_DIGIT: u32 = 128;

/// Largest product of the bases of a number, 2^20: the first digit sees the noise of the slots multiplied by almost that.
pub const MAX_MODULUS: u64 = 1 << 20;

/// The bases t_0 <= t_1 <= .. of the digits of a number below T = t_0 t_1 .., the lowest digit first. The largest base is that of
/// the digit that is read last, from the least amplified noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Radix(Vec<u32>);

impl Radix {
    /// Mixed bases in any order.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no digits, a base outside 2 to [`MAX_DIGIT`], or a product above [`MAX_MODULUS`].
    pub fn new(bases: &[u32]) -> Result<Self, Error> {
        if let Some(t) = bases.iter().find(|t| !(2..=MAX_DIGIT).contains(t)) {
            return Err(Error::InvalidArgument(format!(
                "a digit in base {t}; take bases from 2 to {MAX_DIGIT}, and several digits for more"
            )));
        }
        let modulus = bases.iter().try_fold(1u64, |product, &t| {
            let product = product * u64::from(t);
            (product <= MAX_MODULUS).then_some(product)
        });
        if bases.is_empty() || modulus.is_none() {
            return Err(Error::InvalidArgument(format!(
                "{} digits in bases {bases:?}; take at least one digit, and bases whose product is at most {MAX_MODULUS}: more \
                 amplifies the noise of the slots until digits are wrong",
                bases.len()
            )));
        }
        let mut bases = bases.to_vec();
        bases.sort_unstable();
        Ok(Self(bases))
    }

    /// Bases of at most `largest` whose product is `modulus`, as few as a greedy search finds.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a modulus below 2 or above [`MAX_MODULUS`], or with a prime factor above `largest`, which is
    /// named.
    pub fn of_modulus(modulus: u64, largest: u32) -> Result<Self, Error> {
        if !(2..=MAX_MODULUS).contains(&modulus) {
            return Err(Error::InvalidArgument(format!(
                "integers modulo {modulus}; take a modulus from 2 to {MAX_MODULUS}"
            )));
        }
        let mut bases: Vec<u64> = Vec::new();
        for prime in primes(modulus).into_iter().rev() {
            if prime > u64::from(largest) {
                return Err(Error::InvalidArgument(format!(
                    "the modulus {modulus} has the prime factor {prime}, and digits in bases up to {largest} are read; take a \
                     modulus of smaller factors"
                )));
            }
            match bases.iter_mut().find(|base| **base * prime <= u64::from(largest)) {
                Some(base) => *base *= prime,
                None => bases.push(prime),
            }
        }
        let bases: Vec<u32> = bases.into_iter().map(|base| base as u32).collect();
        Self::new(&bases)
    }

    /// The bases in the order in which digits are read: ascending.
    pub fn bases(&self) -> &[u32] {
        &self.0
    }

    /// T, the product of the bases.
    pub fn modulus(&self) -> u64 {
        self.0.iter().copied().map(u64::from).product()
    }

    /// The product of the bases after digit `i`: what a number is multiplied by so that digit `i` is the highest one left.
    pub(super) fn after(&self, i: usize) -> u64 {
        self.0[i + 1..].iter().copied().map(u64::from).product()
    }
}

/// The prime factors of n, ascending.
fn primes(mut n: u64) -> Vec<u64> {
    let mut out = Vec::new();
    let mut p = 2;
    while p * p <= n {
        while n.is_multiple_of(p) {
            out.push(p);
            n /= p;
        }
        p += 1;
    }
    out.extend((n > 1).then_some(n));
    out
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn bases_are_sorted_and_multiply_to_the_modulus() {
        let radix = Radix::new(&[4, 3, 5]).unwrap();
        assert_eq!((radix.bases(), radix.modulus()), (&[3, 4, 5][..], 60));
        assert_eq!([0, 1, 2].map(|i| radix.after(i)), [20, 5, 1]);
        assert_eq!(Radix::new(&[32; 4]).unwrap().modulus(), MAX_MODULUS);
    }

    #[test]
    fn moduli_are_divided_among_few_digits() {
        let bases = |modulus, largest| Radix::of_modulus(modulus, largest).unwrap().bases().to_vec();
        assert_eq!(bases(24, 32), [24]);
        assert_eq!(bases(97, 128), [97]);
        assert_eq!(bases(1000, 32), [2, 20, 25]);
        assert_eq!(bases(1000, 128), [8, 125]);
        assert_eq!(bases(1 << 20, 128), [64, 128, 128]);
        assert_eq!(bases(1 << 9, 8), [8, 8, 8]);
        for modulus in 2..3000 {
            let Ok(radix) = Radix::of_modulus(modulus, 32) else {
                assert!(primes(modulus).last().is_some_and(|&p| p > 32), "{modulus}");
                continue;
            };
            assert_eq!(radix.modulus(), modulus);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_its_name() {
        assert!(Radix::new(&[]).is_err() && Radix::new(&[1]).is_err() && Radix::new(&[129]).is_err());
        assert!(Radix::new(&[128, 128, 65]).is_err() && Radix::new(&[u32::MAX; 3]).is_err());
        assert!(Radix::new(&[128; 64]).is_err());
        let error = Radix::of_modulus(2 * 131, 128).unwrap_err().to_string();
        assert!(error.contains("262") && error.contains("131") && error.contains("128"), "{error}");
        assert!(Radix::of_modulus(1, 128).is_err() && Radix::of_modulus(MAX_MODULUS + 1, 128).is_err());
        assert!(Radix::of_modulus(0, 128).is_err());
    }
}
