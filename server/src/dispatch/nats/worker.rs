//! The worker's end of a dispatch: attempts, signs of life, and jobs that are to stop.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;

use super::front::lock;
use super::link::{DRAINED, Link, STOPPED, decode, failed};
use crate::dispatch::held::Held;
use crate::dispatch::{Alive, Done, Sign};
use crate::id::Id;
use crate::work::Work;

/// How often a worker says that it is there, and that it still has an attempt.
pub const ALIVE: Duration = Duration::from_secs(3);

pub struct WorkerEnd {
    /// What the worker says about itself.
    about: Box<dyn Fn() -> Alive + Send + Sync>,
    name: String,
    /// Whether the front can no longer count on this worker.
    left: AtomicBool,
    consumer: Mutex<Option<Consumer<pull::Config>>>,
    held: Held,
}

impl WorkerEnd {
    pub fn open(link: &Arc<Link>, about: Box<dyn Fn() -> Alive + Send + Sync>) -> Arc<Self> {
        let end = Arc::new(Self {
            name: about().worker,
            about,
            left: AtomicBool::new(false),
            consumer: Mutex::default(),
            held: Held::new(link.settings.hung),
        });
        let (client, of_end) = (link.client.clone(), Arc::downgrade(&end));
        link.spawn(async move {
            let Ok(mut messages) = client.subscribe(STOPPED).await else { return };
            while let Some(message) = messages.next().await {
                let Some(end) = of_end.upgrade() else { return };
                if let Some(job) =
                    std::str::from_utf8(&message.payload).ok().and_then(|text| text.parse().ok())
                {
                    // Jobs that are not here yet are looked up when they begin.
                    end.held.stop(job);
                }
            }
        });
        let (of_link, of_end) = (Arc::downgrade(link), Arc::downgrade(&end));
        link.spawn(async move {
            let Some(client) = of_link.upgrade().map(|link| link.client.clone()) else { return };
            let Ok(mut messages) = client.subscribe(DRAINED).await else { return };
            while let Some(message) = messages.next().await {
                let (Some(link), Some(end)) = (of_link.upgrade(), of_end.upgrade()) else { return };
                if message.payload == end.name.as_bytes() {
                    end.left.store(true, Ordering::Relaxed);
                    for (subject, message) in end.signs_of_life(&link) {
                        let _ = link.client.publish(subject, message.into()).await;
                    }
                }
            }
        });
        let (of_link, of_end) = (Arc::downgrade(link), Arc::downgrade(&end));
        link.spawn(async move {
            while let (Some(link), Some(end)) = (of_link.upgrade(), of_end.upgrade()) {
                // A message that does not get through is sent again soon.
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
        let signs = self.held.signs();
        let signs = signs.iter().map(|sign| (link.sign_subject(), serde_json::to_vec(sign)));
        let all = signs.chain([(link.alive_subject(), alive)]);
        all.filter_map(|(subject, message)| Some((subject, message.ok()?))).collect()
    }

    fn alive(&self) -> Alive {
        let mut alive = (self.about)();
        let hung = self.held.hung();
        if self.has_left() || hung > 0 {
            alive.slots = 0;
        }
        Alive { worker: self.name.clone(), jobs: self.held.jobs(), hung, ..alive }
    }

    /// How many runs hang.
    pub fn hung(&self) -> usize {
        self.held.hung()
    }

    /// How many jobs the worker has, including those whose runs hang.
    pub fn jobs(&self) -> usize {
        self.held.jobs().len() + self.held.hung()
    }

    /// Whether the worker takes no more jobs: because it was asked to leave, here or from elsewhere.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    pub fn leave(&self, link: &Link) {
        self.left.store(true, Ordering::Relaxed);
        // If nobody hears it, it is said again soon.
        let _ = link.tell(link.alive_subject(), &self.alive());
    }

    /// Reports, and keeps the report to be tried again if that fails.
    pub fn report(&self, link: &Link, done: &Done) -> io::Result<()> {
        self.held.report(done, |done| link.report(done))
    }

    /// Reports what did not get through. No other attempt is begun before; while signs are given, the old one is not repeated.
    pub fn report_unsaid(&self, link: &Link) -> io::Result<()> {
        self.held.report_unsaid(|done| link.report(done))
    }

    pub fn take(&self, link: &Link) -> io::Result<Option<Work>> {
        self.report_unsaid(link)?;
        let longest = link.settings.wait + Duration::from_secs(15);
        let taken = link.wait_for("take an attempt", longest, self.next(link));
        if taken.is_err() {
            // The consumer may be gone with its stream.
            *lock(&self.consumer) = None;
        }
        let Some(work) = taken? else { return Ok(None) };
        self.held.take(work.job, work.attempt);
        // Somebody may have asked for the stop before this worker was there to hear it.
        if link.wait("look up a job", link.is_stopped(work.job)).unwrap_or(false) {
            self.held.stop(work.job);
        }
        Ok(Some(work))
    }

    async fn next(&self, link: &Link) -> io::Result<Option<Work>> {
        let known = lock(&self.consumer).clone();
        let consumer = if let Some(consumer) = known {
            consumer
        } else {
            let consumer = link.attempts(&self.name).await?;
            lock(&self.consumer).insert(consumer).clone()
        };
        let fetch = consumer.fetch().max_messages(1).expires(link.settings.wait);
        let mut messages = fetch.messages().await.map_err(failed("take an attempt"))?;
        let Some(message) = messages.next().await else { return Ok(None) };
        let message: Message = message.map_err(failed("take an attempt"))?;
        // From here on the attempt is this worker's alone. If the acknowledgement fails, it is nobody's, and the front makes another.
        message.double_ack_with(AckKind::Ack).await.map_err(failed("take an attempt"))?;
        Ok(decode(&message.payload))
    }

    pub fn sign(&self, link: &Link, sign: &Sign) -> io::Result<()> {
        self.held.hear(sign.job);
        link.tell(link.sign_subject(), sign)
    }

    pub fn is_cancelled(&self, link: &Link, job: Id) -> bool {
        if self.held.has(job) {
            // The run itself asks, so it is alive.
            self.held.hear(job);
            self.held.is_stopped(job)
        } else {
            link.wait("look up a job", link.is_stopped(job)).unwrap_or(false)
        }
    }
}
