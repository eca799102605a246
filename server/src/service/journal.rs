//! What a run reports as it goes: its progress, its stages with their times, and the events that are logged for clients who follow the job.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use refloat::trace::{Observer, StageEvent};

use super::Service;
use super::live::{Live, Stop};
use super::runner::{Halt, Watch};
use super::views::StageDocument;
use crate::dispatch::{News, Outcome};
use crate::store::StoreError;
use crate::store::events::Urgency;
use crate::store::jobs;
use crate::work::Work;

/// The holder of the job table, as a run sees it.
pub trait Desk: Send {
    /// Takes note of something new.
    ///
    /// # Errors
    /// It could not be noted.
    fn tell(&mut self, news: News) -> Result<(), StoreError>;

    /// Why the run is to stop, if it is.
    fn stopped(&self) -> Option<Stop>;

    /// Takes note of something that could not be read or stored.
    fn failed(&mut self, error: std::io::Error) -> StoreError;

    /// Takes note that a result of `bytes` bytes has been refused for `time`; returns whether the job is to go to another worker.
    fn refused(&mut self, bytes: u64, time: Duration) -> bool {
        let _ = (bytes, time);
        false
    }

    /// Takes note of what came of the attempt.
    fn ended(&mut self, outcome: &Outcome) {
        let _ = outcome;
    }
}

/// Stamps the events of a run with the time, tells them to a desk, and stops the run when asked.
pub struct Journal<D> {
    desk: D,
    began: Instant,
    entered: Instant,
}

impl<D: Desk> Journal<D> {
    /// The journal of a run that begins.
    pub fn new(desk: D) -> Self {
        let now = Instant::now();
        Self { desk, began: now, entered: now }
    }

    fn event(&mut self, name: &str, data: String, urgency: Urgency) -> Result<(), StoreError> {
        self.desk.tell(News::Event { name: name.to_owned(), data, urgency })
    }

    fn at(&mut self, stage: &str, parts: Option<(usize, usize)>) {
        let _ = self.desk.tell(News::At { stage: stage.to_owned(), parts });
    }
}

impl<D: Desk> Watch for Journal<D> {
    fn stopped(&self) -> Option<Stop> {
        self.desk.stopped()
    }

    fn started(&mut self) -> Result<(), Halt> {
        self.event("state", r#"{"state":"running"}"#.to_owned(), Urgency::Now).map_err(|error| match error {
            StoreError::Corrupt(_) => Halt::Problem(error.into()),
            StoreError::Io(error) => Halt::Io(error),
            error => Halt::Io(std::io::Error::other(error)),
        })
    }

    fn keys(&mut self, loaded: Option<Duration>) {
        let _ = self.desk.tell(News::Keys { loaded: loaded.map(|time| time.as_secs_f64()) });
    }

    fn loading(&mut self, done: usize, total: usize) {
        self.at("load_keys", Some((done - 1, total)));
        if done == total || done.is_multiple_of(total.div_ceil(32)) {
            let data = format!(r#"{{"state":"running","phase":"load_keys","done":{done},"total":{total}}}"#);
            let _ = self.event("state", data, Urgency::Later);
        }
    }

    fn begin(&mut self) {
        (self.began, self.entered) = (Instant::now(), Instant::now());
    }

    fn failed(&mut self, error: std::io::Error) -> StoreError {
        self.desk.failed(error)
    }

    fn refused(&mut self, bytes: u64, time: Duration) -> bool {
        self.desk.refused(bytes, time)
    }

    fn panicked(&mut self) {
        let _ = self.desk.tell(News::Panicked);
    }

    fn ended(&mut self, outcome: &Outcome) {
        self.desk.ended(outcome);
    }

    fn rest(&mut self, pause: Duration) {
        let deadline = Instant::now() + pause;
        while self.desk.stopped().is_none() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20).min(pause));
        }
    }
}

impl<D: Desk> Observer for Journal<D> {
    fn event(&mut self, event: &StageEvent) -> ControlFlow<()> {
        let stage = event.stage();
        let mut urgency = Urgency::Now;
        match *event {
            StageEvent::Enter { .. } => {
                self.entered = Instant::now();
                self.at(stage, None);
                urgency = Urgency::Later;
            }
            StageEvent::Progress { done, total, .. } => {
                self.at(stage, Some((done, total)));
                urgency = Urgency::Later;
            }
            StageEvent::Exit { .. } => {
                let seconds = self.entered.elapsed().as_secs_f64();
                let _ = self.desk.tell(News::Stage { stage: stage.to_owned(), seconds });
            }
            _ => {}
        }
        let document = StageDocument::new(event, self.began.elapsed().as_secs_f64() * 1000.0);
        if let Some(data) = document.and_then(|document| serde_json::to_string(&document).ok()) {
            // An event that cannot be written must not cost the job. The store has logged why.
            let _ = Self::event(self, "stage", data, urgency);
        }
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.desk.stopped().is_some()
    }
}

/// The desk of a run in the process that has the job table.
pub struct Beside<'a> {
    service: &'a Service,
    work: Work,
    live: Arc<Live>,
}

impl<'a> Beside<'a> {
    /// The desk of a run that begins.
    pub fn begin(service: &'a Service, work: &Work) -> Self {
        let live = service.live.begin(work.job);
        // A client may have cancelled the job between its claim and the line above.
        if jobs::get(&service.store, work.job).is_ok_and(|record| record.is_some_and(|record| record.cancel))
        {
            live.stop(Stop::Cancelled);
        }
        Self { service, work: work.clone(), live }
    }
}

impl Desk for Beside<'_> {
    fn tell(&mut self, news: News) -> Result<(), StoreError> {
        self.service.note(self.work.job, self.work.attempt, &self.work.params, &news)
    }

    fn stopped(&self) -> Option<Stop> {
        self.live.stopped()
    }

    fn failed(&mut self, error: std::io::Error) -> StoreError {
        self.service.store.failed(error)
    }
}
