//! Turns: how many requests of one kind are served at once, in all and for one peer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::problem::Problem;
use crate::service::access::Peer;

/// How long a request may have to wait for its turn.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Turns of one kind.
pub struct Slots {
    total: usize,
    per_peer: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: HashMap<Peer, usize>,
    /// Peers that wait, in the order in which they came.
    waiting: Vec<(Peer, oneshot::Sender<Slot>)>,
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
        Arc::new(Self { total, per_peer, state: Mutex::default() })
    }

    /// Takes a turn if there is one.
    ///
    /// # Errors
    /// There is none.
    pub fn try_take(self: &Arc<Self>, peer: Peer) -> Result<Slot, Full> {
        self.take_of(&mut self.state(), peer, self.per_peer)
    }

    /// Takes a turn if there is one, for a peer that may have any number.
    ///
    /// # Errors
    /// There is none.
    pub fn try_take_for_many(self: &Arc<Self>, peer: Peer) -> Result<Slot, Full> {
        self.take_of(&mut self.state(), peer, self.total)
    }

    /// Takes a turn, waiting for one if need be. Of the peers that wait, the one with the fewest turns goes first.
    ///
    /// # Errors
    /// There was none for as long as `patience`.
    pub async fn take(self: &Arc<Self>, peer: Peer, patience: Duration) -> Result<Slot, Full> {
        let (full, turn) = {
            let mut state = self.state();
            let full = match self.take_of(&mut state, peer, self.per_peer) {
                Ok(slot) => return Ok(slot),
                Err(full) => full,
            };
            let (sender, turn) = oneshot::channel();
            // Waiters that gave up would otherwise be kept until a turn ends, which may take hours.
            state.waiting.retain(|(_, waiter)| !waiter.is_closed());
            state.waiting.push((peer, sender));
            (full, turn)
        };
        timeout(patience, turn).await.ok().and_then(Result::ok).ok_or(full)
    }

    /// Turns that are taken.
    pub fn taken(&self) -> usize {
        self.state().held.values().sum()
    }

    /// Turns that a peer has.
    pub fn held(&self, peer: Peer) -> usize {
        self.state().held.get(&peer).copied().unwrap_or(0)
    }

    /// Whether a peer has as many turns as it may have.
    pub fn is_full_for(&self, peer: Peer) -> bool {
        self.held(peer) >= self.per_peer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_of(self: &Arc<Self>, state: &mut State, peer: Peer, most: usize) -> Result<Slot, Full> {
        let all: usize = state.held.values().sum();
        let own = state.held.entry(peer).or_default();
        let full = if *own >= most {
            Full::Peer(most)
        } else if all >= self.total {
            Full::Total(self.total)
        } else {
            *own += 1;
            return Ok(Slot { slots: Arc::clone(self), peer });
        };
        if *own == 0 {
            state.held.remove(&peer);
        }
        Err(full)
    }

    /// A turn for one of those who wait, if there is one.
    fn next(self: &Arc<Self>) -> Option<(Slot, oneshot::Sender<Slot>)> {
        let mut guard = self.state();
        let state = &mut *guard;
        state.waiting.retain(|(_, waiter)| !waiter.is_closed());
        let own = |peer: &Peer| state.held.get(peer).copied().unwrap_or(0);
        let fewest = (0..state.waiting.len())
            .filter(|index| own(&state.waiting[*index].0) < self.per_peer)
            .min_by_key(|index| own(&state.waiting[*index].0))?;
        let peer = state.waiting[fewest].0;
        let slot = self.take_of(state, peer, self.per_peer).ok()?;
        Some((slot, state.waiting.remove(fewest).1))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.slots.state();
            if let Some(own) = state.held.get_mut(&self.peer) {
                *own -= 1;
                if *own == 0 {
                    state.held.remove(&self.peer);
                }
            }
        }
        while let Some((slot, waiter)) = self.slots.next() {
            // A waiter that has given up drops the slot, and the next one is asked.
            drop(waiter.send(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::access::some_peer as peer;

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

    #[tokio::test]
    async fn who_gives_up_is_forgotten_although_no_turn_ends() {
        let slots = Slots::new(1, 1);
        let _held = slots.try_take(peer(1)).ok().unwrap();
        for last in 0..100 {
            assert!(slots.take(peer(last), Duration::ZERO).await.is_err());
        }
        assert_eq!(slots.state().waiting.len(), 1);
    }

    #[tokio::test]
    async fn who_has_the_fewest_turns_goes_first() {
        let slots = Slots::new(2, 2);
        let (first, second) = (slots.try_take(peer(1)).ok().unwrap(), slots.try_take(peer(2)).ok().unwrap());
        let wait = |last: u8| {
            let slots = Arc::clone(&slots);
            tokio::spawn(async move { slots.take(peer(last), Duration::from_mins(2)).await.ok().unwrap() })
        };
        let mut waiting = Vec::new();
        for last in [1, 3, 4] {
            waiting.push(wait(last));
            tokio::task::yield_now().await;
        }
        let given_up = wait(5);
        tokio::task::yield_now().await;
        given_up.abort();
        let _ = given_up.await;
        drop(second);
        let third = waiting.remove(1).await.unwrap();
        drop(first);
        // By now the first waiter has no turn either.
        let again = waiting.remove(0).await.unwrap();
        drop((third, again));
        waiting.remove(0).await.unwrap();
        assert_eq!(slots.taken(), 0);
    }
}
