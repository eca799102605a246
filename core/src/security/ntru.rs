//! NTRU instances: one polynomial f, hidden in g / f with g as small.
//!
//! # Where the numbers come from
//!
//! At N = 1024 the dense sublattice of the NTRU lattice decides, so the modulus and the width of f and g matter each by itself, not by
//! their ratio. The lattice estimator (malb/lattice-estimator, 2026, MATZOV model, `type = "matrix"`) gave eleven points for widths from
//! 0.9 to 5 and moduli from 2^20 to 2^25; a plane in the two logarithms meets all of them within one bit, see the tests. In other degrees
//! the estimate is taken in proportion, which is good for demonstration sizes only. No published analysis of sets of this shape was found:
//! treat the estimate as provisional.

use alloc::{format, string::String};

use super::{LweReport, MIN_SIGMA, lwe::least_bits};
use crate::error::Error;

/// g / f modulo q, for f and g drawn with the same width.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NtruInstance {
    /// What it is, for messages.
    pub name: &'static str,
    /// Degree of the ring.
    pub degree: usize,
    /// log2 of the modulus.
    pub log_modulus: f64,
    /// Standard deviation of f and g.
    pub sigma: f64,
}

impl NtruInstance {
    /// Estimated classical security in bits; see the module page.
    pub fn bits(&self) -> f64 {
        let width = libm::log2(self.sigma / MIN_SIGMA);
        let bits = 136.1 - 12.4 * (self.log_modulus - 24.0) + 24.5 * width;
        (bits * self.degree as f64 / 1024.0).max(1.0)
    }
}

impl LweReport {
    /// The report of a set that publishes this instance too, checked against the same policy.
    ///
    /// # Errors
    /// [`Error::Insecure`] if the policy claims security and the instance is below 128 bits.
    pub fn with_ntru(mut self, instance: &NtruInstance) -> Result<Self, Error> {
        let NtruInstance { name, degree, log_modulus, sigma } = *instance;
        let own = instance.bits();
        let least = least_bits(self.policy);
        if own < least {
            return Err(Error::Insecure(format!(
                "{name}: NTRU of degree {degree} and width {sigma:.2} at a modulus of 2^{log_modulus:.2} is worth about \
                 {own:.1} bits, below the {least} of policy {}; use a smaller modulus or a larger width",
                self.policy
            )));
        }
        self.bits = self.bits.min(own);
        self.ntru = Some((*instance, own));
        let also: String = format!(
            "; EXPERIMENTAL: rests on NTRU besides, about {own:.0} bits by a provisional estimate of the dense-sublattice \
             attack"
        );
        self.statement.push_str(&also);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::security::{LweInstance, LweSecret, SecurityPolicy, check_lwe};

    fn instance(log_modulus: f64, sigma: f64) -> NtruInstance {
        NtruInstance { name: "test", degree: 1024, log_modulus, sigma }
    }

    #[test]
    fn the_computed_points_are_met_within_a_bit() {
        for (log_modulus, sigma, computed) in [
            (20.0, 0.9, 140.3),
            (21.0, 0.9, 128.9),
            (20.0, 1.2, 151.4),
            (22.0, 1.2, 127.1),
            (22.0, 1.5, 134.1),
            (22.0, 2.0, 144.1),
            (23.0, 2.0, 132.2),
            (23.0, 3.19, 148.8),
            (24.0, 3.19, 136.1),
            (24.0, 4.0, 144.1),
            (25.0, 5.0, 139.7),
        ] {
            let bits = instance(log_modulus, sigma).bits();
            assert!((bits - computed).abs() < 1.0, "2^{log_modulus}, {sigma}: {bits}, computed {computed}");
        }
    }

    #[test]
    fn the_policy_decides() {
        let short = LweInstance {
            name: "short key",
            dimension: 661,
            secret: LweSecret::Binary,
            log_modulus: 16.0,
            sigma: 3.24,
        };
        let report = check_lwe(&[short], SecurityPolicy::Strict128).unwrap();
        let bits = report.bits;
        let good = report.clone().with_ntru(&instance(24.0, 3.24)).unwrap();
        assert!(
            (good.bits - bits).abs() < 1e-9 && good.statement.contains("EXPERIMENTAL"),
            "{}",
            good.statement
        );
        let error = report.with_ntru(&instance(25.0, 3.24)).unwrap_err();
        assert_eq!(error.code(), "INSECURE");
        let toy = check_lwe(&[short], SecurityPolicy::InsecureForTests).unwrap();
        let small = NtruInstance { degree: 256, ..instance(24.0, 3.24) };
        assert!(toy.with_ntru(&small).unwrap().bits < 40.0);
    }
}
