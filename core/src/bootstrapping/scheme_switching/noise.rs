//! The noise that switching between the schemes adds, in both directions.

use super::spec::LinkSpec;
use crate::{
    bootstrapping::raising::{RaisingParams, ReductionSpec},
    ring::SmallPoly,
    schemes::cggi::CggiParams,
    security::SecretDistribution,
};

/// Variance of a uniform ternary coefficient.
const TERNARY: f64 = 2.0 / 3.0;

/// Variances of phases, in squared turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkNoise {
    /// A slot that became a sample under the ring key of the gates: two roundings, to p_s and from p_s P', and the errors of the key.
    pub extraction: f64,
    /// A fresh result of a look-up, as the gates have it.
    pub rotation: f64,
    /// The variance that packing all coefficients of the gates' ring adds.
    packing: f64,
    /// Degree of that ring.
    n: f64,
    /// The roundings and the key on the way from gates to slots.
    back: f64,
}

impl LinkNoise {
    pub(super) fn new<R: ReductionSpec>(
        spec: &LinkSpec<R>,
        ckks: &RaisingParams<R, u64>,
        cggi: &CggiParams<u64>,
        packing: f64,
    ) -> Self {
        let (degree, n) = (ckks.n() as f64, cggi.n() as f64);
        let error = SmallPoly::ERROR_SIGMA * SmallPoly::ERROR_SIGMA;
        // b and a are rounded, a times the coefficients of the key.
        let rounding = |weight: f64, modulus: f64| (1.0 + weight) / 12.0 / (modulus * modulus);
        let main = match ckks.spec().secret() {
            SecretDistribution::Sparse { weight } | SecretDistribution::BlockSparse { weight, .. } => {
                f64::from(weight)
            }
            _ => TERNARY * degree,
        };
        let [p_s, special, p] = [spec.prime, spec.special, cggi.modulus().value_u64()];
        // One digit, uniform modulo p_s.
        let key = degree / 12.0 * error / (special as f64 * special as f64);
        let ring = TERNARY * n;
        let extraction =
            rounding(main, p_s as f64) + key + rounding(ring, p_s as f64) + rounding(ring, p as f64);
        let q0 = ckks.base_modulus().to_f64();
        let ephemeral = ckks.spec().ephemeral.as_ref();
        let back = ephemeral.map_or(0.0, |ephemeral| {
            let digits = ckks.encapsulation().map_or(1.0, |context| {
                let base = libm::exp2(f64::from(context.digit_bits()));
                let whole = context.digit_count() as f64 - 1.0;
                (whole * base * base + libm::pow(q0 / libm::pow(base, whole), 2.0)) / (q0 * q0)
            });
            let special = ephemeral.prime as f64;
            rounding(ring, q0)
                + degree / 12.0 * error * digits / (special * special)
                + rounding(f64::from(ephemeral.weight), q0)
        });
        Self { extraction, rotation: cggi.noise().rotation, packing, n, back }
    }

    /// The variance of the noise of `bits` bits where they are read, in squared turns; `weight` is the variance of the bits themselves, in
    /// units of a fresh result of a look-up.
    pub fn packed(&self, bits: usize, weight: f64) -> f64 {
        let places = 2.0 * bits.next_power_of_two() as f64;
        // Bits at an eighth of a turn are doubled first.
        4.0 * weight * self.rotation
            + self.packing * (places * places - 1.0) / (self.n * self.n - 1.0)
            + self.back
    }

    /// The mean error of bits that come back: pi^2 times [`Self::packed`], as the sine is flat where bits are.
    pub fn bit_error(&self, bits: usize, weight: f64) -> f64 {
        core::f64::consts::PI * core::f64::consts::PI * self.packed(bits, weight)
    }
}
