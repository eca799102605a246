//! Checked SHIP parameters with everything derived from them.

use alloc::{format, string::String, sync::Arc, vec::Vec};

use super::{
    layout::{self, BlockId, KeyPart},
    spec::ShipSpec,
    stages::{self, STAGES},
};
use crate::{
    arith::Word,
    bootstrapping::method::SlotMode,
    error::Error,
    ring::{Basis, SmallPoly},
    rlwe::{EncapsulationContext, RlweContext, RlweSpec},
    schemes::ckks::{CkksContext, Scale},
    security::{self, Instance, SecretDistribution, SecurityReport},
    trace::StageInfo,
};

/// Level of the input: q0 qs, one level for the slots-to-coefficients map.
pub const INPUT_LEVEL: usize = 1;
/// Level of the output: q0 qs qm, one level left to compute with.
pub const OUTPUT_LEVEL: usize = 2;

/// A SHIP parameter set: immutable, validated, cheap to clone.
pub struct ShipParams<W: Word = u32>(Arc<Inner<W>>);

struct Inner<W: Word> {
    spec: ShipSpec,
    fingerprint: [u8; 16],
    security: SecurityReport,
    ckks: CkksContext<W>,
    encapsulation: EncapsulationContext<W>,
    offsets: Vec<usize>,
    leaf_scales: Vec<Scale>,
    root_scales: Vec<Scale>,
    parts: Vec<KeyPart>,
}

impl<W: Word> Clone for ShipParams<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Word> ShipParams<W> {
    /// Validates a specification: shape, primes, digits, scales, and security under its policy.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] naming the number that does not fit, [`Error::Insecure`] if an
    /// instance does not meet the policy.
    pub fn new(spec: &ShipSpec) -> Result<Self, Error> {
        check_shape(spec)?;
        let n = 1usize << spec.log_n;
        let security = check_security(spec)?;
        let rlwe = RlweContext::new(&RlweSpec {
            n,
            odd_part: 1,
            levels: spec.levels.clone(),
            special: spec.special.clone(),
            digits: spec.digits.clone(),
            secret: SecretDistribution::Ternary,
            policy: spec.policy,
        })?;
        let encapsulation = EncapsulationContext::new(
            n,
            &spec.levels[0],
            spec.encapsulation_prime,
            spec.encapsulation_digits,
        )?;
        // Digits are balanced, so this is twice the largest one: enough for the toys with one digit.
        if spec.encapsulation_prime >> encapsulation.digit_bits() == 0 {
            return Err(Error::InvalidArgument(format!(
                "encapsulation prime {} is below its digit base 2^{}; use more digits or a larger prime",
                spec.encapsulation_prime,
                encapsulation.digit_bits()
            )));
        }
        let fingerprint = spec.fingerprint();
        let (leaf_scales, root_scales) = tree_scales(spec);
        let parts = layout::key_parts::<W>(spec, &rlwe, &encapsulation);
        let inner = Inner {
            fingerprint,
            security,
            ckks: CkksContext::new(rlwe, fingerprint)?,
            encapsulation,
            offsets: (0..spec.weight).map(|k| (k * n / spec.weight + n - spec.window / 2) % n).collect(),
            leaf_scales,
            root_scales,
            parts,
            spec: spec.clone(),
        };
        Ok(Self(Arc::new(inner)))
    }

    /// The numbers of the set.
    pub fn spec(&self) -> &ShipSpec {
        &self.0.spec
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.0.spec.name
    }

    /// log2 N.
    pub fn log_n(&self) -> u32 {
        self.0.spec.log_n
    }

    /// Ring degree N.
    pub fn n(&self) -> usize {
        1 << self.log_n()
    }

    /// Number of slots, N/2.
    pub fn slots(&self) -> usize {
        self.n() / 2
    }

    /// What the slots hold by default.
    pub fn mode(&self) -> SlotMode {
        self.0.spec.mode
    }

    /// Identity of the set; see [`ShipSpec::fingerprint`].
    pub fn fingerprint(&self) -> [u8; 16] {
        self.0.fingerprint
    }

    /// Estimated security, instance by instance.
    pub fn security(&self) -> &SecurityReport {
        &self.0.security
    }

    /// The CKKS scheme of the set.
    pub fn ckks(&self) -> &CkksContext<W> {
        &self.0.ckks
    }

    /// Moduli of the encapsulation key.
    pub fn encapsulation(&self) -> &EncapsulationContext<W> {
        &self.0.encapsulation
    }

