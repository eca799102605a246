//! Checked parameters.

use alloc::{format, sync::Arc};

use super::{
    encoding::Encoding, method::RotationMethod, noise::NoiseModel, spec::CggiSpec, tables::RotationTables,
};
use crate::{
    arith::{Modulus, Word},
    error::Error,
    rlwe::{lwe::LweSwitchSpec, rgsw::RgswContext},
    schemes::{
        identity::of_set,
        set_names::{own_set_name, set_name},
    },
    security::{LweInstance, LweReport, LweSecret, NtruInstance, check_lwe},
};

/// Distance of a bit's phase from the nearest wrong one, in turns.
const BIT_MARGIN: f64 = 0.125;

/// A checked parameter set with its tables; cheap to clone.
pub struct CggiParams<W: Word = u32>(Arc<Inner<W>>);

struct Inner<W: Word> {
    spec: CggiSpec,
    fingerprint: [u8; 16],
    rgsw: RgswContext<W>,
    switch: LweSwitchSpec,
    security: LweReport,
    noise: NoiseModel,
    max_weight: u32,
    tables: RotationTables<W>,
}

impl<W: Word> Clone for CggiParams<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> CggiParams<W> {
    /// Checks the numbers, the security policy and the promised probability of failure, and builds the
    /// tables.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for numbers that do not fit together, or a set whose three-input gates
    /// fail more often than promised; [`Error::Insecure`] if the policy is not met.
    pub fn new(spec: &CggiSpec) -> Result<Self, Error> {
        let CggiSpec { method, lwe_secret, log_q, log_n, .. } = *spec;
        if !(4..=16).contains(&log_n) || !(1..=1 << 16).contains(&spec.lwe_dimension) {
            return Err(Error::InvalidArgument(format!(
                "ring degree 2^{log_n} and dimension {}; take 2^4 to 2^16 and 1 to 65536",
                spec.lwe_dimension
            )));
        }
        let n = 1usize << log_n;
        if log_q <= log_n {
            return Err(Error::InvalidArgument(format!(
                "modulus 2^{log_q} of the short key is below 2N = 2^{}, the exponents it is rounded to; take a larger \
                 one",
                log_n + 1
            )));
        }
        method.check(lwe_secret, spec.lwe_dimension)?;
        let switch = LweSwitchSpec {
            from: n,
            to: spec.lwe_dimension,
            log_q,
            base_log: spec.switch_base_log,
            digits: spec.switch_digits,
        };
        switch.check()?;
        let rgsw = RgswContext::new(n, spec.prime, spec.base_log, spec.digits, spec.width)?;
        let security = security_of(spec)?;
        let noise = NoiseModel::new(spec, rgsw.gadget().drop());
        let kept = |weight: u32| noise.log2_failure(f64::from(weight), BIT_MARGIN) <= spec.log_failure;
        let max_weight = (1..=64).take_while(|&weight| kept(weight)).last().unwrap_or(0);
        if max_weight < 3 {
            return Err(Error::InvalidArgument(format!(
                "a three-input gate fails with probability 2^{:.1}, more than the 2^{} promised; take more digits, a \
                 larger modulus, or promise less",
                noise.log2_failure(3.0, BIT_MARGIN),
                spec.log_failure
            )));
        }
        let integers = Encoding::Padded { messages: spec.messages };
        integers.check()?;
        let failure = noise.log2_failure(1.0, integers.margin());
        if failure > spec.log_failure {
            return Err(Error::InvalidArgument(format!(
                "a look-up on integers below {} fails with probability 2^{failure:.1}, more than the 2^{} promised; \
                 take fewer messages, more digits, a larger ring, or promise less",
                spec.messages, spec.log_failure
            )));
        }
        let fingerprint = spec.fingerprint();
        let tables = RotationTables::new(method, &rgsw)?;
        Ok(Self(Arc::new(Inner {
            spec: spec.clone(),
            fingerprint,
            rgsw,
            switch,
            security,
            noise,
            max_weight,
            tables,
        })))
    }

