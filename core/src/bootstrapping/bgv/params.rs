//! Checked parameters with everything derived from them.

use alloc::{collections::BTreeMap, format, sync::Arc, vec::Vec};

use super::{noise::LARGEST_DEVIATION, removal::Removal, spec::BgvSpec, stages};
use crate::{
    arith::{PrimePower, Word},
    bootstrapping::{
        overflow::{self, LARGEST_NOISY_WEIGHT},
        raising::security_of,
        switching_keys::{KeyLayout, SwitchingKeyPart, switching_keys_of_set},
    },
    circuits::linear_transform::{
        IntegerStageShape, IntegerTransform, PlaintextStorage, Step, hypercube_shapes,
        integer_coeffs_to_slots_shapes, integer_slots_to_coeffs_shapes,
    },
    error::Error,
    ring::{Cyclotomic, GaloisElement},
    rlwe::{EncapsulationContext, RlweContext},
    schemes::{
        bgv::{BgvCiphertext, BgvContext},
        identity::of_set,
    },
    security::{SecurityPolicy, SecurityReport},
    trace::StageInfo,
};

/// log2 of the largest probability of a wrong slot in a bootstrap that a policy claiming security accepts.
const LARGEST_FAILURE: f64 = -128.0;

/// The levels of a set: the highest level each stage works at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BgvLevels {
    /// Lowest level of an input: where slots-to-coefficients begins, or 0 if it comes last.
    pub input: usize,
    /// Level of the result.
    pub output: usize,
    /// Where slots-to-coefficients begins.
    pub slots_to_coeffs: usize,
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
        let end = begin - removal;
        let (input, output, slots_to_coeffs) = if spec.is_general() {
            (0, end - spec.slots_to_coeffs, end)
        } else {
            (spec.slots_to_coeffs, end, spec.slots_to_coeffs)
        };
        Ok(Self { input, output, slots_to_coeffs, removal: begin, coeffs_to_slots: top })
    }

    /// Levels of a result above the lowest input: products between two bootstraps.
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
    removal: Removal,
    shapes: Shapes,
    galois: BTreeMap<GaloisElement, usize>,
    parts: Vec<SwitchingKeyPart>,
}

