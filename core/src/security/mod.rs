//! Security of parameters: what may be published under which secret, and what that is worth.
//!
//! A parameter set is as strong as the weakest LWE *instance* it publishes: a secret distribution
//! together with the largest modulus under which any sample of that secret ever appears. A
//! bootstrapping set has at least two, the dense secret at Q·P and the sparse one at its
//! encapsulation modulus. [`check`] compares each with the bound of a [`SecurityPolicy`] and puts a
//! number on it.
//!
//! # Where the numbers come from
//!
//! Bounds and estimates were computed with the lattice estimator (malb/lattice-estimator, June
//! 2026) in the MATZOV classical sieving model, error of standard deviation 3.19, unlimited
//! samples, counting primal and dual hybrid attacks with meet-in-the-middle tables of unbounded
//! size. They do not cover quantum costs, the ring structure, side channels, or representation
//! attacks on sparse secrets; for the block-sparse secret of SHIP (ePrint 2025/784, §5) the
//! authors' own criterion against the latter is reported beside them.
//!
//! # How an estimate is read between the computed points
//!
//! Per ring degree and secret there are a few computed points (log2 of the modulus, bits). Between
//! two of them the estimate follows the power law through both, `bits ~ (log2 Q)^-a`, as lattice
//! attacks do closely; it is monotone because the points are. Below the smallest computed modulus
//! the estimate stays at that point's value: a smaller modulus is only harder. Beyond the largest
//! it falls with `a = 1.1`, a little faster than the computed points do, down to 43 bits, what the
//! estimator gives for plain lattice reduction at N = 2^10. Expect ±1 bit at the computed points.

mod lwe;
mod ntru;
mod table;
#[cfg(test)]
mod tests;

pub use lwe::{LweInstance, LweReport, LweSecret, check_lwe};
pub use ntru::NtruInstance;

use alloc::{format, string::String, vec::Vec};
use core::{fmt, str::FromStr};

use crate::error::Error;

/// Smallest standard deviation of the error that the tables cover.
pub const MIN_SIGMA: f64 = 3.19;

/// What SHIP's authors require of their combinatorial criterion, in bits.
pub const COMBINATORIAL_BITS: f64 = 115.0;

/// How a secret polynomial is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretDistribution {
    /// Every coefficient uniform in {-1, 0, 1}.
    Ternary,
    /// Exactly `weight` coefficients are ±1, at uniform positions.
    Sparse {
        /// Non-zero coefficients.
        weight: u32,
    },
    /// `weight` non-zero coefficients ±1, each somewhere in its own public window (SHIP).
    BlockSparse {
        /// Non-zero coefficients, one per window.
        weight: u32,
        /// Values one of them may take: positions of its window times the two signs, so `2 R`
        /// for a window of `R` positions (SHIP writes `4 w`).
        choices_per_block: u32,
    },
}

impl fmt::Display for SecretDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ternary => f.write_str("uniform ternary"),
            Self::Sparse { weight } => write!(f, "sparse ternary, {weight} non-zero"),
            Self::BlockSparse { weight, choices_per_block } => {
                write!(f, "block-sparse ternary, {weight} non-zero of {choices_per_block} choices each")
            }
        }
    }
}

impl SecretDistribution {
    /// SHIP's criterion against representation attacks on a block-sparse secret, in bits:
    /// `log2((choices_per_block)^(0.4 weight))` (ePrint 2025/784, §5.1). `None` for the others.
    pub fn combinatorial_bits(&self) -> Option<f64> {
        match *self {
            Self::BlockSparse { weight, choices_per_block } => {
                Some(0.4 * f64::from(weight) * libm::log2(f64::from(choices_per_block)))
            }
            _ => None,
        }
    }
}

/// A secret, and the largest modulus under which anything encrypted by it is published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instance {
    /// What it is, for messages: "main secret", "encapsulation key", …
    pub name: &'static str,
    /// log2 of the ring degree N.
    pub log_n: u32,
    /// Distribution of the secret.
    pub secret: SecretDistribution,
    /// log2 of the largest modulus, special primes included.
    pub log_modulus: f64,
    /// Standard deviation of the error: [`MIN_SIGMA`] or more.
    pub sigma: f64,
}

