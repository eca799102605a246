//! Tracks at the same time: each thread rotates another one, for all lanes in one pass over its keys.

use alloc::vec::Vec;

use super::{
    apart::Ahead,
    blind_rotate::{Lane, TrackScratch},
    evaluator::ShipEvaluator,
    keys::KeySource,
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
    counters: Counters,
    /// One factor per lane.
    result: Result<Vec<Pair<W>>, Error>,
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
        let ahead = &mut self.ahead;
        while self.slots.len() < count {
            let scratch = TrackScratch::new(evaluator.params());
            self.slots.push(Slot { scratch, counters: Counters::default(), result: Ok(Vec::new()) });
        }
        par::for_each_chunk_mut(&mut self.slots[..count], 1, |i, slot| {
            let Slot { scratch, counters, result } = &mut slot[0];
            *counters = Counters::default();
            if !ahead.contains_key(&(first + i)) {
                *result = keys.rotate_track(evaluator, lanes, first + i, scratch, counters);
            }
        });
        for (i, slot) in self.slots[..count].iter_mut().enumerate() {
            let (pairs, work) = match ahead.remove(&(first + i)) {
                Some(finished) => finished,
                None => (core::mem::replace(&mut slot.result, Ok(Vec::new()))?, slot.counters),
            };
            *counters += work;
            for (factors, pair) in factors.iter_mut().zip(pairs) {
                factors.push(pair);
            }
        }
        Ok(())
    }
}
