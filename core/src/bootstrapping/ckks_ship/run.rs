//! A bootstrap in steps: one stage, one batch of tracks or one layer of the tree at a time.

use alloc::{format, vec::Vec};

use super::{
    evaluator::ShipEvaluator,
    groups::Begun,
    keys::KeySource,
    phase::{EncodedPhases, Phases},
    product_tree::Layer,
    stages,
    tracks::{Tracks, tracks_together},
};
use crate::{
    arith::Word,
    bootstrapping::method::SlotMode,
    error::{Error, hex},
    rlwe::Pair,
    schemes::ckks::Ciphertext,
    trace::{Counters, Observer, StageEvent, StageInfo, emit},
};

/// Where a run stands.
pub enum ShipState<W: Word> {
    /// Before stage 1.
    Input(Ciphertext<W>),
    /// After slots-to-coefficients: level 0.
    Coefficients(Ciphertext<W>),
    /// After encapsulation: phases under the sparse secret.
    Encapsulated,
    /// Tracks are being rotated; `factors[half]` has one pair per finished track.
    Rotating {
        /// The plaintexts of the tracks.
        encoded: EncodedPhases<W>,
        /// Finished factors.
        factors: Vec<Vec<Pair<W>>>,
    },
    /// Layers of the tree, one per half.
    Tree(Vec<Layer<W>>),
    /// Finished.
    Done(Ciphertext<W>),
    /// Ended by an error.
    Failed,
}

/// A bootstrap that is driven from outside: between two steps the caller may look, wait or drop it.
///
/// Needs no threads and no shared memory to be observed, paused or cancelled, which is what a
/// browser worker has.
pub struct ShipRun<'a, W: Word = u32> {
    pub(super) evaluator: &'a ShipEvaluator<W>,
    mode: SlotMode,
    pub(super) key_id: [u8; 16],
    pub(super) tracks_per_step: usize,
    phases: Option<Phases>,
    counters: Counters,
    pub(super) state: ShipState<W>,
    pub(super) tracks: Tracks<W>,
    /// Stage 1, if some of it was done ahead.
    pub(super) begun: Option<Begun<W>>,
}

impl<'a, W: Word> ShipRun<'a, W> {
    /// Checks the input; nothing is computed yet.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`], [`Error::InvalidArgument`] for a
    /// ciphertext or mode that does not fit.
    pub fn new(
        evaluator: &'a ShipEvaluator<W>,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
    ) -> Result<Self, Error> {
        evaluator.check_input(ciphertext, mode)?;
        Ok(Self {
            evaluator,
            mode,
            key_id: ciphertext.key_id(),
            tracks_per_step: 1,
            phases: None,
            counters: Counters::default(),
            state: ShipState::Input(ciphertext.clone()),
            tracks: Tracks::new(),
            begun: None,
        })
    }

    /// Tracks computed by one step, in parallel where there are threads: 1 by default.
    #[must_use]
    pub fn with_tracks_per_step(mut self, tracks: usize) -> Self {
        self.tracks_per_step = tracks.max(1);
        self
    }