/// What a parameter set must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SecurityPolicy {
    /// Every instance at 128 bits or more by today's estimate. The default.
    Strict128,
    /// The table of the HomomorphicEncryption.org standard of 2018, for published sets that sit on
    /// it: today's estimate is 126 bits and less, and is what the report says.
    HeStandard2018,
    /// For sets of earlier versions that met [`Self::Strict128`] by the estimates of their day and do
    /// not by today's: their keys are read, and none made. At least 120 bits; the report says what it is.
    Superseded,
    /// Anything. For tests and demonstrations; the report says INSECURE.
    InsecureForTests,
}

impl SecurityPolicy {
    /// Every policy, strongest first.
    pub const ALL: [Self; 4] =
        [Self::Strict128, Self::HeStandard2018, Self::Superseded, Self::InsecureForTests];

    /// Stable name: `strict-128`, `he-standard-2018`, `superseded` or `insecure-for-tests`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict128 => "strict-128",
            Self::HeStandard2018 => "he-standard-2018",
            Self::Superseded => "superseded",
            Self::InsecureForTests => "insecure-for-tests",
        }
    }

    /// The name that enters the fingerprint of a set: a superseded set keeps the name of its day.
    pub(crate) fn fingerprint_name(self) -> &'static str {
        match self {
            Self::Superseded => Self::Strict128.name(),
            other => other.name(),
        }
    }

    /// Whether the policy claims any security at all.
    pub fn is_secure(self) -> bool {
        self != Self::InsecureForTests
    }
}

impl fmt::Display for SecurityPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SecurityPolicy {
    type Err = Error;

    /// Reads a [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|p| p.name() == name).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "security policy \"{name}\": the policies are strict-128, he-standard-2018, superseded and \
                 insecure-for-tests"
            ))
        })
    }
}

/// One instance and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceReport {
    /// The instance.
    pub instance: Instance,
    /// Largest log2 of the modulus that the policy allows, where it sets one.
    pub bound: Option<f64>,
    /// Estimated classical security in bits, where the tables have points for it; see the module
    /// page for how it is interpolated.
    pub bits: Option<f64>,
    /// The combinatorial criterion in bits, for block-sparse secrets.
    pub combinatorial_bits: Option<f64>,
}

/// Outcome of [`check`].
#[derive(Debug, Clone, PartialEq)]
pub struct SecurityReport {
    /// The policy that was met.
    pub policy: SecurityPolicy,
    /// Estimated classical security of the set in bits, the minimum over its instances; 0 if one of
    /// them has no estimate (possible under [`SecurityPolicy::InsecureForTests`] only).
    pub bits: f64,
    /// The instances, in the order given.
    pub instances: Vec<InstanceReport>,
    /// One sentence for people, never claiming more than was computed.
    pub statement: String,
}

