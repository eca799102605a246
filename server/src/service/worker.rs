//! The worker: one thread that takes jobs in order and runs each on a rayon pool of its own, so
//! that no homomorphic work ever occupies a thread that answers requests.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::Error;
use refloat::trace::{Observer, StageEvent};

use super::Service;
use super::live::{Live, Stop};
use super::views::StageDocument;
use crate::config::Config;
use crate::engine::{LoadError, LoadedKeys, PartReader};
use crate::memory;
use crate::problem::Problem;
use crate::store::StoreError;
use crate::store::events::{QUEUED, Urgency};
use crate::store::files::ReadError;
use crate::store::jobs::{self, JobRecord, JobState, Requeue};
use crate::store::keys;
use crate::store::turns::Turns;

/// Threads for homomorphic evaluation.
pub fn threads(config: &Config) -> usize {
    match config.compute.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// The threads for homomorphic evaluation.
///
/// # Errors
/// The operating system gives no threads.
pub fn pool(config: &Config) -> std::io::Result<Arc<ThreadPool>> {
    ThreadPoolBuilder::new()
        .num_threads(threads(config))
        .thread_name(|index| format!("fhe-{index}"))
        .build()
        .map(Arc::new)
        .map_err(std::io::Error::other)
}

/// Starts the worker. It ends after [`Service::stop`].
///
/// # Errors
/// The operating system gives no thread.
pub fn start(service: Arc<Service>, pool: Arc<ThreadPool>) -> std::io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("worker".into()).spawn(move || run(&service, &pool))
}

fn run(service: &Service, pool: &ThreadPool) {
    let mut turns = Turns::default();
    // Why a job may be running by the table and in nobody's hands: a claim that failed can have reached the disk.
    let mut unsure = None;
    while !service.is_stopping() {
        // No defect, wherever it is, ends this thread: some damage makes the library of the table panic.
        let claimed = catch_unwind(AssertUnwindSafe(|| {
            if let Some(why) = &unsure {
                service.take_back(why)?;
                unsure = None;
            }
            jobs::claim(&service.store, &mut turns)
        }));
        match claimed.unwrap_or_else(|_| Err(StoreError::Corrupt("the queue".to_owned()))) {
            Ok(Some(job)) => {
                if catch_unwind(AssertUnwindSafe(|| execute(service, pool, &job))).is_err() {
                    unsure = Some(Requeue::Crashed);
                    service.live.end(job.id);
                    service.metrics.panicked();
                }
            }
            Ok(None) => service.live.wait(Duration::from_secs(1)),
            // The store has logged why. The job has not begun, and nothing is held against it.
            Err(_) => {
                unsure.get_or_insert(Requeue::Stopped);
                service.live.wait(Duration::from_secs(1));
            }
        }
    }
}

/// Drops keys that are forgotten or that nobody has used for long, or all that are idle if the machine is short of memory.
pub fn release_idle(service: &Service, pool: &ThreadPool) {
    let idle = Duration::from_secs(service.config.compute.key_idle_seconds);
    let reserve = service.config.compute.min_free_memory_bytes;
    let mut released = service.cache.take_idle(idle);
    if memory::available().is_some_and(|available| available < reserve) {
        released.extend(service.cache.take_idle(Duration::ZERO));
    }
    if released.is_empty() {
        return;
    }
    let bytes: u64 = released.iter().map(|keys| keys.bytes).sum();
    tracing::info!(sets = released.len(), bytes, "keys leave memory");
    memory::give_back(Some(pool), || drop(released));
}

/// Why a run has no result.
enum Halt {
    /// The job cannot be done.
    Problem(Problem),
    /// It was asked to stop.
    Stopped(Stop),
    /// A file could not be read or written; another time it may.
    Trouble(String),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt(_) => Self::Problem(error.into()),
            error => Self::Trouble(
                if error.is_full() { "the server's disk is full" } else { "the server's disk fails" }
                    .to_owned(),
            ),
        }
    }
}

/// What becomes of a job that has run.
enum Ending {
    Done(Vec<u8>, f64),
    Failed(Problem),
    Cancelled,
    Again(Requeue),
}

