//! The front's end of a dispatch: reports, signs, and the workers that are alive.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;

use super::link::{Link, decode, failed};
use super::worker::ALIVE;
use crate::dispatch::{Alive, Done, Sign, Taken, Ticket};

/// Signs that are kept for the front; older ones are lost.
const SIGNS: usize = 10_000;

/// Workers that a front can have.
const WORKERS: usize = 4096;

/// Pause before a failed request to NATS is tried again.
const PAUSE: Duration = Duration::from_secs(1);

pub struct FrontEnd {
    reports: Mutex<VecDeque<Message>>,
    /// Reports that the front has, by ticket.
    held: Mutex<HashMap<u64, Message>>,
    next: AtomicU64,
    signs: Mutex<VecDeque<Sign>>,
    /// Each worker, by name, and when it was last heard of.
    workers: Mutex<BTreeMap<String, (Alive, Instant)>>,
    bell: Box<dyn Fn() + Send + Sync>,
}

impl FrontEnd {
    pub fn open(link: &Arc<Link>, bell: Box<dyn Fn() + Send + Sync>) -> Arc<Self> {
        let end = Arc::new(Self {
            reports: Mutex::default(),
            held: Mutex::default(),
            next: AtomicU64::new(0),
            signs: Mutex::default(),
            workers: Mutex::default(),
            bell,
        });
        let ends = || (Arc::downgrade(link), Arc::downgrade(&end));
        let (of_link, of_end) = ends();
        link.spawn(async move {
            let (mut anew, mut told) = (true, String::new());
            while let (Some(link), Some(end)) = (of_link.upgrade(), of_end.upgrade()) {
                if let Err(error) = end.receive(link, &mut anew).await {
                    // Once for each error: an operator has to learn of missing permissions, for instance.
                    let error = error.to_string();
                    if error != told {
                        tracing::warn!(error, "no reports from workers for the moment");
                        told = error;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            }
        });
        let of_link = Arc::downgrade(link);
        link.spawn(async move {
            // Streams may be gone although nothing fails here: workers need them and may not make them.
            while let Some(link) = of_link.upgrade() {
                if link.is_connected()
                    && let Err(error) = link.make_streams().await
                {
                    tracing::debug!(%error, "no streams for the moment");
                }
                drop(link);
                tokio::time::sleep(ALIVE).await;
            }
        });
        link.spawn(listen(ends(), link.sign_subject(), |end, message| {
            if let Some(sign) = decode(message) {
                let mut signs = lock(&end.signs);
                if signs.len() >= SIGNS {
                    signs.pop_front();
                }
                signs.push_back(sign);
            }
        }));
        link.spawn(listen(ends(), link.alive_subject(), |end, message| {
            if let Some(alive) = decode(message).filter(Alive::is_sound) {
                let mut workers = lock(&end.workers);
                if workers.len() < WORKERS || workers.contains_key(&alive.worker) {
                    workers.insert(alive.worker.clone(), (alive, Instant::now()));
                }
            }
        }));
        end
    }

    /// Receives reports until something fails.
    async fn receive(self: Arc<Self>, link: Arc<Link>, anew: &mut bool) -> io::Result<()> {
        let consumer = link.reports(*anew).await?;
        drop(link);
        *anew = false;
        let stream = consumer.stream().max_messages_per_batch(100).heartbeat(PAUSE).expires(5 * PAUSE);
        let mut messages = stream.messages().await.map_err(failed("receive reports"))?;
        let end = Arc::downgrade(&self);
        drop(self);
        while let Some(message) = messages.next().await {
            let message = message.map_err(failed("receive reports"))?;
            let Some(end) = end.upgrade() else { return Ok(()) };
            lock(&end.reports).push_back(message);
            (end.bell)();
        }
        Err(io::Error::other("NATS: no more reports"))
    }

    pub fn reported(&self, link: &Link) -> Option<Taken<Done>> {
        loop {
            let message = lock(&self.reports).pop_front()?;
            let ticket = self.next.fetch_add(1, Ordering::Relaxed);
            let decoded = decode(&message.payload);
            lock(&self.held).insert(ticket, message);
            match decoded {
                Some(done) => return Some(Taken { message: done, ticket: Ticket(ticket) }),
                // Otherwise it would be delivered again and again.
                None => drop(self.answer(link, Ticket(ticket), AckKind::Term)),
            }
        }
    }

    pub fn noted(&self, link: &Link, taken: &Taken<Done>) -> io::Result<()> {
        self.answer(link, taken.ticket, AckKind::Ack)
    }

    pub fn put_back(&self, link: &Link, taken: &Taken<Done>, pause: Duration) -> io::Result<()> {
        self.answer(link, taken.ticket, AckKind::Nak(Some(pause)))
    }

    fn answer(&self, link: &Link, ticket: Ticket, kind: AckKind) -> io::Result<()> {
        // A later delivery of the same report has another ticket.
        let Some(message) = lock(&self.held).remove(&ticket.0) else { return Ok(()) };
        link.wait("answer a report", async {
            message.double_ack_with(kind).await.map_err(failed("answer a report"))
        })
    }

    pub fn signs(&self) -> Vec<Sign> {
        lock(&self.signs).drain(..).collect()
    }

    /// The workers that were heard of a short time ago.
    pub fn workers(&self) -> Vec<Alive> {
        let mut workers = lock(&self.workers);
        workers.retain(|_, (_, heard)| heard.elapsed() < 4 * ALIVE);
        workers.values().map(|(alive, _)| alive.clone()).collect()
    }
}

/// Hands on the messages of a subject, and rings the bell.
async fn listen(
    (link, end): (Weak<Link>, Weak<FrontEnd>),
    subject: String,
    hear: impl Fn(&FrontEnd, &[u8]) + Send + 'static,
) {
    let Some(client) = link.upgrade().map(|link| link.client.clone()) else { return };
    let Ok(mut messages) = client.subscribe(subject).await else { return };
    while let Some(message) = messages.next().await {
        let Some(end) = end.upgrade() else { return };
        hear(&end, &message.payload);
        (end.bell)();
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