    /// log2 of Q P, the largest modulus of the dense key.
    pub fn log_qp(&self) -> f64 {
        self.ckks().rlwe().qp(self.max_level()).log2()
    }

    /// log2 of q0 p', the modulus of the sparse key.
    pub fn log_q0_p(&self) -> f64 {
        self.encapsulation().q0p().log2()
    }

    /// log2 of the modulus at a level (the highest, if `level` is above it).
    pub fn log_q(&self, level: usize) -> f64 {
        self.ckks().rlwe().q(level.min(self.max_level())).log2()
    }

    /// Highest level of the chain: where blind rotation happens.
    pub fn max_level(&self) -> usize {
        self.0.spec.levels.len() - 1
    }

    /// Level of the input, 1.
    pub fn input_level(&self) -> usize {
        INPUT_LEVEL
    }

    /// Level of the output, 2.
    pub fn output_level(&self) -> usize {
        OUTPUT_LEVEL
    }

    /// The stages of a bootstrap, in order.
    pub fn stages(&self) -> &'static [StageInfo] {
        stages::of_tree(self.tree_levels()).unwrap_or(&STAGES[0])
    }

    /// Number of independent blind rotations, h.
    pub fn tracks(&self) -> usize {
        self.0.spec.weight
    }

    /// Levels of the product tree, T = log2(h + 1).
    pub fn tree_levels(&self) -> usize {
        (self.tracks() + 1).trailing_zeros() as usize
    }

    /// The chunks of the evaluation keys, in order.
    pub fn key_parts(&self) -> &[KeyPart] {
        &self.0.parts
    }

    /// Modulus of a block of the evaluation keys.
    pub fn block_basis(&self, block: BlockId) -> &Basis<W> {
        layout::basis(block, self.ckks().rlwe(), self.encapsulation())
    }

    /// Bytes of the evaluation keys on the wire.
    pub fn key_bytes(&self) -> u64 {
        self.key_parts().iter().map(|p| p.bytes as u64).sum()
    }

    /// Bytes of the evaluation keys expanded in memory: both components of every sample, one word a residue.
    pub fn expanded_key_bytes(&self) -> u64 {
        let segments = self.key_parts().iter().flat_map(|part| &part.segments);
        segments
            .map(|s| 2 * (s.count * self.block_basis(s.block).len() * self.n() * size_of::<W>()) as u64)
            .sum()
    }

    /// Message scale Delta.
    pub fn scale(&self) -> Scale {
        Scale::exp2(self.0.spec.log_scale)
    }

    /// Scale of the coefficients after slots-to-coefficients, D0 = q0 / gamma.
    pub fn coefficient_scale(&self) -> Scale {
        Scale::product(self.0.spec.levels[0].iter().copied()).div(Scale::new(self.0.spec.gamma))
    }

    /// eta: relative correction of the sine's slope.
    pub fn slope(&self) -> f64 {
        if self.0.spec.slope_correction { 0.75 * self.sine_error() } else { 0.0 }
    }

    /// kappa = (2 pi / gamma)^2 / 6: cubic error of the sine at |m| = 1.
    pub fn sine_error(&self) -> f64 {
        let x = core::f64::consts::TAU / self.0.spec.gamma;
        x * x / 6.0
    }

    /// An error unless the set has this track.
    pub(crate) fn check_track(&self, track: usize) -> Result<(), Error> {
        if track < self.tracks() {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "track {track} of a set with {} tracks; count them from 0",
            self.tracks()
        )))
    }

    /// Public offset o_k of track k's window.
    pub(crate) fn offset(&self, track: usize) -> usize {
        self.0.offsets[track]
    }

    /// Right rotation applied by branch d of multiplexer step t in track k:
    /// d theta B_0 … B_(t-1), plus o_k in the first step.
    pub(crate) fn branch_rotation(&self, track: usize, step: usize, branch: usize) -> i64 {
        let stride: usize = self.0.spec.branches[..step].iter().product();
        let offset = if step == 0 { self.offset(track) } else { 0 };
        (branch * self.0.spec.columns * stride + offset) as i64
    }

    /// Scale of the ordinary nodes after `t` levels of the tree, `t = 0` the leaves.
    pub(crate) fn node_scale(&self, t: usize) -> Scale {
        self.0.leaf_scales[t]
    }

    /// Scale of the node that carries the plaintext factor, after `t` levels.
    pub(crate) fn root_scale(&self, t: usize) -> Scale {
        self.0.root_scales[t]
    }

    /// Baby and giant steps of the slots-to-coefficients map.
    pub(crate) fn bsgs(&self) -> (usize, usize) {
        layout::bsgs(self.slots())
    }
}

