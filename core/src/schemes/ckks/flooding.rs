//! Noise flooding: fresh noise that a decryption gets before it is shown to somebody else.
//!
//! A CKKS decryption is the message and the noise of its ciphertext. The noise reveals something about the key: one decryption given to
//! another party can be enough to recover it (Li, Micciancio, EUROCRYPT 2021, ePrint 2020/1533). So a result leaves its owner only with
//! fresh noise added that hides the old (Li, Micciancio, Schultz, Sorrell, CRYPTO 2022, ePrint 2022/816): of standard deviation
//!
//! sigma = sqrt(12 tau) 2^(s/2) t
//!
//! for tau releases under one key, s bits of statistical security, and errors of length t at most. What counts is the length of the errors
//! of all numbers that leave together, as the divergence of two Gaussians is the square of their distance over 2 sigma^2: t is the largest
//! error of one number times the square root of how many there are. Flooding costs log2(sqrt(12 tau)) + s/2 + log2(k)/2 bits of precision
//! for k numbers, with the defaults 21.8 for one of them and 29.3 for 2^15. So release no more numbers than are asked for.
//!
//! Result and noise are whole multiples of a unit far below sigma: the result is rounded to it, and the noise is drawn in it.
//! Floating-point noise would leave the lowest bits of a result as they were.

use alloc::{format, vec, vec::Vec};

use rand_core::Rng;
use zeroize::Zeroizing;

use super::{context::CkksContext, scale::Scale};
use crate::{
    arith::{Word, round_ties_even},
    error::Error,
    random::{Seed, Stream},
    security::SecretDistribution,
};

/// Largest number of bits of statistical security.
const MOST_STATISTICAL_BITS: u32 = 64;

/// Words that are added up for a number's noise.
const TERMS: usize = 64;

/// Standard deviations that a Gaussian error exceeds with a probability of 2^-128.
const DEVIATIONS: f64 = 13.1;

/// The square of a secret's largest slot is taken to be this many times the mean over all slots; 10 is the most that was seen.
const SPECTRUM_PEAK: f64 = 40.0;

/// Variance of the errors of encryption.
const ERROR_VARIANCE: f64 = 10.5;

/// How many releases one key has, and how many of them have been made.
///
/// The owner stores [`Self::used`] with the key, and begins with it again ([`Self::resumed`]): a budget that starts afresh after a restart
/// protects nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseBudget {
    queries: u32,
    statistical_bits: u32,
    used: u32,
}

impl ReleaseBudget {
    /// `queries` releases under the key in all, with `statistical_bits` of security for all of them together, 1 to 64. The default has 1024
    /// releases and 30 bits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for no releases, or bits out of range.
    pub fn new(queries: u32, statistical_bits: u32) -> Result<Self, Error> {
        Self::resumed(queries, statistical_bits, 0)
    }

    /// [`Self::new`] with `used` releases made already.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn resumed(queries: u32, statistical_bits: u32, used: u32) -> Result<Self, Error> {
        if queries == 0 || !(1..=MOST_STATISTICAL_BITS).contains(&statistical_bits) {
            return Err(Error::InvalidArgument(format!(
                "a budget of {queries} releases at {statistical_bits} bits of statistical security; take at least one release, and 1 to \
                 {MOST_STATISTICAL_BITS} bits"
            )));
        }
        Ok(Self { queries, statistical_bits, used })
    }

    /// Releases under the key in all, tau.
    pub fn queries(&self) -> u32 {
        self.queries
    }

    /// Bits of statistical security, s.
    pub fn statistical_bits(&self) -> u32 {
        self.statistical_bits
    }

    /// Releases made.
    pub fn used(&self) -> u32 {
        self.used
    }

    /// sqrt(12 tau k) 2^(s/2): the deviation of the noise over the largest error of one of `numbers` numbers.
    pub(crate) fn factor(&self, numbers: usize) -> f64 {
        libm::sqrt(12.0 * f64::from(self.queries) * numbers as f64)
            * libm::exp2(f64::from(self.statistical_bits) / 2.0)
    }
}

