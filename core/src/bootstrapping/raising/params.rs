//! Checked parameters with everything derived from them.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use super::{
    reduction::ReductionSpec,
    spec::{EphemeralSpec, RaisingSpec, StageOrder},
};
use crate::{
    arith::Word,
    bootstrapping::{
        method::limits,
        overflow,
        switching_keys::{KeyLayout, SwitchingKeyPart, switching_keys_of_set},
    },
    circuits::linear_transform::{
        BabyGiantSteps, LinearTransform, PlaintextStorage, StageShape, coeffs_to_slots_shapes,
        slots_to_coeffs_shapes,
    },
    error::Error,
    ring::{Cyclotomic, GaloisElement, SmallPoly},
    rlwe::{EncapsulationContext, RlweContext, RlweSpec},
    schemes::{
        ckks::{Ciphertext, CkksContext, Scale},
        identity::of_set,
        set_names::{own_set_name, set_name},
    },
    security::{self, Instance, SecretDistribution, SecurityReport},
    trace::StageInfo,
};

/// What X -> X^-1 does to complex slots.
const INVERSION: &str = "conjugation";

/// The levels of a set: the highest level each stage works at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// Lowest level of an input.
    pub input: usize,
    /// Level of the result.
    pub output: usize,
    /// Where coefficients-to-slots begins: the top.
    pub coeffs_to_slots: usize,
    /// Where the reduction begins.
    pub reduction: usize,
    /// Where slots-to-coefficients begins.
    pub slots_to_coeffs: usize,
}

impl Levels {
    fn of<R>(spec: &RaisingSpec<R>, reduction: usize) -> Result<Self, Error> {
        let top = spec.chain.levels.len().saturating_sub(1);
        let stages = spec.coeffs_to_slots.saturating_add(reduction).saturating_add(spec.slots_to_coeffs);
        if top <= stages {
            return Err(Error::InvalidArgument(format!(
                "{top} levels above the base, the stages take {} + {reduction} + {}; give the chain at least one level \
                 more, for what is computed between bootstraps",
                spec.coeffs_to_slots, spec.slots_to_coeffs
            )));
        }
        let begins = top - spec.coeffs_to_slots;
        let reduced = begins - reduction;
        let maps = spec.slots_to_coeffs;
        Ok(match spec.order {
            StageOrder::CoeffsToSlotsFirst => Self {
                input: 0,
                output: reduced - maps,
                coeffs_to_slots: top,
                reduction: begins,
                slots_to_coeffs: reduced,
            },
            StageOrder::SlotsToCoeffsFirst => Self {
                input: maps,
                output: reduced,
                coeffs_to_slots: top,
                reduction: begins,
                slots_to_coeffs: maps,
            },
        })
    }

    /// Levels of a result above those of an input, for tables and for computing between two bootstraps.
    pub fn left(&self) -> usize {
        self.output - self.input
    }
}

/// A parameter set: immutable, validated, cheap to clone.
pub struct RaisingParams<R: ReductionSpec, W: Word = u64>(Arc<Inner<R, W>>);

struct Inner<R: ReductionSpec, W: Word> {
    spec: RaisingSpec<R>,
    fingerprint: [u8; 16],
    security: SecurityReport,
    ckks: CkksContext<W>,
    encapsulation: Option<EncapsulationContext<W>>,
    levels: Levels,
    stages: Vec<StageInfo>,
    galois: BTreeMap<GaloisElement, usize>,
    parts: Vec<SwitchingKeyPart>,
}

impl<R: ReductionSpec, W: Word> Clone for RaisingParams<R, W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: ReductionSpec, W: Word> RaisingParams<R, W> {
    /// Validates a specification: shape, primes, scales, and security under its policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that does not fit, [`Error::Insecure`] if an instance does not meet
    /// the policy.
    pub fn new(spec: &RaisingSpec<R>) -> Result<Self, Error> {
        Self::within(spec, spec.fingerprint())
    }

