//! Which rotations a matrix takes.

use alloc::{collections::BTreeSet, vec::Vec};

/// What a giant step costs, in baby steps: a division by P and a decomposition beside the product with the key.
const GIANT_COST: usize = 3;

/// A division of shifts k = g + b into giant steps g, multiples of a stride times a power of two, and baby steps
/// 0 <= b < that, multiples of the stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BabyGiantSteps {
    shifts: Vec<i64>,
    babies: Vec<i64>,
    giants: Vec<i64>,
    period: i64,
}

impl BabyGiantSteps {
    /// The cheapest division of the given shifts of a ring with so many slots, where a giant step counts as three
    /// baby steps.
    pub fn of(shifts: &[i64], slots: usize) -> Self {
        // Half a turn of all slots is the same either way: backward it shares the giant step of its neighbours.
        let half = slots as i64 / 2;
        let backward = |&k: &i64| if k == half { -half } else { k };
        let shifts = shifts.iter().map(backward).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>();
        let shifts = shifts.as_slice();
        let stride = shifts.iter().fold(0, |d, &k| gcd(d, k.abs())).max(1);
        let span = shifts.iter().fold(0, |m, &k| k.abs().max(m)) / stride;
        let candidates = (0..).map(|log| 1i64 << log).take_while(|&count| count <= (2 * span).max(1));
        let plans = candidates.map(|count| Self::with_period(shifts, stride * count));
        let fallback = Self::with_period(shifts, stride);
        plans.min_by_key(Self::cost).unwrap_or(fallback)
    }

    fn with_period(shifts: &[i64], period: i64) -> Self {
        let babies: BTreeSet<i64> = shifts.iter().map(|k| k.rem_euclid(period)).collect();
        let giants: BTreeSet<i64> = shifts.iter().map(|k| k - k.rem_euclid(period)).collect();
        let (babies, giants) = (babies.into_iter().collect(), giants.into_iter().collect());
        Self { shifts: shifts.to_vec(), babies, giants, period }
    }

    fn cost(&self) -> usize {
        let turns = |steps: &[i64]| steps.iter().filter(|&&s| s != 0).count();
        turns(&self.babies) + GIANT_COST * turns(&self.giants)
    }

    /// The shifts that were divided, ascending; half a turn is a negative one.
    pub fn shifts(&self) -> &[i64] {
        &self.shifts
    }

    /// Baby steps, ascending.
    pub fn babies(&self) -> &[i64] {
        &self.babies
    }

    /// Giant steps, ascending.
    pub fn giants(&self) -> &[i64] {
        &self.giants
    }

    /// Every rotation that needs a key, ascending, without repetition.
    pub fn rotations(&self) -> Vec<i64> {
        let all: BTreeSet<i64> =
            self.babies.iter().chain(&self.giants).copied().filter(|&s| s != 0).collect();
        all.into_iter().collect()
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_of_the_special_fft() {
        // 63 diagonals of stride 4: 15 baby steps and 3 giant ones, one of them on each side too far.
        let shifts: Vec<i64> = (-31..=31).map(|k| 4 * k).collect();
        let steps = BabyGiantSteps::of(&shifts, 1024);
        assert_eq!((steps.babies().len(), steps.giants()), (16, &[-128, -64, 0, 64][..]));
        assert_eq!(steps.rotations().len(), 18);
        assert_eq!(BabyGiantSteps::of(&[0], 1).rotations(), [0i64; 0]);
        assert_eq!(BabyGiantSteps::of(&[-1, 0, 1], 8).rotations().len(), 2);
        assert!(BabyGiantSteps::of(&[], 8).rotations().is_empty());
    }

    #[test]
    fn half_a_turn_goes_backward() {
        let shifts: Vec<i64> = (-15..=16).map(|k| 4 * k).collect();
        let steps = BabyGiantSteps::of(&shifts, 128);
        assert_eq!((steps.babies().len(), steps.giants()), (8, &[-64, -32, 0, 32][..]));
        assert_eq!(steps.shifts(), (-16..16).map(|k| 4 * k).collect::<Vec<_>>());
    }

    #[test]
    fn every_shift_is_a_sum() {
        let shifts = [-7, -3, 0, 2, 5, 40];
        let steps = BabyGiantSteps::of(&shifts, 256);
        for k in shifts {
            let parts = (k - k.rem_euclid(steps.period), k.rem_euclid(steps.period));
            assert!(steps.giants().contains(&parts.0) && steps.babies().contains(&parts.1));
        }
    }
}