impl Default for ReleaseBudget {
    fn default() -> Self {
        Self { queries: 1 << 10, statistical_bits: 30, used: 0 }
    }
}

/// A bound on the error of each number of a result: how far it is from what the same computation gives in the clear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ErrorBound {
    /// The error of a message that the owner of the secret key encrypted, or that a bootstrap has refreshed since, times this growth. The
    /// growth is 1 if nothing was computed after that; a product of numbers up to 1 makes the error three times as large, a sum twice.
    Secret(f64),
    /// The same where a message may have been encrypted with the public key, which leaves a larger error.
    Public(f64),
    /// At most this, however it is known: after several rounds of [bootstrapping](crate::bootstrapping::Rounds), or for parameters of your
    /// own.
    AtMost(f64),
}

/// A result that is to be released: how much of it, and what is known about it.
///
/// By default all numbers are released, of a message that is at most 1 and was encrypted by anybody.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Release {
    /// How many numbers are released, counted from the first; all if `None`. Fewer numbers need less noise.
    pub numbers: Option<usize>,
    /// Bound on the errors of the numbers.
    pub error: ErrorBound,
    /// Largest absolute value of the numbers: a release that leaves less than one bit of it is refused.
    pub largest: f64,
}

impl Default for Release {
    fn default() -> Self {
        Self { numbers: None, error: ErrorBound::Public(1.0), largest: 1.0 }
    }
}

impl Release {
    /// The bound on the error of a number. `fresh` gives the error of a fresh or refreshed message; its argument says whether the message
    /// may have been encrypted with the public key.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a growth below 1, a bound that is not above 0, or either not finite; errors of `fresh`.
    pub(crate) fn error_of(&self, fresh: impl FnOnce(bool) -> Result<f64, Error>) -> Result<f64, Error> {
        let (growth, public) = match self.error {
            ErrorBound::AtMost(error) if error > 0.0 && error.is_finite() => return Ok(error),
            ErrorBound::AtMost(error) => {
                return Err(Error::InvalidArgument(format!(
                    "errors of at most {error}; state a finite bound above 0"
                )));
            }
            ErrorBound::Secret(growth) => (growth, false),
            ErrorBound::Public(growth) => (growth, true),
        };
        if !(growth >= 1.0 && growth.is_finite()) {
            return Err(Error::InvalidArgument(format!(
                "errors that grow by {growth}; state a finite growth of at least 1, 1 where nothing was computed"
            )));
        }
        Ok(fresh(public)? * growth)
    }

    /// Floods decrypted numbers, each with an error of at most `error`, and counts the release.
    ///
    /// # Errors
    /// [`Error::Limit`] if the budget is spent, or if less than one bit of the numbers would be left; [`Error::InvalidArgument`] for no
    /// numbers, more than there are, or a largest value that is not above 0.
    pub(crate) fn flooded(
        &self,
        decrypted: &[f64],
        error: f64,
        budget: &mut ReleaseBudget,
        randomness: &Seed,
    ) -> Result<Vec<f64>, Error> {
        let ReleaseBudget { queries, statistical_bits, used } = *budget;
        if used >= queries {
            return Err(Error::Limit(format!(
                "{used} of {queries} releases under this key are spent; make a new key"
            )));
        }
        let numbers = self.numbers.unwrap_or(decrypted.len());
        if numbers == 0 || numbers > decrypted.len() {
            return Err(Error::InvalidArgument(format!(
                "{numbers} numbers of a result of {}; release 1 to {}",
                decrypted.len(),
                decrypted.len()
            )));
        }
        if !(self.largest > 0.0 && self.largest.is_finite()) {
            return Err(Error::InvalidArgument(format!(
                "results of at most {}; state a finite bound above 0",
                self.largest
            )));
        }
        // Doubles are no more precise than this.
        let error = error.max(self.largest * (f64::EPSILON / 2.0));
        // A unit in the result's rounding is less than 2^-7 of the error: the factor is below 2^58, the unit 2^-65 of the deviation.
        let sigma = budget.factor(numbers) * error * (1.0 + 1.0 / 128.0);
        if 2.0 * sigma > self.largest {
            return Err(Error::Limit(format!(
                "flooding {numbers} numbers with errors of at most 2^{:.1}, at {statistical_bits} bits for {queries} releases, takes noise of \
                 2^{:.1}, and they are at most 2^{:.1}: nothing would be left; keep the result with the owner of the key, release fewer \
                 numbers, or take a set of higher precision",
                libm::log2(error),
                libm::log2(sigma),
                libm::log2(self.largest)
            )));
        }
        budget.used += 1;
        let mut stream = randomness.derive("release flooding", &[u64::from(budget.used)]).stream();
        Ok(flood(&decrypted[..numbers], sigma, &mut stream))
    }
}

