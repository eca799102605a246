//! The keys that programs are planned for, and rotations composed of those that have keys.

use alloc::{collections::BTreeMap, collections::VecDeque, format, vec, vec::Vec};

use crate::error::Error;

/// Which keys there are, and up to which level each is used.
#[derive(Debug, Clone, Default)]
pub(super) struct KeyLevels {
    pub relinearization: Option<usize>,
    /// Left rotations there are keys for, with their levels.
    pub rotations: BTreeMap<i64, usize>,
    /// The key of the one other automorphism: conjugation, or the swap of the two rows.
    pub inversion: Option<usize>,
    /// What is rotated repeats after so many slots.
    pub period: usize,
}

impl KeyLevels {
    /// None, for what repeats after `period` slots.
    pub fn none(period: usize) -> Self {
        Self { period, ..Self::default() }
    }

    /// The rotations with keys at `level` or above that make one by `steps` to the left one after the other: as few as can be.
    ///
    /// # Errors
    /// [`Error::MissingKey`] if there are none that do.
    pub fn rotation(&self, known: &mut KnownRotations, level: usize, steps: i64) -> Result<Vec<i64>, Error> {
        known.of((&self.rotations, self.period), level, steps)
    }
}

/// The fewest key switches for every rotation, found once for every level.
#[derive(Default)]
pub(super) struct KnownRotations {
    /// By level, for every rotation of so many slots: the last step of the shortest composition.
    last_steps: BTreeMap<usize, Vec<Option<i64>>>,
}

impl KnownRotations {
    /// `keys` are rotations with the levels of their keys; what is rotated repeats after `slots` slots.
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

/// Breadth-first over the slots of a message, which repeat: keys of the ring's rotations that differ by a multiple of
/// their number do the same.
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
