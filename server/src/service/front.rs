//! The end of a dispatch that has the job table: hands out jobs, notes what came of them, and takes back those that nobody runs.
//!
//! Every change of the table is guarded by the attempt it is about, so that a report which comes late, twice or from somebody who
//! was given up changes nothing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Service;
use super::estimates::Estimates;
use super::live::Stop;
use super::placement::{Asked, Out, Placement, Reason};
use super::worker::reason;
use crate::blobs::Blob;
use crate::dispatch::queue::Millis;
use crate::dispatch::{Dispatch, Done, Outcome, Sign};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::events::{QUEUED, Urgency};
use crate::store::files::{Expected, ReadError};
use crate::store::jobs::{self, JobRecord, JobState, Made, Requeue, Waiting};
use crate::store::turns::Turns;
use crate::store::{StoreError, keys};
use crate::work::Work;

/// How jobs are handed out.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// A job that is out, and of which there was no sign for so long, is taken back. `None` where those who run jobs live and die
    /// with the front: nothing is taken back that is out, and at once what runs by the table and is not.
    pub lease: Option<Millis>,
}

impl Policy {
    /// One process with one worker.
    pub const ALONE: Self = Self { lease: None };
}

/// A job that is out.
struct Lease {
    attempt: u32,
    /// Who has it, if that is known.
    worker: Option<String>,
    key: Id,
    params: String,
    /// When there was a sign of it last.
    sign: Millis,
    /// Whether somebody has begun with it.
    begun: bool,
    /// Whether they were asked to stop.
    asked: bool,
}

impl Lease {
    fn new(job: &JobRecord, now: Millis) -> Self {
        let (attempt, key, params) = (job.attempts, job.key, job.params.clone());
        Self { attempt, worker: None, key, params, sign: now, begun: false, asked: false }
    }
}

/// So long a worker counts as having the keys of a job that it was given, until it says so itself, in milliseconds.
const WARM: Millis = 10_000;

/// Longest that jobs are handed out without a look at what workers say.
const HAND_OUT: Duration = Duration::from_millis(200);

/// Times that a job goes to other workers, because one does not see its files: for some minutes.
const ELSEWHERE: u32 = 100;

/// First and longest pause between attempts to note the end of a job.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// The end of a dispatch that has the table.
pub struct Front {
    service: Arc<Service>,
    dispatch: Arc<dyn Dispatch>,
    policy: Policy,
    turns: Turns,
    out: HashMap<Id, Lease>,
    /// When a worker was given a job with these keys, or was done with one, last.
    warm: HashMap<(String, Id), Millis>,
    /// Why a job may be running by the table and not be out: a claim that failed can have reached the disk.
    unsure: Option<Requeue>,
    /// What becomes of attempts whose end could not be noted yet: worked out once, however often it is tried.
    endings: HashMap<(Id, u32), Ending>,
    /// When the table was compared with what is out.
    looked: Option<Millis>,
    pause: Duration,
}

/// What becomes of a job of which an attempt has ended.
#[derive(Clone)]
enum Ending {
    Done(Made),
    Failed(Problem),
    Cancelled,
    Again(Requeue),
}

impl Front {
    /// A front with nothing out.
    pub fn new(service: Arc<Service>, dispatch: Arc<dyn Dispatch>, policy: Policy) -> Self {
        Self {
            service,
            dispatch,
            policy,
            turns: Turns::default(),
            out: HashMap::new(),
            warm: HashMap::new(),
            unsure: None,
            endings: HashMap::new(),
            looked: None,
            pause: PAUSES[0],
        }
    }

    /// Whether nothing is out.
    pub fn is_idle(&self) -> bool {
        self.out.is_empty()
    }