    /// [`Self::new`] for a part of a larger set, whose identity ciphertexts and keys carry.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(in crate::bootstrapping) fn within(
        spec: &RaisingSpec<R>,
        fingerprint: [u8; 16],
    ) -> Result<Self, Error> {
        let levels = Levels::of(spec, spec.reduction.levels())?;
        let rlwe = RlweContext::new(&spec.chain)?;
        check_shape(spec)?;
        let security = security_of(&spec.chain, spec.ephemeral.as_ref())?;
        let encapsulation = spec
            .ephemeral
            .as_ref()
            .map(|e| EncapsulationContext::new(spec.chain.n, &spec.chain.levels[0], e.prime, e.digits))
            .transpose()?;
        let galois = galois_elements(spec, &levels)?;
        let layout = KeyLayout {
            rlwe: &rlwe,
            encapsulation: encapsulation.as_ref(),
            relinearization: levels.reduction,
            inversion: INVERSION,
        };
        let inner = Inner {
            parts: layout.parts(&galois),
            galois,
            stages: R::stages(spec),
            spec: spec.clone(),
            fingerprint,
            security,
            ckks: CkksContext::for_messages(rlwe, fingerprint, R::LARGEST_MESSAGE)?,
            encapsulation,
            levels,
        };
        Ok(Self(Arc::new(inner)))
    }

    of_set!(RaisingSpec<R>);

    /// [`Error::ParamsMismatch`] unless a ciphertext is of this set.
    pub(in crate::bootstrapping) fn check_set(&self, x: &Ciphertext<W>) -> Result<(), Error> {
        if x.fingerprint() == self.fingerprint() {
            return Ok(());
        }
        Err(Error::ParamsMismatch(format!(
            "ciphertext of set {}, evaluator of {}; use the evaluator of the set that encrypted it",
            set_name(&x.fingerprint()),
            own_set_name(self.name(), &self.fingerprint())
        )))
    }

    /// Whether a run can begin with a ciphertext: of this set, at level `lowest` or above, and of two components.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::InvalidArgument`].
    pub(in crate::bootstrapping) fn check_input(
        &self,
        x: &Ciphertext<W>,
        lowest: usize,
    ) -> Result<(), Error> {
        self.check_set(x)?;
        limits::check_input(self.name(), lowest, x.level(), x.components())
    }

    /// Security of the set: the weaker of the main secret at Q P and the ephemeral one at q0 p'.
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// Chain and encoder.
    pub fn ckks(&self) -> &CkksContext<W> {
        &self.0.ckks
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        self.0.spec.chain.n
    }

    /// Slots of a message; those of the ring repeat them.
    pub fn slots(&self) -> usize {
        1 << self.0.spec.log_slots
    }

    /// Whether the slots of a message are all that the ring has.
    pub fn is_full(&self) -> bool {
        self.slots() == self.n() / 2
    }

    /// Whether real and imaginary parts of few slots lie side by side and are reduced at once.
    pub fn packs_parts(&self) -> bool {
        packs_parts(self.spec())
    }

    /// Scale of messages in and out.
    pub fn scale(&self) -> Scale {
        Scale::exp2(self.0.spec.log_scale)
    }

    /// Scale of slots that enter and leave the reduction.
    pub fn eval_scale(&self) -> Scale {
        Scale::exp2(self.0.spec.log_eval_scale)
    }

    /// Nominal scale of a message at level 0: q0 over the message ratio or, if coefficients-to-slots goes first, the
    /// nearest integer multiple of the scale of messages.
    pub(in crate::bootstrapping) fn raised_message_scale(&self) -> Scale {
        let wanted = self.base_modulus().div(Scale::exp2(f64::from(self.0.spec.log_message_ratio)));
        match self.0.spec.order {
            StageOrder::SlotsToCoeffsFirst => wanted,
            StageOrder::CoeffsToSlotsFirst => {
                let factor = libm::round(wanted.div(self.scale()).to_f64()).max(1.0);
                self.scale().mul(Scale::new(factor))
            }
        }
    }

    /// Scale of a message between the reduction and slots-to-coefficients.
    pub(in crate::bootstrapping) fn reduced_scale(&self) -> Scale {
        self.eval_scale().mul(self.raised_message_scale()).div(self.base_modulus())
    }

    /// q0.
    pub fn base_modulus(&self) -> Scale {
        Scale::product(self.0.spec.chain.levels[0].iter().copied())
    }

    /// The levels of the stages.
    pub fn levels(&self) -> &Levels {
        &self.0.levels
    }

    /// The stages in order.
    pub fn stages(&self) -> &[StageInfo] {
        &self.0.stages
    }

    /// Moduli of the ephemeral secret's key.
    pub(in crate::bootstrapping) fn encapsulation(&self) -> Option<&EncapsulationContext<W>> {
        self.0.encapsulation.as_ref()
    }

    /// The automorphisms that a bootstrap takes, each with the highest level it is used at.
    pub fn galois_elements(&self) -> impl Iterator<Item = (GaloisElement, usize)> + '_ {
        self.0.galois.iter().map(|(&g, &level)| (g, level))
    }

    /// log2 Q P.
    pub fn log_qp(&self) -> f64 {
        let rlwe = self.ckks().rlwe();
        rlwe.qp(rlwe.max_level()).log2()
    }

    /// log2 of the modulus under the ephemeral secret, q0 p', or of q0 without one.
    pub fn log_q0_p(&self) -> f64 {
        self.encapsulation().map_or_else(|| self.base_modulus().log2(), |context| context.q0p().log2())
    }

    /// log2 of the probability that a bootstrap of a message with random coefficients gives a wrong result, which nothing shows: -40 is
    /// one bootstrap in 2^40.
    ///
    /// A bootstrap removes a multiple I of q0 from each coefficient, and does so correctly while |I| is below K
    /// ([`ReductionSpec::range`]). The probability that |I| is not below K is exact for one coefficient, and multiplied by the number
    /// of coefficients. `None` for a uniform ternary secret that is not exchanged for a sparse one: its multiples are not counted.
    pub fn log2_failure(&self) -> Option<f64> {
        self.log2_beyond(self.spec().reduction.range().saturating_sub(1))
    }

    /// log2 of the probability that one of the quotients of random coefficients is beyond `quotient`; `None` as
    /// [`Self::log2_failure`].
    pub(in crate::bootstrapping) fn log2_beyond(&self, quotient: u32) -> Option<f64> {
        let weight = match (&self.spec().ephemeral, self.spec().secret()) {
            (Some(ephemeral), _) => ephemeral.weight,
            (None, SecretDistribution::Sparse { weight }) => weight,
            (None, _) => return None,
        };
        let coefficients = 1.0 + f64::from(self.spec().log_slots);
        Some(overflow::log2_quotient_exceeds(weight, quotient) + coefficients)
    }

    /// What the shapes of the evaluation keys are derived from.
    pub(super) fn layout(&self) -> KeyLayout<'_, W> {
        KeyLayout {
            rlwe: self.ckks().rlwe(),
            encapsulation: self.encapsulation(),
            relinearization: self.levels().reduction,
            inversion: INVERSION,
        }
    }

    switching_keys_of_set!(W);

    /// Bytes of the evaluation keys expanded in memory.
    pub fn expanded_key_bytes(&self) -> u64 {
        self.switching_keys().into_iter().map(|key| self.switching_key_bytes(key)).sum()
    }

    /// Bytes that the encoded diagonals of both linear maps take in memory.
    pub fn diagonal_bytes(&self, storage: PlaintextStorage) -> u64 {
        // The shapes were listed when the set was validated.
        stage_shapes(self.spec(), self.levels()).map_or(0, |stages| {
            stages
                .iter()
                .map(|(level, shape)| LinearTransform::memory_bytes_for(self.ckks(), shape, *level, storage))
                .sum()
        })
    }
}

