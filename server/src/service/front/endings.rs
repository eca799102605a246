//! What happens to a job when an attempt at it has ended.

use std::sync::Arc;
use std::time::Duration;

use super::{Front, PAUSES};
use crate::blobs::{Blob, Unreachable};
use crate::dispatch::queue::Millis;
use crate::dispatch::{Done, Outcome};
use crate::id::hex;
use crate::problem::Problem;
use crate::service::live::Stop;
use crate::service::worker::reason;
use crate::store::files::{Expected, ReadError};
use crate::store::jobs::{self, JobRecord, JobState, Made, Requeue};
use crate::store::{StoreError, keys};
use crate::work::Work;

/// How often a job is handed to another worker because one could not see its files; this takes some minutes.
const ELSEWHERE: u32 = 100;

/// How long a worker that could not see a job's files is passed over for jobs with the same keys, if there is another worker.
pub(super) const UNSEEN: Millis = 60_000;

/// What becomes of a job after an attempt at it has ended.
#[derive(Clone)]
pub(super) enum Ending {
    Done(Made),
    Failed(Problem),
    Cancelled,
    Again(Requeue),
}

impl Front {
    /// Notes what came of an attempt, if it still counts.
    pub(super) fn conclude(&mut self, done: &Done) -> Result<(), StoreError> {
        if done.attempt == Work::WAKING {
            self.woken(done.job);
            return Ok(());
        }
        let service = Arc::clone(&self.service);
        let store = &service.store;
        let job = match jobs::get(store, done.job) {
            Ok(job) => job,
            Err(StoreError::Corrupt(_)) => {
                tracing::error!(job = %done.job, "the end of a job cannot be noted: its record is damaged");
                self.close(done, None);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let Some(job) = job else {
            // The job was removed while a worker still ran it, so its result belongs nowhere.
            service.blobs.remove(Blob::Result(done.job)).map_err(|error| store.failed(error))?;
            self.close(done, None);
            return Ok(());
        };
        if job.attempts != done.attempt || job.state != JobState::Running {
            self.late(&job, done);
            return Ok(());
        }
        let attempt = (job.id, done.attempt);
        let ending = match self.endings.get(&attempt) {
            // The end could not be noted before, nobody waits for the result any more, and the disk may have no room for it.
            Some(_) if self.is_cancelled(&job) => Ending::Cancelled,
            Some(known) => known.clone(),
            None => {
                let ending = self.ending(&job, done)?;
                self.endings.insert(attempt, ending.clone());
                ending
            }
        };
        let made = if let Ending::Done(made) = &ending { Some(*made) } else { None };
        let noted = match ending {
            Ending::Done(made) => jobs::finish(store, job.id, done.attempt, &made),
            Ending::Failed(problem) => jobs::fail(store, job.id, done.attempt, problem),
            Ending::Cancelled => jobs::abandon(store, job.id, done.attempt),
            Ending::Again(why) => jobs::requeue(store, job.id, done.attempt, &why),
        };
        let record = noted?;
        if let Some(made) = made.filter(|_| record.is_some()) {
            service.estimates.record(&job.params, job.task.bootstraps(), made.seconds);
        }
        self.close(done, record.as_ref());
        Ok(())
    }

    fn is_cancelled(&self, job: &JobRecord) -> bool {
        self.service.live.get(job.id).is_some_and(|live| live.stopped() == Some(Stop::Cancelled))
    }

    /// What becomes of a job whose current attempt has ended.
    fn ending(&mut self, job: &JobRecord, done: &Done) -> Result<Ending, StoreError> {
        let service = &self.service;
        if self.pause > PAUSES[0] && self.is_cancelled(job) {
            return Ok(Ending::Cancelled);
        }
        Ok(match &done.outcome {
            Outcome::Made(made) => {
                let expected = Expected { length: made.length, digest: Some(made.digest) };
                match service.blobs.look(Blob::Result(job.id), expected) {
                    Ok(()) => Ending::Done(*made),
                    Err(ReadError::Damaged(_)) => self.again(job, "the stored result is gone".to_owned()),
                    // If only this result is out of reach, other jobs do not wait for it.
                    Err(ReadError::Io(error)) if Unreachable::is(&error) && service.blobs.check().is_ok() => {
                        self.again(job, reason(&service.store.failed(error)))
                    }
                    Err(ReadError::Io(error)) => return Err(service.store.failed(error)),
                }
            }
            Outcome::Failed(problem) => Ending::Failed(problem.clone()),
            Outcome::TooLarge(problem) if self.policy.lease.is_none() => Ending::Failed(problem.clone()),
            Outcome::Cancelled => Ending::Cancelled,
            // In a cluster, the job waits for a worker that has more memory.
            Outcome::Stopped | Outcome::TooLarge(_) | Outcome::Loaded => Ending::Again(Requeue::Stopped),
            Outcome::Trouble(reason) => self.again(job, reason.clone()),
            Outcome::Crashed => self.crashed(job),
            Outcome::Differs => {
                // Nothing says which of the two is right, so both are dropped.
                tracing::error!(job = %job.id, "two runs of a job gave different results; both are dropped; a machine computes wrongly, or a disk altered one");
                service.metrics.differed();
                service.blobs.remove(Blob::Result(job.id)).map_err(|error| service.store.failed(error))?;
                self.again(job, "two runs gave different results".to_owned())
            }
            Outcome::DamagedInput => self.damaged_input(job),
            Outcome::DamagedKeys(piece) => self.damaged(job, Some(*piece), ""),
            Outcome::UnreadKeys(what) => self.damaged(job, None, what),
        })
    }

    /// A job whose attempt could not be finished goes back into the queue, to be tried again after a pause, until it was tried too often.
    /// Other jobs do not wait for it.
    fn again(&self, job: &JobRecord, reason: String) -> Ending {
        let tries = job.failures + 1;
        if tries >= self.service.config.compute.max_attempts {
            let detail = format!(
                "{reason}; the job was tried {tries} times; submit it again when the server's disk is well"
            );
            return Ending::Failed(Problem::new(500, "STORAGE_FAILED", "Storage failed", detail));
        }
        self.service.metrics.retried();
        Ending::Again(Requeue::Trouble(reason, Duration::from_secs(1 << tries.min(5))))
    }

    /// The same for a job whose files a worker did not find as they are here: that worker may have lost its folder, others may not.
    fn elsewhere(&mut self, job: &JobRecord, what: &str) -> Ending {
        if let Some(worker) = self.out.get(&job.id).and_then(|lease| lease.worker.clone()) {
            self.unseen.insert((worker, job.key), self.now);
        }
        if job.failures >= ELSEWHERE {
            return self.again(job, what.to_owned());
        }
        tracing::warn!(job = %job.id, what, "a worker does not see the files that are here; look at its storage.data");
        Ending::Again(Requeue::Trouble(what.to_owned(), Duration::from_secs(5)))
    }

    /// The ending of a job whose input its worker could not use, after a look at the input from here.
    fn damaged_input(&mut self, job: &JobRecord) -> Ending {
        let expected = Expected::new(job.input_bytes, job.input_digest.as_deref());
        match self.service.blobs.get(Blob::Input(job.id), expected) {
            Ok(_) => self.elsewhere(job, "a worker did not find the input"),
            Err(ReadError::Io(error)) => self.unread(job, &self.service.store.failed(error)),
            Err(ReadError::Damaged(_)) => {
                let detail = "the stored input of the job is not what was submitted, the server's disk altered it; submit it again";
                Ending::Failed(Problem::new(500, "INPUT_DAMAGED", "Stored input damaged", detail))
            }
        }
    }

    fn crashed(&self, job: &JobRecord) -> Ending {
        match self.service.given_up(job) {
            Some(problem) => Ending::Failed(problem),
            None => Ending::Again(Requeue::Crashed),
        }
    }

    /// The ending of a job that did not get a key. Damaged pieces are marked as missing, so that they can be uploaded again; if there are
    /// none, the disk may be readable the next time.
    fn damaged(&mut self, job: &JobRecord, first: Option<u32>, what: &str) -> Ending {
        let service = &self.service;
        match keys::verify(&service.store, job.key, keys::Look::All) {
            Ok(pieces) => match (pieces.first().copied(), first) {
                (Some(piece), None) => Ending::Failed(pieces_missing(job, piece, &pieces)),
                (None, _) if self.policy.lease.is_some() => {
                    self.elsewhere(job, "a worker did not find sound keys")
                }
                (_, Some(piece)) => {
                    let pieces = if pieces.is_empty() { vec![piece] } else { pieces };
                    Ending::Failed(pieces_missing(job, piece, &pieces))
                }
                (None, None) => {
                    let error = service.store.failed(std::io::Error::other(what.to_owned()));
                    self.again(job, reason(&error))
                }
            },
            Err(error @ StoreError::Corrupt(_)) => Ending::Failed(error.into()),
            Err(error) => self.unread(job, &error),
        }
    }

    /// The ending of an attempt whose files could not be looked at.
    fn unread(&self, job: &JobRecord, error: &StoreError) -> Ending {
        // While nobody can read them, nothing is held against the job.
        if error.is_unreachable() && self.service.blobs.check().is_err() {
            Ending::Again(Requeue::Stopped)
        } else {
            self.again(job, reason(error))
        }
    }

    /// Deals with a report that no longer counts.
    fn late(&mut self, job: &JobRecord, done: &Done) {
        if let (Outcome::Made(made), Some((digest, _))) = (&done.outcome, &job.result)
            && made.content.is_some()
            && made.content == job.content
            && hex(&made.digest) != *digest
        {
            tracing::error!(job = %job.id, "two runs of a job gave different results; a machine computes wrongly");
            self.service.metrics.differed();
        }
        self.endings.remove(&(done.job, done.attempt));
        if job.state.is_final() {
            // Noting the end had failed and has reached the disk after all, or the worker has stored a result since.
            jobs::ended(&self.service.store, job);
        }
        if self.out.get(&job.id).is_some_and(|lease| lease.attempt == done.attempt) {
            self.close(done, Some(job));
        }
    }
}

fn pieces_missing(job: &JobRecord, first: u32, pieces: &[u32]) -> Problem {
    let detail = format!(
        "piece {first} of key set {} is missing or damaged on the server's disk; upload piece {first} again{}, commit the set and submit the job again",
        job.key,
        if pieces.len() > 1 {
            format!(" (and {} others, see missing)", pieces.len() - 1)
        } else {
            String::new()
        }
    );
    Problem::conflict("KEY_PIECE_DAMAGED", detail).with("piece", first).with("missing", pieces)
}
