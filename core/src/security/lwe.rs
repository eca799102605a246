//! Plain LWE instances: the small dimensions of DM/CGGI, and their ring keys at small moduli.
//!
//! # Where the numbers come from
//!
//! For a modulus q there is a smallest dimension at which the lattice estimator (malb/lattice-estimator at 27a581b, its default
//! cost model, error of standard deviation 3.19) gives 128 bits by the cheapest of its attacks: usvp, bdd with and without
//! guessing, dual, and the dual hybrids; for short keys MATZOV's dual hybrid is the cheapest, 4 bits below the primal attacks.
//! Between the computed moduli it is interpolated linearly in log2 q. The estimate of another dimension n at the same q is
//! 128 n over that dimension: near 128 bits the cost is linear in the dimension, to within a bit at every other computed point
//! down to 124 bits, and on the safe side there. Each key of a shipped set was estimated itself besides, by every attack
//! (`tests/vectors/security.json`, made by `tests/tools/estimate.py`).
//!
//! What counts is the ratio of error and modulus, so a wider error is worth log2(sigma / 3.19) bits of
//! the modulus (2^27 with sigma 4.24 and N = 1024 computed: 128.3).

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use super::{MIN_SIGMA, NtruInstance, SecurityPolicy, superseded};
use crate::error::Error;

/// Distribution of the coefficients of an LWE secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LweSecret {
    /// Uniform in {0, 1}.
    Binary,
    /// Uniform in {-1, 0, 1}.
    Ternary,
}

impl LweSecret {
    /// Stable name: `binary` or `ternary`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Ternary => "ternary",
        }
    }
}

impl fmt::Display for LweSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An LWE secret, and the largest modulus under which anything encrypted by it is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LweInstance {
    /// What it is, for messages: "key-switching key", "bootstrapping key".
    pub name: &'static str,
    /// Dimension n, or the degree of the ring.
    pub dimension: usize,
    /// Distribution of the secret.
    pub secret: LweSecret,
    /// log2 of the modulus.
    pub log_modulus: f64,
    /// Standard deviation of the error: [`MIN_SIGMA`] or more.
    pub sigma: f64,
}

impl LweInstance {
    /// Estimated classical security in bits; see the module page.
    pub fn bits(&self) -> f64 {
        let log_modulus = self.log_modulus - libm::log2(self.sigma / MIN_SIGMA);
        128.0 * self.dimension as f64 / dimension_128(self.secret, log_modulus)
    }
}

/// Outcome of [`check_lwe`].
#[derive(Debug, Clone, PartialEq)]
pub struct LweReport {
    /// The policy that was met.
    pub policy: SecurityPolicy,
    /// Estimated classical security of the set in bits, the minimum over its instances.
    pub bits: f64,
    /// The instances in the order given, each with its estimate in bits.
    pub instances: Vec<(LweInstance, f64)>,
    /// The NTRU instance that the keys publish too, with its estimate in bits.
    pub ntru: Option<(NtruInstance, f64)>,
    /// One sentence for people.
    pub statement: String,
}

/// Checks every instance against `policy`, and reports what the set is worth.
///
/// # Errors
/// [`Error::Insecure`] naming the instance, its estimate and the repair, if one is below 128 bits under
/// a policy that claims security, or has too narrow an error; [`Error::InvalidArgument`] if the list is
/// empty or a number makes no sense.
pub fn check_lwe(instances: &[LweInstance], policy: SecurityPolicy) -> Result<LweReport, Error> {
    let mut bits = f64::INFINITY;
    let mut reports = Vec::with_capacity(instances.len());
    for instance in instances {
        let LweInstance { name, dimension, secret, log_modulus, sigma } = *instance;
        let sensible = log_modulus.is_finite() && log_modulus >= 1.0 && sigma.is_finite() && sigma > 0.0;
        if !sensible || dimension == 0 {
            return Err(Error::InvalidArgument(format!(
                "{name}: dimension {dimension}, log2 of the modulus {log_modulus} and standard deviation {sigma}; \
                 take positive ones, and a modulus of at least 2"
            )));
        }
        let own = instance.bits();
        if policy.is_secure() && sigma < MIN_SIGMA {
            return Err(Error::Insecure(format!(
                "{name}: the error has standard deviation {sigma}, below the {MIN_SIGMA} that the estimates assume; \
                 use at least {MIN_SIGMA}"
            )));
        }
        let least = least_bits(policy);
        if own < least {
            return Err(Error::Insecure(format!(
                "{name}: a {secret} secret of dimension {dimension} at a modulus of 2^{log_modulus:.2} is worth about \
                 {own:.1} bits, below the {least} of policy {policy}; use dimension {:.0}, or a smaller modulus",
                libm::ceil(dimension as f64 * least / own)
            )));
        }
        bits = bits.min(own);
        reports.push((*instance, own));
    }
    if reports.is_empty() {
        return Err(Error::InvalidArgument(
            "no instance to check; list every secret with the largest modulus it is used at".into(),
        ));
    }
    let statement = match policy {
        SecurityPolicy::Strict128 | SecurityPolicy::HeStandard2018 => {
            "128-bit classical security against the attacks of the lattice estimator, dual hybrid included"
                .into()
        }
        SecurityPolicy::Superseded => superseded(bits),
        SecurityPolicy::InsecureForTests => format!(
            "INSECURE: for tests and demonstrations only (about {bits:.0} bits); keep no secret under these parameters"
        ),
    };
    Ok(LweReport { policy, bits, instances: reports, ntru: None, statement })
}

