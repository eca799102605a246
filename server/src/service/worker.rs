//! Running jobs: each on a rayon pool of its own, so that no homomorphic work ever occupies a thread that answers requests. In a server
//! without a cluster, one thread is both ends of a dispatch: it hands out a job, runs it, and notes what came of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::Service;
use super::cache::KeyCache;
use super::front::{Front, Policy};
use super::journal::{Beside, Journal};
use super::live::Stop;
use super::runner::{Halt, Runner, Watch};
use crate::blobs::{Blob, Put, Unreachable};
use crate::config::{ComputeSection, Config};
use crate::dispatch::{Dispatch, Done, Local, Outcome};
use crate::memory;
use crate::problem::Problem;
use crate::store::StoreError;
use crate::store::jobs::Made;
use crate::work::Work;

/// First and longest pause between attempts to store a result.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];

/// Number of threads for homomorphic evaluation.
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
    pool_of(threads(config))
}

/// A pool of `threads` threads for homomorphic evaluation.
///
/// # Errors
/// The operating system gives no threads.
pub fn pool_of(threads: usize) -> std::io::Result<Arc<ThreadPool>> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("fhe-{index}"))
        .build()
        .map(Arc::new)
        .map_err(std::io::Error::other)
}

/// Starts the worker. It ends after [`Service::stop`].
///
/// # Errors
/// The operating system gives no thread.
pub fn start(service: Arc<Service>, pool: Arc<ThreadPool>) -> std::io::Result<JoinHandle<()>> {
    Builder::new().name("worker".into()).spawn(move || run(&service, &pool))
}

/// Lets threads end by themselves for `patience`, then tells them to, and waits for the last.
pub fn join(threads: Vec<JoinHandle<()>>, patience: Duration, tell: impl FnOnce()) {
    let deadline = Instant::now() + patience;
    while !threads.iter().all(JoinHandle::is_finished) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20).min(patience));
    }
    tell();
    for thread in threads {
        // A thread that panicked has ended, too.
        let _ = thread.join();
    }
}

fn run(service: &Arc<Service>, pool: &ThreadPool) {
    let dispatch = Arc::new(Local::default());
    let mut front =
        Front::new(Arc::clone(service), Arc::clone(&dispatch) as Arc<dyn Dispatch>, Policy::ALONE);
    let runner = Runner { engines: &service.engines, cache: &service.cache, pool, blobs: &service.blobs };
    let began = Instant::now();
    loop {
        // No defect, wherever it is, ends this thread: some damage makes the library of the table panic.
        let turned = catch_unwind(AssertUnwindSafe(|| front.turn(began.elapsed().as_millis() as u64)));
        let turned = turned.unwrap_or_else(|_| {
            service.metrics.panicked();
            front.drop_all();
            Err(StoreError::Corrupt("the queue".to_owned()))
        });
        if service.is_stopping() && (front.is_idle() || service.live.is_shutting_down()) {
            if !front.is_idle() {
                put_back(&mut front, &dispatch, began);
            }
            return;
        }
        let ran = turn(&runner, &*dispatch, |work| Journal::new(Beside::begin(service, work)));
        match (turned, ran) {
            (_, Ok(true)) => {}
            (Err(_), _) if !front.is_idle() => service.live.rest(front.pause()),
            _ => service.live.wait(Duration::from_secs(1)),
        }
    }
}

/// Puts back attempts that were handed out and not begun when the server began to stop: nothing is held against their jobs.
fn put_back(front: &mut Front, dispatch: &Local, began: Instant) {
    while let Ok(Some(work)) = dispatch.take() {
        let stopped = Done { job: work.job, attempt: work.attempt, outcome: Outcome::Stopped };
        if dispatch.report(&stopped).is_err() {
            break;
        }
    }
    // If that cannot be noted, the next process finds the job as one that ended with this process.
    let noted = AssertUnwindSafe(|| front.turn(began.elapsed().as_millis() as u64));
    let _ = catch_unwind(noted);
}

/// Takes an attempt, runs it, stores its result and reports what came of it. Returns whether there was one.
///
/// # Errors
/// The dispatch fails; another attempt will be made.
pub fn turn<W: Watch>(
    runner: &Runner<'_>,
    dispatch: &dyn Dispatch,
    watch: impl FnOnce(&Work) -> W,
) -> std::io::Result<bool> {
    let Some(work) = dispatch.take()? else { return Ok(false) };
    let performed = AssertUnwindSafe(|| {
        let mut watch = watch(&work);
        let outcome = perform(runner, &work, &mut watch);
        watch.ended(&outcome);
        outcome
    });
    let outcome = catch_unwind(performed).unwrap_or(Outcome::Crashed);
    dispatch.report(&Done { job: work.job, attempt: work.attempt, outcome })?;
    Ok(true)
}

