//! Tracks in parallel: each thread takes a few of them, and rotates all lanes in one pass over their keys.

use alloc::{collections::BTreeMap, format, vec::Vec};
use core::ops::Range;

use super::{
    blind_rotate::TrackScratch, evaluator::ShipEvaluator, keys::KeySource, on_the_fly, params::ShipParams,
    phase::Lane,
};
use crate::{arith::Word, error::Error, par, rlwe::Pair, trace::Counters};

/// Finished tracks by number.
pub(super) type Ahead<W> = BTreeMap<usize, Finished<W>>;
/// The factor of each lane, and the work it took.
pub(super) type Finished<W> = (Vec<Pair<W>>, Counters);

/// Working memory for the tracks that run together; it grows as needed.
pub(super) struct Tracks<W: Word> {
    slots: Vec<Slot<W>>,
    /// Tracks that were finished before their turn.
    pub(super) ahead: Ahead<W>,
}

struct Slot<W: Word> {
    scratch: TrackScratch<W>,
    group: Vec<usize>,
    /// For each track of the group, the factors of all lanes and the work.
    result: Result<Vec<Finished<W>>, Error>,
}

/// The most tracks that one thread takes in one pass over the plaintexts, which all tracks share.
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

    /// Rotates the tracks that are not finished yet; afterwards all of `tracks` are in `ahead`.
    pub(super) fn compute(
        &mut self,
        evaluator: &ShipEvaluator<W>,
        lanes: &[Lane<'_, W>],
        tracks: Range<usize>,
        keys: &dyn KeySource<W>,
    ) -> Result<(), Error> {
        let count = tracks.len();
        let missing: Vec<usize> = tracks.filter(|track| !self.ahead.contains_key(track)).collect();
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
            let pairs = blind_rotate(evaluator, keys, lanes, group, scratch, &mut work);
            *result = pairs.map(|pairs| {
                // The work is that of the whole group, and is counted once.
                let work = core::iter::once(work).chain(core::iter::repeat(Counters::default()));
                pairs.into_iter().zip(work).collect()
            });
        });
        for Slot { group, result, .. } in slots {
            let results = core::mem::replace(result, Ok(Vec::new()))?;
            self.ahead.extend(group.iter().copied().zip(results));
        }
        Ok(())
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
        self.compute(evaluator, lanes, first..first + count, keys)?;
        for track in first..first + count {
            let (pairs, work) = self.ahead.remove(&track).ok_or_else(|| {
                Error::MissingKey(format!("the keys of track {track} gave no factors; make them again"))
            })?;
            *counters += work;
            for (factors, pair) in factors.iter_mut().zip(pairs) {
                factors.push(pair);
            }
        }
        Ok(())
    }
}

/// Blind rotation of a few tracks for several lanes, in one pass over their keys: `[track][lane]`. If keys have to be made for
/// it, they are made sample by sample; each sample serves once, so only a few are in memory at a time.
pub(super) fn blind_rotate<W: Word>(
    evaluator: &ShipEvaluator<W>,
    keys: &dyn KeySource<W>,
    lanes: &[Lane<'_, W>],
    tracks: &[usize],
    scratch: &mut TrackScratch<W>,
    counters: &mut Counters,
) -> Result<Vec<Vec<Pair<W>>>, Error> {
    if let Some(secret) = keys.maker() {
        let rotations = &evaluator.rotations;
        let one =
            |&track: &usize| on_the_fly::blind_rotate(secret, rotations, lanes, track, scratch, counters);
        return tracks.iter().map(one).collect();
    }
    let keys = tracks.iter().map(|&track| Ok((track, keys.track(track)?)));
    let keys = keys.collect::<Result<Vec<_>, Error>>()?;
    evaluator.blind_rotate_lanes(lanes, &keys, scratch, counters)
}
