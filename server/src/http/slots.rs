//! Turns: how much of one kind goes on at once, in all and for one peer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::problem::Problem;
use crate::service::access::Peer;

/// Turns of one kind.
pub struct Slots {
    total: usize,
    per_peer: usize,
    held: Mutex<HashMap<Peer, usize>>,
    freed: Notify,
}

/// A turn; it ends when this is dropped.
pub struct Slot {
    slots: Arc<Slots>,
    peer: Peer,
}

/// Why there is no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// This many are taken in all.
    Total(usize),
    /// The peer has this many.
    Peer(usize),
}

impl Full {
    /// The refusal, naming what there are too many of.
    pub fn problem(self, what: &str) -> Problem {
        let detail = match self {
            Self::Total(taken) => format!(
                "{taken} {what} are open on this server, which is as many as it takes; come back in a moment"
            ),
            Self::Peer(taken) => format!(
                "{taken} {what} are open from your address, which is as many as one may have; wait for one to end"
            ),
        };
        Problem::new(429, "BUSY", &format!("Too many {what}"), detail).retry_after(2)
    }
}

impl Slots {
    /// `total` turns, of which a peer has at most `per_peer`.
    pub fn new(total: usize, per_peer: usize) -> Arc<Self> {
        Arc::new(Self { total, per_peer, held: Mutex::default(), freed: Notify::new() })
    }

    /// Takes a turn if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_take(self: &Arc<Self>, peer: Peer) -> Result<Slot, Full> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.get(&peer).is_some_and(|own| *own >= self.per_peer) {
            return Err(Full::Peer(self.per_peer));
        }
        if held.values().sum::<usize>() >= self.total {
            return Err(Full::Total(self.total));
        }
        *held.entry(peer).or_default() += 1;
        Ok(Slot { slots: Arc::clone(self), peer })
    }

    /// Takes a turn, waiting for one if need be.
    ///
    /// # Errors
    /// There was none for as long as `patience`.
    pub async fn take(self: &Arc<Self>, peer: Peer, patience: Duration) -> Result<Slot, Full> {
        let deadline = Instant::now() + patience;
        loop {
            // Before the look, so that a turn that ends after it is heard of.
            let freed = self.freed.notified();
            let full = match self.try_take(peer) {
                Ok(slot) => return Ok(slot),
                Err(full) => full,
            };
            if timeout_at(deadline, freed).await.is_err() {
                return Err(full);
            }
        }
    }

    /// Turns that are taken.
    pub fn taken(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut held = self.slots.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = held.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                held.remove(&self.peer);
            }
        }
        drop(held);
        self.slots.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Peer {
        std::net::IpAddr::from([192, 0, 2, last]).into()
    }

    #[tokio::test]
    async fn one_peer_leaves_turns_to_others() {
        let slots = Slots::new(3, 2);
        let (first, _second) = (slots.try_take(peer(1)).ok().unwrap(), slots.try_take(peer(1)).ok().unwrap());
        assert_eq!(slots.try_take(peer(1)).err(), Some(Full::Peer(2)));
        let _third = slots.try_take(peer(2)).ok().unwrap();
        assert_eq!(slots.try_take(peer(3)).err(), Some(Full::Total(3)));
        assert_eq!(slots.take(peer(3), Duration::from_millis(5)).await.err(), Some(Full::Total(3)));
        let waiting = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.take(peer(3), Duration::from_mins(2)).await.map(drop) }
        });
        tokio::task::yield_now().await;
        drop(first);
        assert_eq!(waiting.await.unwrap(), Ok(()));
        assert_eq!(slots.taken(), 2);
    }
}
