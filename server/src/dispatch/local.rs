//! Dispatch within one process.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::queue::{Millis, Queue, Rules};
use super::{Alive, Dispatch, Done, Sign, Taken};
use crate::id::Id;
use crate::work::Work;

/// Queues in memory. They end with the process, and the table has all that is needed to fill them anew.
pub struct Local {
    rules: Rules,
    state: Mutex<State>,
    now: Box<dyn Fn() -> Millis + Send + Sync>,
}

struct State {
    /// Attempts by the name of the worker.
    work: HashMap<String, Queue<Work>>,
    workers: Vec<Alive>,
    done: Queue<Done>,
    signs: Vec<Sign>,
    cancelled: HashSet<Id>,
}

impl Default for Local {
    fn default() -> Self {
        let began = Instant::now();
        Self::new(Rules::IN_PROCESS, move || began.elapsed().as_millis() as Millis)
    }
}

impl Local {
    /// Empty queues with these rules, and `now` for a clock.
    pub fn new(rules: Rules, now: impl Fn() -> Millis + Send + Sync + 'static) -> Self {
        let state = State {
            work: HashMap::new(),
            workers: vec![Alive::alone()],
            // Two reports of an attempt may differ, and the table sorts that out.
            done: Queue::new(Rules { window: 0, ..rules }),
            signs: Vec::new(),
            cancelled: HashSet::new(),
        };
        Self { rules, state: Mutex::new(state), now: Box::new(now) }
    }

    /// Sets who is alive; until then there is one worker, which has no name.
    pub fn set_workers(&self, workers: Vec<Alive>) {
        self.state().workers = workers;
    }

    /// Takes the next attempt that is offered to the worker of a name.
    pub fn take_as(&self, worker: &str) -> Option<Work> {
        let mut state = self.state();
        let queue = state.work.get_mut(worker)?;
        let taken = queue.take((self.now)())?;
        queue.drop(taken.ticket);
        Some(taken.message)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dispatch for Local {
    fn workers(&self) -> Vec<Alive> {
        self.state().workers.clone()
    }

    fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        let mut state = self.state();
        let queue = state.work.entry(worker.to_owned()).or_insert_with(|| Queue::new(self.rules));
        queue.push((work.job, work.attempt), work.clone(), (self.now)());
        Ok(())
    }

    fn take(&self) -> io::Result<Option<Work>> {
        Ok(self.take_as(""))
    }

    fn sign(&self, sign: &Sign) -> io::Result<()> {
        self.state().signs.push(sign.clone());
        Ok(())
    }

    fn report(&self, done: &Done) -> io::Result<()> {
        let mut state = self.state();
        state.done.push((done.job, done.attempt), done.clone(), (self.now)());
        Ok(())
    }

    fn reported(&self) -> io::Result<Option<Taken<Done>>> {
        Ok(self.state().done.take((self.now)()))
    }

    fn noted(&self, taken: &Taken<Done>) -> io::Result<()> {
        let mut state = self.state();
        if state.done.drop(taken.ticket) {
            state.cancelled.remove(&taken.message.job);
        }
        Ok(())
    }

    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()> {
        let from = (self.now)().saturating_add(pause.as_millis() as Millis);
        self.state().done.put_back(taken.ticket, from);
        Ok(())
    }

    fn signs(&self) -> io::Result<Vec<Sign>> {
        Ok(std::mem::take(&mut self.state().signs))
    }

    fn cancel(&self, job: Id) -> io::Result<()> {
        self.state().cancelled.insert(job);
        Ok(())
    }

    fn is_cancelled(&self, job: Id) -> bool {
        self.state().cancelled.contains(&job)
    }
}