    /// How long to wait after a turn that failed.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Notes all reports, takes back what nobody runs, and hands out what may be. Times are those of one clock that never goes back.
    ///
    /// # Errors
    /// The table or the dispatch fails. Nothing is lost; the next turn goes on.
    pub fn turn(&mut self, now: Millis) -> Result<(), StoreError> {
        self.hear(now)?;
        while let Some(taken) = self.dispatch.reported()? {
            // What was said before the report.
            self.hear(now)?;
            if let Some(lease) = self.out.get_mut(&taken.message.job)
                && lease.attempt == taken.message.attempt
            {
                // It has an end, which may be noted only when the disk is well again.
                (lease.sign, lease.begun) = (now, true);
            }
            match self.conclude(&taken.message) {
                Ok(()) => {
                    self.pause = PAUSES[0];
                    self.dispatch.noted(&taken)?;
                }
                Err(error) => {
                    if self.pause == PAUSES[0] {
                        tracing::error!(job = %taken.message.job, "cannot note the end of a job; it is tried until it is noted");
                    }
                    // In one process the thread that asks for turns is who makes the pause.
                    let pause = self.policy.lease.map_or(Duration::ZERO, |_| self.pause);
                    self.dispatch.put_back(taken, pause)?;
                    self.pause = (2 * self.pause).min(PAUSES[1]);
                    return Err(error);
                }
            }
        }
        self.ask_to_stop()?;
        match self.policy.lease {
            None => self.take_back_unsure()?,
            Some(lease) => self.look(now, lease)?,
        }
        self.hand_out(now)
    }

    /// Notes what those who run jobs say of them.
    fn hear(&mut self, now: Millis) -> Result<(), StoreError> {
        for Sign { job, attempt, news } in self.dispatch.signs()? {
            let Some(lease) = self.out.get_mut(&job).filter(|lease| lease.attempt == attempt) else {
                continue;
            };
            (lease.sign, lease.begun) = (now, true);
            if let Some(news) = news {
                // What cannot be noted is not worth the job. The store has logged why.
                let _ = self.service.note(job, attempt, &lease.params, &news);
            }
        }
        Ok(())
    }

    /// Tells those who run a job elsewhere that its client has cancelled it.
    fn ask_to_stop(&mut self) -> Result<(), StoreError> {
        if self.policy.lease.is_none() {
            return Ok(());
        }
        for (job, lease) in &mut self.out {
            let cancelled = || self.service.live.begin(*job).stopped() == Some(Stop::Cancelled);
            if !lease.asked && cancelled() {
                self.dispatch.cancel(*job)?;
                lease.asked = true;
            }
        }
        Ok(())
    }

    /// Forgets what is out, after a defect: what the table has as running is taken back with the next turn.
    pub fn drop_all(&mut self) {
        while let Ok(Some(taken)) = self.dispatch.reported() {
            let _ = self.dispatch.noted(&taken);
        }
        for (job, _) in self.out.drain() {
            self.service.live.end(job);
        }
        self.endings.clear();
        self.unsure = Some(Requeue::Crashed);
    }

    fn take_back_unsure(&mut self) -> Result<(), StoreError> {
        if let Some(why) = &self.unsure {
            self.service.take_back(why, |job| !self.out.contains_key(&job.id))?;
            self.unsure = None;
        }
        Ok(())
    }

    /// Compares the table with what is out: what runs by the table is given time for a sign, then taken back.
    fn look(&mut self, now: Millis, lease: Millis) -> Result<(), StoreError> {
        if self.looked.is_some_and(|at| now.saturating_sub(at) < lease / 8) {
            return Ok(());
        }
        let mut running = jobs::select(&self.service.store, |job| job.state == JobState::Running)?;
        running.sort_by_key(|job| job.sequence);
        let runs = |id: Id, attempt| running.iter().any(|job| job.id == id && job.attempts == attempt);
        for (job, _) in self.out.extract_if(|id, lease| !runs(*id, lease.attempt)) {
            self.service.live.end(job);
        }
        let workers = self.dispatch.workers();
        // Where nobody is heard it is this front that is cut off.
        let is_gone = |name: &str| !workers.is_empty() && workers.iter().all(|alive| alive.worker != name);
        for job in &running {
            let known = self.out.entry(job.id).or_insert_with(|| Lease::new(job, now));
            if job.cancel {
                self.dispatch.cancel(job.id)?;
            }
            let waits_for_nobody = !known.begun && known.worker.as_deref().is_some_and(is_gone);
            if waits_for_nobody || now.saturating_sub(known.sign) >= lease {
                // Whoever began it has died with it or is cut off; what nobody began was lost on the way.
                let why = if known.begun { Requeue::Crashed } else { Requeue::Stopped };
                self.service.take_back_one(job, &why)?;
                self.service.metrics.cluster.taken_back();
                self.out.remove(&job.id);
                self.service.live.end(job.id);
            }
        }
        self.looked = Some(now);
        Ok(())
    }

