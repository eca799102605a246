//! How the sign of an integer is read: which digits are taken off first, how many rotations that takes, and how often the result is
//! wrong.
//!
//! The sign of a residue modulo 2^w is one rotation with room for noise of half a unit, 2^-(w+1) turns. Where that is too little, the
//! lowest digits are taken off first (Liu, Micciancio, Polyakov, ASIACRYPT 2022, algorithm `HomSign`): two rotations each.

use alloc::vec::Vec;

use crate::schemes::{
    cggi::{Encoding, NoiseModel},
    log2_sum,
};

/// Most bits of a digit: those of the messages of a look-up.
const MAX_BITS: u32 = Encoding::MAX_MESSAGES.ilog2();

/// A residue modulo 2^`width`, with what is known of its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::bootstrapping) struct NoisyResidue {
    /// w, at least 1.
    pub width: u32,
    /// The variance of its phase, in units of that of a bootstrapped ciphertext; may be much less than 1.
    pub noise: f64,
    /// How far the mean of its phase may be from its place, in turns. No sum averages it out, so it is subtracted from every margin.
    pub offset: f64,
}

/// The rotations that read the sign of a residue.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::bootstrapping) struct SignPlan {
    digits: Vec<Digit>,
    log2_failure: f64,
}

/// A digit that is taken off before the sign is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Digit {
    pub bits: u32,
    /// Noise of the digit, in units of that of a bootstrapped ciphertext, rounded up.
    pub weight: u32,
}

impl SignPlan {
    /// Takes the largest digit first for which the noise leaves room, so that every rotation is wrong with a probability of at most
    /// 2^`accepted`. `None` if there is no room even for one bit.
    pub(in crate::bootstrapping) fn new(
        model: &NoiseModel,
        residue: NoisyResidue,
        accepted: f64,
    ) -> Option<Self> {
        let NoisyResidue { mut width, mut noise, offset } = residue;
        let mut weight = libm::ceil(noise) as u32;
        let (mut digits, mut failures) = (Vec::new(), Vec::new());
        loop {
            let half_unit = libm::ldexp(0.5, -(width as i32));
            let sign = wrong(model, weight, half_unit - offset);
            if sign <= accepted {
                failures.push(sign);
                return Some(Self { digits, log2_failure: log2_sum(&failures) });
            }
            let taken = (1..=MAX_BITS.min(width.saturating_sub(1))).rev().find_map(|bits| {
                let steps = (width - bits) as i32;
                let weight = libm::ceil(libm::ldexp(noise, 2 * steps)) as u32;
                // Half the phase has half the noise; a look-up then adds its half of the circle, with noise of its own.
                let margin =
                    Encoding::Padded { messages: 1 << bits }.margin() - libm::ldexp(offset, steps - 1);
                let halved = weight.div_ceil(4);
                let both = [halved, halved.saturating_add(1)].map(|weight| wrong(model, weight, margin));
                both.iter().all(|&log| log <= accepted).then_some((Digit { bits, weight }, both))
            });
            let (digit, both) = taken?;
            digits.push(digit);
            failures.extend(both);
            // The result of a look-up is subtracted, with its noise; the offset stays as it is.
            weight = weight.saturating_add(1);
            noise = f64::from(weight);
            width -= digit.bits;
        }
    }

    /// The digits, in order.
    pub(super) fn digits(&self) -> &[Digit] {
        &self.digits
    }

    /// Blind rotations: two for each digit, one for the sign.
    pub(in crate::bootstrapping) fn rotations(&self) -> usize {
        2 * self.digits.len() + 1
    }

    /// log2 of the probability that any of the rotations is wrong, at most: the sum of their probabilities.
    pub(in crate::bootstrapping) fn log2_failure(&self) -> f64 {
        self.log2_failure
    }
}

/// log2 of the probability that noise exceeds a margin; 0 where there is none left.
fn wrong(model: &NoiseModel, weight: u32, margin: f64) -> f64 {
    if margin > 0.0 { model.log2_failure(f64::from(weight), margin) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrapping::cggi::CggiPreset;

    fn model() -> NoiseModel {
        *CggiPreset::named("fbs16-50")
            .expect("a shipped set")
            .params_over::<u64>()
            .expect("a sound set")
            .noise()
    }

    fn plan(residue: NoisyResidue) -> Option<SignPlan> {
        SignPlan::new(&model(), residue, -128.0)
    }

    #[test]
    fn short_residues_take_one_rotation_and_longer_ones_two_more_a_digit() {
        for (width, noise, rotations) in [(2, 1.0, 1), (5, 1e-3, 1), (6, 1e-3, 3), (11, 1e-3, 5)] {
            let plan = plan(NoisyResidue { width, noise, offset: 0.0 }).expect("room for it");
            assert_eq!(plan.rotations(), rotations, "{width} bits");
            assert!(plan.log2_failure() <= -128.0 + libm::log2(rotations as f64), "{plan:?}");
            let taken: u32 = plan.digits().iter().map(|digit| digit.bits).sum();
            assert!(taken < width);
        }
    }

    #[test]
    fn an_offset_makes_digits_smaller_until_none_fits() {
        // Half a unit of the lowest digit is 2^-12 turns.
        let of = |offset| plan(NoisyResidue { width: 11, noise: 1e-3, offset });
        let rotations = |offset: f64| of(offset).map(|plan| plan.rotations());
        assert_eq!(rotations(0.0), Some(5));
        let shares: Vec<usize> =
            (0..16).map(|k| rotations(f64::from(k) * libm::exp2(-16.0)).unwrap_or(99)).collect();
        assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{shares:?}");
        assert_eq!(rotations(libm::exp2(-12.0)), None);
        assert_eq!(rotations(1.0), None);
        // The same share of a unit, for a sign alone.
        let sign = |offset| plan(NoisyResidue { width: 4, noise: 1e-3, offset }).map(|plan| plan.rotations());
        assert_eq!(sign(0.0), Some(1));
        assert_eq!(sign(libm::exp2(-5.0)), None);
    }

    #[test]
    fn failures_of_all_rotations_add_up() {
        let one = plan(NoisyResidue { width: 5, noise: 1e-3, offset: 0.0 }).expect("room for it");
        let three = plan(NoisyResidue { width: 6, noise: 1e-3, offset: 0.0 }).expect("room for it");
        assert!(one.log2_failure() <= model().log2_failure(1.0, 1.0 / 64.0));
        assert!(three.log2_failure() > model().log2_failure(2.0, 1.0 / 64.0));
    }
}