/// Adds noise of standard deviation `sigma` to numbers. The noise is the sum of 64 uniform words of the stream: a shift shows in it
/// quadratically, as in a Gaussian (in a single uniform word it would show linearly). No step depends on a value.
fn flood(numbers: &[f64], sigma: f64, stream: &mut Stream) -> Vec<f64> {
    // A word has variance 2^128 / 12.
    let unit = sigma / (libm::sqrt(TERMS as f64 / 12.0) * libm::exp2(64.0));
    let mut words = Zeroizing::new(vec![0u64; TERMS]);
    let mean = (TERMS as i128) << 63;
    numbers
        .iter()
        .map(|x| {
            words.fill_with(|| stream.next_u64());
            let noise = words.iter().map(|&word| i128::from(word)).sum::<i128>() - mean;
            (round_ties_even(x / unit) as i128).saturating_add(noise) as f64 * unit
        })
        .collect()
}

/// Largest error of a part of a slot that is fresh, or has been rescaled and switched to another key once: whichever is larger.
/// `public` is for messages encrypted with the public key.
pub(crate) fn fresh_error<W: Word>(context: &CkksContext<W>, scale: Scale, public: bool) -> f64 {
    let weight = secret_weight(context);
    // Both components are rounded, twice: by a rescaling, and by the division that ends a key switch.
    let rescaled = 2.0 * (1.0 + weight) / 12.0;
    worst_slot_error(context.rlwe().n(), rescaled.max(fresh_variance(context, public)), scale)
}

/// Variance of the error of a coefficient as it is encrypted, encoding included.
pub(crate) fn fresh_variance<W: Word>(context: &CkksContext<W>, public: bool) -> f64 {
    let n = context.rlwe().n() as f64;
    // v e + e_0 + e_1 s, v ternary.
    let errors = if public { 2.0 * n / 3.0 + 1.0 + secret_weight(context) } else { 1.0 };
    errors * ERROR_VARIANCE + 1.0 / 12.0
}

/// Largest error of a part of a slot for coefficients of this variance, in a bad case: under a key whose spectrum peaks.
pub(crate) fn worst_slot_error(n: usize, variance: f64, scale: Scale) -> f64 {
    worst_of_deviation(libm::sqrt(n as f64 * variance / 2.0) / scale.to_f64())
}

/// Largest error if the root mean square over all slots is `rms`.
pub(crate) fn worst_of_deviation(rms: f64) -> f64 {
    DEVIATIONS * libm::sqrt(SPECTRUM_PEAK) * rms
}

/// Non-zero coefficients of the main secret.
fn secret_weight<W: Word>(context: &CkksContext<W>) -> f64 {
    let rlwe = context.rlwe();
    match rlwe.spec().secret {
        SecretDistribution::Sparse { weight } => f64::from(weight),
        _ => 2.0 * rlwe.n() as f64 / 3.0,
    }
}

