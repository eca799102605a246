//! Tracks at the same time: each thread rotates a few others, for all lanes in one pass over their keys.

use alloc::{format, vec::Vec};

use super::{
    apart::{Ahead, Finished},
    blind_rotate::{Lane, TrackScratch},
    evaluator::ShipEvaluator,
    keys::KeySource,
    params::ShipParams,
};
use crate::{arith::Word, error::Error, par, rlwe::Pair, trace::Counters};

/// Working memory for the tracks that run together; it grows to what is asked of it.
pub(super) struct Tracks<W: Word> {
    slots: Vec<Slot<W>>,
    /// Tracks that were finished before their turn.
    pub(super) ahead: Ahead<W>,
}

struct Slot<W: Word> {
    scratch: TrackScratch<W>,
    group: Vec<usize>,
    /// The factors of each lane and the work, one by one for the tracks of the group.
    result: Result<Vec<Finished<W>>, Error>,
}

/// Tracks that one thread takes in one pass over the plaintexts, which are all alike to them: at most.
const GROUP: usize = 4;

/// Tracks to rotate in one step, so that every thread has a group.
pub(super) fn tracks_together<W: Word>(params: &ShipParams<W>) -> usize {
    let threads = par::threads();
    threads * (params.tracks() / threads).clamp(1, GROUP)
}

impl<W: Word> Tracks<W> {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), ahead: Ahead::new() }
    }

    /// Rotates `count` tracks from `first` on and appends the factors to `factors[lane]`, in order.
    pub(super) fn rotate(
        &mut self,
        evaluator: &ShipEvaluator<W>,
        lanes: &[Lane<'_, W>],
        (first, count): (usize, usize),
        keys: &dyn KeySource<W>,
        factors: &mut [Vec<Pair<W>>],
        counters: &mut Counters,
    ) -> Result<(), Error> {
        let missing = |track: &usize| !self.ahead.contains_key(track);
        let missing: Vec<usize> = (first..first + count).filter(missing).collect();
        let groups = missing.chunks(count.div_ceil(par::threads()).clamp(1, GROUP));
        while self.slots.len() < groups.len() {
            let scratch = TrackScratch::new(evaluator.params());
            self.slots.push(Slot { scratch, group: Vec::new(), result: Ok(Vec::new()) });
        }
        let slots = &mut self.slots[..groups.len()];
        for (slot, group) in slots.iter_mut().zip(groups) {
            slot.group = group.to_vec();
        }
        par::for_each_chunk_mut(slots, 1, |_, slot| {
            let Slot { scratch, group, result } = &mut slot[0];
            let mut work = Counters::default();
            let pairs = keys.rotate_tracks(evaluator, lanes, group, scratch, &mut work);
            *result = pairs.map(|pairs| {
                // The work is the group's: counted once.
                let work = core::iter::once(work).chain(core::iter::repeat(Counters::default()));
                pairs.into_iter().zip(work).collect()
            });
        });
        for Slot { group, result, .. } in slots {
            let results = core::mem::replace(result, Ok(Vec::new()))?;
            self.ahead.extend(group.iter().copied().zip(results));
        }
        for track in first..first + count {
            let (pairs, work) = self
                .ahead
                .remove(&track)
                .ok_or_else(|| Error::MissingKey(format!("the keys of track {track} gave no factors")))?;
            *counters += work;
            for (factors, pair) in factors.iter_mut().zip(pairs) {
                factors.push(pair);
            }
        }
        Ok(())
    }
}
