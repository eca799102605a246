//! Checked parameters with everything derived from them.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use super::{spec::BgvSpec, stages};
use crate::{
    arith::{PrimePower, Word},
    bootstrapping::{
        overflow,
        switching_keys::{KeyLayout, SwitchingKeyId, SwitchingKeyPart},
    },
    circuits::{
        digit_removal::small_digit,
        linear_transform::{
            BabyGiantSteps, IntegerStageShape, IntegerTransform, PlaintextStorage, Step,
            integer_coeffs_to_slots_shapes, integer_slots_to_coeffs_shapes,
        },
        polynomial::{Plan, Polynomial},
    },
    error::Error,
    ring::{Basis, GaloisElement, SmallPoly},
    rlwe::{EncapsulationContext, RlweContext},
    schemes::bgv::{BgvCiphertext, BgvContext, NoiseModel},
    security::{self, Instance, SecretDistribution, SecurityReport},
    trace::StageInfo,
};

/// Largest deviation of p^t m'/q0, the noise of a message that is raised: [`BgvParams::log2_failure`] counts it, and more noise is
/// refused.
pub(super) const LARGEST_DEVIATION: f64 = 0.015;

/// The levels of a set: the highest level each stage works at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BgvLevels {
    /// Lowest level of an input: where slots-to-coefficients begins.
    pub input: usize,
    /// Level of the result.
    pub output: usize,
    /// Where the removal begins.
    pub removal: usize,
    /// Where coefficients-to-slots begins: the top.
    pub coeffs_to_slots: usize,
}

impl BgvLevels {
    fn of(spec: &BgvSpec, removal: usize) -> Result<Self, Error> {
        let top = spec.chain.levels.len().saturating_sub(1);
        let stages = spec.coeffs_to_slots.saturating_add(removal).saturating_add(spec.slots_to_coeffs);
        if top <= stages {
            return Err(Error::InvalidArgument(format!(
                "{top} levels above the base, the stages take {} + {removal} + {}; give the chain at least one level more, for a \
                 product between bootstraps",
                spec.coeffs_to_slots, spec.slots_to_coeffs
            )));
        }
        let begin = top - spec.coeffs_to_slots;
        Ok(Self {
            input: spec.slots_to_coeffs,
            output: begin - removal,
            removal: begin,
            coeffs_to_slots: top,
        })
    }

    /// Levels a result has above an input: products between two bootstraps.
    pub fn left(&self) -> usize {
        self.output - self.input
    }
}

/// A parameter set: immutable, validated, cheap to clone.
pub struct BgvParams<W: Word = u64>(Arc<Inner<W>>);

struct Inner<W: Word> {
    spec: BgvSpec,
    fingerprint: [u8; 16],
    security: SecurityReport,
    context: BgvContext<W>,
    encapsulation: EncapsulationContext<W>,
    levels: BgvLevels,
    stages: Vec<StageInfo>,
    removal: Polynomial<i64>,
    galois: BTreeMap<GaloisElement, usize>,
    parts: Vec<SwitchingKeyPart>,
}

impl<W: Word> Clone for BgvParams<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> BgvParams<W> {
    /// Validates a specification: plaintexts, digit, chain, noise at the raise, and security under its policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that does not fit, [`Error::Insecure`] if an instance does not meet
    /// the policy.
    pub fn new(spec: &BgvSpec) -> Result<Self, Error> {
        spec.plaintexts().check(&spec.chain)?;
        check_ephemeral(spec)?;
        let removal = removal(spec)?;
        let depth = Plan::new(core::slice::from_ref(&removal))?.levels();
        let levels = BgvLevels::of(spec, depth)?;
        let security = check_security(spec)?;
        let fingerprint = spec.fingerprint();
        let context = BgvContext::new(RlweContext::new(&spec.chain)?, spec.plaintexts(), fingerprint)?;
        let ephemeral = &spec.ephemeral;
        let encapsulation = EncapsulationContext::new(
            spec.chain.n,
            &spec.chain.levels[0],
            ephemeral.prime,
            ephemeral.digits,
        )?;
        let galois = galois_elements(spec, &levels)?;
        let rlwe = context.rlwe();
        let layout = KeyLayout { rlwe, encapsulation: Some(&encapsulation), relinearization: levels.removal };
        let inner = Inner {
            parts: layout.parts(&galois),
            galois,
            stages: stages::of(spec, depth),
            spec: spec.clone(),
            fingerprint,
            security,
            context,
            encapsulation,
            levels,
            removal,
        };
        let out = Self(Arc::new(inner));
        out.check_raise()?;
        Ok(out)
    }

