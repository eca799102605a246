//! The tasks of a bootstrap: groups of diagonals in stage 1, from public numbers, and tracks, with the secret key.
//!
//! A brief begins with the kind of its tasks. For groups the scale and the baby steps follow, for tracks the mode, the id of the key and
//! the phases of both components. The result of a group is its sum; that of a track a factor for each half, and counters.

use alloc::{boxed::Box, format, sync::Arc, vec, vec::Vec};

use super::{
    blind_rotate::TrackScratch,
    evaluator::ShipEvaluator,
    groups::{Begun, Products, put_pair, read_pair},
    keys::KeySource,
    on_the_fly,
    phase::{EncodedPhases, Phases},
    run::{ShipRun, ShipState, check_run_key},
    secret::{ShipSecretKey, check_mode},
    stages, tracks,
};
use crate::{
    arith::Word,
    bootstrapping::method::{
        Helper, SlotMode, Split, Tasks,
        split::{Reader, bad, put_counters, put_words},
    },
    error::{Error, hex},
    trace::{Counters, Observer, StageEvent, emit},
};

const GROUPS: u8 = 0;
const TRACKS: u8 = 1;

impl<'k, W: Word> Split<dyn KeySource<W> + 'k> for ShipRun<'_, W> {
    fn step(&mut self, keys: &(dyn KeySource<W> + 'k), observer: &mut dyn Observer) -> Result<bool, Error> {
        self.step(keys, observer)
    }

    fn tasks(&self) -> Option<Tasks> {
        let params = self.evaluator.params();
        if let Some(next) = self.next_track() {
            let total = params.tracks();
            let per_step = self.tracks_per_step.min(total - next);
            return Some(Tasks { next, per_step, total, secret: true });
        }
        let (_, total) = params.bsgs();
        let before = matches!(self.state, ShipState::Input(_));
        before.then_some(Tasks { next: 0, per_step: total, total, secret: false })
    }

    fn brief(
        &mut self,
        keys: &(dyn KeySource<W> + 'k),
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Error> {
        check_run_key(self.key_id, keys)?;
        if let (ShipState::Rotating { .. }, Some(phases)) = (&self.state, self.phases()) {
            let mut out = vec![TRACKS, self.mode() as u8];
            out.extend(self.key_id);
            for turns in [phases.b(), phases.a()] {
                put_words(&turns.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), &mut out);
            }
            return Ok(out);
        }
        let ShipState::Input(x) = &self.state else { return Err(no_tasks()) };
        let begun = if let Some(begun) = self.begun.take() {
            begun
        } else {
            emit(observer, &StageEvent::Enter { stage: stages::SLOTS_TO_COEFFS })?;
            Begun::new(self.evaluator, x, keys)?
        };
        let mut out = vec![GROUPS];
        begun.write(x.scale(), &mut out);
        self.begun = Some(begun);
        Ok(out)
    }

    fn ahead(&mut self, keys: &(dyn KeySource<W> + 'k), task: usize) -> Result<(), Error> {
        check_run_key(self.key_id, keys)?;
        self.check_task(task)?;
        if let ShipState::Rotating { encoded, .. } = &self.state {
            let (mut scratch, mut counters) =
                (TrackScratch::new(self.evaluator.params()), Counters::default());
            let lanes = encoded.lanes();
            let mut pairs =
                tracks::blind_rotate(self.evaluator, keys, &lanes, &[task], &mut scratch, &mut counters)?;
            self.tracks.ahead.insert(task, (pairs.remove(0), counters));
            return Ok(());
        }
        self.begun.as_mut().ok_or_else(no_tasks)?.compute(self.evaluator, task)
    }

    fn supply(&mut self, task: usize, result: &[u8]) -> Result<(), Error> {
        self.check_task(task)?;
        if let ShipState::Rotating { encoded, .. } = &self.state {
            let params = self.evaluator.params();
            let (basis, mut result) = (params.ckks().rlwe().q(params.max_level()), Reader(result));
            let pairs = (0..encoded.halves()).map(|_| read_pair(&mut result, basis));
            let pairs = pairs.collect::<Result<_, _>>()?;
            let counters = result.counters()?;
            result.end()?;
            self.tracks.ahead.insert(task, (pairs, counters));
            return Ok(());
        }
        self.begun.as_mut().ok_or_else(no_tasks)?.supply(task, result)
    }
}

impl<W: Word> ShipRun<'_, W> {
    /// The track whose turn is next, while tracks are being rotated.
    pub(super) fn next_track(&self) -> Option<usize> {
        match &self.state {
            ShipState::Rotating { factors, .. } => Some(factors[0].len()),
            _ => None,
        }
    }

    fn check_task(&self, task: usize) -> Result<(), Error> {
        let Tasks { next, total, .. } = self.tasks().ok_or_else(no_tasks)?;
        if (next..total).contains(&task) {
            return Ok(());
        }
        Err(Error::InvalidArgument(format!(
            "task {task} given, those from {next} to {} are to come; give one of them",
            total - 1
        )))
    }
}

fn no_tasks() -> Error {
    Error::InvalidArgument(
        "groups of diagonals are computed ahead of the first step, once there is a brief, and tracks while the run \
         rotates them; step the run first"
            .into(),
    )
}

/// Computes groups of diagonals or tracks of a bootstrap that runs elsewhere; the results are the same, bit for bit.
pub struct ShipHelper<'a, W: Word = u32> {
    evaluator: &'a ShipEvaluator<W>,
    stage: Stage<W>,
}

