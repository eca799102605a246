//! Plain LWE instances: the small dimensions of DM/CGGI, and their ring keys at small moduli.
//!
//! # Where the numbers come from
//!
//! For a modulus q there is a smallest dimension at which the lattice estimator (malb/lattice-estimator,
//! MATZOV cost model, error of standard deviation 3.19, minimum of usvp, bdd and hybrid attacks) gives
//! 128 bits. Between the computed moduli it is interpolated linearly in log2 q. The estimate of another
//! dimension n at the same q is 128 n over that dimension: near 128 bits the cost is linear in the
//! dimension, to within half a bit at every other computed point (n = 556 at 2^15: 125.9 computed; 581
//! at 2^15: 131.5; 635 at 2^17: 126.3; ternary).
//!
//! What counts is the ratio of error and modulus, so a wider error is worth log2(sigma / 3.19) bits of
//! the modulus (2^27 with sigma 4 computed: 128.7).

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use super::{MIN_SIGMA, SecurityPolicy};
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
                "{name}: dimension {dimension}, log2 of the modulus {log_modulus} and standard deviation {sigma} \
                 must be positive, and the modulus at least 2"
            )));
        }
        let own = instance.bits();
        if policy.is_secure() && sigma < MIN_SIGMA {
            return Err(Error::Insecure(format!(
                "{name}: the error has standard deviation {sigma}, below the {MIN_SIGMA} that the estimates assume; \
                 use at least {MIN_SIGMA}"
            )));
        }
        if policy.is_secure() && own < 128.0 {
            return Err(Error::Insecure(format!(
                "{name}: a {secret} secret of dimension {dimension} at a modulus of 2^{log_modulus:.2} is worth about \
                 {own:.1} bits, below the 128 of policy {policy}; use dimension {:.0}, or a smaller modulus",
                libm::ceil(dimension as f64 * 128.0 / own)
            )));
        }
        bits = bits.min(own);
        reports.push((*instance, own));
    }
    if reports.is_empty() {
        return Err(Error::InvalidArgument(
            "no instance to check: list every secret with the largest modulus it is used at".into(),
        ));
    }
    let statement = if policy.is_secure() {
        "128-bit classical security against the attacks of the lattice estimator".into()
    } else {
        format!(
            "INSECURE: for tests and demonstrations only (about {bits:.0} bits); keep no secret under these parameters"
        )
    };
    Ok(LweReport { policy, bits, instances: reports, statement })
}

/// (log2 q, dimension at 128 bits), uniform ternary secret. The last four are ring keys: 137.8, 132.1,
/// 129.5 and 127.0 bits at dimension 1024, 128.8 at 2048, scaled to 128.
const TERNARY: [(f64, f64); 13] = [
    (12.0, 449.0),
    (13.0, 488.0),
    (14.0, 527.0),
    (15.0, 566.0),
    (16.0, 605.0),
    (17.0, 644.0),
    (18.0, 683.0),
    (20.0, 761.0),
    (25.0, 951.2),
    (26.0, 992.2),
    (26.5, 1012.2),
    (27.0, 1032.1),
    (53.0, 2035.3),
];

/// (log2 q, dimension at 128 bits), uniform binary secret. The last: 123.3 bits at dimension 1024.
const BINARY: [(f64, f64); 9] = [
    (12.0, 483.0),
    (13.0, 522.0),
    (14.0, 560.0),
    (15.0, 599.0),
    (16.0, 637.0),
    (17.0, 676.0),
    (18.0, 714.0),
    (20.0, 792.0),
    (27.0, 1063.0),
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

    #[test]
    fn points_that_made_no_table_are_met_within_half_a_bit() {
        for (dimension, log_q, sigma, computed) in [
            (556, 15.0, 3.19, 125.9),
            (581, 15.0, 3.19, 131.5),
            (635, 17.0, 3.19, 126.3),
            (1024, 27.0, 4.0, 128.7),
            (1024, 27.0, 5.0, 130.3),
        ] {
            let bits = ternary(dimension, log_q, sigma).bits();
            assert!((bits - computed).abs() < 0.5, "{dimension} at 2^{log_q}: {bits}, computed {computed}");
        }
    }

    #[test]
    fn the_policy_decides() {
        let good = ternary(1024, 27.0, 4.0);
        let report = check_lwe(&[good, ternary(605, 16.0, 3.19)], SecurityPolicy::Strict128).unwrap();
        assert!(report.bits >= 128.0 && report.bits < 128.1, "{}", report.bits);
        assert!(report.statement.starts_with("128-bit"));
        let weak = ternary(604, 16.0, 3.19);
        let message = check_lwe(&[good, weak], SecurityPolicy::Strict128).unwrap_err().to_string();
        assert!(message.contains("604") && message.contains("use dimension 605"), "{message}");
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