/// Checks every instance against `policy`, and reports what the set is worth.
///
/// # Errors
/// [`Error::Insecure`] naming the instance, its value, the bound and the repair, if one does not
/// meet the policy; [`Error::InvalidArgument`] if the list is empty or a number makes no sense.
pub fn check(instances: &[Instance], policy: SecurityPolicy) -> Result<SecurityReport, Error> {
    if instances.is_empty() {
        return Err(Error::InvalidArgument(
            "no instance to check: list every secret with the largest modulus it is used at".into(),
        ));
    }
    let instances = instances.iter().map(|i| check_one(i, policy)).collect::<Result<Vec<_>, _>>()?;
    let bits = instances.iter().map(|i| i.bits.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
    let statement = statement(&instances, bits, policy);
    Ok(SecurityReport { policy, bits, instances, statement })
}

impl SecurityReport {
    /// The report with `lost` bits taken off the instance at `place`, whose secret is drawn from a share of its distribution only: an
    /// attack on such secrets succeeds on all secrets with that share of its probability, so -log2 of the share is lost.
    ///
    /// # Errors
    /// [`Error::Insecure`] if the instance is below 128 bits then, and the policy asks for them.
    pub(crate) fn drawn_from_a_part(mut self, place: usize, lost: f64) -> Result<Self, Error> {
        let Some(own) = self.instances.get_mut(place).filter(|_| lost != 0.0) else {
            return Ok(self);
        };
        // What is not a number is refused as well.
        own.bits = own.bits.map(|bits| if lost > 0.0 { bits - lost } else { f64::NEG_INFINITY });
        if let (SecurityPolicy::Strict128, Some(bits @ ..128.0)) = (self.policy, own.bits) {
            return Err(Error::Insecure(format!(
                "{}: {bits:.2} bits of the 128 that are asked for at N = 2^{}, {lost:.2} less than any {} secret, as it is drawn from a \
                 part of them; use fewer or smaller primes, or a smaller weight",
                own.instance.name, own.instance.log_n, own.instance.secret
            )));
        }
        self.bits = self.instances.iter().map(|own| own.bits.unwrap_or(0.0)).fold(f64::INFINITY, f64::min);
        self.statement = statement(&self.instances, self.bits, self.policy);
        Ok(self)
    }
}

fn check_one(instance: &Instance, policy: SecurityPolicy) -> Result<InstanceReport, Error> {
    let Instance { name, log_n, secret, log_modulus, sigma } = *instance;
    if !(log_modulus.is_finite() && log_modulus > 0.0 && sigma.is_finite() && sigma >= 0.0) {
        return Err(Error::InvalidArgument(format!(
            "{name}: log2 of the modulus {log_modulus} and standard deviation {sigma} must be finite and positive"
        )));
    }
    let combinatorial_bits = secret.combinatorial_bits();
    let bound = match policy {
        SecurityPolicy::Strict128 => table::strict_bound(log_n, secret),
        SecurityPolicy::HeStandard2018 | SecurityPolicy::Superseded => table::he2018_bound(log_n, secret),
        SecurityPolicy::InsecureForTests => None,
    };
    if policy.is_secure() {
        let Some(bound) = bound else {
            return Err(Error::Insecure(format!(
                "{name}: no {policy} bound is known for a {secret} secret at N = 2^{log_n}; use a secret and ring of \
                 the tables (N = 2^10 to 2^17; ternary, or sparse where a bound is listed)"
            )));
        };
        if log_modulus > bound {
            return Err(Error::Insecure(format!(
                "{name}: log2 of the modulus is {log_modulus:.2} at N = 2^{log_n} with a {secret} secret, above the \
                 {policy} bound of {bound}; use fewer or smaller primes, or a larger N"
            )));
        }
        if sigma < MIN_SIGMA {
            return Err(Error::Insecure(format!(
                "{name}: the error has standard deviation {sigma}, below the {MIN_SIGMA} that the bounds assume; use \
                 at least {MIN_SIGMA}"
            )));
        }
        if let Some(bits) = combinatorial_bits.filter(|&bits| bits < COMBINATORIAL_BITS) {
            return Err(Error::Insecure(format!(
                "{name}: the combinatorial criterion of a {secret} secret is 2^{bits:.1}, below 2^{COMBINATORIAL_BITS}; \
                 use wider windows or a larger weight (choices are positions times two signs)"
            )));
        }
    }
    // Without computed points, a block-sparse secret is worth no more than the criterion.
    let bits = table::estimate(log_n, secret, log_modulus).or(combinatorial_bits);
    Ok(InstanceReport { instance: *instance, bound, bits, combinatorial_bits })
}

/// The statement about a set that met the estimates of its day.
fn superseded(bits: f64) -> String {
    format!(
        "about {:.0}-bit classical security by today's lattice estimates: a set of an earlier version, for keys made of it",
        libm::round(bits)
    )
}

fn statement(instances: &[InstanceReport], bits: f64, policy: SecurityPolicy) -> String {
    let rounded = libm::round(bits);
    let lattice = match policy {
        SecurityPolicy::Strict128 => {
            "128-bit classical security against the attacks of the lattice estimator".into()
        }
        SecurityPolicy::HeStandard2018 => format!(
            "about {rounded:.0}-bit classical security by today's lattice estimates; within the tables of the 2018 standard"
        ),
        SecurityPolicy::Superseded => superseded(bits),
        SecurityPolicy::InsecureForTests => {
            let known = if bits > 0.0 { format!("about {rounded:.0} bits") } else { "no estimate".into() };
            return format!(
                "INSECURE: for tests and demonstrations only ({known}); keep no secret under these parameters"
            );
        }
    };
    match instances.iter().filter_map(|i| i.combinatorial_bits).reduce(f64::min) {
        None => lattice,
        Some(combinatorial) => format!(
            "{lattice}; 2^{:.0} by the SHIP authors' combinatorial criterion for the sparse key",
            libm::floor(combinatorial)
        ),
    }
}