    of_set!(CggiSpec);

    /// The security of the set.
    pub fn security(&self) -> &LweReport {
        &self.0.security
    }

    /// The noise of each step.
    pub fn noise(&self) -> &NoiseModel {
        &self.0.noise
    }

    /// Ring degree N, the dimension of ciphertexts.
    pub fn n(&self) -> usize {
        self.0.rgsw.n()
    }

    /// log2 of 2N, the order of X.
    pub fn log_2n(&self) -> u32 {
        self.0.spec.log_n + 1
    }

    /// The prime p of ciphertexts.
    pub fn modulus(&self) -> &Modulus<W> {
        self.0.rgsw.ring().modulus()
    }

    /// round(p · numerator / denominator) modulo p: the phase of that part of a turn.
    pub fn turns(&self, numerator: i64, denominator: u64) -> W {
        let p = i128::from(self.modulus().value_u64());
        let scaled = i128::from(numerator) * p;
        let denominator = i128::from(denominator);
        self.modulus().reduce_i128((2 * scaled + denominator).div_euclid(2 * denominator))
    }

    /// The ring and its gadget.
    pub fn rgsw(&self) -> &RgswContext<W> {
        &self.0.rgsw
    }

    /// Shape of the key-switching key.
    pub fn switch(&self) -> &LweSwitchSpec {
        &self.0.switch
    }

    /// The largest sum of squared weights, at the margin of 1/8 turn, at which the promise
    /// [`CggiSpec::log_failure`] is kept: 2 for two-input gates, 3 for three-input ones.
    pub fn max_weight(&self) -> u32 {
        self.0.max_weight
    }

    /// The tables that the rotation reads beside its key.
    pub(crate) fn tables(&self) -> &RotationTables<W> {
        &self.0.tables
    }

    /// log2 of the probability that a two-input gate on bootstrapped bits is wrong.
    pub fn gate_failure(&self) -> f64 {
        self.0.noise.log2_failure(2.0, BIT_MARGIN)
    }

    /// log2 of the probability that a look-up on integers below [`CggiSpec::messages`], bootstrapped before,
    /// is wrong.
    pub fn look_up_failure(&self) -> f64 {
        let integers = Encoding::Padded { messages: self.0.spec.messages };
        self.0.noise.log2_failure(1.0, integers.margin())
    }

    /// [`Error::ParamsMismatch`] unless `other` is the fingerprint of this set; `what` names its object in the message.
    pub(crate) fn check_fingerprint(&self, what: &str, other: [u8; 16]) -> Result<(), Error> {
        if other == self.0.fingerprint {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "the {what} belongs to set {}, and this is {}; use objects of one set",
            set_name(&other),
            own_set_name(self.name(), &self.0.fingerprint)
        )))
    }
}

/// Everything the keys of a set publish, checked against its policy.
fn security_of(spec: &CggiSpec) -> Result<LweReport, Error> {
    let (degree, log_modulus, sigma) = (1 << spec.log_n, libm::log2(spec.prime as f64), spec.width.sigma());
    let instances = [
        LweInstance {
            name: "key-switching key (short key)",
            dimension: spec.lwe_dimension,
            secret: spec.lwe_secret,
            log_modulus: f64::from(spec.log_q),
            sigma: crate::ring::Binomial::Coins21.sigma(),
        },
        // The key of NTRU is wider than a ternary one: ciphertexts under it are no weaker.
        LweInstance {
            name: "bootstrapping key (ring key)",
            dimension: degree,
            secret: LweSecret::Ternary,
            log_modulus,
            sigma,
        },
    ];
    let report = check_lwe(&instances, spec.policy)?;
    match spec.method {
        RotationMethod::Ntru { .. } => {
            report.with_ntru(&NtruInstance { name: "bootstrapping key (NTRU)", degree, log_modulus, sigma })
        }
        _ => Ok(report),
    }
}
