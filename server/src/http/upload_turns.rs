//! Turns to send a body, which bound the memory that all bodies take together. What is uploaded is checked in `service/keys.rs` and
//! `service/jobs.rs`.
//!
//! Slow senders do not keep others out. While somebody waits, a turn passes to them if its body arrives more slowly than bodies have to,
//! or if its peer holds more turns than the waiting one would.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::timeout;

use super::turns::{PATIENCE, Slot, Slots};
use crate::problem::Problem;
use crate::service::access::Peer;

/// How long a peer waits before a turn is taken from somebody else, and again before the next one is.
const PRESS: Duration = Duration::from_secs(1);

/// How long a body may be slow although somebody waits.
const GRACE: Duration = Duration::from_secs(2);

/// Turns to send a body.
pub struct Uploads {
    slots: Arc<Slots>,
    /// Bytes that have to come in a second.
    rate: u64,
    under_way: Mutex<Vec<Weak<Pace>>>,
}

/// A turn to send a body; it ends when this is dropped.
pub struct Turn {
    pace: Arc<Pace>,
    _slot: Slot,
}

/// How fast a body comes.
struct Pace {
    peer: Peer,
    began: Instant,
    bytes: AtomicUsize,
    /// Whether the turn can no longer be taken: the whole body has come, or it was taken already.
    settled: AtomicBool,
    taken: Notify,
}

impl Uploads {
    /// `total` turns, of which a peer has at most `per_peer`, for bodies of at least `rate` bytes per second.
    pub fn new(total: usize, per_peer: usize, rate: u64) -> Self {
        Self { slots: Slots::new(total, per_peer), rate, under_way: Mutex::default() }
    }

    /// Takes a turn, waiting for one if need be.
    ///
    /// # Errors
    /// None becomes free for a while.
    pub async fn take(&self, peer: Peer) -> Result<Turn, Problem> {
        let mut waiting = std::pin::pin!(self.slots.take(peer, PATIENCE));
        loop {
            match timeout(PRESS, waiting.as_mut()).await {
                Ok(Ok(slot)) => return Ok(self.turn(peer, slot)),
                Ok(Err(full)) => return Err(full.problem("uploads")),
                Err(_) => self.press(peer),
            }
        }
    }

    fn turn(&self, peer: Peer, slot: Slot) -> Turn {
        let pace = Arc::new(Pace {
            peer,
            began: Instant::now(),
            bytes: AtomicUsize::new(0),
            settled: AtomicBool::new(false),
            taken: Notify::new(),
        });
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|pace| pace.strong_count() > 0);
        under_way.push(Arc::downgrade(&pace));
        Turn { pace, _slot: slot }
    }

    /// Takes a turn away for `waits`: the slowest of those that are too slow or are more than their peer's share.
    fn press(&self, waits: Peer) {
        let under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, own_full) = (self.slots.held(waits), self.slots.is_full_for(waits));
        let slowest = under_way
            .iter()
            .filter_map(Weak::upgrade)
            .filter(|pace| !pace.settled.load(Ordering::Relaxed))
            .filter(|pace| {
                let too_slow = pace.is_behind(self.rate);
                // A peer that has all turns it may have waits for one of its own.
                if own_full {
                    too_slow && pace.peer == waits
                } else {
                    too_slow || self.slots.held(pace.peer) > own + 1
                }
            })
            .min_by(|one, other| one.speed().total_cmp(&other.speed()));
        if let Some(pace) = slowest {
            pace.settled.store(true, Ordering::Relaxed);
            pace.taken.notify_one();
        }
    }
}

impl Pace {
    /// Bytes per second so far.
    fn speed(&self) -> f64 {
        self.bytes.load(Ordering::Relaxed) as f64 / self.began.elapsed().as_secs_f64().max(0.001)
    }

    fn is_behind(&self, rate: u64) -> bool {
        let earned = Duration::from_secs(self.bytes.load(Ordering::Relaxed) as u64 / rate);
        self.began.elapsed() > GRACE + earned
    }
}

impl Turn {
    /// Notes how many bytes have come.
    pub fn received(&self, bytes: usize) {
        self.pace.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Notes that all bytes have come.
    pub fn complete(&self) {
        self.pace.settled.store(true, Ordering::Relaxed);
    }

    /// Waits until the turn is taken for somebody else.
    pub async fn lost(&self) -> Problem {
        self.pace.taken.notified().await;
        let detail = format!(
            "others wait, and of the bodies under way this was the slowest, with {:.0} bytes per second; send it again in a moment",
            self.pace.speed()
        );
        Problem::new(429, "BUSY", "Too many uploads", detail).retry_after(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::access::some_peer as peer;

    #[tokio::test]
    async fn a_peer_with_more_than_its_share_makes_room() {
        let uploads = Uploads::new(3, 2, 1);
        let first = uploads.take(peer(1)).await.ok().unwrap();
        let second = uploads.take(peer(1)).await.ok().unwrap();
        let third = uploads.take(peer(2)).await.ok().unwrap();
        for (turn, bytes) in [(&first, 1 << 30), (&second, 1 << 20), (&third, 1 << 19)] {
            turn.received(bytes);
        }
        let fourth = tokio::select! {
            fourth = uploads.take(peer(3)) => fourth,
            problem = async { let problem = second.lost().await; drop(second); problem } => {
                assert_eq!((problem.status, problem.code.as_str()), (429, "BUSY"));
                uploads.take(peer(3)).await
            }
        };
        // Now every peer has one turn, and nobody is too slow: a newcomer has to wait.
        let fourth = fourth.ok().unwrap();
        uploads.press(peer(4));
        for turn in [&first, &third, &fourth] {
            turn.received(1 << 30);
            assert!(timeout(Duration::from_millis(5), turn.lost()).await.is_err());
        }
    }
}