    /// The stage the next step belongs to; `None` when finished.
    pub fn next_stage(&self) -> Option<&'static StageInfo> {
        let index = match self.state {
            ShipState::Input(_) => 0,
            ShipState::Coefficients(_) => 1,
            ShipState::Encapsulated => 2,
            ShipState::Rotating { .. } => 3,
            ShipState::Tree(ref layers) => 4 + usize::from(layers[0].len() == 1),
            ShipState::Done(_) | ShipState::Failed => return None,
        };
        self.evaluator.params().stages().get(index)
    }

    /// Where the run stands.
    pub fn state(&self) -> &ShipState<W> {
        &self.state
    }

    /// The encapsulated phases, once stage 2 is done.
    pub fn phases(&self) -> Option<&Phases> {
        self.phases.as_ref()
    }

    /// What the slots hold.
    pub fn mode(&self) -> SlotMode {
        self.mode
    }

    /// Does one step and reports it; true when the run is finished.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if the observer breaks (the run can still be resumed by another step if
    /// it broke at the end of one); errors of the keys. After any other error the run is over.
    pub fn step(&mut self, keys: &dyn KeySource<W>, observer: &mut dyn Observer) -> Result<bool, Error> {
        if let Some(stage) = self.next_stage()
            && self.begins_stage()
        {
            self.counters = Counters::default();
            emit(observer, &StageEvent::Enter { stage: stage.id })?;
        }
        check_run_key(self.key_id, keys)?;
        // Whatever fails below leaves a run that cannot go on.
        match core::mem::replace(&mut self.state, ShipState::Failed) {
            ShipState::Input(x) => {
                let out = match self.begun.take() {
                    Some(begun) => begun.finish(self.evaluator, &x, keys, &mut self.counters)?,
                    None => self.evaluator.slots_to_coeffs(&x, keys, &mut self.counters)?,
                };
                let (level, log_q, log_scale) = (0, out.log_q(), out.log_scale());
                self.state = ShipState::Coefficients(out);
                self.exit(stages::SLOTS_TO_COEFFS, level, log_q, log_scale, observer)?;
            }
            ShipState::Coefficients(x) => {
                self.phases = Some(self.evaluator.encapsulate(&x, keys, &mut self.counters)?);
                self.state = ShipState::Encapsulated;
                self.exit(stages::ENCAPSULATE, 0, x.log_q(), x.log_scale(), observer)?;
            }
            ShipState::Encapsulated => {
                let Some(phases) = &self.phases else { return Err(failed_run()) };
                let encoded = self.evaluator.encode_phase(phases, self.mode, &mut self.counters)?;
                let factors = (0..encoded.halves()).map(|_| Vec::new()).collect();
                self.state = ShipState::Rotating { encoded, factors };
                self.exit_at_top(stages::ENCODE_PHASE, observer)?;
            }
            ShipState::Rotating { encoded, factors } => {
                self.rotate(encoded, factors, keys, observer)?;
            }
            ShipState::Tree(layers) if layers[0].len() > 1 => {
                self.multiply(layers, keys, observer)?;
            }
            ShipState::Tree(layers) => {
                let roots: Vec<_> = layers.into_iter().flat_map(|l| l.nodes).collect();
                let out = self.evaluator.conjugate(&roots, self.mode, keys, &mut self.counters)?;
                let (level, log_q, log_scale) = (out.level(), out.log_q(), out.log_scale());
                self.state = ShipState::Done(out);
                self.exit(stages::CONJUGATE, level, log_q, log_scale, observer)?;
            }
            ShipState::Done(out) => self.state = ShipState::Done(out),
            ShipState::Failed => return Err(failed_run()),
        }
        Ok(matches!(self.state, ShipState::Done(_)))
    }

    /// The refreshed ciphertext.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if steps are left.
    pub fn finish(self) -> Result<Ciphertext<W>, Error> {
        match self.state {
            ShipState::Done(out) => Ok(out),
            ShipState::Failed => Err(failed_run()),
            _ => Err(Error::InvalidArgument(format!(
                "the bootstrap is not finished; next stage: {}",
                self.next_stage().map_or("none", |s| s.id)
            ))),
        }
    }

    fn begins_stage(&self) -> bool {
        match &self.state {
            ShipState::Rotating { factors, .. } => factors[0].is_empty(),
            ShipState::Tree(layers) => layers[0].depth == 0 || layers[0].len() == 1,
            ShipState::Done(_) | ShipState::Failed => false,
            ShipState::Input(_) => self.begun.is_none(),
            _ => true,
        }
    }

    fn rotate(
        &mut self,
        encoded: EncodedPhases<W>,
        mut factors: Vec<Vec<Pair<W>>>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let (total, done) = (self.evaluator.params().tracks(), factors[0].len());
        let batch = self.tracks_per_step.min(total - done);
        let evaluator = self.evaluator;
        let lanes = encoded.lanes();
        let counters = &mut self.counters;
        self.tracks.rotate(evaluator, &lanes, (done, batch), keys, &mut factors, counters)?;
        let done = factors[0].len();
        if done < total {
            self.state = ShipState::Rotating { encoded, factors };
            return emit(observer, &StageEvent::Progress { stage: stages::BLIND_ROTATE, done, total });
        }
        let layers = factors
            .into_iter()
            .enumerate()
            .map(|(half, f)| evaluator.leaves(&encoded, half, self.key_id, f))
            .collect::<Result<_, _>>()?;
        self.state = ShipState::Tree(layers);
        emit(observer, &StageEvent::Progress { stage: stages::BLIND_ROTATE, done, total })?;
        self.exit_at_top(stages::BLIND_ROTATE, observer)
    }

    fn multiply(
        &mut self,
        layers: Vec<Layer<W>>,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let mut next = Vec::with_capacity(layers.len());
        for layer in layers {
            next.push(self.evaluator.multiply_layer(layer, keys, &mut self.counters)?);
        }
        let (done, total) = (next[0].depth, self.evaluator.params().tree_levels());
        let root = &next[0].nodes[0];
        let (level, log_q, log_scale) = (root.level(), root.log_q(), root.log_scale());
        self.state = ShipState::Tree(next);
        emit(observer, &StageEvent::Progress { stage: stages::PRODUCT_TREE, done, total })?;
        if done == total {
            self.exit(stages::PRODUCT_TREE, level, log_q, log_scale, observer)?;
        }
        Ok(())
    }

    fn exit_at_top(&self, stage: &'static str, observer: &mut dyn Observer) -> Result<(), Error> {
        let params = self.evaluator.params();
        let level = params.max_level();
        self.exit(stage, level, params.log_q(level), params.spec().log_leaf_scale, observer)
    }

    fn exit(
        &self,
        stage: &'static str,
        level: usize,
        log_q: f64,
        log_scale: f64,
        observer: &mut dyn Observer,
    ) -> Result<(), Error> {
        let counters = self.counters;
        emit(observer, &StageEvent::Exit { stage, level, log_q, log_scale, counters })
    }
}

impl<W: Word> ShipEvaluator<W> {
    /// Bootstraps: a ciphertext at level 1 or above in, the same slots at level 2 out.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`], [`Error::LevelMismatch`] for a ciphertext that does not fit;
    /// [`Error::Cancelled`] if the observer says so; whatever the key source reports.
    pub fn bootstrap(
        &self,
        ciphertext: &Ciphertext<W>,
        mode: SlotMode,
        keys: &dyn KeySource<W>,
        observer: &mut dyn Observer,
    ) -> Result<Ciphertext<W>, Error> {
        let mut run =
            ShipRun::new(self, ciphertext, mode)?.with_tracks_per_step(tracks_together(self.params()));
        while !run.step(keys, observer)? {}
        run.finish()
    }
}

/// An error unless the evaluation keys are those of the ciphertext.
pub(super) fn check_run_key<W: Word>(key_id: [u8; 16], keys: &dyn KeySource<W>) -> Result<(), Error> {
    if keys.key_id() == key_id {
        return Ok(());
    }
    Err(Error::ParamsMismatch(format!(
        "the run is under key {}, evaluation keys of {} were given; use the keys of the ciphertext",
        hex(&key_id),
        hex(&keys.key_id())
    )))
}

fn failed_run() -> Error {
    Error::InvalidArgument("a bootstrap that failed cannot go on; start a new one".into())
}
