//! A queue of messages that are delivered until somebody has dealt with them. Its callers say what time it is.

use std::collections::{BTreeMap, HashMap};

use crate::id::Id;

/// Milliseconds on any clock.
pub type Millis = u64;

/// How long deliveries and names are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// After this a message that was delivered and not dealt with is delivered again.
    pub patience: Millis,
    /// For this long a message is not queued twice under one name.
    pub window: Millis,
}

impl Rules {
    /// Rules among threads of one process, which do not disappear.
    pub const IN_PROCESS: Self = Self { patience: Millis::MAX, window: 0 };
}

/// A delivery: a later one of the same message has another ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket(pub u64);

/// A message and its delivery.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken<T> {
    /// The message.
    pub message: T,
    /// Its delivery.
    pub ticket: Ticket,
}

/// The job and the attempt that a message is about.
pub type Name = (Id, u32);

/// Messages that wait, and those that somebody has.
#[derive(Debug)]
pub struct Queue<T> {
    rules: Rules,
    next: u64,
    /// Waiting messages by place, each with the time before which it is not delivered.
    waiting: BTreeMap<u64, (Millis, T)>,
    /// Delivered messages by ticket, each with the time at which it waits again, and its place.
    held: BTreeMap<u64, (Millis, u64, T)>,
    /// When each name was queued last.
    recent: HashMap<Name, Millis>,
}

impl<T: Clone> Queue<T> {
    /// An empty queue.
    pub fn new(rules: Rules) -> Self {
        Self { rules, next: 0, waiting: BTreeMap::new(), held: BTreeMap::new(), recent: HashMap::new() }
    }

    /// Queues a message, unless its name was queued within the window. Returns whether it was.
    pub fn push(&mut self, name: Name, message: T, now: Millis) -> bool {
        let window = self.rules.window;
        self.recent.retain(|_, at| now.saturating_sub(*at) < window);
        if self.recent.contains_key(&name) {
            return false;
        }
        self.recent.insert(name, now);
        let place = self.ticket();
        self.waiting.insert(place, (0, message));
        true
    }

    /// Delivers the first message whose time has come.
    pub fn take(&mut self, now: Millis) -> Option<Taken<T>> {
        for (_, (_, place, message)) in self.held.extract_if(.., |_, (until, ..)| *until <= now) {
            self.waiting.insert(place, (0, message));
        }
        let place = self.waiting.iter().find(|(_, (from, _))| *from <= now).map(|(place, _)| *place)?;
        let (_, message) = self.waiting.remove(&place)?;
        let ticket = self.ticket();
        self.held.insert(ticket, (now.saturating_add(self.rules.patience), place, message.clone()));
        Some(Taken { message, ticket: Ticket(ticket) })
    }

    /// Drops a message that was dealt with. Returns whether its holder still had it.
    pub fn drop(&mut self, ticket: Ticket) -> bool {
        self.held.remove(&ticket.0).is_some()
    }

    /// Lets a message wait again until `from`. Returns whether its holder still had it.
    pub fn put_back(&mut self, ticket: Ticket, from: Millis) -> bool {
        let Some((_, place, message)) = self.held.remove(&ticket.0) else { return false };
        self.waiting.insert(place, (from, message));
        true
    }

    /// Messages that wait or that somebody has.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.held.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn ticket(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_again_until_it_was_dealt_with() {
        let mut queue = Queue::new(Rules { patience: 30, window: 100 });
        let name = |attempt| (Id([0; 16]), attempt);
        assert!(queue.push(name(1), "one", 0) && queue.push(name(2), "two", 0));
        assert!(!queue.push(name(1), "one", 99));
        let first = queue.take(0).unwrap();
        assert_eq!((first.message, queue.take(10).unwrap().message, queue.take(29)), ("one", "two", None));
        let again = queue.take(30).unwrap();
        let second = queue.take(40).unwrap();
        assert_eq!((again.message, second.message, queue.take(49)), ("one", "two", None));
        assert!(!queue.drop(first.ticket) && !queue.put_back(first.ticket, 0));
        assert!(queue.put_back(again.ticket, 90) && queue.drop(second.ticket));
        assert_eq!(queue.take(89), None);
        let last = queue.take(90).unwrap();
        assert!(queue.drop(last.ticket) && queue.is_empty());
        assert!(queue.push(name(1), "one", 100));
    }
}