fn execute(service: &Service, pool: &ThreadPool, job: &JobRecord) {
    let live = service.live.begin(job.id);
    // A client may have cancelled the job between its claim and the line above.
    if jobs::get(&service.store, job.id).is_ok_and(|record| record.is_some_and(|record| record.cancel)) {
        live.stop(Stop::Cancelled);
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| attempt(service, pool, job, &live)));
    let mut ending = match outcome {
        Ok(Ok((result, seconds))) => {
            service.estimates.record(&job.params, job.task.bootstraps(), seconds);
            Ending::Done(result, seconds)
        }
        Ok(Err(Halt::Stopped(Stop::Cancelled))) => Ending::Cancelled,
        Ok(Err(Halt::Stopped(Stop::ShuttingDown))) => Ending::Again(Requeue::Stopped),
        Ok(Err(Halt::Problem(problem))) => Ending::Failed(problem),
        Ok(Err(Halt::Trouble(reason))) => after_trouble(service, job, &live, reason),
        Err(_) => {
            // Whatever the keys have become, nobody is to use them.
            service.cache.remove(job.key);
            service.metrics.panicked();
            tracing::error!(job = %job.id, "a job panicked; its keys are loaded anew for the next one");
            Ending::Failed(Problem::new(
                500,
                "INTERNAL",
                "Internal error",
                "the evaluation stopped unexpectedly, which is a defect of refloat; other jobs go on; please report what was submitted",
            ))
        }
    };
    let ended = settle(service, job, &live, &mut ending);
    service.live.end(job.id);
    match ended {
        Some(record) => {
            tracing::info!(job = %job.id, state = record.state.name(), seconds = record.seconds, "job left the worker");
            if record.state == JobState::Queued {
                let _ = service.append(&record, "state", QUEUED, Urgency::Now);
            } else {
                service.metrics.job(&record.params, record.state, record.seconds);
            }
        }
        None => {
            tracing::error!(job = %job.id, "the end of a job could not be noted; the next start takes it up");
        }
    }
    service.events.close(job.id);
    service.events.wake(job.id);
}

/// A job whose files could not be read or written goes back into the queue, to be tried after a pause, until it was tried too
/// often. Others do not wait for it.
fn after_trouble(service: &Service, job: &JobRecord, live: &Live, reason: String) -> Ending {
    if live.stopped() == Some(Stop::Cancelled) {
        return Ending::Cancelled;
    }
    let tries = job.failures + 1;
    if tries >= service.config.compute.max_attempts {
        let detail = format!(
            "{reason}; the job was tried {tries} times; submit it again when the server's disk is well"
        );
        return Ending::Failed(Problem::new(500, "STORAGE_FAILED", "Storage failed", detail));
    }
    service.metrics.retried();
    Ending::Again(Requeue::Trouble(reason, Duration::from_secs(1 << tries.min(5))))
}

/// Notes how a job ended, again and again until it is on disk, and gives its record. `None` if the server stops before.
fn settle(service: &Service, job: &JobRecord, live: &Live, ending: &mut Ending) -> Option<JobRecord> {
    let store = &service.store;
    let mut pause = Duration::from_millis(100);
    let mut told = false;
    loop {
        let outcome = match ending {
            Ending::Done(result, seconds) => jobs::finish(store, job.id, result, *seconds),
            Ending::Failed(problem) => jobs::fail(store, job.id, problem.clone()),
            Ending::Cancelled => jobs::abandon(store, job.id),
            Ending::Again(why) => jobs::requeue(store, job.id, why),
        };
        match outcome {
            Ok(Some(record)) => return Some(record),
            // An attempt that failed has reached the disk after all.
            Ok(None) => {
                if let Ok(record) = jobs::get(store, job.id) {
                    return record.inspect(|record| jobs::ended(store, record));
                }
            }
            // Its record is damaged: nothing can be noted any more.
            Err(StoreError::Corrupt(_)) => return None,
            Err(_) => {}
        }
        if !told {
            told = true;
            tracing::error!(job = %job.id, "cannot note the end of a job; it is tried until it is noted");
        }
        let was_cancelled = matches!(ending, Ending::Cancelled);
        live.wait(pause, |live| {
            live.is_shutting_down() || (!was_cancelled && live.stopped() == Some(Stop::Cancelled))
        });
        pause = (2 * pause).min(Duration::from_secs(5));
        if !was_cancelled && live.stopped() == Some(Stop::Cancelled) {
            // Nobody waits for the result any more, and it may be what the disk has no room for.
            *ending = Ending::Cancelled;
        } else if live.is_shutting_down() {
            return None;
        }
    }
}