fn packs_parts<R>(spec: &RaisingSpec<R>) -> bool {
    (2usize << spec.log_slots) < spec.chain.n && spec.order == StageOrder::CoeffsToSlotsFirst
}

fn check_shape<R: ReductionSpec>(spec: &RaisingSpec<R>) -> Result<(), Error> {
    let log_n = spec.chain.n.trailing_zeros();
    let refuse = |what: String| Err(Error::InvalidArgument(what));
    if spec.log_slots == 0 || spec.log_slots >= log_n {
        return refuse(format!(
            "2^{} slots; a ring of degree 2^{log_n} has 2 to 2^{}",
            spec.log_slots,
            log_n - 1
        ));
    }
    for (name, stages) in
        [("coefficients to slots", spec.coeffs_to_slots), ("slots to coefficients", spec.slots_to_coeffs)]
    {
        if stages == 0 || stages > spec.log_slots as usize {
            return refuse(format!(
                "{stages} stages of {name}; 2^{} slots have 1 to {} of them",
                spec.log_slots, spec.log_slots
            ));
        }
    }
    let log_q0: f64 = spec.chain.levels[0].iter().map(|&p| libm::log2(p as f64)).sum();
    let room = log_q0 - f64::from(spec.log_message_ratio) - spec.log_scale;
    if room < -0.5 || !(10.0..=60.0).contains(&spec.log_scale) {
        return refuse(format!(
            "messages at scale 2^{} with a ratio of 2^{} do not fit q0 = 2^{log_q0:.1}; lower the scale or the ratio, \
             or take a larger q0",
            spec.log_scale, spec.log_message_ratio
        ));
    }
    R::check(spec)?;
    if !(20.0..=61.0).contains(&spec.log_eval_scale) {
        return refuse(format!("a scale of 2^{} for the reduction; take 2^20 to 2^61", spec.log_eval_scale));
    }
    if let Some(e) = &spec.ephemeral
        && (e.weight == 0 || e.weight as usize > spec.chain.n)
    {
        return refuse(format!("an ephemeral secret of weight {} in a ring of degree 2^{log_n}", e.weight));
    }
    Ok(())
}