/// Bits of security that every instance must have under a policy.
pub(super) fn least_bits(policy: SecurityPolicy) -> f64 {
    match policy {
        SecurityPolicy::Strict128 | SecurityPolicy::HeStandard2018 => 128.0,
        SecurityPolicy::Superseded => 120.0,
        SecurityPolicy::InsecureForTests => 0.0,
    }
}

/// (log2 q, dimension at 128 bits), uniform ternary secret: computed at 12, 14, 16, 18 and from 25 on, where they are ring keys
/// of dimension 1024 and 2048, scaled to 128 bits.
const TERNARY: [(f64, f64); 13] = [
    (12.0, 458.0),
    (13.0, 497.0),
    (14.0, 536.0),
    (15.0, 575.0),
    (16.0, 614.0),
    (17.0, 652.0),
    (18.0, 690.0),
    (20.0, 768.0),
    (25.0, 959.0),
    (26.0, 999.0),
    (26.5, 1018.0),
    (27.0, 1039.0),
    (53.0, 2036.0),
];

/// (log2 q, dimension at 128 bits), uniform binary secret: computed at all but 13.
const BINARY: [(f64, f64); 10] = [
    (12.0, 503.0),
    (13.0, 543.0),
    (14.0, 582.0),
    (15.0, 621.0),
    (16.0, 660.0),
    (17.0, 699.0),
    (18.0, 737.0),
    (19.0, 777.0),
    (20.0, 815.0),
    (27.0, 1086.0),
];

/// Dimension at 128 bits; beyond the computed moduli along the nearest segment, never below 1.
fn dimension_128(secret: LweSecret, log_modulus: f64) -> f64 {
    let points: &[(f64, f64)] = match secret {
        LweSecret::Binary => &BINARY,
        LweSecret::Ternary => &TERNARY,
    };
    let above = points.partition_point(|point| point.0 < log_modulus).clamp(1, points.len() - 1);
    let (left, right) = (points[above - 1], points[above]);
    let slope = (right.1 - left.1) / (right.0 - left.0);
    (left.1 + slope * (log_modulus - left.0)).max(1.0)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn ternary(dimension: usize, log_modulus: f64, sigma: f64) -> LweInstance {
        LweInstance { name: "test", dimension, secret: LweSecret::Ternary, log_modulus, sigma }
    }

    /// Points computed in addition to the tables, by MATZOV's attack, which is the cheapest at all of them.
    #[test]
    fn points_that_made_no_table_are_met_within_a_bit() {
        let binary = |dimension, log_q, sigma| LweInstance {
            secret: LweSecret::Binary,
            ..ternary(dimension, log_q, sigma)
        };
        for (instance, computed) in [
            (ternary(605, 16.0, 3.24), 126.5),
            (ternary(1024, 27.0, 4.0), 127.8),
            (ternary(1024, 27.0, 4.243), 128.3),
            (ternary(1024, 27.0, 5.0), 129.3),
            (binary(599, 15.0, 3.24), 124.3),
            (binary(637, 16.0, 3.24), 124.1),
            (binary(642, 16.0, 4.583), 128.5),
            (binary(714, 18.0, 3.24), 124.2),
            (binary(792, 20.0, 3.24), 124.5),
        ] {
            let bits = instance.bits();
            assert!((bits - computed).abs() < 0.8, "{instance:?}: {bits}, computed {computed}");
        }
    }

    #[test]
    fn the_policy_decides() {
        let good = ternary(1024, 27.0, 4.3);
        let report = check_lwe(&[good, ternary(614, 16.0, 3.19)], SecurityPolicy::Strict128).unwrap();
        assert!(report.bits >= 128.0 && report.bits < 128.1, "{}", report.bits);
        assert!(report.statement.starts_with("128-bit"));
        let weak = ternary(613, 16.0, 3.19);
        let message = check_lwe(&[good, weak], SecurityPolicy::Strict128).unwrap_err().to_string();
        assert!(message.contains("613") && message.contains("use dimension 614"), "{message}");
        let old = check_lwe(&[ternary(605, 16.0, 3.19)], SecurityPolicy::Superseded).unwrap();
        assert!(old.statement.starts_with("about 126-bit"), "{}", old.statement);
        assert!(check_lwe(&[ternary(550, 16.0, 3.19)], SecurityPolicy::Superseded).is_err());
        let narrow = ternary(2048, 27.0, 3.0);
        assert_eq!(check_lwe(&[narrow], SecurityPolicy::Strict128).unwrap_err().code(), "INSECURE");
        let toy = check_lwe(&[ternary(64, 16.0, 3.19)], SecurityPolicy::InsecureForTests).unwrap();
        assert!(toy.statement.starts_with("INSECURE") && toy.bits < 20.0);
        for bad in [ternary(0, 16.0, 3.19), ternary(64, f64::NAN, 3.19), ternary(64, 16.0, 0.0)] {
            let error = check_lwe(&[bad], SecurityPolicy::InsecureForTests).unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENT");
        }
        assert_eq!(check_lwe(&[], SecurityPolicy::Strict128).unwrap_err().code(), "INVALID_ARGUMENT");
    }

    #[test]
    fn larger_moduli_are_weaker() {
        for secret in [LweSecret::Binary, LweSecret::Ternary] {
            let bits = (10..=60).map(|q| {
                LweInstance { name: "", dimension: 1024, secret, log_modulus: f64::from(q), sigma: 3.19 }
                    .bits()
            });
            assert!(bits.collect::<Vec<_>>().is_sorted_by(|a, b| a > b));
        }
    }
}
