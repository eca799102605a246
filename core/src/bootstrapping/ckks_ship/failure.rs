//! How likely a bootstrap is to be wrong, and not merely imprecise.
//!
//! w^x is periodic modulo q0, so no multiple of q0 can be missed. The only failure is noise so large that a coefficient
//! leaves the half turn on which the sine is one to one, or that a bit crosses 1/2. Noise is a sum of products of errors
//! with the secret: at slot k its standard deviation is proportional to |s(zeta^(5^k))|, so each key has its own bound.

use super::{noise::NoiseModel, secret::ShipSecretKey};
use crate::{
    arith::Word,
    bootstrapping::method::SlotMode,
    schemes::{cggi::log2_erfc, ckks::Scale},
};

/// Variance of the raw noise of a fresh input.
const FRESH: f64 = 11.0;

impl<W: Word> ShipSecretKey<W> {
    /// log2 of a bound on the probability that a bootstrap under this key gives a wrong result, and not merely an imprecise one: -128 is
    /// one bootstrap in 2^128. For messages up to 1 with the noise of a fresh encryption.
    ///
    /// A slot is wrong if its noise exceeds a margin: 1/2 for bits, gamma/4 - 1 for numbers, where the sine turns. The noise is taken to be
    /// Gaussian, with the deviation that [`NoiseModel`] predicts for a slot of this key, and the probabilities of all slots are added.
    pub fn log2_failure(&self) -> f64 {
        let model = NoiseModel::new(&self.params, 1.0, FRESH);
        let (margin, rms) = match self.params.mode() {
            SlotMode::Bits => (0.5, model.output_rms),
            _ => (self.params.spec().gamma / 4.0 - 1.0, model.input_rms),
        };
        let spectrum = self.spectrum();
        let mean = spectrum.iter().sum::<f64>() / spectrum.len() as f64;
        let tails = spectrum.iter().map(|power| {
            let deviation = rms * libm::sqrt(power / mean).max(f64::MIN_POSITIVE);
            log2_erfc(margin / (deviation * core::f64::consts::SQRT_2))
        });
        log2_sum(tails)
    }

    /// |s(zeta^(5^k))|^2 of the dense secret, for every slot k.
    fn spectrum(&self) -> alloc::vec::Vec<f64> {
        let secret = zeroize::Zeroizing::new(
            self.dense.small().coefficients().iter().map(|&x| f64::from(x)).collect::<alloc::vec::Vec<_>>(),
        );
        self.params.ckks().encoder().decode(&secret, Scale::new(1.0)).iter().map(|z| z.norm_sqr()).collect()
    }
}

/// log2 of the sum of numbers given by their log2.
fn log2_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + libm::log2(terms.map(|term| libm::exp2(term - largest)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{params, random::Seed};

    #[test]
    fn every_secure_set_is_wrong_less_often_than_once_in_2_to_the_128() {
        // The bits of the 2018 bounds only just come to the margin.
        for (name, bound) in [("ship13", -128.0), ("ship13-bits", -128.0), ("ship13-bits-he2018", -110.0)] {
            let params = params::ship_preset(name).unwrap().params().unwrap();
            for seed in 0..3 {
                let found = ShipSecretKey::generate(&params, &Seed::from_bytes([seed; 32])).log2_failure();
                assert!(found < bound && found.is_finite(), "{name}: 2^{found}");
            }
        }
    }

    #[test]
    fn bits_come_to_what_the_noise_of_their_set_says() {
        let params = params::ship_preset("ship13-bits").unwrap().params().unwrap();
        let key = ShipSecretKey::generate(&params, &Seed::from_bytes([9; 32]));
        let spectrum = key.spectrum();
        let mean = spectrum.iter().sum::<f64>() / spectrum.len() as f64;
        // A random ternary secret has a mean of 2 N / 3; the largest slot has about ten times that.
        assert!((mean / (2.0 * params.n() as f64 / 3.0) - 1.0).abs() < 0.1, "{mean}");
        let peak = spectrum.iter().fold(0.0f64, |most, x| most.max(*x)) / mean;
        assert!((6.0..20.0).contains(&peak), "{peak}");
        // The worst slot alone, and all slots as if each were as bad.
        let deviation = NoiseModel::new(&params, 1.0, FRESH).output_rms * libm::sqrt(peak);
        let one = log2_erfc(0.5 / (deviation * core::f64::consts::SQRT_2));
        let found = key.log2_failure();
        assert!(one <= found && found <= one + libm::log2(params.slots() as f64), "{one} {found}");
    }

    #[test]
    fn sums_of_powers_do_not_underflow() {
        assert!((log2_sum([-1000.0, -1000.0].into_iter()) + 999.0).abs() < 1e-12);
        assert!((log2_sum([-3.0, -50_000.0].into_iter()) + 3.0).abs() < 1e-12);
    }
}
