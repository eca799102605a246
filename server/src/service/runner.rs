//! A run of a job, from identifiers and digests to bytes: on any machine, without the job table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use refloat::Error;
use refloat::trace::Observer;

use super::cache::{KeyCache, Reserved, TooLarge};
use super::live::Stop;
use crate::blobs::{Blob, Blobs, Unreachable};
use crate::dispatch::Outcome;
use crate::engine::{LoadError, LoadedKeys, PartReader};
use crate::engines::Engines;
use crate::problem::Problem;
use crate::store::StoreError;
use crate::store::files::{Expected, ReadError};
use crate::work::Work;

/// Pause before a look whether there is room for keys now.
const PAUSE: Duration = Duration::from_millis(50);

/// Is told how a run goes, and says whether it is to stop.
pub trait Watch: Observer + Send {
    /// Why the run is to stop, if it is.
    fn stopped(&self) -> Option<Stop>;

    /// An attempt begins.
    ///
    /// # Errors
    /// It must not begin.
    fn started(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    /// Keys have been loaded in this time, or were in memory.
    fn keys(&mut self, loaded: Option<Duration>) {
        let _ = loaded;
    }

    /// `done` of `total` pieces of the keys are loaded.
    fn loading(&mut self, done: usize, total: usize) {
        let _ = (done, total);
    }

    /// Keys and input are there, and the evaluation begins.
    fn begin(&mut self) {}

    /// Something could not be read or stored.
    fn failed(&mut self, error: std::io::Error) -> StoreError {
        StoreError::Io(error)
    }

    /// A result of `bytes` bytes has been refused for `time` where results are stored. Returns whether the job is to go to another worker,
    /// which may have room for it; if there is no other, storing is tried until it succeeds.
    fn refused(&mut self, bytes: u64, time: Duration) -> bool {
        let _ = (bytes, time);
        false
    }

    /// The evaluation panicked.
    fn panicked(&mut self) {}

    /// The attempt has ended with this outcome.
    fn ended(&mut self, outcome: &Outcome) {
        let _ = outcome;
    }

    /// Waits before something is tried again, at most until the run is to stop.
    fn rest(&mut self, pause: Duration);
}

/// Why a run has no result.
#[derive(Debug)]
pub enum Halt {
    /// The job cannot be done.
    Problem(Problem),
    /// It was asked to stop.
    Stopped(Stop),
    /// Something cannot be read, for the moment.
    Io(std::io::Error),
    /// The job cannot be done here, for this reason, but perhaps elsewhere.
    Elsewhere(String),
    /// Its keys take more memory than there is for keys here.
    TooLarge(Problem),
    /// The input is not what was stored.
    DamagedInput,
    /// This piece of the keys is not what was stored.
    DamagedKeys(u32),
    /// A key could not be read in the middle of the run, for this reason.
    UnreadKeys(String),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// What runs need besides their work.
#[derive(Clone, Copy)]
pub struct Runner<'a> {
    /// Homomorphic encryption.
    pub engines: &'a Engines,
    /// Evaluation keys in memory.
    pub cache: &'a KeyCache,
    /// The threads to compute on.
    pub pool: &'a ThreadPool,
    /// Keys and inputs.
    pub blobs: &'a Arc<dyn Blobs>,
}

impl Runner<'_> {
    /// Runs a job; returns its result, and the seconds that the evaluation took.
    ///
    /// # Errors
    /// See [`Halt`].
    pub fn attempt(&self, work: &Work, watch: &mut dyn Watch) -> Result<(Vec<u8>, f64), Halt> {
        watch.started()?;
        check(watch)?;
        let loaded = self.keys(work, watch)?;
        let input = self.blobs.get(Blob::Input(work.job), work.input).map_err(|error| match error {
            ReadError::Io(error) => Halt::Io(error),
            ReadError::Damaged(what) => {
                tracing::error!(job = %work.job, what, "the input of a job is damaged");
                Halt::DamagedInput
            }
        })?;
        let began = Instant::now();
        watch.begin();
        let result = self.pool.install(|| {
            let observer: &mut dyn Observer = watch;
            loaded.runner.run(&work.task, &input, observer)
        });
        match result {
            Ok(bytes) => {
                let (found, most) = (bytes.len() as u64, work.most_result_bytes);
                if most != 0 && found > most {
                    let why = format!(
                        "job {}: a result of {found} bytes, where its set announced {most} at most",
                        work.job
                    );
                    return Err(Halt::Problem(Problem::internal(&why)));
                }
                Ok((bytes, began.elapsed().as_secs_f64()))
            }
            Err(Error::Cancelled(_)) if watch.stopped().is_some() => {
                Err(Halt::Stopped(watch.stopped().unwrap_or(Stop::Cancelled)))
            }
            // Keys are read as they are used, and a piece of them could not be read.
            Err(Error::MissingKey(what)) => {
                // The opened keys refer to the pieces that were stored at that time.
                self.cache.remove(work.key);
                Err(Halt::UnreadKeys(what))
            }
            Err(error) => Err(Halt::Problem(error.into())),
        }
    }

