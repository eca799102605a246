//! Baby and giant steps: which automorphisms a linear map needs.

use alloc::{collections::BTreeSet, vec::Vec};
use core::fmt;

use crate::ring::{Cyclotomic, GaloisElement};

/// What a giant step costs, in baby steps: a division by P and a decomposition beside the product with the key.
const GIANT_COST: usize = 3;

/// An automorphism of a ring of degree N = 2^k as exponents of the generators of the automorphism group, which is abelian: X ->
/// X^(5^rotation), which has order N/2, and X -> X^-1.
///
/// In CKKS such automorphisms rotate and conjugate the slots; in BGV, with two rows of N/2 slots, they rotate both rows and swap them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// Exponent of 5.
    pub rotation: i64,
    /// Whether X -> X^-1 is a factor.
    pub inverted: bool,
}

impl Step {
    /// X -> X.
    pub const IDENTITY: Self = Self::rotation(0);

    /// X -> X^(5^k).
    pub const fn rotation(k: i64) -> Self {
        Self { rotation: k, inverted: false }
    }

    /// The product of two automorphisms.
    #[must_use]
    pub const fn combine(self, other: Self) -> Self {
        Self { rotation: self.rotation + other.rotation, inverted: self.inverted != other.inverted }
    }

    /// The exponent of X.
    pub fn element(self, n: usize) -> GaloisElement {
        let element = GaloisElement::rotation(self.rotation, n);
        if self.inverted { element.combine(GaloisElement::conjugation(n), n) } else { element }
    }
}

impl Step {
    /// The automorphism in any ring; in a ring with two axes its rotation is along the first.
    pub fn element_in(self, ring: Cyclotomic) -> GaloisElement {
        let element = ring.rotation(self.rotation);
        if self.inverted { ring.combine(element, ring.inversion()) } else { element }
    }
}

/// The automorphisms that the rotations of steps stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepGroup {
    /// Themselves: [`Step::element_in`].
    Rotations,
    /// A rotation by i `width` + j, |j| <= `width`/2, for the product of the power i of one automorphism and the power j of another. The
    /// width is a power of two.
    Products {
        /// The automorphism with power j.
        along: GaloisElement,
        /// The automorphism with power i.
        across: GaloisElement,
        /// A power of two, more than twice as much as any |j| of a sum of steps.
        width: i64,
    },
}

impl StepGroup {
    /// The automorphism of a step.
    pub fn element(self, ring: Cyclotomic, step: Step) -> GaloisElement {
        match self {
            Self::Rotations => step.element_in(ring),
            Self::Products { along, across, width } => {
                let i = (step.rotation + width / 2).div_euclid(width);
                ring.combine(ring.power(across, i), ring.power(along, step.rotation - i * width))
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inverted = if self.inverted { ", conjugated" } else { "" };
        write!(f, "rotation by {}{inverted}", self.rotation)
    }
}

/// A division of steps into giant steps and baby steps. Giant steps are rotations by multiples of the period, a stride times a power of
/// two. Baby steps are rotations by multiples of the stride below the period, inverted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BabyGiantSteps {
    steps: Vec<Step>,
    babies: Vec<Step>,
    giants: Vec<Step>,
    period: i64,
}

impl BabyGiantSteps {
    /// The cheapest division of rotations of `slots` slots by `shifts`: [`Self::of_steps`].
    pub fn of(shifts: &[i64], slots: usize) -> Self {
        let steps: Vec<Step> = shifts.iter().map(|&k| Step::rotation(k)).collect();
        Self::of_steps(&steps, slots)
    }

    /// The cheapest division of the given steps of a ring where a rotation by `slots` is the identity; a giant step counts as three baby
    /// steps.
    pub fn of_steps(steps: &[Step], slots: usize) -> Self {
        // Half a turn of all slots is the same either way: backward it shares the giant step of its neighbours.
        let half = slots as i64 / 2;
        let backward = |step: &Step| match step.rotation {
            k if k == half => Step { rotation: -half, ..*step },
            _ => *step,
        };
        let steps = steps.iter().map(backward).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        let rotations = || steps.iter().map(|step| step.rotation.abs());
        let stride = rotations().fold(0, gcd).max(1);
        let span = rotations().max().unwrap_or(0) / stride;
        let candidates = (0..).map(|log| 1i64 << log).take_while(|&count| count <= (2 * span).max(1));
        let plans = candidates.map(|count| Self::with_period(&steps, stride * count));
        let fallback = Self::with_period(&steps, stride);
        plans.min_by_key(Self::cost).unwrap_or(fallback)
    }

    fn with_period(steps: &[Step], period: i64) -> Self {
        let baby = |step: &Step| Step { rotation: step.rotation.rem_euclid(period), ..*step };
        let babies: BTreeSet<Step> = steps.iter().map(baby).collect();
        let giants: BTreeSet<Step> = steps.iter().map(|step| giant(*step, period)).collect();
        let (babies, giants) = (babies.into_iter().collect(), giants.into_iter().collect());
        Self { steps: steps.to_vec(), babies, giants, period }
    }

