//! The end of a worker: attempts, signs of life, and jobs that are to stop.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};

use super::front::lock;
use super::link::{Link, STOPPED, decode, failed};
use crate::dispatch::{Done, Sign};
use crate::id::{Id, hex};
use crate::work::Work;

/// How often a worker says that it is there, and that it still has an attempt.
pub const ALIVE: Duration = Duration::from_secs(3);

/// A worker that is there.
#[derive(Serialize, Deserialize)]
pub struct Alive {
    pub worker: String,
    /// How many attempts it can have at once.
    pub hands: usize,
}

pub struct WorkerEnd {
    name: String,
    /// Whether fronts can no longer count on it.
    left: AtomicBool,
    consumer: Mutex<Option<Consumer<pull::Config>>>,
    /// The attempts that it has.
    has: Mutex<HashSet<(Id, u32)>>,
    stopped: Mutex<HashSet<Id>>,
    /// Reports that did not get through.
    unsaid: Mutex<Vec<Done>>,
}

impl WorkerEnd {
    pub fn open(link: &Arc<Link>) -> Arc<Self> {
        let mut name = [0; 8];
        // Without chance the number of the process has to do.
        if getrandom::fill(&mut name).is_err() {
            name = u64::from(std::process::id()).to_le_bytes();
        }
        let end = Arc::new(Self {
            name: hex(&name),
            left: AtomicBool::new(false),
            consumer: Mutex::default(),
            has: Mutex::default(),
            stopped: Mutex::default(),
            unsaid: Mutex::default(),
        });
        let (client, of_end) = (link.client.clone(), Arc::downgrade(&end));
        link.spawn(async move {
            let Ok(mut messages) = client.subscribe(STOPPED).await else { return };
            while let Some(message) = messages.next().await {
                let Some(end) = of_end.upgrade() else { return };
                let id = std::str::from_utf8(&message.payload).ok().and_then(|text| text.parse().ok());
                end.stop(id);
            }
        });
        let (of_link, of_end) = (Arc::downgrade(link), Arc::downgrade(&end));
        link.spawn(async move {
            while let (Some(link), Some(end)) = (of_link.upgrade(), of_end.upgrade()) {
                // What does not get through is said again soon.
                let signs = if link.is_connected() { end.signs_of_life(&link) } else { Vec::new() };
                for (subject, message) in signs {
                    let _ = link.client.publish(subject, message.into()).await;
                }
                drop((link, end));
                tokio::time::sleep(ALIVE).await;
            }
        });
        end
    }

    fn signs_of_life(&self, link: &Link) -> Vec<(String, Vec<u8>)> {
        let alive = serde_json::to_vec(&self.alive());
        let has = lock(&self.has);
        let signs = has
            .iter()
            .map(|&(job, attempt)| (link.sign_subject(), serde_json::to_vec(&Sign::of_life(job, attempt))));
        let all = signs.chain([(link.alive_subject(), alive)]);
        all.filter_map(|(subject, message)| Some((subject, message.ok()?))).collect()
    }

    fn alive(&self) -> Alive {
        Alive { worker: self.name.clone(), hands: usize::from(!self.left.load(Ordering::Relaxed)) }
    }

    pub fn leave(&self, link: &Link) {
        self.left.store(true, Ordering::Relaxed);
        // If nobody hears it, it is said again soon.
        let _ = link.tell(link.alive_subject(), &self.alive());
    }

    /// Reports, and keeps the report to be tried again if that fails.
    pub fn report(&self, link: &Link, done: &Done) -> io::Result<()> {
        if let Err(error) = link.report(done) {
            lock(&self.unsaid).push(done.clone());
            return Err(error);
        }
        self.forget(done.job, done.attempt);
        Ok(())
    }

    /// Reports what did not get through. Nothing else is begun before: an attempt of which signs are given is not made again.
    pub fn report_unsaid(&self, link: &Link) -> io::Result<()> {
        loop {
            let Some(done) = lock(&self.unsaid).pop() else { return Ok(()) };
            self.report(link, &done)?;
        }
    }

    pub fn take(&self, link: &Link) -> io::Result<Option<Work>> {
        self.report_unsaid(link)?;
        let longest = link.settings.wait + Duration::from_secs(15);
        let taken = link.wait_for("take an attempt", longest, self.next(link));
        if taken.is_err() {
            // It may be gone with its stream.
            *lock(&self.consumer) = None;
        }
        let Some(work) = taken? else { return Ok(None) };
        lock(&self.has).insert((work.job, work.attempt));
        // Whoever asked may have done so before this worker was there to hear it.
        if link.wait("look up a job", link.is_stopped(work.job)).unwrap_or(false) {
            lock(&self.stopped).insert(work.job);
        }
        Ok(Some(work))
    }

    async fn next(&self, link: &Link) -> io::Result<Option<Work>> {
        let known = lock(&self.consumer).clone();
        let consumer = if let Some(consumer) = known {
            consumer
        } else {
            let consumer = link.attempts().await?;
            lock(&self.consumer).insert(consumer).clone()
        };
        let fetch = consumer.fetch().max_messages(1).expires(link.settings.wait);
        let mut messages = fetch.messages().await.map_err(failed("take an attempt"))?;
        let Some(message) = messages.next().await else { return Ok(None) };
        let message: Message = message.map_err(failed("take an attempt"))?;
        // It is this worker's alone from here on. If that is not heard, it is nobody's, and the front makes another.
        message.double_ack_with(AckKind::Ack).await.map_err(failed("take an attempt"))?;
        Ok(decode(&message.payload))
    }

    pub fn sign(link: &Link, sign: &Sign) -> io::Result<()> {
        link.tell(link.sign_subject(), sign)
    }

    /// An attempt is over.
    fn forget(&self, job: Id, attempt: u32) {
        lock(&self.has).remove(&(job, attempt));
        lock(&self.stopped).remove(&job);
    }

    /// Notes that a job is to stop, if it is one of this worker's: others are looked up when they begin.
    fn stop(&self, job: Option<Id>) {
        lock(&self.stopped).extend(job.filter(|job| self.has_job(*job)));
    }

    fn has_job(&self, job: Id) -> bool {
        lock(&self.has).iter().any(|(has, _)| *has == job)
    }

    pub fn is_cancelled(&self, link: &Link, job: Id) -> bool {
        if self.has_job(job) {
            lock(&self.stopped).contains(&job)
        } else {
            link.wait("look up a job", link.is_stopped(job)).unwrap_or(false)
        }
    }
}