impl<W: Word> Clone for BgvParams<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> BgvParams<W> {
    /// Validates a specification: plaintexts, digit, chain, noise at every stage, and security under its policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that does not fit, [`Error::Insecure`] if an instance does not meet
    /// the policy, or bootstraps fail too often for it.
    pub fn new(spec: &BgvSpec) -> Result<Self, Error> {
        spec.plaintexts().check(&spec.chain)?;
        check_general(spec)?;
        check_ephemeral(spec)?;
        let (removal, depth) = Removal::of(spec)?;
        let levels = BgvLevels::of(spec, depth)?;
        check_failure(spec)?;
        let security = security_of(&spec.chain, Some(&spec.ephemeral))?;
        let fingerprint = spec.fingerprint();
        let context = BgvContext::new(RlweContext::new(&spec.chain)?, spec.plaintexts(), fingerprint)?;
        let ephemeral = &spec.ephemeral;
        let encapsulation = EncapsulationContext::over(
            context.rlwe().ring(),
            &spec.chain.levels[0],
            ephemeral.prime,
            ephemeral.digits,
        )?;
        let shapes = Shapes::of(spec, &context, &levels)?;
        let galois = galois_elements(&context, &shapes, &levels, spec.is_general())?;
        let inner = Inner {
            parts: layout(&context, &encapsulation, &levels).parts(&galois),
            shapes,
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
        out.check_noise()?;
        Ok(out)
    }

    of_set!(BgvSpec);

    /// The security of the set: the weaker of the main secret at Q P and the ephemeral one at q0 p'.
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// Chain, plaintexts, noise.
    pub fn context(&self) -> &BgvContext<W> {
        &self.0.context
    }

    /// Ring degree N, the number of integers in all slots together.
    pub fn n(&self) -> usize {
        self.0.spec.chain.n
    }

    /// Whether slots hold elements of Galois rings, and a bootstrap refreshes all their coordinates.
    pub fn is_general(&self) -> bool {
        self.0.spec.is_general()
    }

    /// Z/p^r, where messages are.
    pub fn messages(&self) -> PrimePower {
        self.context().message_modulus().ring()
    }

    /// Z/p^e, where the digit is removed.
    pub fn raised(&self) -> PrimePower {
        self.context().largest_modulus().ring()
    }

    /// Whether digits are read from multiples of q0, and then taken off the message.
    pub(super) fn is_apart(&self) -> bool {
        self.spec().approach.is_apart()
    }

    /// The ring that slots-to-coefficients works in: that of messages, or that of digits which are apart from them.
    pub(super) fn mapped_ring(&self) -> PrimePower {
        if self.is_general() && self.is_apart() { self.raised() } else { self.messages() }
    }

    /// D, by which a message is multiplied before it is raised, besides p^r.
    pub(super) fn multiplier(&self) -> u64 {
        let spec = self.spec();
        spec.approach.multiplier(spec.prime, spec.digit_exponent)
    }

    /// How the digit is removed.
    pub fn removal(&self) -> &Removal {
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

    /// The automorphisms that have keys, each with the highest level it is used at: those of a bootstrap, and, up to the level of its
    /// result, the rotations by powers of two and the exchange of the two rows. In a ring of two axes or of odd index all powers of the
    /// Frobenius automorphism are added, and in a ring of odd index the rotations are those along both dimensions.
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

    /// log2 of the probability that a bootstrap leaves a wrong slot, which goes unnoticed: -128 is one bootstrap in 2^128, the most that a
    /// set which claims security may have.
    ///
    /// A bootstrap removes a digit from each of the N coefficients, correctly as long as no digit exceeds
    /// [`BgvSpec::bound`](super::BgvSpec::bound). A digit is a sum of uniform numbers and of the noise of the message, whose deviation is
    /// at most [`LARGEST_DEVIATION`]. The number of uniform numbers depends on h, the weight of the ephemeral secret, and on the ring:
    ///
    /// | ring | numbers |
    /// | --- | --- |
    /// | one axis | h |
    /// | two axes | 2 h |
    /// | odd index, two primes | 4 h |
    /// | odd index, three primes | 8 h |
    ///
    /// In a ring of odd index some of them can be the same number, which makes digits larger. For two primes and a policy that claims
    /// security the result is a bound, as if all numbers that can coincide did; otherwise it is an estimate, as if none did.
    /// With [`Approach::Beside`](super::Approach::Beside) a second multiple of q0 has to stay within the bound in each coefficient, and
    /// both count.
    pub fn log2_failure(&self) -> f64 {
        log2_failure(self.spec())
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

    /// The layout from which the shapes of the evaluation keys follow.
    pub(super) fn layout(&self) -> KeyLayout<'_, W> {
        layout(self.context(), self.encapsulation(), self.levels())
    }

    /// The stages of both linear maps.
    pub(super) fn shapes(&self) -> &Shapes {
        &self.0.shapes
    }

    switching_keys_of_set!(W);

    /// Bytes of the evaluation keys expanded in memory.
    pub fn expanded_key_bytes(&self) -> u64 {
        let layout = self.layout();
        self.switching_keys().into_iter().map(|key| layout.expanded_bytes(key)).sum()
    }

    /// Bytes that the encoded diagonals of both linear maps take in memory.
    pub fn diagonal_bytes(&self, storage: PlaintextStorage) -> u64 {
        let bytes = |(level, shape): &(usize, IntegerStageShape)| {
            IntegerTransform::memory_bytes_for(self.context().rlwe(), shape, *level, storage)
        };
        self.shapes().all().map(bytes).sum()
    }
}

fn layout<'a, W: Word>(
    context: &'a BgvContext<W>,
    encapsulation: &'a EncapsulationContext<W>,
    levels: &BgvLevels,
) -> KeyLayout<'a, W> {
    KeyLayout {
        rlwe: context.rlwe(),
        encapsulation: Some(encapsulation),
        relinearization: levels.removal,
        inversion: "rows swapped",
    }
}

