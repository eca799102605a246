//! The worker: one thread that takes jobs in order and runs each on a rayon pool of its own, so
//! that no homomorphic work ever occupies a thread that answers requests.

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
use crate::engine::{LoadError, LoadedKeys};
use crate::problem::Problem;
use crate::store::events::Urgency;
use crate::store::jobs::{self, JobRecord, JobState};
use crate::store::keys;
use crate::store::turns::Turns;

/// Threads for homomorphic evaluation.
pub fn threads(config: &Config) -> usize {
    match config.compute.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Starts the worker. It ends after [`Service::stop`].
///
/// # Errors
/// The operating system gives no threads.
pub fn start(service: Arc<Service>) -> std::io::Result<std::thread::JoinHandle<()>> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads(&service.config))
        .thread_name(|index| format!("fhe-{index}"))
        .build()
        .map_err(std::io::Error::other)?;
    std::thread::Builder::new().name("worker".into()).spawn(move || run(&service, &pool))
}

fn run(service: &Service, pool: &ThreadPool) {
    let mut turns = Turns::default();
    while !service.is_stopping() {
        match jobs::claim(&service.store, &mut turns) {
            Ok(Some(job)) => execute(service, pool, &job),
            Ok(None) => service.live.wait(Duration::from_secs(5)),
            Err(error) => {
                tracing::error!(%error, "cannot take a job");
                service.live.wait(Duration::from_secs(5));
            }
        }
    }
}

/// Why a run has no result.
enum Halt {
    Problem(Problem),
    Stopped(Stop),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

fn execute(service: &Service, pool: &ThreadPool, job: &JobRecord) {
    let live = service.live.begin(job.id);
    // A client may have called the job off between its claim and the line above.
    if jobs::get(&service.store, job.id).is_ok_and(|record| record.is_some_and(|record| record.cancel)) {
        live.stop(Stop::Cancelled);
    }
    let outcome = attempt(service, pool, job, &live);
    let ended = match outcome {
        Ok((result, seconds)) => {
            service.estimates.record(&job.params, job.task.bootstraps(), seconds);
            jobs::finish(&service.store, job.id, &result, seconds)
        }
        Err(Halt::Stopped(Stop::Cancelled)) => jobs::abandon(&service.store, job.id),
        Err(Halt::Stopped(Stop::ShuttingDown)) => jobs::requeue(&service.store, job.id, false),
        Err(Halt::Problem(problem)) => jobs::fail(&service.store, job.id, problem),
    };
    service.live.end(job.id);
    match ended {
        Ok(Some(record)) => {
            tracing::info!(job = %job.id, state = record.state.name(), seconds = record.seconds, "job left the worker");
            if record.state == JobState::Queued {
                let _ = service.append(&record, "state", r#"{"state":"queued"}"#, Urgency::Now);
            } else {
                service.metrics.job(&record.params, record.state, record.seconds);
            }
        }
        Ok(None) => tracing::warn!(job = %job.id, "job was no longer running"),
        Err(error) => tracing::error!(job = %job.id, %error, "cannot note the end of a job"),
    }
    service.events.wake(job.id);
}

fn attempt(
    service: &Service,
    pool: &ThreadPool,
    job: &JobRecord,
    live: &Arc<Live>,
) -> Result<(Vec<u8>, f64), Halt> {
    service.append(job, "state", r#"{"state":"running"}"#, Urgency::Now)?;
    check(live)?;
    let loaded = load_keys(service, pool, job, live)?;
    let input = jobs::input(&service.store, job).map_err(|error| Problem::internal(&error))?;
    let began = Instant::now();
    let mut observer = RunObserver { service, job, live, began, entered: began };
    let run = || pool.install(|| service.engine.run(&job.params, &loaded, &job.task, &input, &mut observer));
    let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        Err(Error::InvalidArgument("the evaluation stopped unexpectedly; this is a defect of refloat".into()))
    });
    match result {
        Ok(bytes) => Ok((bytes, began.elapsed().as_secs_f64())),
        Err(Error::Cancelled(_)) if live.stopped().is_some() => {
            Err(Halt::Stopped(live.stopped().unwrap_or(Stop::Cancelled)))
        }
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
    let expanded = service.engine.set(&job.params).map_or(0, |set| set.expanded_key_bytes);
    if !service.cache.make_room(expanded) {
        let detail = format!(
            "the keys take {expanded} bytes of memory, {} are set aside for keys",
            service.cache.budget()
        );
        return Err(Halt::Problem(Problem::new(507, "MEMORY", "Keys too large for this server", detail)));
    }
    let began = Instant::now();
    let parts = keys::parts(&service.store, job.key).map_err(Problem::from)?;
    let total = parts.len();
    let mut done = 0;
    let mut read = |index: usize| {
        if live.stopped().is_some() {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
        }
        let part = parts
            .get(index)
            .copied()
            .ok_or_else(|| std::io::Error::other(format!("piece {index} is not stored")))?;
        let bytes = keys::read_part(&service.store, job.key, part)?;
        live.set_progress("load_keys", Some((done, total)));
        done += 1;
        if done == total || done % total.div_ceil(32) == 0 {
            let data = format!(r#"{{"state":"running","phase":"load_keys","done":{done},"total":{total}}}"#);
            let _ = service.append(job, "state", &data, Urgency::Later);
        }
        Ok(bytes)
    };
    let loaded = pool.install(|| service.engine.load_keys(&job.params, job.key, &mut read));
    check(live)?;
    let loaded = loaded.map_err(|error| match error {
        LoadError::Io(error) => Problem::internal(&error),
        LoadError::Engine(error) => error.into(),
    })?;
    service.metrics.keys(false);
    tracing::info!(key = %job.key, bytes = loaded.bytes, seconds = began.elapsed().as_secs_f64(), "key set loaded");
    Ok(service.cache.insert(job.key, loaded))
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
        if let Some(data) = document.and_then(|document| serde_json::to_string(&document).ok())
            && let Err(problem) = self.service.append(self.job, "stage", &data, urgency)
        {
            tracing::error!(job = %self.job.id, %problem, "cannot log an event");
        }
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.live.stopped().is_some()
    }
}
