//! Tracks that are computed elsewhere than in their run, such as in another worker of a browser tab, or before their turn.

use alloc::{format, vec::Vec};

use super::{
    blind_rotate::TrackScratch,
    evaluator::ShipEvaluator,
    keys::KeySource,
    on_the_fly,
    phase::{EncodedPhases, Phases},
    product_tree::leaf,
    run::{ShipRun, ShipState, check_run_key},
    secret::ShipSecretKey,
    tracks,
};
use crate::{
    arith::Word, bootstrapping::method::SlotMode, error::Error, schemes::ckks::Ciphertext, trace::Counters,
};

/// What a track comes to.
pub struct TrackFactors<W: Word = u32> {
    /// The factor of each half: leaves of the product tree, at the highest level.
    pub factors: Vec<Ciphertext<W>>,
    /// The work it took.
    pub counters: Counters,
}

/// Computes tracks of a run that is elsewhere, from its public phases and the secret key, with the
/// same bits as the run itself.
pub struct TrackWorker<'a, W: Word = u32> {
    evaluator: &'a ShipEvaluator<W>,
    encoded: EncodedPhases<W>,
    scratch: TrackScratch<W>,
}

impl<'a, W: Word> TrackWorker<'a, W> {
    /// Encodes the phases of a run ([`ShipRun::phases`]).
    pub fn new(evaluator: &'a ShipEvaluator<W>, phases: &Phases, mode: SlotMode) -> Result<Self, Error> {
        let encoded = evaluator.encode_phase(phases, mode, &mut Counters::default())?;
        Ok(Self { evaluator, encoded, scratch: TrackScratch::new(evaluator.params()) })
    }

    /// One track, with keys that are made sample by sample and dropped.
    ///
    /// # Errors
    /// [`Error::ParamsMismatch`] for a key of another set, [`Error::InvalidArgument`] for a track
    /// there is not.
    pub fn track(&mut self, secret: &ShipSecretKey<W>, track: usize) -> Result<TrackFactors<W>, Error> {
        let set = self.evaluator.params();
        if secret.params().fingerprint() != set.fingerprint() {
            return Err(Error::ParamsMismatch(format!(
                "a track of set {} asked of a key of set {}; use the key of the run",
                set.name(),
                secret.params().name()
            )));
        }
        set.check_track(track)?;
        let mut counters = Counters::default();
        let lanes = self.encoded.lanes();
        let (rotations, scratch) = (&self.evaluator.rotations, &mut self.scratch);
        let pairs = on_the_fly::blind_rotate(secret, rotations, &lanes, track, scratch, &mut counters)?;
        let factors = pairs.into_iter().map(|pair| leaf(set, secret.key_id(), pair)).collect();
        Ok(TrackFactors { factors, counters })
    }
}

impl<W: Word> ShipRun<'_, W> {
    /// Computes a track before its turn; the step whose turn it is takes it as it is.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the tracks are being rotated and this one is ahead;
    /// [`Error::ParamsMismatch`] for other keys than the run's; errors of the keys.
    pub fn rotate_ahead(&mut self, track: usize, keys: &dyn KeySource<W>) -> Result<(), Error> {
        self.check_ahead(track)?;
        check_run_key(self.key_id, keys)?;
        let ShipState::Rotating { encoded, .. } = &self.state else { return Ok(()) };
        let (mut scratch, mut counters) = (TrackScratch::new(self.evaluator.params()), Counters::default());
        let lanes = encoded.lanes();
        let mut pairs =
            tracks::blind_rotate(self.evaluator, keys, &lanes, &[track], &mut scratch, &mut counters)?;
        self.tracks.ahead.insert(track, (pairs.remove(0), counters));
        Ok(())
    }

    /// Takes in a track that a [`TrackWorker`] computed.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] unless the tracks are being rotated and this one is ahead, or for
    /// factors of another shape; [`Error::ParamsMismatch`] for those of another set or key.
    pub fn supply_track(&mut self, track: usize, result: &TrackFactors<W>) -> Result<(), Error> {
        self.check_ahead(track)?;
        let ShipState::Rotating { encoded, .. } = &self.state else { return Ok(()) };
        let params = self.evaluator.params();
        if result.factors.len() != encoded.halves() {
            return Err(Error::InvalidArgument(format!(
                "{} factors of track {track} given, the run has one for each of {} halves",
                result.factors.len(),
                encoded.halves()
            )));
        }
        let mut pairs = Vec::with_capacity(result.factors.len());
        for factor in &result.factors {
            self.evaluator.check(factor, self.key_id)?;
            if factor.level() != params.max_level() || !factor.scale().matches(params.node_scale(0)) {
                return Err(Error::InvalidArgument(format!(
                    "a factor of track {track} at level {} and scale 2^{:.6}, leaves are at level {} and 2^{:.6}",
                    factor.level(),
                    factor.scale().log2(),
                    params.max_level(),
                    params.node_scale(0).log2()
                )));
            }
            pairs.push(factor.pair()?);
        }
        self.tracks.ahead.insert(track, (pairs, result.counters));
        Ok(())
    }

    /// The track whose turn is next, while tracks are being rotated.
    pub fn next_track(&self) -> Option<usize> {
        match &self.state {
            ShipState::Rotating { factors, .. } => Some(factors[0].len()),
            _ => None,
        }
    }

    fn check_ahead(&self, track: usize) -> Result<(), Error> {
        let total = self.evaluator.params().tracks();
        match self.next_track() {
            Some(next) if (next..total).contains(&track) => Ok(()),
            Some(next) => Err(Error::InvalidArgument(format!(
                "track {track} given, those from {next} to {} are to come",
                total - 1
            ))),
            None => Err(Error::InvalidArgument(
                "tracks are taken in while a run rotates them: step it up to there first".into(),
            )),
        }
    }
}