    /// The numbers.
    pub fn spec(&self) -> &BgvSpec {
        &self.0.spec
    }

    /// Name of the set.
    pub fn name(&self) -> &String {
        &self.0.spec.name
    }

    /// Identity of the set.
    pub fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint
    }

    /// What the set is worth: the weaker of the main secret at Q P and the ephemeral one at q0 p'.
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// Chain, plaintexts, noise.
    pub fn context(&self) -> &BgvContext<W> {
        &self.0.context
    }

    /// Ring degree N: two rows of N/2 slots.
    pub fn n(&self) -> usize {
        self.0.spec.chain.n
    }

    /// Z/p^r, where messages are.
    pub fn messages(&self) -> PrimePower {
        self.context().message_modulus().ring()
    }

    /// Z/p^e, where the digit is removed.
    pub fn raised(&self) -> PrimePower {
        self.context().largest_modulus().ring()
    }

    /// x - D(x).
    pub fn removal(&self) -> &Polynomial<i64> {
        &self.0.removal
    }

    /// The levels of the stages.
    pub fn levels(&self) -> &BgvLevels {
        &self.0.levels
    }

    /// The stages in order.
    pub fn stages(&self) -> &[StageInfo] {
        &self.0.stages
    }

    /// Moduli of the ephemeral secret's key.
    pub(super) fn encapsulation(&self) -> &EncapsulationContext<W> {
        &self.0.encapsulation
    }

    /// The automorphisms that a bootstrap takes, each with the highest level it is used at.
    pub fn galois_elements(&self) -> impl Iterator<Item = (GaloisElement, usize)> + '_ {
        self.0.galois.iter().map(|(&g, &level)| (g, level))
    }

    /// log2 Q P.
    pub fn log_qp(&self) -> f64 {
        let rlwe = self.context().rlwe();
        rlwe.qp(rlwe.max_level()).log2()
    }

    /// log2 of the modulus under the ephemeral secret, q0 p'.
    pub fn log_q0_p(&self) -> f64 {
        self.encapsulation().q0p().log2()
    }

    /// log2 of the probability that a bootstrap gives a wrong slot, because a digit of one of the N coefficients exceeds its
    /// bound: a sum of as many uniform numbers as the ephemeral secret has coefficients, and as much noise of the message as is not
    /// refused.
    pub fn log2_failure(&self) -> f64 {
        let (weight, bound) = (self.spec().ephemeral.weight, self.spec().bound);
        overflow::log2_noisy_quotient_exceeds(weight, bound, LARGEST_DEVIATION) + f64::from(self.n().ilog2())
    }

    /// Deviation of p^t m'/q0 for a ciphertext at level 0, from the estimate of its noise.
    pub(super) fn quotient_deviation(&self, noise: f64) -> f64 {
        let coefficients = self.context().noise().deviation(noise) + self.encapsulation_deviation();
        self.raised().value() as f64 * coefficients / self.context().level_divisor(0)
    }

    /// What the way to the ephemeral secret adds: balanced digits times errors over p', and a rounding.
    fn encapsulation_deviation(&self) -> f64 {
        let context = self.encapsulation();
        let ephemeral = &self.spec().ephemeral;
        let digit = libm::exp2(f64::from(context.digit_bits()));
        let products = libm::sqrt((self.n() * context.digit_count()) as f64 / 12.0) * digit;
        let rounding = libm::sqrt((1.0 + f64::from(ephemeral.weight)) / 12.0);
        SmallPoly::ERROR_SIGMA * products / ephemeral.prime as f64 + rounding
    }

    /// The noise of a raised ciphertext: quotients of this deviation, times q0 over p^e.
    pub(super) fn raised_noise(&self) -> f64 {
        let noise = self.context().noise();
        let quotients =
            libm::sqrt((1.0 + f64::from(self.spec().ephemeral.weight)) / 12.0) + LARGEST_DEVIATION;
        let step = self.context().level_divisor(0) / self.raised().value() as f64;
        noise.embedding(quotients * step) + noise.key_switch(self.levels().coeffs_to_slots) + noise.rounding()
    }

    /// Noise of `noise` at the input level after slots-to-coefficients.
    fn noise_at_base(&self, noise: f64) -> f64 {
        // The shapes were listed when the set was validated.
        let shapes = stage_shapes(self.spec(), &self.0.levels).unwrap_or_default();
        let context = self.context();
        let to_base = shapes.iter().filter(|(level, _)| *level <= self.0.levels.input);
        to_base.fold(noise, |noise, (level, shape)| {
            let gain = IntegerTransform::expected_gain(context.rlwe(), shape, self.messages());
            context.noise().linear(noise, &gain, *level, context.level_divisor(*level))
        })
    }

    fn check_raise(&self) -> Result<(), Error> {
        let model: &NoiseModel = self.context().noise();
        let deviation = self.quotient_deviation(self.noise_at_base(2.0 * model.rounding()));
        if deviation <= LARGEST_DEVIATION {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "the noise of a message is 2^{:.1} of q0 when it is raised, at most 2^{:.1} of it may be; take a larger q0, or larger \
             primes for slots-to-coefficients",
            libm::log2(deviation),
            libm::log2(LARGEST_DEVIATION)
        )))
    }

    /// [`Error::ParamsMismatch`] unless a ciphertext is of this set.
    pub(super) fn check_set(&self, x: &BgvCiphertext<W>) -> Result<(), Error> {
        x.identity().check_set(&self.fingerprint())
    }

    /// [`Error::PlaintextMismatch`] unless the plaintexts of a ciphertext are those that a stage takes.
    pub(super) fn check_ring(
        &self,
        stage: &str,
        x: &BgvCiphertext<W>,
        wanted: PrimePower,
    ) -> Result<(), Error> {
        if x.ring() == wanted {
            return Ok(());
        }
        Err(Error::PlaintextMismatch(format!(
            "plaintexts modulo {}^{}, {stage} those modulo {}^{} with the set {}; bring them to that power, by an exact division by \
             the prime or a product with it",
            x.ring().prime(),
            x.ring().exponent(),
            wanted.prime(),
            wanted.exponent(),
            self.name(),
        )))
    }

    /// What the shapes of the evaluation keys follow from.
    pub(super) fn layout(&self) -> KeyLayout<'_, W> {
        KeyLayout {
            rlwe: self.context().rlwe(),
            encapsulation: Some(self.encapsulation()),
            relinearization: self.levels().removal,
        }
    }

    /// The switching keys of a bootstrap, in order.
    pub fn switching_keys(&self) -> Vec<SwitchingKeyId> {
        self.layout().keys(&self.0.galois)
    }

    /// Modulus of the samples of a switching key.
    pub fn key_basis(&self, key: SwitchingKeyId) -> &Basis<W> {
        self.layout().basis(key)
    }

    /// The parts in which the evaluation keys travel, in order.
    pub fn key_parts(&self) -> &[SwitchingKeyPart] {
        &self.0.parts
    }

    /// Bytes of the evaluation keys on the wire: first components, seeded.
    pub fn key_bytes(&self) -> u64 {
        self.key_parts().iter().map(|part| part.bytes as u64).sum()
    }

    /// Bytes that the encoded diagonals of both linear maps take in memory.
    pub fn diagonal_bytes(&self, storage: PlaintextStorage) -> u64 {
        let shapes = stage_shapes(self.spec(), self.levels()).unwrap_or_default();
        let bytes = |(level, shape): &(usize, IntegerStageShape)| {
            IntegerTransform::memory_bytes_for(self.context().rlwe(), shape, *level, storage)
        };
        shapes.iter().map(bytes).sum()
    }
}

