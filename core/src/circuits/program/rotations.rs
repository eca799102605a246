//! The keys that programs are planned for, and rotations composed of those that have keys.

use alloc::{collections::BTreeMap, collections::VecDeque, format, vec, vec::Vec};

use crate::error::Error;

/// Which keys there are, and up to which level each is used.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyLevels {
    pub relinearization: Option<usize>,
    /// Left rotations that have keys, with their levels.
    pub rotations: BTreeMap<i64, usize>,
    /// The key of the one other automorphism: conjugation, or the swap of the two rows.
    pub inversion: Option<usize>,
    /// The number of slots after which rotated values repeat.
    pub period: usize,
}

impl KeyLevels {
    /// No keys, for values that repeat after `period` slots.
    pub fn none(period: usize) -> Self {
        Self { period, ..Self::default() }
    }

    /// The fewest rotations with keys at `level` or above that together make a left rotation by `steps`.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if rotations with keys do not make it.
    pub fn rotation(&self, known: &mut KnownRotations, level: usize, steps: i64) -> Result<Vec<i64>, Error> {
        known.of((&self.rotations, self.period), level, steps)
    }
}

/// Compositions with the fewest key switches for every rotation, found once for every level.
#[derive(Default)]
pub(super) struct KnownRotations {
    /// For each level and every rotation of the slots, the last step of the shortest composition.
    last_steps: BTreeMap<usize, Vec<Option<i64>>>,
}

impl KnownRotations {
    /// `keys` are rotations with the levels of their keys; rotated values repeat after `slots` slots.
    fn of(
        &mut self,
        (keys, slots): (&BTreeMap<i64, usize>, usize),
        level: usize,
        steps: i64,
    ) -> Result<Vec<i64>, Error> {
        self.shortest((keys, slots), level, steps).ok_or_else(|| {
            let keys = keys.iter().filter(|&(_, &own)| own >= level).map(|(steps, _)| steps);
            let keys: Vec<&i64> = keys.take(24).collect();
            Error::MissingKey(format!(
                "a rotation by {steps} at level {level} cannot be composed of those there are keys for: {keys:?}; make keys for \
                 the powers of two"
            ))
        })
    }

    fn shortest(
        &mut self,
        (keys, slots): (&BTreeMap<i64, usize>, usize),
        level: usize,
        steps: i64,
    ) -> Option<Vec<i64>> {
        let last = self.last_steps.entry(level).or_insert_with(|| search((keys, slots), level));
        let period = slots as i64;
        let mut at = steps.rem_euclid(period);
        let mut out = Vec::new();
        while at != 0 {
            let step = last[at as usize]?;
            out.push(step);
            at = (at - step).rem_euclid(period);
        }
        out.sort_unstable();
        Some(out)
    }
}

/// Breadth-first search over the slots of a message. These repeat, so rotations of the ring that differ by a multiple of their number do
/// the same.
fn search((keys, slots): (&BTreeMap<i64, usize>, usize), level: usize) -> Vec<Option<i64>> {
    let mut usable: BTreeMap<usize, i64> = BTreeMap::new();
    for (&step, _) in keys.iter().filter(|&(_, &own)| own >= level) {
        usable.entry(step as usize % slots).or_insert(step);
    }
    usable.remove(&0);
    let mut last = vec![None; slots];
    let mut queue = VecDeque::from([0usize]);
    while let Some(at) = queue.pop_front() {
        for (&places, &step) in &usable {
            let next = (at + places) % slots;
            if next != 0 && last[next].is_none() {
                last[next] = Some(step);
                queue.push_back(next);
            }
        }
    }
    last
}
