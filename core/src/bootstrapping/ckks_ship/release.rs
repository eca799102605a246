//! Giving a decryption to somebody else.
//!
//! A CKKS decryption contains the noise of its ciphertext, and with it information on the key: one
//! shared result can be enough to recover it (Li, Micciancio, ePrint 2020/1533). A result may leave
//! its owner only flooded with fresh noise: sigma = sqrt(12 tau) 2^(s/2) t for tau releases under one
//! key, s bits of statistical security and a worst-case error t (Li, Micciancio, Schultz, Sorrell,
//! CRYPTO 2022, as OpenFHE applies it). That costs log2(sqrt(12 tau)) + s/2 bits of precision, 22
//! with the defaults: more than the SHIP sets have, so for them the call refuses.

use alloc::{format, vec, vec::Vec};

use rand_core::Rng;

use super::{noise::NoiseModel, secret::ShipSecretKey};
use crate::{
    arith::Word,
    bootstrapping::method::SlotMode,
    error::Error,
    random::{Seed, Stream},
    schemes::ckks::Ciphertext,
};

/// Under what conditions results may be released.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReleasePolicy {
    /// Releases allowed under the key in all, tau.
    pub queries: u32,
    /// Statistical security s, in bits.
    pub statistical_bits: u32,
    /// Factor by which computations since the last bootstrap (or encryption) may have multiplied
    /// the error: 1 for none, 2 for a square of values up to 1.
    pub error_growth: f64,
}

impl Default for ReleasePolicy {
    fn default() -> Self {
        Self { queries: 1 << 10, statistical_bits: 30, error_growth: 1.0 }
    }
}

/// Counts the releases under one key. The owner must store it with the key: a counter that starts
/// again after a restart protects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReleaseCounter {
    /// Releases made.
    pub used: u32,
}

impl<W: Word> ShipSecretKey<W> {
    /// Largest slot error of a fresh or bootstrapped ciphertext, for a key whose spectrum peaks at
    /// 40 times its mean (the largest seen is 10): sine model error plus 13.1 standard deviations,
    /// a Gaussian tail of 2^-128.
    pub fn worst_case_error(&self) -> f64 {
        let model = NoiseModel::new(&self.params, 1.0, 11.0);
        model.sine + 13.1 * libm::sqrt(40.0) * model.output_rms
    }

    /// Decrypts for somebody who is not the owner of the key: floods the result, or refuses.
    ///
    /// # Errors
    /// [`Error::Limit`] if the budget of releases is spent, or if no bit of the message would be
    /// left after flooding; as [`ShipSecretKey::decrypt`] otherwise.
    pub fn decrypt_for_release(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
        policy: ReleasePolicy,
        counter: &mut ReleaseCounter,
        randomness: &Seed,
    ) -> Result<Vec<f64>, Error> {
        if !(policy.error_growth >= 1.0 && policy.error_growth.is_finite()) || policy.queries == 0 {
            return Err(Error::InvalidArgument(format!(
                "a release policy needs at least one query and an error growth of at least 1, got {} and {}",
                policy.queries, policy.error_growth
            )));
        }
        if counter.used >= policy.queries {
            return Err(Error::Limit(format!(
                "{} of {} releases under this key are spent; make a new key",
                counter.used, policy.queries
            )));
        }
        let error = self.worst_case_error() * policy.error_growth;
        let sigma = libm::sqrt(12.0 * f64::from(policy.queries))
            * libm::exp2(f64::from(policy.statistical_bits) / 2.0)
            * error;
        let left = -libm::log2(sigma);
        if left < 1.0 {
            return Err(Error::Limit(format!(
                "flooding at {} bits for {} releases needs noise of 2^{:.1}, a message is at most 1: nothing would \
                 be left; keep the result with the owner of the key, or use a set of higher precision",
                policy.statistical_bits, policy.queries, -left
            )));
        }
        counter.used += 1;
        let plain = self.decrypt(ciphertext, mode)?;
        let mut stream = randomness.derive("release flooding", &[u64::from(counter.used)]).stream();
        let noise = flood(&mut stream, plain.reveal_to_key_owner().len(), sigma);
        Ok(plain.reveal_to_key_owner().iter().zip(noise).map(|(x, e)| x + e).collect())
    }
}

/// Noise of standard deviation `sigma`: the sum of 64 uniforms, whose density is smooth enough that a
/// shift by the error shows as little as under a Gaussian (the divergence is quadratic in the shift; a
/// rounded or stepped distribution would make it linear).
fn flood(stream: &mut Stream, count: usize, sigma: f64) -> Vec<f64> {
    const TERMS: usize = 64;
    let mut words = vec![0u64; TERMS];
    // A uniform of width 1 has variance 1/12.
    let width = sigma / libm::sqrt(TERMS as f64 / 12.0);
    (0..count)
        .map(|_| {
            words.fill_with(|| stream.next_u64());
            let sum: f64 = words.iter().map(|w| (w >> 11) as f64 / (1u64 << 53) as f64 - 0.5).sum();
            sum * width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params;

    #[test]
    fn flooding_has_the_stated_deviation() {
        let mut stream = Seed::from_bytes([3; 32]).stream();
        let noise = flood(&mut stream, 20_000, 0.25);
        let variance = noise.iter().map(|x| x * x).sum::<f64>() / noise.len() as f64;
        // Five standard errors of the variance of 20,000 samples.
        assert!((variance / 0.0625 - 1.0).abs() < 5.0 * libm::sqrt(2.0 / 20_000.0), "{variance}");
    }

    #[test]
    fn precise_sets_flood_and_the_others_refuse() {
        let params = params::preset("toy10").unwrap().params().unwrap();
        let key = ShipSecretKey::generate(&params, &Seed::from_bytes([1; 32]));
        let values = vec![0.5; params.slots()];
        let ct = key.encrypt(&values, SlotMode::Real, &Seed::from_bytes([2; 32])).unwrap();
        let mut counter = ReleaseCounter::default();
        let seed = Seed::from_bytes([4; 32]);
        let refused =
            key.decrypt_for_release(&ct, SlotMode::Real, ReleasePolicy::default(), &mut counter, &seed);
        assert_eq!(refused.unwrap_err().code(), "LIMIT");
        assert_eq!(counter.used, 0);
        // One release with four bits of statistical security is not security; it shows the path.
        let weak = ReleasePolicy { queries: 1, statistical_bits: 2, error_growth: 1.0 };
        let out = key.decrypt_for_release(&ct, SlotMode::Real, weak, &mut counter, &seed).unwrap();
        let rms = libm::sqrt(out.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / out.len() as f64);
        let sigma = libm::sqrt(12.0) * 2.0 * key.worst_case_error();
        assert!((rms / sigma - 1.0).abs() < 0.2, "{rms} against {sigma}");
        let spent = key.decrypt_for_release(&ct, SlotMode::Real, weak, &mut counter, &seed);
        assert_eq!(spent.unwrap_err().code(), "LIMIT");
    }
}
