//! How much noise each step adds, and how often a result is wrong.

use super::{method::RotationMethod, spec::CggiSpec};
use crate::security::LweSecret;

/// Variance of a ternary coefficient.
const TERNARY: f64 = 2.0 / 3.0;

/// Variances of the phase, in squared turns: the phase modulo p, or the exponent modulo 2N, is counted
/// as one turn. Multiply by (2N)^2 for exponents of X.
///
/// Errors of digits are taken as independent and uniform, digits with their exact second moment, errors
/// of samples with their exact variance (tests compare them with measured variances).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseModel {
    /// V_acc: a blind rotation, which is what a bootstrapped ciphertext carries.
    pub rotation: f64,
    /// V_ks: the switch to the short key.
    pub key_switch: f64,
    /// V_ms: rounding to exponents.
    pub mod_switch: f64,
}

impl NoiseModel {
    /// The model of a set; `drop` bits are rounded away by its ring gadget.
    pub(super) fn new(spec: &CggiSpec, drop: u32) -> Self {
        let (n, ring) = (spec.lwe_dimension as f64, libm::exp2(f64::from(spec.log_n)));
        let d = spec.digits as f64;
        let square = |bits: u32| libm::exp2(2.0 * f64::from(bits));
        // One gadget product with a fresh sample, and the rounding of what is decomposed.
        let product = ring * half_open_moment(spec.base_log) * spec.width.variance();
        let rounding = square(drop) / 12.0;
        let var_z = spec.ring_key_variance();
        let whole = 1.0 + ring * var_z;
        // What an automorphism adds: the product of the digits of one part.
        let half = d * product + rounding * ring * var_z;
        let rotation = match spec.method {
            // Half the coordinates of the key are 0 and multiply the rounding error away.
            RotationMethod::GinxBinary => n * (2.0 * d * product + rounding * whole / 2.0),
            // Four keys a pair, turned by powers of X, which leaves their noise as it is.
            RotationMethod::GinxUnrolled => n / 2.0 * (8.0 * d * product + rounding * whole),
            // Two products, the noise of each doubled by the binomial that follows; one of three coordinates is 0.
            RotationMethod::GinxTernary => n * (8.0 * d * product + 4.0 / 3.0 * rounding * whole),
            RotationMethod::Lmkcdey { merged } => {
                n * (2.0 * d * product + rounding * whole) + automorphisms(n, ring, merged) * half
            }
            // One product more: that of the polynomial it starts from.
            RotationMethod::Ntru { merged } => (n + automorphisms(n, ring, merged) + 1.0) * half,
            // A digit is 0, and takes no product, with probability 1 over the number of its values.
            RotationMethod::Ap { .. } => {
                let digits = spec.method.exponent_digits(spec.log_n + 1);
                let products: f64 = digits.map(|bits| 1.0 - libm::exp2(-f64::from(bits))).sum();
                n * products * (2.0 * d * product + rounding * whole)
            }
        };
        let p = spec.prime as f64;
        let q = libm::exp2(f64::from(spec.log_q));
        let kept = spec.switch_base_log * spec.switch_digits as u32;
        let switched = ring * spec.switch_digits as f64 * balanced_moment(spec.switch_base_log) * 10.5;
        let rounded = (1.0 + ring * var_z * square(spec.log_q - kept)) / 12.0;
        let exponents = 2.0 * ring;
        // Odd masks are twice as far apart.
        let spacing = if spec.method.by_automorphisms() { 2.0 } else { 1.0 };
        // Public rounding errors times the part of the key that is not its mean.
        let var_s = match spec.lwe_secret {
            LweSecret::Binary => 0.25,
            LweSecret::Ternary => TERNARY,
        };
        Self {
            rotation: rotation / (p * p),
            key_switch: (switched + rounded) / (q * q),
            mod_switch: (1.0 + spacing * spacing * n * var_s) / 12.0 / (exponents * exponents),
        }
    }

    /// Variance that the key switch of an automorphism adds to each coefficient, with digits of `base_log` bits and
    /// `drop` bits rounded away, in squared turns.
    pub(crate) fn automorphism(spec: &CggiSpec, base_log: u32, digits: usize, drop: u32) -> f64 {
        let ring = libm::exp2(f64::from(spec.log_n));
        let product = ring * half_open_moment(base_log) * spec.width.variance();
        let rounding = libm::exp2(2.0 * f64::from(drop)) / 12.0 * ring * spec.ring_key_variance();
        let p = spec.prime as f64;
        (digits as f64 * product + rounding) / (p * p)
    }

    /// Variance of the phase at the blind rotation when the ciphertexts summed carry `weight` times
    /// [`Self::rotation`].
    pub fn total(&self, weight: f64) -> f64 {
        weight * self.rotation + self.key_switch + self.mod_switch
    }

    /// log2 of the probability that a gate or a look-up is wrong: that Gaussian noise of the variance V = [`Self::total`] exceeds `margin`,
    /// in turns, to either side. It is erfc(margin / sqrt(2 V)); -128 is one in 2^128.
    pub fn log2_failure(&self, weight: f64, margin: f64) -> f64 {
        log2_erfc(margin / libm::sqrt(2.0 * self.total(weight)))
    }
}

/// Expected number of automorphisms in a rotation by n uniform odd masks, with N positions on the way: one for every gap of at least
/// `merged` steps, 2 % more for gaps beyond the window, and the ends.
fn automorphisms(n: f64, ring: f64, merged: usize) -> f64 {
    let density = n / ring;
    1.02 * ring * (1.0 - libm::exp(-density)) * libm::exp(-(merged as f64 - 1.0) * density) + 2.0
}

/// E d^2 of a digit uniform in [-B/2, B/2), B = 2^bits.
fn half_open_moment(bits: u32) -> f64 {
    (libm::exp2(2.0 * f64::from(bits)) + 2.0) / 12.0
}

/// E d^2 of a digit of the key switch, where the next bits decide between -B/2 and B/2: the two share
/// what the interior leaves.
fn balanced_moment(bits: u32) -> f64 {
    match bits {
        1 => 1.0 / 3.0,
        _ => (libm::exp2(2.0 * f64::from(bits)) + 4.0) / 12.0,
    }
}

/// log2 of the complementary error function of `x >= 0`, even where the function itself underflows.
pub fn log2_erfc(x: f64) -> f64 {
    if x < 20.0 {
        return libm::log2(libm::erfc(x));
    }
    // exp(-x^2) / (x sqrt(pi)) (1 - 1 / (2 x^2) + ...), to 1e-5 from 20 on.
    let series = 1.0 - 0.5 / (x * x);
    -x * x * core::f64::consts::LOG2_E + libm::log2(series / (x * libm::sqrt(core::f64::consts::PI)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_goes_on_where_the_function_ends() {
        assert!((log2_erfc(0.0)).abs() < 1e-12);
        // 13.1 and 9.2 standard deviations: 2^-128 and 2^-64.
        assert!((log2_erfc(13.1 / core::f64::consts::SQRT_2) + 128.0).abs() < 1.0);
        assert!((log2_erfc(9.2 / core::f64::consts::SQRT_2) + 64.0).abs() < 1.5);
        let (below, above) = (log2_erfc(20.0 - 1e-9), log2_erfc(20.0 + 1e-9));
        assert!((below - above).abs() < 1e-4, "{below} {above}");
        assert!(log2_erfc(40.0) < -2300.0);
    }
}