/// Security of a chain under its policy, with an ephemeral secret or without: the weaker of the main secret at Q P and the
/// ephemeral one at q0 p'. In a ring of two axes the latter is one of those with at most one coefficient for each power of Y.
///
/// # Errors
/// As [`security::check`].
pub(in crate::bootstrapping) fn security_of(
    chain: &RlweSpec,
    ephemeral: Option<&EphemeralSpec>,
) -> Result<SecurityReport, Error> {
    let log2 = |primes: &mut dyn Iterator<Item = &u64>| primes.map(|&p| libm::log2(p as f64)).sum::<f64>();
    // A degree that is not a power of two counts as the next lower power of two, as in [`RlweContext`].
    let instance = |name, secret, log_modulus| Instance {
        name,
        log_n: chain.n.max(1).ilog2(),
        secret,
        log_modulus,
        sigma: SmallPoly::ERROR_SIGMA,
    };
    let all = log2(&mut chain.levels.iter().flatten().chain(&chain.special));
    let mut instances = alloc::vec![instance("main secret at Q P", chain.secret, all)];
    if let Some(e) = ephemeral {
        let small = log2(&mut chain.levels[0].iter().chain([&e.prime]));
        let sparse = SecretDistribution::Sparse { weight: e.weight };
        instances.push(instance("ephemeral secret at q0 p'", sparse, small));
    }
    let report = security::check(&instances, chain.policy)?;
    report.drawn_from_a_part(1, ephemeral.map_or(0.0, |e| lost_to_powers_of_y(chain, e.weight)))
}

/// log2 of the number of all sparse secrets of a weight over the number that [`SmallPoly::sparse_ternary_in`] draws from: 0 in a ring of
/// one axis, and of three odd primes.
fn lost_to_powers_of_y(chain: &RlweSpec, weight: u32) -> f64 {
    // C(N, h) over C(N/r, h) r^h, with r coefficients for each power of Y, or of `X_2`.
    let rows = match Cyclotomic::of_odd_index(chain.odd_part).map(|ring| (ring, ring.odd_index())) {
        Some((ring, Some(index))) if index.primes().len() == 2 => ring.rows() as u64,
        Some(_) => 1,
        None => chain.odd_part.saturating_sub(1).max(1),
    };
    let (n, rows) = (chain.n as f64, rows as f64);
    (0..weight).map(f64::from).map(|i| libm::log2((n - i) / (n - i * rows))).sum()
}

/// The stages of both linear maps: the level each works at, and the shape of its matrix.
pub(super) fn stage_shapes<R>(
    spec: &RaisingSpec<R>,
    levels: &Levels,
) -> Result<Vec<(usize, StageShape)>, Error> {
    let slots = 1usize << spec.log_slots;
    let mut back = coeffs_to_slots_shapes(slots, spec.coeffs_to_slots)?;
    let mut there = slots_to_coeffs_shapes(slots, spec.slots_to_coeffs)?;
    if packs_parts(spec) {
        // The stages that divide and join the parts act on twice the slots.
        for shape in back.last_mut().into_iter().chain(there.first_mut()) {
            shape.period = 2 * slots;
        }
    }
    let down = |top: usize| move |(i, shape)| (top - i, shape);
    let back = back.into_iter().enumerate().map(down(levels.coeffs_to_slots));
    let there = there.into_iter().enumerate().map(down(levels.slots_to_coeffs));
    Ok(back.chain(there).collect())
}

/// Rotations and conjugation of all stages, with the highest level of each.
fn galois_elements<R>(
    spec: &RaisingSpec<R>,
    levels: &Levels,
) -> Result<BTreeMap<GaloisElement, usize>, Error> {
    let (n, slots) = (spec.chain.n, 1usize << spec.log_slots);
    let mut out: BTreeMap<GaloisElement, usize> = BTreeMap::new();
    let mut add = |g: GaloisElement, level: usize| {
        let highest = out.entry(g).or_default();
        *highest = level.max(*highest);
    };
    for (level, shape) in stage_shapes(spec, levels)? {
        for step in BabyGiantSteps::of(&shape.shifts, n / 2).rotations() {
            add(GaloisElement::rotation(step, n), level);
        }
    }
    let mut step = slots;
    while step < n / 2 {
        add(GaloisElement::rotation(step as i64, n), levels.coeffs_to_slots);
        step *= 2;
    }
    add(GaloisElement::conjugation(n), levels.reduction.max(levels.output));
    Ok(out)
}
