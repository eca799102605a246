//! Several ciphertexts under one key in one pass over the evaluation keys.

use alloc::vec::Vec;

use super::{
    blind_rotate::Lane,
    evaluator::ShipEvaluator,
    keys::KeySource,
    phase::EncodedPhases,
    run::check_run_key,
    spec::ShipMode,
    stages,
    tracks::{Tracks, tracks_together},
};
use crate::{
    arith::Word,
    error::Error,
    schemes::ckks::Ciphertext,
    trace::{Counters, Observer, StageEvent, emit},
};

/// Bootstraps `ciphertexts` together, as [`ShipEvaluator::bootstrap_batch`].
pub(super) fn bootstrap<W: Word>(
    evaluator: &ShipEvaluator<W>,
    ciphertexts: &[Ciphertext<W>],
    mode: ShipMode,
    keys: &dyn KeySource<W>,
    observer: &mut dyn Observer,
) -> Result<Vec<Ciphertext<W>>, Error> {
    for ciphertext in ciphertexts {
        evaluator.check_input(ciphertext, mode)?;
        check_run_key(ciphertext.key_id(), keys)?;
    }
    let Some(first) = ciphertexts.first() else { return Ok(Vec::new()) };
    let key_id = first.key_id();
    let params = evaluator.params();
    let top = (params.max_level(), params.log_q(params.max_level()), params.spec().log_leaf_scale);

    let mut stage = Stage { observer, counters: Counters::default() };
    stage.enter(stages::SLOTS_TO_COEFFS)?;
    let coefficients = stage.each(ciphertexts, |x, counters| evaluator.slots_to_coeffs(x, keys, counters))?;
    stage.exit(stages::SLOTS_TO_COEFFS, place(&coefficients[0]))?;

    stage.enter(stages::ENCAPSULATE)?;
    let phases = stage.each(&coefficients, |x, counters| evaluator.encapsulate(x, keys, counters))?;
    stage.exit(stages::ENCAPSULATE, place(&coefficients[0]))?;

    stage.enter(stages::ENCODE_PHASE)?;
    let encoded = stage.each(&phases, |x, counters| evaluator.encode_phase(x, mode, counters))?;
    stage.exit(stages::ENCODE_PHASE, top)?;

    stage.enter(stages::BLIND_ROTATE)?;
    let halves = encoded[0].halves();
    let lanes: Vec<Lane<'_, W>> = encoded.iter().flat_map(EncodedPhases::lanes).collect();
    let (total, mut factors, mut tracks) = (params.tracks(), Vec::new(), Tracks::new());
    factors.resize_with(lanes.len(), Vec::new);
    let mut done = 0;
    while done < total {
        let count = tracks_together(params).min(total - done);
        tracks.rotate(evaluator, &lanes, (done, count), keys, &mut factors, &mut stage.counters)?;
        done += count;
        emit(stage.observer, &StageEvent::Progress { stage: stages::BLIND_ROTATE, done, total })?;
    }
    let mut layers = Vec::with_capacity(lanes.len());
    for (lane, factors) in lanes.iter().zip(factors) {
        layers.push(evaluator.leaves(lane.phases, lane.half, key_id, factors)?);
    }
    stage.exit(stages::BLIND_ROTATE, top)?;

    stage.enter(stages::PRODUCT_TREE)?;
    let total = params.tree_levels();
    for done in 1..=total {
        let mut next = Vec::with_capacity(layers.len());
        for layer in layers {
            next.push(evaluator.multiply_layer(layer, keys, &mut stage.counters)?);
        }
        layers = next;
        emit(stage.observer, &StageEvent::Progress { stage: stages::PRODUCT_TREE, done, total })?;
    }
    let roots: Vec<Ciphertext<W>> = layers.into_iter().flat_map(|layer| layer.nodes).collect();
    stage.exit(stages::PRODUCT_TREE, place(&roots[0]))?;

    stage.enter(stages::CONJUGATE)?;
    let pairs: Vec<&[Ciphertext<W>]> = roots.chunks(halves).collect();
    let out = stage.each(&pairs, |roots, counters| evaluator.conjugate(roots, mode, keys, counters))?;
    stage.exit(stages::CONJUGATE, place(&out[0]))?;
    Ok(out)
}

/// Level, log2 of the modulus, log2 of the scale.
type Place = (usize, f64, f64);

fn place<W: Word>(x: &Ciphertext<W>) -> Place {
    (x.level(), x.log_q(), x.log_scale())
}

struct Stage<'a> {
    observer: &'a mut dyn Observer,
    counters: Counters,
}

impl Stage<'_> {
    fn enter(&mut self, stage: &'static str) -> Result<(), Error> {
        self.counters = Counters::default();
        emit(self.observer, &StageEvent::Enter { stage })
    }

    fn exit(&mut self, stage: &'static str, (level, log_q, log_scale): Place) -> Result<(), Error> {
        let counters = self.counters;
        emit(self.observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })
    }

    /// One item after the other: the stages outside the tracks use all threads for each.
    fn each<T, R>(
        &mut self,
        items: &[T],
        mut f: impl FnMut(&T, &mut Counters) -> Result<R, Error>,
    ) -> Result<Vec<R>, Error> {
        items.iter().map(|item| f(item, &mut self.counters)).collect()
    }
}