    /// Loads the keys of an attempt that does nothing else.
    ///
    /// # Errors
    /// See [`Halt`].
    pub fn wake(&self, work: &Work, watch: &mut dyn Watch) -> Result<(), Halt> {
        check(watch)?;
        self.keys(work, watch).map(drop)
    }

    fn keys(&self, work: &Work, watch: &mut dyn Watch) -> Result<Arc<LoadedKeys>, Halt> {
        let source = work.source();
        if let Some(loaded) = self.cache.get(work.key, source) {
            watch.keys(None);
            return Ok(loaded);
        }
        let set = self.engines.named(&work.params).map_err(|error| Halt::Problem(error.into()))?;
        if set.info().fingerprint != work.fingerprint {
            // Other machines may have the set as the front has it.
            return Err(Halt::Elsewhere(format!(
                "the set {} of a worker has the fingerprint {}, that of the keys is {}; run one build on all machines",
                work.params,
                set.info().fingerprint,
                work.fingerprint
            )));
        }
        let expanded = set.info().expanded_key_bytes;
        let room = loop {
            match self.cache.reserve(work.key, source, expanded) {
                Ok(Reserved::Room(room)) => break room,
                Ok(Reserved::Loaded(loaded)) => {
                    watch.keys(None);
                    return Ok(loaded);
                }
                // Another run loads the keys, or uses others whose place they need.
                Ok(Reserved::Nothing) => watch.rest(PAUSE),
                Err(TooLarge { budget }) => {
                    let detail =
                        format!("the keys take {expanded} bytes of memory, {budget} are set aside for keys");
                    let problem = Problem::new(507, "MEMORY", "Keys too large for this server", detail);
                    return Err(Halt::TooLarge(problem));
                }
            }
            check(watch)?;
        };
        let began = Instant::now();
        let stored = stored_pieces(work, self.blobs);
        let later: PartReader = {
            let stored = stored.clone();
            Arc::new(move |index| patiently(|| stored(index)).map_err(std::io::Error::other))
        };
        if let Some(opened) = self.pool.install(|| set.open(work.key, &later)) {
            let opened = opened.map_err(|error| Halt::Problem(error.into()))?;
            tracing::info!(key = %work.key, bytes = opened.bytes, "key set opened, to be read as it is used");
            return Ok(room.fill(source, opened));
        }
        let total = set.info().key_parts.len();
        let mut done = 0;
        let mut damaged = None;
        let mut read = |index: usize| {
            if watch.stopped().is_some() {
                return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
            }
            let bytes = stored(index).map_err(|error| match error {
                ReadError::Io(error) => error,
                ReadError::Damaged(what) => {
                    damaged = Some(index);
                    std::io::Error::other(what)
                }
            })?;
            done += 1;
            watch.loading(done, total);
            Ok(bytes)
        };
        let loaded = self.pool.install(|| set.load(work.key, &mut read));
        check(watch)?;
        let loaded = loaded.map_err(|error| match (error, damaged) {
            (LoadError::Io(_), Some(index)) => Halt::DamagedKeys(index as u32),
            (LoadError::Io(error), None) => Halt::Io(error),
            (LoadError::Refused(error), _) => Halt::Problem(error.into()),
        })?;
        let took = began.elapsed();
        watch.keys(Some(took));
        tracing::info!(key = %work.key, bytes = loaded.bytes, seconds = took.as_secs_f64(), "key set loaded");
        Ok(room.fill(source, loaded))
    }
}

/// Reads a piece in the middle of a run. If the object store is out of reach this tries again for a minute, so that the run is not lost.
fn patiently(read: impl Fn() -> Result<Vec<u8>, ReadError>) -> Result<Vec<u8>, ReadError> {
    for _ in 0..20 {
        match read() {
            Err(ReadError::Io(error)) if Unreachable::is(&error) => {
                std::thread::sleep(Duration::from_secs(3));
            }
            other => return other,
        }
    }
    read()
}

/// Reads the pieces of a key set as they were stored.
fn stored_pieces(
    work: &Work,
    blobs: &Arc<dyn Blobs>,
) -> impl Fn(usize) -> Result<Vec<u8>, ReadError> + Clone + Send + Sync + 'static {
    let pieces: BTreeMap<usize, _> =
        work.pieces.iter().map(|&(index, digest, length)| (index as usize, (digest, length))).collect();
    let (pieces, blobs, key) = (Arc::new(pieces), Arc::clone(blobs), work.key);
    move |index| {
        let absent = || ReadError::Damaged(format!("piece {index} is missing"));
        let &(digest, length) = pieces.get(&index).ok_or_else(absent)?;
        blobs.get(Blob::KeyPart(key, index as u32), Expected { length, digest: Some(digest) })
    }
}

fn check(watch: &dyn Watch) -> Result<(), Halt> {
    watch.stopped().map_or(Ok(()), |stop| Err(Halt::Stopped(stop)))
}