fn perform(runner: &Runner<'_>, work: &Work, watch: &mut dyn Watch) -> Outcome {
    let attempted = catch_unwind(AssertUnwindSafe(|| match work.attempt {
        Work::WAKING => runner.wake(work, watch).map(|()| None),
        _ => runner.attempt(work, watch).map(Some),
    }));
    match attempted {
        Ok(Ok(None)) => Outcome::Loaded,
        Ok(Ok(Some((result, seconds)))) => store(runner, work, watch, &result, seconds),
        Ok(Err(Halt::Stopped(Stop::Cancelled))) => Outcome::Cancelled,
        Ok(Err(Halt::Stopped(Stop::ShuttingDown))) => Outcome::Stopped,
        Ok(Err(Halt::Problem(problem))) => Outcome::Failed(problem),
        Ok(Err(Halt::DamagedInput)) => Outcome::DamagedInput,
        Ok(Err(Halt::DamagedKeys(piece))) => Outcome::DamagedKeys(piece),
        Ok(Err(Halt::TooLarge(problem))) => Outcome::TooLarge(problem),
        Ok(Err(Halt::Elsewhere(reason))) => Outcome::Trouble(reason),
        Ok(Err(Halt::UnreadKeys(what))) => Outcome::UnreadKeys(what),
        Ok(Err(Halt::Io(error))) if Unreachable::is(&error) => {
            let reason = reason(&watch.failed(error));
            if runner.blobs.check().is_ok() {
                // The trouble is with this job alone.
                return Outcome::Trouble(reason);
            }
            // No worker can do it meanwhile, and nothing is held against the job.
            while runner.blobs.check().is_err() && watch.stopped().is_none() {
                watch.rest(Duration::from_secs(1));
            }
            if watch.stopped() == Some(Stop::Cancelled) { Outcome::Cancelled } else { Outcome::Stopped }
        }
        Ok(Err(Halt::Io(error))) => {
            let reason = reason(&watch.failed(error));
            if watch.stopped() == Some(Stop::Cancelled) {
                Outcome::Cancelled
            } else {
                Outcome::Trouble(reason)
            }
        }
        Err(_) => {
            // The keys may be in any state, so nobody is to use them.
            runner.cache.remove(work.key);
            watch.panicked();
            tracing::error!(job = %work.job, "a job panicked; its keys are loaded anew for the next one");
            Outcome::Failed(Problem::new(
                500,
                "INTERNAL",
                "Internal error",
                "the evaluation stopped unexpectedly, which is a defect of refloat; other jobs go on; please report what was submitted",
            ))
        }
    }
}

/// What clients are told about a failing disk.
pub(super) fn reason(error: &StoreError) -> String {
    let words = if error.is_full() {
        "the server's disk is full"
    } else if error.is_unreachable() {
        "the server's object store fails"
    } else {
        "the server's disk fails"
    };
    words.to_owned()
}

/// Stores a result, trying again until it is stored, nobody waits for it any more, or the job is to go to another worker.
fn store(runner: &Runner<'_>, work: &Work, watch: &mut dyn Watch, result: &[u8], seconds: f64) -> Outcome {
    let [mut pause, longest] = PAUSES;
    let mut told = false;
    let mut refused = Duration::ZERO;
    loop {
        let is_away = match runner.blobs.put(Blob::Result(work.job), result) {
            Ok(Put::New | Put::Same) => {
                return Outcome::Made(Made {
                    digest: *blake3::hash(result).as_bytes(),
                    length: result.len() as u64,
                    seconds,
                    content: work.content,
                });
            }
            Ok(Put::Differs) => return Outcome::Differs,
            Err(error) => {
                let is_away = Unreachable::is(&error);
                drop(watch.failed(error));
                is_away
            }
        };
        // An object store that is away is away for all workers, most likely, and none is to do the work again meanwhile.
        if !is_away && watch.refused(result.len() as u64, refused) && watch.stopped().is_none() {
            tracing::error!(job = %work.job, "a result cannot be stored here; the job goes to another worker");
            return Outcome::Stopped;
        }
        if !told {
            told = true;
            tracing::error!(job = %work.job, "cannot store a result; it is tried again and again");
        }
        watch.rest(pause);
        refused += if is_away { Duration::ZERO } else { pause };
        pause = (2 * pause).min(longest);
        match watch.stopped() {
            // The result may be what the disk has no room for.
            Some(Stop::Cancelled) => return Outcome::Cancelled,
            Some(Stop::ShuttingDown) => return Outcome::Stopped,
            None => {}
        }
    }
}

/// Drops keys that are forgotten or that nobody has used for long, or all that are idle if the machine is short of memory.
pub fn release_idle(cache: &KeyCache, config: &ComputeSection, pool: &ThreadPool) {
    let mut released = cache.take_idle(Duration::from_secs(config.key_idle_seconds));
    if memory::available().is_some_and(|available| available < config.min_free_memory_bytes) {
        released.extend(cache.take_idle(Duration::ZERO));
    }
    if released.is_empty() {
        return;
    }
    let bytes: u64 = released.iter().map(|keys| keys.bytes).sum();
    tracing::info!(sets = released.len(), bytes, "keys leave memory");
    memory::give_back(Some(pool), || drop(released));
}