/// x - D(x) modulo p^e, coefficients nearest to 0.
fn removal(spec: &BgvSpec) -> Result<Polynomial<i64>, Error> {
    let plaintexts = spec.plaintexts();
    let ring = PrimePower::new(plaintexts.prime, plaintexts.largest_exponent)?;
    let mut digit = small_digit(ring, spec.digit_exponent, spec.bound.into())?;
    for c in &mut digit {
        *c = ring.neg(*c);
    }
    // D is 0 for digits that are all 0.
    digit.resize(digit.len().max(2), 0);
    digit[1] = ring.add(digit[1], 1);
    Polynomial::of_integers(digit.into_iter().map(|c| ring.centered(c)))
}

fn check_ephemeral(spec: &BgvSpec) -> Result<(), Error> {
    let ephemeral = &spec.ephemeral;
    if ephemeral.weight == 0 || ephemeral.weight as usize > spec.chain.n {
        return Err(Error::InvalidArgument(format!(
            "an ephemeral secret of weight {} in a ring of degree {}; take 1 to {} coefficients that are not 0",
            ephemeral.weight, spec.chain.n, spec.chain.n
        )));
    }
    if spec.chain.levels.first().is_none_or(|base| base.len() != 1) {
        return Err(Error::InvalidArgument(
            "q0 of one prime, whose multiples are what is removed; give level 0 one".into(),
        ));
    }
    Ok(())
}

