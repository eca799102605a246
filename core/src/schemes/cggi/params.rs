//! Checked parameters.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use super::{
    encoding::Encoding,
    noise::NoiseModel,
    spec::{CggiSpec, RotationMethod},
};
use crate::{
    arith::{Modulus, Word},
    error::Error,
    ring::{Automorphism, GaloisElement},
    rlwe::{
        lwe::LweSwitchSpec,
        rgsw::{Monomials, RgswContext, powers_of_root},
    },
    security::{LweInstance, LweReport, LweSecret, NtruInstance, check_lwe},
};

/// Distance of a bit's phase from the nearest wrong one, in turns.
const BIT_MARGIN: f64 = 0.125;

/// Most steps of merged keys.
const MAX_MERGED: usize = 16;

/// Most bits of a digit of exponents.
const MAX_EXPONENT_DIGIT: u32 = 8;

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
    /// Powers of the root of unity psi, 2N of them, for methods that multiply by monomials in evaluation
    /// domain.
    powers: Vec<W>,
    /// Exponent of psi at each place of a row of evaluations.
    places: Vec<u32>,
    /// The powers of X for methods that turn by pairs of coordinates.
    monomials: Option<Monomials<W>>,
    /// The permutations of the automorphisms that the method applies, by exponent.
    permutations: Vec<(u64, Automorphism)>,
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
                "ring degree 2^{log_n} and dimension {}: take 2^4 to 2^16 and 1 to 65536",
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
        let fits = match method {
            RotationMethod::GinxBinary => lwe_secret == LweSecret::Binary,
            RotationMethod::GinxUnrolled => {
                lwe_secret == LweSecret::Binary && spec.lwe_dimension.is_multiple_of(2)
            }
            RotationMethod::GinxTernary => lwe_secret == LweSecret::Ternary,
            RotationMethod::Lmkcdey { merged } | RotationMethod::Ntru { merged } => {
                (1..=MAX_MERGED).contains(&merged)
            }
            RotationMethod::Ap { base_log } => (1..=MAX_EXPONENT_DIGIT).contains(&base_log),
        };
        if !fits {
            return Err(Error::InvalidArgument(format!(
                "{method:?} with a {lwe_secret} short key: ginx-binary takes a binary one, ginx-unrolled a binary one of \
                 even dimension, ginx-ternary a ternary one, lmkcdey and ntru any with 1 to {MAX_MERGED} merged steps, \
                 ap any with digits of 1 to {MAX_EXPONENT_DIGIT} bits"
            )));
        }
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
        let (powers, places) = match method {
            RotationMethod::GinxTernary => powers_of_root(&rgsw),
            _ => (Vec::new(), Vec::new()),
        };
        let monomials = match method {
            RotationMethod::GinxUnrolled => Some(Monomials::new(&rgsw)?),
            _ => None,
        };
        let permutations = match method {
            _ if method.by_automorphisms() => permutations(n)?,
            _ => Vec::new(),
        };
        Ok(Self(Arc::new(Inner {
            spec: spec.clone(),
            fingerprint,
            rgsw,
            switch,
            security,
            noise,
            max_weight,
            powers,
            places,
            monomials,
            permutations,
        })))
    }

    /// The numbers.
    pub fn spec(&self) -> &CggiSpec {
        &self.0.spec
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.0.spec.name
    }

    /// Identifies the set; see [`CggiSpec::fingerprint`].
    pub fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint
    }

    /// What the set is worth.
    pub fn security(&self) -> &LweReport {
        &self.0.security
    }

    /// The noise of its steps.
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

    /// X^exponent - 1, exponent at most 2N, evaluation domain.
    pub(crate) fn monomial_minus_one(&self, out: &mut [W], exponent: u32) {
        let (m, mask) = (self.modulus(), (1u32 << self.log_2n()) - 1);
        for (out, &place) in out.iter_mut().zip(&self.0.places) {
            *out = m.sub(self.0.powers[(place.wrapping_mul(exponent) & mask) as usize], W::ONE);
        }
    }

    /// The powers of X, of a method that turns by pairs of coordinates.
    pub(crate) fn monomials(&self) -> Option<&Monomials<W>> {
        self.0.monomials.as_ref()
    }

    /// X -> X^g on rows of evaluations: `out[j] = x[permutation[j]]`; empty for an exponent that the method does not
    /// use.
    pub(crate) fn permutation(&self, g: u64) -> &[u32] {
        self.0.permutations.iter().find(|(own, _)| *own == g).map_or(&[], |(_, g)| g.permutation())
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

    /// [`Error::ParamsMismatch`] unless `other`, named for the message, is of this set.
    pub(crate) fn check_fingerprint(&self, what: &str, other: [u8; 16]) -> Result<(), Error> {
        if other == self.0.fingerprint {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "the {what} belongs to parameters {}, and {} is {}; use objects of one set",
            hex_id(other),
            self.name(),
            hex_id(self.0.fingerprint)
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

/// X -> X^(5^w) for w up to the window of automorphisms or of merged keys, and X -> X^-5.
fn permutations(n: usize) -> Result<Vec<(u64, Automorphism)>, Error> {
    let fives = (1..=MAX_MERGED as i64).map(|w| GaloisElement::rotation(w, n));
    let elements = fives.chain([GaloisElement::new(2 * n as u64 - 5, n)?]);
    Ok(elements.map(|g| (g.value(), Automorphism::new(n, g))).collect())
}

/// An identifier in hexadecimal, for messages.
pub(crate) fn hex_id(id: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(id))
}