fn check_general(spec: &BgvSpec) -> Result<(), Error> {
    if spec.has_odd_index() || spec.general == spec.has_two_axes() {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "a set with general = {} in a ring of {}; take the other, or a ring of odd index",
        spec.general,
        if spec.has_two_axes() {
            "two axes, whose slots hold several numbers"
        } else {
            "one axis, whose slots hold one"
        }
    )))
}

fn check_ephemeral(spec: &BgvSpec) -> Result<(), Error> {
    let ephemeral = &spec.ephemeral;
    // At most one coefficient for each power of Y, or of X_2 beside one other prime.
    let rows = match Cyclotomic::new(spec.chain.n, spec.chain.odd_part) {
        Ok(ring) if uniforms(spec) != 8 => ring.rows(),
        _ => 1,
    };
    let largest = (spec.chain.n / rows).min(LARGEST_NOISY_WEIGHT as usize / uniforms(spec) as usize);
    if ephemeral.weight == 0 || ephemeral.weight as usize > largest {
        return Err(Error::InvalidArgument(format!(
            "an ephemeral secret of weight {} in a ring of degree {}; take 1 to {largest} coefficients that are not 0",
            ephemeral.weight, spec.chain.n
        )));
    }
    let base = spec.chain.levels.first().map_or(0, Vec::len);
    if base != 1 {
        return Err(Error::InvalidArgument(format!(
            "level 0 has {base} primes; the digit counts multiples of one prime q0, so give it exactly one"
        )));
    }
    Ok(())
}

/// Number of uniform numbers that a coefficient of the ephemeral secret adds to each digit. In a ring of two axes it adds two, its own and
/// that of a product with Z^0, which is subtracted from all others; they are independent, since no two coefficients are at the same power
/// of Y. In a ring of odd index it adds four, or eight for three primes, as all axes are folded. Where two of them are the same number,
/// digits are larger than for independent ones.
fn uniforms(spec: &BgvSpec) -> u32 {
    match (spec.has_odd_index(), spec.has_two_axes()) {
        (true, _) => Cyclotomic::of_odd_index(spec.chain.odd_part)
            .and_then(Cyclotomic::odd_index)
            .map_or(4, |index| 1 << index.primes().len()),
        (_, true) => 2,
        (_, false) => 1,
    }
}

/// See [`BgvParams::log2_failure`].
fn log2_failure(spec: &BgvSpec) -> f64 {
    let weight = spec.ephemeral.weight * uniforms(spec);
    // With a step, the multiples have to stay within the bound as well.
    let digits = if spec.approach.step().is_some() { 2.0 } else { 1.0 };
    let exceeds = if spec.has_odd_index() && spec.chain.policy.is_secure() {
        overflow::log2_shared_quotient_exceeds
    } else {
        overflow::log2_noisy_quotient_exceeds
    };
    exceeds(weight, spec.bound, LARGEST_DEVIATION) + libm::log2(digits * spec.chain.n as f64)
}

/// A wrong slot leaks something of the key to anybody who learns of it (Cheon and others, ePrint 2024/127). A policy that claims security
/// accepts no set with more than one in 2^128 bootstraps.
fn check_failure(spec: &BgvSpec) -> Result<(), Error> {
    let failure = log2_failure(spec);
    if spec.has_odd_index() && uniforms(spec) != 4 && spec.chain.policy.is_secure() {
        return Err(Error::Insecure(format!(
            "a ring of the odd index {}, of three primes, where the probability of a wrong slot is estimated and has no bound, and the \
             policy {} asks for one; take an index of two primes, or a ring of one axis or two",
            spec.chain.odd_part,
            spec.chain.policy.name()
        )));
    }
    // Written so that NaN is refused too.
    if spec.chain.policy == SecurityPolicy::InsecureForTests || failure <= LARGEST_FAILURE {
        return Ok(());
    }
    Err(Error::Insecure(format!(
        "digits up to {} with an ephemeral secret of weight {}: a bootstrap gives a wrong slot with a probability of 2^{failure:.1}, \
         and the policy {} takes 2^{LARGEST_FAILURE} at most; take a larger bound or a smaller weight",
        spec.bound,
        spec.ephemeral.weight,
        spec.chain.policy.name()
    )))
}

