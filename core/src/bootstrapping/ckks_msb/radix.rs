//! In which base a number is read.

use alloc::{format, vec::Vec};

use super::digit_noise::{after, is_borne};
use crate::error::Error;

/// Largest base of one digit: the most values that one table holds.
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

    /// The fewest bases of at most `largest` with the product `modulus`; of equally many, those whose largest is smallest.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a modulus below 2 or above [`MAX_MODULUS`], or with a prime factor above `largest`, which is
    /// named.
    pub fn of_modulus(modulus: u64, largest: u32) -> Result<Self, Error> {
        Self::search(modulus, largest, &|_| true)?.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "integers modulo {modulus} have no digits in bases up to {largest}; take a modulus with smaller prime factors"
            ))
        })
    }

    /// [`Self::of_modulus`] restricted to bases in which numbers off by `off` can be read.
    ///
    /// # Errors
    /// As [`Self::of_modulus`], and if there are no such bases.
    pub(super) fn bearing(modulus: u64, largest: u32, off: f64) -> Result<Self, Error> {
        let bears = |radix: &Self| is_borne(radix.left_of(off));
        Self::search(modulus, largest, &bears)?.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "integers modulo {modulus} that are off by up to 2^{:.1} of the modulus: their digits could not be read in that \
                 noise; state a smaller bound on the numbers, or reduce them earlier",
                libm::log2(off)
            ))
        })
    }

    /// The error of integers after they are read, if their fractions are off by `off`.
    pub(super) fn left_of(&self, off: f64) -> f64 {
        let pass = |(i, &base): (usize, &u32)| (base, self.after(i));
        after(off, self.modulus(), self.0.iter().enumerate().map(pass))
    }

    fn search(modulus: u64, largest: u32, fits: &dyn Fn(&Self) -> bool) -> Result<Option<Self>, Error> {
        if !(2..=MAX_MODULUS).contains(&modulus) {
            return Err(Error::InvalidArgument(format!(
                "integers modulo {modulus}; take a modulus from 2 to {MAX_MODULUS}"
            )));
        }
        let largest = largest.min(MAX_DIGIT);
        if let Some(prime) = largest_prime(modulus).filter(|&prime| prime > largest.into()) {
            return Err(Error::InvalidArgument(format!(
                "the modulus {modulus} has the prime factor {prime}, and digits in bases up to {largest} are read; take a \
                 modulus of smaller factors"
            )));
        }
        for digits in 1..=modulus.ilog2() {
            let mut best: Option<Self> = None;
            products(modulus, 2, largest, digits, &mut Vec::new(), &mut |bases| {
                let better = best.as_ref().is_none_or(|best| best.0.last() > bases.last());
                if better {
                    best = Some(Self(bases.to_vec())).filter(fits).or(best.take());
                }
            });
            if best.is_some() {
                return Ok(best);
            }
        }
        Ok(None)
    }

    /// The bases in the order in which digits are read: ascending.
    pub fn bases(&self) -> &[u32] {
        &self.0
    }

    /// T, the product of the bases.
    pub fn modulus(&self) -> u64 {
        self.0.iter().copied().map(u64::from).product()
    }

    /// The product of the bases after digit `i`: the factor that makes digit `i` of a number the highest one left.
    pub(super) fn after(&self, i: usize) -> u64 {
        self.0[i + 1..].iter().copied().map(u64::from).product()
    }
}

/// Calls `each` with every ascending list of `count` numbers from `least` to `largest` whose product is n, following `before`.
fn products(
    n: u64,
    least: u32,
    largest: u32,
    count: u32,
    before: &mut Vec<u32>,
    each: &mut dyn FnMut(&[u32]),
) {
    if count == 1 {
        if (u64::from(least)..=u64::from(largest)).contains(&n) {
            before.push(n as u32);
            each(before);
            before.pop();
        }
        return;
    }
    // The first is the least of all.
    let fits = |t: &u32| u64::from(*t).checked_pow(count).is_some_and(|power| power <= n);
    for t in (least..=largest).take_while(fits).filter(|&t| n.is_multiple_of(u64::from(t))) {
        before.push(t);
        products(n / u64::from(t), t, largest, count - 1, before, each);
        before.pop();
    }
}

/// The largest prime factor of n.
fn largest_prime(mut n: u64) -> Option<u64> {
    let mut largest = None;
    let mut p = 2;
    while p * p <= n {
        while n.is_multiple_of(p) {
            largest = Some(p);
            n /= p;
        }
        p += 1;
    }
    if n > 1 { Some(n) } else { largest }
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
        assert_eq!(bases(1000, 32), [10, 10, 10]);
        assert_eq!(bases(1000, 128), [25, 40]);
        assert_eq!(bases(1 << 20, 128), [64, 128, 128]);
        assert_eq!(bases(1 << 9, 8), [8, 8, 8]);
        for modulus in 2..3000 {
            let Ok(radix) = Radix::of_modulus(modulus, 32) else {
                assert!(largest_prime(modulus).is_some_and(|p| p > 32), "{modulus}");
                continue;
            };
            assert_eq!(radix.modulus(), modulus);
        }
        // The modulus with the most factors.
        assert_eq!(bases(720_720, 128), [88, 90, 91]);
    }

    #[test]
    fn noise_makes_digits_smaller_and_then_none() {
        let bases = |off: f64| Radix::bearing(1 << 18, 128, off).map(|radix| radix.bases().to_vec());
        assert_eq!(bases(1e-12).unwrap(), [64, 64, 64]);
        let (small, most) = (bases(libm::exp2(-22.0)).unwrap(), bases(libm::exp2(-23.0)).unwrap());
        assert!(small.len() >= most.len() && most.len() > 3 && small[0] < 64, "{small:?}, {most:?}");
        let error = bases(libm::exp2(-18.0)).unwrap_err().to_string();
        assert!(error.contains("262144") && error.contains("2^-18.0"), "{error}");
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
