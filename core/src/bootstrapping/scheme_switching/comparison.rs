//! The cost of a comparison and the probability that it is wrong, known before anything is computed.

use alloc::format;

use super::{
    params::LinkParams,
    range::Range,
    slots_to_gates::{check_scale, drift_of},
};
use crate::{
    bootstrapping::{
        cggi::{NoisyResidue, SignPlan, too_noisy},
        raising::ReductionSpec,
    },
    error::Error,
    schemes::{
        cggi::{Encoding, log2_erfc},
        ckks::Scale,
        log2_sum,
    },
};

/// Comparisons of numbers that lie in one [`Range`] and are at one scale. The numbers are those that a ciphertext holds, with the errors of
/// earlier computations, which on a grid are at most [`Range::GRID_TOLERANCE`] of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    range: Range,
    by: By,
}

#[derive(Debug, Clone, PartialEq)]
enum By {
    /// One sign, with noise of this deviation; a distance of 1 is `turns` of a turn.
    Sign { deviation: f64, turns: f64 },
    /// Digits of the difference, and its sign.
    Digits(SignPlan),
}

impl<R: ReductionSpec> LinkParams<R> {
    /// How numbers in `range` are compared if their ciphertext is at `scale`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a grid that phases do not hold; [`Error::ScaleMismatch`] for a scale too far from that of the
    /// set; [`Error::Limit`] for a grid too fine for the noise, or for that scale.
    pub fn comparison(&self, range: Range, scale: Scale) -> Result<Comparison, Error> {
        range.check()?;
        check_scale(self, scale)?;
        let drift = drift_of(self, scale);
        let gates = self.cggi().noise();
        let by = match range {
            Range::Signed | Range::Unit => By::Sign {
                deviation: libm::sqrt(gates.total(self.difference_noise())),
                turns: range.turns() * (1.0 + drift),
            },
            Range::Grid { bits } => By::Digits(self.sign_plan(bits, scale)?),
        };
        Ok(Comparison { range, by })
    }

    /// The rotations that read the sign of a difference of two numbers at `scale` on a grid of `bits` bits.
    ///
    /// # Errors
    /// [`Error::Limit`] for a grid too fine for the noise, or for that scale.
    pub(super) fn sign_plan(&self, bits: u32, scale: Scale) -> Result<SignPlan, Error> {
        // Both numbers carry the noise of their extraction.
        let noise = self.difference_noise();
        let residue = |drift: f64| NoisyResidue { width: bits + 1, noise, offset: grid_offset(bits, drift) };
        let limit = self.spec().log_failure;
        let plan = |drift: f64| SignPlan::new(self.cggi().noise(), residue(drift), limit);
        let drift = drift_of(self, scale);
        if let Some(plan) = plan(drift) {
            return Ok(plan);
        }
        if plan(0.0).is_none() {
            return Err(too_noisy(residue(0.0), self.name()));
        }
        Err(Error::Limit(format!(
            "numbers on a grid of {bits} bits at scale 2^{:.6}, which differs from scale 2^{:.6} of {} by {:.1e} of it: the largest \
             difference is moved by as much, and would be compared wrongly more often than 2^{limit}; bring the numbers to the scale of \
             the set, or take a grid of fewer bits",
            scale.log2(),
            self.ckks().scale().log2(),
            self.name(),
            drift.abs()
        )))
    }

    /// The variance of the difference of two phases, in units of that of a bootstrapped ciphertext.
    pub(super) fn difference_noise(&self) -> f64 {
        2.0 * self.noise().extraction / self.noise().rotation
    }

    /// Checks that look-ups of ranks of `count` numbers are wrong no more often than the set accepts.
    ///
    /// # Errors
    /// [`Error::Limit`] for too many.
    pub(super) fn check_ranks(&self, count: usize) -> Result<(), Error> {
        let (wrong, limit) = (self.log2_wrong_look_up(count), self.spec().log_failure);
        if wrong <= limit {
            return Ok(());
        }
        Err(Error::Limit(format!(
            "the rank of one of {count} numbers would be wrong with 2^{wrong:.1}, and {} accepts 2^{limit}; rank fewer at once",
            self.name()
        )))
    }

    /// log2 of the probability that a look-up of one of `count` ranks is wrong: a rank carries the noise of `count` - 1 comparisons.
    fn log2_wrong_look_up(&self, count: usize) -> f64 {
        self.cggi().noise().log2_failure(count.saturating_sub(1) as f64, self.rank_encoding().margin())
    }

    /// log2 of the probability that any of the ranks of `count` numbers, or of `tables` look-ups of each, is wrong, if the numbers are at
    /// least `distance` apart: the sum over all rotations, where every pair counts as the closest.
    pub fn log2_wrong_ranks(
        &self,
        comparison: &Comparison,
        count: usize,
        tables: usize,
        distance: f64,
    ) -> f64 {
        let (pairs, look_ups) = (count * count.saturating_sub(1) / 2, count * tables);
        log2_sum(&[
            comparison.log2_wrong(distance) + libm::log2(pairs as f64),
            self.log2_wrong_look_up(count) + libm::log2(look_ups as f64),
        ])
    }
}

/// How far the difference of two numbers on a grid may be from its place, in turns: both may be off by their tolerance, and the drift of a
/// scale moves a difference, which is below 1, by at most that drift.
pub(super) fn grid_offset(bits: u32, drift: f64) -> f64 {
    let range = Range::Grid { bits };
    let step = libm::ldexp(1.0, -(bits as i32));
    range.turns() * (2.0 * Range::GRID_TOLERANCE * step + drift.abs())
}

impl Comparison {
    /// Where the numbers lie.
    pub fn range(&self) -> Range {
        self.range
    }

    /// The deviation of the phase whose sign is taken, in turns; `None` on a grid, where there are several.
    pub fn deviation(&self) -> Option<f64> {
        match self.by {
            By::Sign { deviation, .. } => Some(deviation),
            By::Digits(_) => None,
        }
    }

    /// Blind rotations of one comparison: 1, or on a grid 1 and two for each digit that is taken off.
    pub fn rotations(&self) -> usize {
        match &self.by {
            By::Sign { .. } => 1,
            By::Digits(plan) => plan.rotations(),
        }
    }

    /// log2 of the probability that two numbers at `distance` are compared wrongly, at most. On a grid it is the sum over all rotations,
    /// whatever the distance.
    pub fn log2_wrong(&self, distance: f64) -> f64 {
        match &self.by {
            By::Sign { deviation, turns } => {
                // Differences wrap at half a turn.
                let most = if self.range == Range::Signed { 2.0 } else { 1.0 };
                let beyond = |margin: f64| {
                    let sigmas = margin.max(0.0) / deviation;
                    log2_erfc(sigmas * core::f64::consts::FRAC_1_SQRT_2) - 1.0
                };
                log2_sum(&[beyond(turns * distance.abs()), beyond(0.5 - turns * most)])
            }
            By::Digits(plan) => plan.log2_failure(),
        }
    }

    /// The least distance at which two numbers are compared wrongly with a probability of at most 2^`log_probability`; 0 on a grid, and
    /// `None` where no distance is enough.
    pub fn least_distance(&self, log_probability: f64) -> Option<f64> {
        let right = |distance| self.log2_wrong(distance) <= log_probability;
        if !right(1.0) {
            return None;
        }
        if right(0.0) {
            return Some(0.0);
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if right(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }
}

/// How differences on a grid are encoded: residues whose highest bit is the sign.
pub(super) fn difference_encoding(bits: u32) -> Encoding {
    Encoding::Cyclic { messages: 2 << bits }
}