/// The stages of both linear maps: the level each works at, and the shape of its matrix.
pub(super) struct Shapes {
    pub slots_to_coeffs: Vec<(usize, IntegerStageShape)>,
    pub coeffs_to_slots: Vec<(usize, IntegerStageShape)>,
}

impl Shapes {
    fn of<W: Word>(spec: &BgvSpec, context: &BgvContext<W>, levels: &BgvLevels) -> Result<Self, Error> {
        let columns = context.rlwe().ring().columns() / 2;
        let down = |top: usize, shapes: Vec<IntegerStageShape>| {
            shapes.into_iter().enumerate().map(|(i, shape)| (top - i, shape)).collect()
        };
        let [there, back] = match context.hypercube() {
            Some(cube) if (spec.slots_to_coeffs, spec.coeffs_to_slots) == (2, 2) => {
                hypercube_shapes(cube, spec.is_general())
            }
            Some(_) => {
                return Err(Error::InvalidArgument(format!(
                    "{} stages of slots-to-coefficients and {} of coefficients-to-slots in a ring of odd index; take 2 of both, one \
                     for each dimension of slots",
                    spec.slots_to_coeffs, spec.coeffs_to_slots
                )));
            }
            None => [
                integer_slots_to_coeffs_shapes(columns, spec.slots_to_coeffs)?,
                integer_coeffs_to_slots_shapes(columns, spec.coeffs_to_slots)?,
            ],
        };
        Ok(Self {
            slots_to_coeffs: down(levels.slots_to_coeffs, there),
            coeffs_to_slots: down(levels.coeffs_to_slots, back),
        })
    }

    /// All stages, those of slots-to-coefficients first.
    pub fn all(&self) -> impl Iterator<Item = &(usize, IntegerStageShape)> {
        self.slots_to_coeffs.iter().chain(&self.coeffs_to_slots)
    }
}

/// The automorphisms of all stages, each with its highest level. For computing between bootstraps, up to the output's level: rotations by
/// powers of two and the exchange of rows, or rotations of both dimensions. Powers of the Frobenius automorphism: up to the removal's level
/// where they unpack slots, otherwise up to the output's.
fn galois_elements<W: Word>(
    context: &BgvContext<W>,
    shapes: &Shapes,
    levels: &BgvLevels,
    general: bool,
) -> Result<BTreeMap<GaloisElement, usize>, Error> {
    let mut out: BTreeMap<GaloisElement, usize> = BTreeMap::new();
    let of_frobenius = if general { levels.removal } else { levels.output };
    for power in 1..context.slot_degree() {
        out.insert(context.frobenius_element(power as u32)?, of_frobenius);
    }
    let (ring, columns) = (context.rlwe().ring(), context.slots() / 2);
    let mut add = |element: GaloisElement, level: usize| {
        let highest = out.entry(element).or_default();
        *highest = level.max(*highest);
    };
    for (level, shape) in shapes.all() {
        let keys = shape.divided(ring).keys();
        for step in keys {
            add(shape.group.element(ring, step), *level);
        }
    }
    if let Some(cube) = context.hypercube() {
        for (dimension, length) in cube.dimensions().into_iter().enumerate() {
            for steps in cube.powers_of_two(dimension) {
                add(cube.rotation(dimension, steps), levels.output);
                if !cube.is_good(dimension) {
                    add(cube.rotation(dimension, steps - length as i64), levels.output);
                }
            }
        }
        return Ok(out);
    }
    (0..columns.ilog2()).for_each(|log| add(Step::rotation(1 << log).element_in(ring), levels.output));
    add(Step { rotation: 0, inverted: true }.element_in(ring), levels.output);
    Ok(out)
}