/// Asserts that released numbers are off by centred noise of standard deviation `sigma`, to five standard errors.
#[cfg(test)]
pub(crate) fn assert_deviation(found: &[f64], exact: &[f64], sigma: f64) {
    assert_eq!(found.len(), exact.len());
    let count = found.len() as f64;
    let off = found.iter().zip(exact).map(|(x, y)| x - y);
    let mean = off.clone().sum::<f64>() / count;
    assert!(mean.abs() < 5.0 * sigma / libm::sqrt(count), "a mean of {mean}, deviation {sigma}");
    let rms = libm::sqrt(off.map(|x| x * x).sum::<f64>() / count);
    assert!((rms / sigma - 1.0).abs() < 5.0 / libm::sqrt(2.0 * count), "{rms} instead of {sigma}");
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn noise_has_the_stated_deviation_at_every_size() {
        for sigma in [0.25, 1e-9, 3e7] {
            let mut stream = Seed::from_bytes([3; 32]).stream();
            let values = vec![0.5; 20_000];
            let noisy = flood(&values, sigma, &mut stream);
            assert_deviation(&noisy, &values, sigma);
        }
    }

    #[test]
    fn the_factor_is_that_of_the_paper_over_all_numbers() {
        let budget = ReleaseBudget::new(1 << 10, 30).unwrap();
        assert_eq!(budget, ReleaseBudget::default());
        assert!((libm::log2(budget.factor(1)) - 21.79).abs() < 0.01);
        assert!((libm::log2(budget.factor(1 << 15)) - 29.29).abs() < 0.01);
        // The bound that flooding assumes for the unit of its rounding.
        let most = ReleaseBudget::new(u32::MAX, MOST_STATISTICAL_BITS).unwrap().factor(1 << 16);
        assert!(libm::log2(most) < 58.0);
    }

    #[test]
    fn budgets_are_kept_and_refusals_cost_nothing() {
        let seed = Seed::from_bytes([4; 32]);
        let mut budget = ReleaseBudget::new(2, 2).unwrap();
        let release = Release { largest: 8.0, ..Release::default() };
        let values = [0.5; 16];
        for refused in [
            Release { numbers: Some(0), ..release },
            Release { numbers: Some(17), ..release },
            Release { largest: f64::NAN, ..release },
            Release { largest: 0.001, ..release },
        ] {
            let error = refused.flooded(&values, 0.001, &mut budget, &seed).unwrap_err();
            assert!(error.repair().is_some(), "{error}");
        }
        assert_eq!(budget.used(), 0);
        let first = release.flooded(&values, 0.001, &mut budget, &seed).unwrap();
        let second = release.flooded(&values, 0.001, &mut budget, &seed).unwrap();
        assert_ne!(first, second);
        let spent = release.flooded(&values, 0.001, &mut budget, &seed).unwrap_err();
        assert!(spent.code() == "LIMIT" && spent.problem().starts_with("2 of 2"), "{spent}");
        let resumed = &mut ReleaseBudget::resumed(3, 2, budget.used()).unwrap();
        release.flooded(&values, 0.001, resumed, &seed).unwrap();
        assert_eq!(resumed.used(), 3);
        for (queries, bits) in [(0, 30), (1, 0), (1, 65)] {
            assert_eq!(ReleaseBudget::new(queries, bits).unwrap_err().code(), "INVALID_ARGUMENT");
        }
    }

    #[test]
    fn bounds_of_errors_are_checked() {
        let of = |error| {
            Release { error, ..Release::default() }.error_of(|public| Ok(if public { 4.0 } else { 1.0 }))
        };
        assert_eq!(of(ErrorBound::Secret(2.0)), Ok(2.0));
        assert_eq!(of(ErrorBound::Public(2.0)), Ok(8.0));
        assert_eq!(of(ErrorBound::AtMost(0.5)), Ok(0.5));
        for bad in [
            ErrorBound::Secret(0.5),
            ErrorBound::Public(f64::INFINITY),
            ErrorBound::AtMost(0.0),
            ErrorBound::AtMost(f64::NAN),
        ] {
            assert!(of(bad).unwrap_err().repair().is_some());
        }
    }
}