    /// Hands out jobs to the workers that they suit, as many as those have slots for.
    fn hand_out(&mut self, now: Millis) -> Result<(), StoreError> {
        let workers = self.dispatch.workers();
        // After a new start it is they who know what they have.
        for (job, worker) in
            workers.iter().flat_map(|alive| alive.jobs.iter().map(move |job| (job, &alive.worker)))
        {
            if let Some(lease) = self.out.get_mut(job) {
                lease.worker.get_or_insert_with(|| worker.clone());
            }
        }
        self.warm.retain(|_, at| now.saturating_sub(*at) < WARM);
        for lease in self.out.values() {
            if let Some(worker) = &lease.worker {
                self.warm.insert((worker.clone(), lease.key), now);
            }
        }
        if self.policy.lease.is_some() {
            self.service.crew.set(&workers, self.out.len());
        }
        let service = Arc::clone(&self.service);
        let bytes =
            |params: &str| service.engines.named(params).map_or(0, |set| set.info().expanded_key_bytes);
        let out = self.out.values().filter_map(|lease| {
            let worker = lease.worker.as_deref()?;
            Some(Out { worker, key: lease.key, bytes: bytes(&lease.params) })
        });
        let mut placement = Placement::new(workers, out, self.warm.keys());
        // What workers say is heard between turns, so that none is long.
        let began = Instant::now();
        while placement.has_room() && !service.is_stopping() {
            if began.elapsed() >= HAND_OUT {
                service.live.wake();
                return Ok(());
            }
            let choose = |waiting: &[&Waiting]| choices(&placement, waiting, &service.estimates, bytes);
            // The store has logged why it fails. The job has not begun, and nothing is held against it.
            let claimed = jobs::claim(&service.store, &mut self.turns, choose);
            let Some((job, (worker, reason))) =
                claimed.inspect_err(|_| self.unsure = Some(Requeue::Stopped))?
            else {
                return Ok(());
            };
            placement.take(&worker, job.key, bytes(&job.params));
            self.warm.insert((worker.clone(), job.key), now);
            let lease = Lease { worker: Some(worker.clone()), ..Lease::new(&job, now) };
            self.out.insert(job.id, lease);
            match self.work(&job) {
                Ok(work) => {
                    self.dispatch.publish(&worker, &work)?;
                    if self.policy.lease.is_some() {
                        service.metrics.cluster.placed(reason);
                    }
                }
                // To be noted like every other end, again and again if need be.
                Err(outcome) => {
                    self.dispatch.report(&Done { job: job.id, attempt: job.attempts, outcome })?;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What whoever runs a job has to know, or what becomes of the attempt if that cannot be read.
    fn work(&self, job: &JobRecord) -> Result<Work, Outcome> {
        let store = &self.service.store;
        let read = || Ok(keys::get(store, job.key)?.zip(Some(keys::parts(store, job.key)?)));
        match read() {
            Ok(Some((key_set, pieces))) => Ok(Work::new(job, &key_set, pieces)),
            Ok(None) => Err(Outcome::Failed(Problem::not_found(format!("key set {} is gone", job.key)))),
            Err(error @ StoreError::Corrupt(_)) => Err(Outcome::Failed(error.into())),
            Err(error) => Err(Outcome::Trouble(reason(&error))),
        }
    }

    /// Notes what came of an attempt, if it still counts.
    fn conclude(&mut self, done: &Done) -> Result<(), StoreError> {
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
            // It was removed while somebody still ran it, and has no place for a result.
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
            // It could not be noted before, nobody waits for the result any more, and the disk may have no room for it.
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

    /// What becomes of a job that is at the attempt of which something came.
    fn ending(&self, job: &JobRecord, done: &Done) -> Result<Ending, StoreError> {
        let service = &self.service;
        if self.pause > PAUSES[0] && self.is_cancelled(job) {
            return Ok(Ending::Cancelled);
        }
        Ok(match &done.outcome {
            Outcome::Made(made) => {
                match service.blobs.head(Blob::Result(job.id)).map_err(|error| service.store.failed(error))? {
                    Some(length) if length == made.length => Ending::Done(*made),
                    _ => self.again(job, "the stored result is gone".to_owned()),
                }
            }
            Outcome::Failed(problem) => Ending::Failed(problem.clone()),
            Outcome::TooLarge(problem) if self.policy.lease.is_none() => Ending::Failed(problem.clone()),
            Outcome::Cancelled => Ending::Cancelled,
            // Where there are others a job waits for one that has more memory.
            Outcome::Stopped | Outcome::TooLarge(_) => Ending::Again(Requeue::Stopped),
            Outcome::Trouble(reason) => self.again(job, reason.clone()),
            Outcome::Crashed => self.crashed(job),
            Outcome::Differs => {
                // Nothing says which of the two is right: both go.
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

    /// A job that could not be tried to its end goes back into the queue, to be tried after a pause, until it was tried too often.
    /// Others do not wait for it.
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

    /// The same for a job whose files a worker did not find as they are here: it may have lost its folder, and others have theirs.
    fn elsewhere(&self, job: &JobRecord, what: &str) -> Ending {
        if job.failures >= ELSEWHERE {
            return self.again(job, what.to_owned());
        }
        tracing::warn!(job = %job.id, what, "a worker does not see the files that are here; look at its storage.data");
        Ending::Again(Requeue::Trouble(what.to_owned(), Duration::from_secs(5)))
    }

    /// The end of a job whose input whoever ran it could not use, by a look of this server's own.
    fn damaged_input(&self, job: &JobRecord) -> Ending {
        let expected = Expected::new(job.input_bytes, job.input_digest.as_deref());
        match self.service.blobs.get(Blob::Input(job.id), expected) {
            Ok(_) => self.elsewhere(job, "a worker did not find the input"),
            Err(ReadError::Io(error)) => self.again(job, reason(&self.service.store.failed(error))),
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

    /// The end of a job that did not get a key: damaged pieces are marked as missing, so that they can be uploaded again, and where
    /// there are none the disk may be read the next time.
    fn damaged(&self, job: &JobRecord, first: Option<u32>, what: &str) -> Ending {
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
            Err(error) => self.again(job, reason(&error)),
        }
    }

    /// A report that counts no more.
    fn late(&mut self, job: &JobRecord, done: &Done) {
        if let (Outcome::Made(made), Some((digest, _))) = (&done.outcome, &job.result)
            && made.content.is_some()
            && made.content == job.content
            && crate::id::hex(&made.digest) != *digest
        {
            tracing::error!(job = %job.id, "two runs of a job gave different results; a machine computes wrongly");
            self.service.metrics.differed();
        }
        self.endings.remove(&(done.job, done.attempt));
        if job.state.is_final() {
            // An attempt to note it that failed has reached the disk after all; or whoever ran it has stored a result since.
            jobs::ended(&self.service.store, job);
        }
        if self.out.get(&job.id).is_some_and(|lease| lease.attempt == done.attempt) {
            self.close(done, Some(job));
        }
    }

    /// A job is out no more; `record` is what has become of it, where that is news.
    fn close(&mut self, done: &Done, record: Option<&JobRecord>) {
        self.out.remove(&done.job);
        self.endings.remove(&(done.job, done.attempt));
        let service = &self.service;
        service.live.end(done.job);
        if let Some(record) = record {
            tracing::info!(job = %record.id, state = record.state.name(), seconds = record.seconds, "job left the worker");
            if record.state == JobState::Queued {
                let _ = service.append(record, "state", QUEUED, Urgency::Now);
            } else {
                service.metrics.job(&record.params, record.state, record.seconds);
            }
        }
        service.events.close(done.job);
        service.events.wake(done.job);
    }
}

/// The worker for the next job of each key set, for those of which one is not to wait.
fn choices(
    placement: &Placement,
    waiting: &[&Waiting],
    estimates: &Estimates,
    bytes: impl Fn(&str) -> u64,
) -> HashMap<Id, (String, Reason)> {
    let mut keys: HashMap<Id, (&str, usize)> = HashMap::new();
    for job in waiting {
        keys.entry(job.key).or_insert((&job.params, 0)).1 += 1;
    }
    let chosen = keys.into_iter().filter_map(|(key, (params, backlog))| {
        let asked =
            Asked { key, params, bytes: bytes(params), backlog, patience: estimates.jobs_a_load(params) };
        let (worker, reason) = placement.choose(&asked)?;
        Some((key, (worker.to_owned(), reason)))
    });
    chosen.collect()
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