/// Leaf scales forward, L_(t+1) = L_t^2 / t_(t+1); scales of the plaintext's path backward from the
/// wanted output scale, x_t = x_(t+1) t_(t+1) / L_t.
fn tree_scales(spec: &ShipSpec) -> (Vec<Scale>, Vec<Scale>) {
    let depth = (spec.weight + 1).trailing_zeros() as usize;
    let dropped = |t: usize| {
        let level = spec.levels.len() - 1 - t;
        Scale::product(spec.levels[level].iter().copied())
    };
    let mut leaves = alloc::vec![Scale::exp2(spec.log_leaf_scale)];
    for t in 0..depth {
        leaves.push(leaves[t].mul(leaves[t]).div(dropped(t)));
    }
    let mut roots = alloc::vec![Scale::exp2(spec.log_scale); depth + 1];
    for t in (0..depth).rev() {
        roots[t] = roots[t + 1].mul(dropped(t)).div(leaves[t]);
    }
    (leaves, roots)
}

fn check_shape(spec: &ShipSpec) -> Result<(), Error> {
    let fail = |what: String| Err(Error::InvalidArgument(format!("parameter set {}: {what}", spec.name)));
    if !(4..=16).contains(&spec.log_n) {
        return fail(format!("log2 N = {} must be from 4 to 16", spec.log_n));
    }
    let n = 1usize << spec.log_n;
    let leaves = spec.weight + 1;
    if !leaves.is_power_of_two() || !(4..=256).contains(&leaves) {
        return fail(format!("weight {} plus one must be a power of two from 4 to 256", spec.weight));
    }
    let depth = leaves.trailing_zeros() as usize;
    if spec.levels.len() != depth + 3 {
        return fail(format!(
            "{} levels given; q0, qs, qm and a tree of {depth} need {}",
            spec.levels.len(),
            depth + 3
        ));
    }
    let reach = spec.branches.iter().product::<usize>() * spec.columns;
    if spec.window == 0 || spec.window > n / 2 || reach < spec.window || spec.columns == 0 {
        return fail(format!(
            "a window of {} positions needs columns times branches of at least that, got {reach}",
            spec.window
        ));
    }
    if spec.branches.is_empty() || spec.branches.iter().any(|&b| !(2..=64).contains(&b)) {
        return fail("there must be at least one multiplexer step, each with 2 to 64 branches".into());
    }
    if spec.columns > 1024 || reach > n {
        return fail(format!("{reach} candidates exceed the ring degree {n}"));
    }
    if !matches!(spec.mode, SlotMode::Real | SlotMode::Bits) {
        return fail("a set is real or bits; real sets serve complex slots as well".into());
    }
    let sane = |x: f64, low: f64, high: f64| x.is_finite() && x >= low && x <= high;
    if !sane(spec.log_scale, 4.0, 60.0)
        || !sane(spec.log_leaf_scale, 4.0, 60.0)
        || !sane(spec.gamma, 1.0, 1e6)
    {
        return fail("scales must be 2^4 to 2^60 and gamma 1 to 10^6".into());
    }
    let wide = spec.levels.iter().flatten().chain(&spec.special).any(|&p| p >= 1 << 61);
    if wide || spec.levels.iter().any(|l| l.is_empty() || l.len() > 4) || spec.special.len() > 8 {
        return fail("levels take one to four primes, P one to eight, each below 2^61".into());
    }
    Ok(())
}

fn check_security(spec: &ShipSpec) -> Result<SecurityReport, Error> {
    let log2 = |primes: &mut dyn Iterator<Item = &u64>| primes.map(|&p| libm::log2(p as f64)).sum::<f64>();
    let main = log2(&mut spec.levels.iter().flatten().chain(&spec.special));
    let sparse = log2(&mut spec.levels[0].iter().chain([&spec.encapsulation_prime]));
    security::check(
        &[
            Instance {
                name: "dense key at Q P",
                log_n: spec.log_n,
                secret: SecretDistribution::Ternary,
                log_modulus: main,
                sigma: SmallPoly::ERROR_SIGMA,
            },
            Instance {
                name: "sparse encapsulation key at q0 p'",
                log_n: spec.log_n,
                secret: SecretDistribution::BlockSparse {
                    weight: spec.weight as u32,
                    choices_per_block: 2 * spec.window as u32,
                },
                log_modulus: sparse,
                sigma: SmallPoly::ERROR_SIGMA,
            },
        ],
        spec.policy,
    )
}
