//! Dispatch between machines, by NATS with JetStream.
//!
//! | subject | kind | what it carries |
//! | --- | --- | --- |
//! | `refloat.work.<version>.<front>.<worker>` | stream `REFLOAT_WORK` | attempts; each is gone once the worker has it, or after the time in which a sign of it is due |
//! | `refloat.done.<front>` | stream `REFLOAT_DONE` | what came of attempts, until the front has noted it |
//! | `refloat.sign.<front>` | plain | signs of life, and what is new of a run |
//! | `refloat.stop` | plain, and bucket `refloat_stop` | jobs that are to stop |
//! | `refloat.alive.<version>.<front>` | plain | workers, every few seconds |
//! | `refloat.front.<front>` | plain | fronts, every few seconds, for operators |
//! | `refloat.drain` | plain | the name of a worker that is to end its jobs and leave |
//!
//! An attempt goes only to workers of the version that handed it out, since another version may produce different bytes. Fronts create
//! missing streams again; workers are not allowed to.

mod address;
mod front;
mod link;
mod operator;
mod worker;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::{Alive, Dispatch, Done, Sign, Taken};
use crate::id::Id;
use crate::work::Work;
pub use address::Addresses;
use front::FrontEnd;
use link::Link;
pub use operator::{Operator, Seen, Standing, State};
pub use worker::ALIVE;
use worker::WorkerEnd;

/// Where NATS is, and who asks.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `nats://host:4222`, or several with commas between them; `tls://` for encryption.
    pub url: String,
    /// File with the credentials of an account, if NATS asks for them.
    pub credentials: Option<PathBuf>,
    /// The name of the front, or of the front that a worker works for. No two fronts have the same name.
    pub front: String,
    /// `front`, `worker` or `operator`. Answers to a front come below `_INBOX_front.>`, and so on: none reads those of another.
    pub role: &'static str,
    /// An attempt that nobody has taken after this time is dropped: the front has made another by then. Whole seconds.
    pub lease: Duration,
    /// After this a report that was not noted is delivered again.
    pub patience: Duration,
    /// A run hangs if nothing is heard of it for this long.
    pub hung: Duration,
    /// How long [`Dispatch::take`] waits for an attempt.
    pub wait: Duration,
}

/// One or both ends of a dispatch by NATS. While NATS cannot be reached, calls fail after some seconds; they work again when it can.
pub struct Nats {
    link: Arc<Link>,
    front: Option<Arc<FrontEnd>>,
    worker: Option<Arc<WorkerEnd>>,
}

impl Nats {
    /// A connection without any end yet. NATS need not be there. Not to be called where asynchronous code runs.
    ///
    /// # Errors
    /// The address or the credentials cannot be used, or the system gives no threads.
    pub fn connect(settings: Settings) -> io::Result<Self> {
        Ok(Self { link: Arc::new(Link::connect(settings)?), front: None, worker: None })
    }

    /// With the end of a front; `bell` rings when there is something new for it.
    #[must_use]
    pub fn with_front(mut self, bell: impl Fn() + Send + Sync + 'static) -> Self {
        self.front = Some(FrontEnd::open(&self.link, Box::new(bell)));
        self
    }

    /// With the end of a worker, on which its front counts from now on; `about` describes it, under one name all the time.
    #[must_use]
    pub fn with_worker(mut self, about: impl Fn() -> Alive + Send + Sync + 'static) -> Self {
        self.worker = Some(WorkerEnd::open(&self.link, Box::new(about)));
        self
    }

    /// Whether this worker takes no more jobs: because of [`leave`](Self::leave), or because an operator wants it so.
    pub fn has_left(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.has_left())
    }

    /// How many runs of this worker hang.
    pub fn hung(&self) -> usize {
        self.worker.as_ref().map_or(0, |worker| worker.hung())
    }

    /// How many jobs this worker has.
    pub fn jobs(&self) -> usize {
        self.worker.as_ref().map_or(0, |worker| worker.jobs())
    }

    /// Tells operators the state of this front.
    pub fn tell(&self, standing: &Standing) {
        // The next message follows soon.
        let _ = self.link.tell(self.link.front_subject(), standing);
    }

    /// Whether NATS can be reached now.
    pub fn is_connected(&self) -> bool {
        self.link.is_connected()
    }

    /// Tries once more to report what did not get through.
    ///
    /// # Errors
    /// A report does not get through now either.
    pub fn report_unsaid(&self) -> io::Result<()> {
        self.worker()?.report_unsaid(&self.link)
    }

    /// Tells the front to count on this worker no longer.
    pub fn leave(&self) {
        if let Some(worker) = &self.worker {
            worker.leave(&self.link);
        }
    }

    fn front(&self) -> io::Result<&FrontEnd> {
        self.front.as_deref().ok_or_else(|| io::Error::other("this is not the front's end"))
    }

    fn worker(&self) -> io::Result<&WorkerEnd> {
        self.worker.as_deref().ok_or_else(|| io::Error::other("this is not a worker's end"))
    }
}

impl Dispatch for Nats {
    fn workers(&self) -> Vec<Alive> {
        self.front.as_ref().map_or_else(Vec::new, |front| front.workers())
    }

    fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        self.link.publish(worker, work)
    }

    fn take(&self) -> io::Result<Option<Work>> {
        self.worker()?.take(&self.link)
    }

    fn sign(&self, sign: &Sign) -> io::Result<()> {
        self.worker()?.sign(&self.link, sign)
    }

    fn report(&self, done: &Done) -> io::Result<()> {
        match &self.worker {
            Some(worker) => worker.report(&self.link, done),
            None => self.link.report(done),
        }
    }

    fn reported(&self) -> io::Result<Option<Taken<Done>>> {
        Ok(self.front()?.reported(&self.link))
    }

    fn noted(&self, taken: &Taken<Done>) -> io::Result<()> {
        self.front()?.noted(&self.link, taken)
    }

    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()> {
        self.front()?.put_back(&self.link, &taken, pause)
    }

    fn signs(&self) -> io::Result<Vec<Sign>> {
        Ok(self.front()?.signs())
    }

    fn cancel(&self, job: Id) -> io::Result<()> {
        self.link.cancel(job)
    }

    fn is_cancelled(&self, job: Id) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.is_cancelled(&self.link, job))
    }
}