enum Stage<W: Word> {
    Groups(Box<Products<W>>),
    Tracks { encoded: EncodedPhases<W>, scratch: TrackScratch<W>, secret: Arc<ShipSecretKey<W>> },
}

impl<'a, W: Word> ShipHelper<'a, W> {
    /// A helper for the stage that a brief ([`Split::brief`]) describes. For tracks it needs the secret key, from which it makes their keys
    /// sample by sample.
    ///
    /// # Errors
    /// [`Error::BadBytes`] or [`Error::InvalidArgument`] for bytes that are not a brief for the evaluator's set;
    /// [`Error::MissingKey`] and [`Error::ParamsMismatch`] for tracks without the secret key of the run.
    pub fn new(
        evaluator: &'a ShipEvaluator<W>,
        brief: &[u8],
        secret: Option<Arc<ShipSecretKey<W>>>,
    ) -> Result<Self, Error> {
        let (params, mut brief) = (evaluator.params(), Reader(brief));
        let stage = match brief.bytes(1)? {
            [GROUPS] => Stage::Groups(Box::new(Products::read(evaluator, brief)?)),
            [TRACKS] => {
                let mode = brief.bytes(1)?[0];
                let mode = SlotMode::ALL.into_iter().find(|&known| known as u8 == mode);
                let mode = mode.ok_or_else(|| bad("there is no such slot mode"))?;
                check_mode(params, mode)?;
                let secret = secret.ok_or_else(|| {
                    Error::MissingKey(
                        "tracks make their keys from the secret key; pass it with the brief".into(),
                    )
                })?;
                let key_id = brief.bytes(16)?;
                if secret.key_id() != key_id || secret.params().fingerprint() != params.fingerprint() {
                    return Err(Error::ParamsMismatch(format!(
                        "tracks of a run of {} under key {}, and a key {} of {}; pass the secret key of the run",
                        params.name(),
                        hex(key_id),
                        hex(&secret.key_id()),
                        secret.params().name()
                    )));
                }
                let mut turns = || -> Result<Vec<f64>, Error> {
                    Ok(brief.words(params.n())?.into_iter().map(f64::from_bits).collect())
                };
                let phases = Phases::from_turns(turns()?, turns()?)?;
                brief.end()?;
                let encoded = evaluator.encode_phase(&phases, mode, &mut Counters::default())?;
                Stage::Tracks { encoded, scratch: TrackScratch::new(params), secret }
            }
            _ => return Err(bad("neither diagonals nor tracks")),
        };
        Ok(Self { evaluator, stage })
    }
}

impl<W: Word> Helper for ShipHelper<'_, W> {
    fn compute(&mut self, task: usize, needed: &[u8]) -> Result<Vec<u8>, Error> {
        // No task of a bootstrap needs another one's result.
        Reader(needed).end()?;
        let (params, mut out) = (self.evaluator.params(), Vec::new());
        match &mut self.stage {
            Stage::Groups(products) => {
                let (_, groups) = params.bsgs();
                if task >= groups {
                    return Err(Error::InvalidArgument(format!(
                        "group {task} of diagonals of set {}, which has {groups}; count them from 0",
                        params.name()
                    )));
                }
                put_pair(&products.sum(self.evaluator, task)?, &mut out);
            }
            Stage::Tracks { encoded, scratch, secret } => {
                params.check_track(task)?;
                let (lanes, mut counters) = (encoded.lanes(), Counters::default());
                let rotations = &self.evaluator.rotations;
                let pairs =
                    on_the_fly::blind_rotate(secret, rotations, &lanes, task, scratch, &mut counters)?;
                for pair in &pairs {
                    put_pair(pair, &mut out);
                }
                put_counters(counters, &mut out);
            }
        }
        Ok(out)
    }
}