    fn cost(&self) -> usize {
        let turns = |steps: &[Step]| steps.iter().filter(|&&s| s != Step::IDENTITY).count();
        turns(&self.babies) + GIANT_COST * turns(&self.giants)
    }

    /// The steps that were divided, ascending; half a turn is listed as negative.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Baby steps, ascending.
    pub fn babies(&self) -> &[Step] {
        &self.babies
    }

    /// Giant steps, ascending.
    pub fn giants(&self) -> &[Step] {
        &self.giants
    }

    /// The giant step of one of the steps.
    pub(crate) fn giant_of(&self, step: Step) -> Step {
        giant(step, self.period)
    }

    /// Every step that needs a key, ascending, without repetition.
    pub fn keys(&self) -> Vec<Step> {
        let all: BTreeSet<Step> =
            self.babies.iter().chain(&self.giants).copied().filter(|&s| s != Step::IDENTITY).collect();
        all.into_iter().collect()
    }

    /// [`Self::keys`] of a division of rotations alone.
    pub fn rotations(&self) -> Vec<i64> {
        self.keys().into_iter().filter(|step| !step.inverted).map(|step| step.rotation).collect()
    }
}

fn giant(step: Step, period: i64) -> Step {
    Step::rotation(step.rotation - step.rotation.rem_euclid(period))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn rotations(steps: &[Step]) -> Vec<i64> {
        steps.iter().map(|step| step.rotation).collect()
    }

    #[test]
    fn stages_of_the_special_fft() {
        // 63 diagonals of stride 4: 15 baby steps and 3 giant ones, one of them on each side too far.
        let shifts: Vec<i64> = (-31..=31).map(|k| 4 * k).collect();
        let steps = BabyGiantSteps::of(&shifts, 1024);
        assert_eq!((steps.babies().len(), rotations(steps.giants())), (16, vec![-128, -64, 0, 64]));
        assert_eq!(steps.rotations().len(), 18);
        assert_eq!(BabyGiantSteps::of(&[0], 1).rotations(), [0i64; 0]);
        assert_eq!(BabyGiantSteps::of(&[-1, 0, 1], 8).rotations().len(), 2);
        assert!(BabyGiantSteps::of(&[], 8).rotations().is_empty());
    }

    #[test]
    fn half_a_turn_goes_backward() {
        let shifts: Vec<i64> = (-15..=16).map(|k| 4 * k).collect();
        let steps = BabyGiantSteps::of(&shifts, 128);
        assert_eq!((steps.babies().len(), rotations(steps.giants())), (8, vec![-64, -32, 0, 32]));
        assert_eq!(rotations(steps.steps()), (-16..16).map(|k| 4 * k).collect::<Vec<_>>());
    }

    #[test]
    fn every_shift_is_a_sum() {
        let shifts = [-7, -3, 0, 2, 5, 40];
        let steps = BabyGiantSteps::of(&shifts, 256);
        for k in shifts {
            let (giant, baby) =
                (steps.giant_of(Step::rotation(k)), Step::rotation(k.rem_euclid(steps.period)));
            assert!(steps.giants().contains(&giant) && steps.babies().contains(&baby));
            assert_eq!(giant.combine(baby), Step::rotation(k));
        }
    }

    #[test]
    fn inverted_steps_are_baby_steps() {
        let both = |k: i64| [false, true].map(|inverted| Step { rotation: k, inverted });
        let all: Vec<Step> = (0..32).flat_map(both).collect();
        let steps = BabyGiantSteps::of_steps(&all, 1 << 10);
        assert!(steps.giants().iter().all(|giant| !giant.inverted));
        // {1, -1} x {5^b}: both of every rotation, one beside the other.
        assert!(steps.babies().chunks(2).all(|pair| pair == both(pair[0].rotation)));
        let products: BTreeSet<Step> =
            steps.giants().iter().flat_map(|g| steps.babies().iter().map(|b| g.combine(*b))).collect();
        assert_eq!(products.into_iter().collect::<Vec<_>>(), steps.steps());
        // 16 baby steps and 3 giant ones beside the identity: 8 rotations of either kind.
        assert_eq!((steps.babies().len(), steps.giants().len()), (16, 4));
        assert_eq!(steps.keys().len(), 18);
    }

    #[test]
    fn steps_are_exponents_of_generators() {
        let n = 32;
        for (rotation, inverted) in [(0, false), (0, true), (3, false), (-5, true), (15, true)] {
            let step = Step { rotation, inverted };
            for other in [Step::rotation(7), Step { rotation: -2, inverted: true }] {
                let product = step.element(n).value() * other.element(n).value() % (2 * n as u64);
                assert_eq!(step.combine(other).element(n).value(), product);
            }
        }
        assert_eq!(Step { rotation: 0, inverted: true }.element(n), GaloisElement::conjugation(n));
    }
}
