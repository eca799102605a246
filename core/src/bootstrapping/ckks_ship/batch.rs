//! Batching: several ciphertexts under one key in one pass over the evaluation keys. Their runs advance together step by step, and the
//! tracks of all of them are computed ahead of the step that uses them.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use super::{
    evaluator::ShipEvaluator,
    keys::KeySource,
    phase::Lane,
    run::{ShipRun, ShipState, check_run_key},
    tracks::{Tracks, tracks_together},
};
use crate::{
    arith::Word,
    bootstrapping::method::SlotMode,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::{Counters, Observer, StageEvent},
};

impl<W: Word> ShipEvaluator<W> {
    /// Bootstraps several ciphertexts under one key in one pass over the evaluation keys, which are most
    /// of what one bootstrap reads from memory. Results are those of [`Self::bootstrap`], bit for bit.
    /// Takes about 25 MB (N = 2^13) of memory more per ciphertext; the observer sees the stages of
    /// all together.
    ///
    /// # Errors
    /// As [`Self::bootstrap`]; nothing is computed unless all ciphertexts fit.
    pub fn bootstrap_batch(
        &self,
        ciphertexts: &[Ciphertext<W>],
        mode: SlotMode,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Vec<Ciphertext<W>>, Error> {
        let together = tracks_together(self.params());
        let mut runs = Vec::with_capacity(ciphertexts.len());
        for ciphertext in ciphertexts {
            check_run_key(ciphertext.key_id(), keys)?;
            runs.push(ShipRun::new(self, ciphertext, mode)?.with_tracks_per_step(together));
        }
        let mut tracks = Tracks::new();
        let mut observer = Together { observer, runs: runs.len(), run: 0, counters: Counters::default() };
        while runs.first().is_some_and(|run| run.next_stage().is_some()) {
            compute_tracks(self, &mut runs, &mut tracks, keys)?;
            for (i, run) in runs.iter_mut().enumerate() {
                observer.run = i;
                run.step(keys, &mut observer)?;
            }
        }
        runs.into_iter().map(ShipRun::finish).collect()
    }
}

/// If tracks are being rotated, computes those of the next step for all runs, in one pass over their keys.
fn compute_tracks<W: Word>(
    evaluator: &ShipEvaluator<W>,
    runs: &mut [ShipRun<'_, W>],
    tracks: &mut Tracks<W>,
    keys: &dyn KeySource<W>,
) -> Result<(), Error> {
    let Some(first) = runs.first().and_then(ShipRun::next_track) else { return Ok(()) };
    let params = evaluator.params();
    let next = first..params.tracks().min(first + tracks_together(params));
    let lanes = |run: &ShipRun<'_, W>| match &run.state {
        ShipState::Rotating { factors, .. } => factors.len(),
        _ => 0,
    };
    let halves: Vec<usize> = runs.iter().map(lanes).collect();
    let all: Vec<Lane<'_, W>> = runs
        .iter()
        .flat_map(|run| match &run.state {
            ShipState::Rotating { encoded, .. } => encoded.lanes(),
            _ => Vec::new(),
        })
        .collect();
    tracks.compute(evaluator, &all, next, keys)?;
    for (track, (pairs, work)) in core::mem::take(&mut tracks.ahead) {
        let (mut pairs, mut work) = (pairs.into_iter(), Some(work));
        for (run, &halves) in runs.iter_mut().zip(&halves) {
            // The work covers all runs. It goes to the first of them, so that it is counted once.
            let own = (pairs.by_ref().take(halves).collect(), work.take().unwrap_or_default());
            run.tracks.ahead.insert(track, own);
        }
    }
    Ok(())
}

/// Shows the runs' events as those of one.
struct Together<'a> {
    observer: &'a mut dyn Observer,
    /// How many runs there are, and the index of the run that is doing its step.
    runs: usize,
    run: usize,
    /// Counters of the stage that is ending, summed over the runs so far.
    counters: Counters,
}

impl Observer for Together<'_> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        let (first, last) = (self.run == 0, self.run + 1 == self.runs);
        match *event {
            StageEvent::Enter { .. } if first => self.observer.event(event),
            StageEvent::Progress { .. } if last => self.observer.event(event),
            StageEvent::Exit { stage, level, log_q, log_scale, counters } => {
                self.counters += counters;
                if !last {
                    return ControlFlow::Continue(());
                }
                let counters = core::mem::take(&mut self.counters);
                self.observer.event(&StageEvent::Exit { stage, level, log_q, log_scale, counters })
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