fn check_security(spec: &BgvSpec) -> Result<SecurityReport, Error> {
    let log2 = |primes: &mut dyn Iterator<Item = &u64>| primes.map(|&p| libm::log2(p as f64)).sum::<f64>();
    let instance = |name, secret, log_modulus| Instance {
        name,
        log_n: spec.chain.n.trailing_zeros(),
        secret,
        log_modulus,
        sigma: SmallPoly::ERROR_SIGMA,
    };
    let chain = &spec.chain;
    let all = log2(&mut chain.levels.iter().flatten().chain(&chain.special));
    let small = log2(&mut chain.levels[0].iter().chain([&spec.ephemeral.prime]));
    let sparse = SecretDistribution::Sparse { weight: spec.ephemeral.weight };
    let instances = [
        instance("main secret at Q P", chain.secret, all),
        instance("ephemeral secret at q0 p'", sparse, small),
    ];
    security::check(&instances, chain.policy)
}

/// The stages of both linear maps: the level each works at, and the shape of its matrix.
pub(super) fn stage_shapes(
    spec: &BgvSpec,
    levels: &BgvLevels,
) -> Result<Vec<(usize, IntegerStageShape)>, Error> {
    let columns = spec.chain.n / 2;
    let down = |top: usize| move |(i, shape)| (top - i, shape);
    let there = integer_slots_to_coeffs_shapes(columns, spec.slots_to_coeffs)?.into_iter().enumerate();
    let back = integer_coeffs_to_slots_shapes(columns, spec.coeffs_to_slots)?.into_iter().enumerate();
    Ok(there.map(down(levels.input)).chain(back.map(down(levels.coeffs_to_slots))).collect())
}

/// Automorphisms of all stages, and those that turn and swap rows by hand, with the highest level of each.
fn galois_elements(spec: &BgvSpec, levels: &BgvLevels) -> Result<BTreeMap<GaloisElement, usize>, Error> {
    let n = spec.chain.n;
    let mut out: BTreeMap<GaloisElement, usize> = BTreeMap::new();
    for (level, shape) in stage_shapes(spec, levels)? {
        for step in BabyGiantSteps::of_steps(&shape.steps, n / 2).keys() {
            let highest = out.entry(step.element(n)).or_default();
            *highest = level.max(*highest);
        }
    }
    let swap = out.entry(Step { rotation: 0, inverted: true }.element(n)).or_default();
    *swap = levels.output.max(*swap);
    Ok(out)
}