fn attempt(
    service: &Service,
    pool: &ThreadPool,
    job: &JobRecord,
    live: &Arc<Live>,
) -> Result<(Vec<u8>, f64), Halt> {
    service.events.append(job.id, job.attempts, "state", r#"{"state":"running"}"#, Urgency::Now)?;
    check(live)?;
    let loaded = load_keys(service, pool, job, live)?;
    let input = jobs::input(&service.store, job).map_err(|error| match error {
        ReadError::Io(error) => Halt::from(service.store.failed(error)),
        ReadError::Damaged(what) => {
            tracing::error!(job = %job.id, what, "the input of a job is damaged");
            let detail = "the stored input of the job is not what was submitted, the server's disk altered it; submit it again";
            Halt::Problem(Problem::new(500, "INPUT_DAMAGED", "Stored input damaged", detail))
        }
    })?;
    let began = Instant::now();
    let mut observer = RunObserver { service, job, live, began, entered: began };
    let result = pool.install(|| loaded.runner.run(&job.task, &input, &mut observer));
    match result {
        Ok(bytes) => {
            let (found, most) = (bytes.len() as u64, job.most_result_bytes);
            if most != 0 && found > most {
                let why = format!(
                    "job {}: a result of {found} bytes, where its set announced {most} at most",
                    job.id
                );
                return Err(Halt::Problem(Problem::internal(&why)));
            }
            Ok((bytes, began.elapsed().as_secs_f64()))
        }
        Err(Error::Cancelled(_)) if live.stopped().is_some() => {
            Err(Halt::Stopped(live.stopped().unwrap_or(Stop::Cancelled)))
        }
        // A piece of keys that are read as they are used.
        Err(Error::MissingKey(what)) => Err(unread_keys(service, job, what)?),
        Err(error) => Err(Halt::Problem(error.into())),
    }
}

fn load_keys(
    service: &Service,
    pool: &ThreadPool,
    job: &JobRecord,
    live: &Live,
) -> Result<Arc<LoadedKeys>, Halt> {
    if let Some(loaded) = service.cache.get(job.key) {
        service.metrics.keys(true);
        return Ok(loaded);
    }
    let set = service.engines.named(&job.params).map_err(|error| Halt::Problem(error.into()))?;
    let expanded = set.info().expanded_key_bytes;
    if !service.cache.make_room(expanded) {
        let detail = format!(
            "the keys take {expanded} bytes of memory, {} are set aside for keys",
            service.cache.budget()
        );
        return Err(Halt::Problem(Problem::new(507, "MEMORY", "Keys too large for this server", detail)));
    }
    let began = Instant::now();
    let parts: BTreeMap<usize, _> =
        keys::parts(&service.store, job.key)?.into_iter().map(|part| (part.0 as usize, part)).collect();
    let stored = {
        let (store, key, parts) = (Arc::clone(&service.store), job.key, parts.clone());
        move |index: usize| {
            let part = parts.get(&index).copied();
            let absent = || ReadError::Damaged(format!("piece {index} is missing"));
            keys::read_part(&store, key, part.ok_or_else(absent)?)
        }
    };
    let later: PartReader = {
        let stored = stored.clone();
        Arc::new(move |index| stored(index).map_err(std::io::Error::other))
    };
    if let Some(opened) = pool.install(|| set.open(job.key, &later)) {
        let opened = opened.map_err(|error| Halt::Problem(error.into()))?;
        tracing::info!(key = %job.key, bytes = opened.bytes, "key set opened, to be read as it is used");
        return Ok(service.cache.insert(job.key, opened));
    }
    let total = set.info().key_parts.len();
    let mut done = 0;
    let mut damaged = None;
    let mut read = |index: usize| {
        if live.stopped().is_some() {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
        }
        let bytes = stored(index).map_err(|error| match error {
            ReadError::Io(error) => error,
            ReadError::Damaged(what) => {
                damaged = Some(index);
                std::io::Error::other(what)
            }
        })?;
        live.set_progress("load_keys", Some((done, total)));
        done += 1;
        if done == total || done % total.div_ceil(32) == 0 {
            let data = format!(r#"{{"state":"running","phase":"load_keys","done":{done},"total":{total}}}"#);
            let _ = service.append(job, "state", &data, Urgency::Later);
        }
        Ok(bytes)
    };
    let loaded = pool.install(|| set.load(job.key, &mut read));
    check(live)?;
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(LoadError::Io(error)) => {
            return Err(match damaged {
                Some(index) => damaged_keys(service, job, index)?,
                None => service.store.failed(error).into(),
            });
        }
        Err(LoadError::Refused(error)) => return Err(Halt::Problem(error.into())),
    };
    service.metrics.keys(false);
    tracing::info!(key = %job.key, bytes = loaded.bytes, seconds = began.elapsed().as_secs_f64(), "key set loaded");
    Ok(service.cache.insert(job.key, loaded))
}

/// Marks all damaged pieces of a job's keys as missing, so that they can be uploaded again.
fn damaged_keys(service: &Service, job: &JobRecord, first: usize) -> Result<Halt, Halt> {
    let others = keys::verify(&service.store, job.key, keys::Look::All)?;
    let pieces = if others.is_empty() { vec![first as u32] } else { others };
    Ok(pieces_missing(job, first, &pieces))
}

/// The end of a job that did not get a key in the middle of its run: damaged pieces are marked as missing, and where there are none
/// the disk may be read the next time.
fn unread_keys(service: &Service, job: &JobRecord, what: String) -> Result<Halt, Halt> {
    // What was opened goes by the pieces that were stored then.
    service.cache.remove(job.key);
    let damaged = keys::verify(&service.store, job.key, keys::Look::All)?;
    Ok(match damaged.first() {
        Some(&first) => pieces_missing(job, first as usize, &damaged),
        None => service.store.failed(std::io::Error::other(what)).into(),
    })
}

fn pieces_missing(job: &JobRecord, first: usize, pieces: &[u32]) -> Halt {
    let detail = format!(
        "piece {first} of key set {} is missing or damaged on the server's disk; upload piece {first} again{}, commit the set and submit the job again",
        job.key,
        if pieces.len() > 1 {
            format!(" (and {} others, see missing)", pieces.len() - 1)
        } else {
            String::new()
        }
    );
    let problem = Problem::conflict("KEY_PIECE_DAMAGED", detail).with("piece", first).with("missing", pieces);
    Halt::Problem(problem)
}

fn check(live: &Live) -> Result<(), Halt> {
    live.stopped().map_or(Ok(()), |stop| Err(Halt::Stopped(stop)))
}

/// Stamps the events of a run with the time, logs them durably, and stops the run when asked.
struct RunObserver<'a> {
    service: &'a Service,
    job: &'a JobRecord,
    live: &'a Arc<Live>,
    began: Instant,
    entered: Instant,
}

impl Observer for RunObserver<'_> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        let stage = event.stage();
        let mut urgency = Urgency::Now;
        match *event {
            StageEvent::Enter { .. } => {
                self.entered = Instant::now();
                self.live.set_progress(stage, None);
                urgency = Urgency::Later;
            }
            StageEvent::Progress { done, total, .. } => {
                self.live.set_progress(stage, Some((done, total)));
                urgency = Urgency::Later;
            }
            StageEvent::Exit { .. } => {
                self.service.metrics.stage(&self.job.params, stage, self.entered.elapsed().as_secs_f64());
            }
            _ => {}
        }
        let document = StageDocument::new(event, self.began.elapsed().as_secs_f64() * 1000.0);
        if let Some(data) = document.and_then(|document| serde_json::to_string(&document).ok()) {
            // An event that cannot be written is not worth the job. The store has logged why.
            let _ = self.service.append(self.job, "stage", &data, urgency);
        }
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.live.stopped().is_some()
    }
}
