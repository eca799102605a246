//! A dispatch and stored bytes that misbehave in every permitted way, according to a seed: messages are lost, doubled and late, or all
//! wiped at once, and the parties at either end are cut off, or die before or after any single action.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use refloat_server::blobs::{Blob, Blobs, FileBlobs, Put};
use refloat_server::dispatch::queue::Millis;
use refloat_server::dispatch::{Alive, Dispatch, Done, Local, Outcome, Rules, Sign, Taken};
use refloat_server::id::Id;
use refloat_server::store::files::{Expected, ReadError};
use refloat_server::work::Work;

/// After this a report that was not noted is delivered again.
pub const PATIENCE: Millis = 30_000;

/// A worker that has been silent for this long counts as gone.
const GONE: Millis = 12_000;

/// Random numbers from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % bound
    }

    /// True `of` times in 1000.
    pub fn one(&mut self, of: u64) -> bool {
        self.below(1000) < of
    }
}

/// The panic by which the front dies; nothing in the front catches it.
pub struct Killed;

/// Where a party dies: at one of its actions, given by number.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    pub who: usize,
    pub number: usize,
    /// Whether it dies after the action rather than before.
    pub after: bool,
}

/// A message that arrives late.
enum Late {
    Work(String, Work),
    Done(Done),
}

/// State that all parties share.
pub struct Network {
    state: Mutex<State>,
    now: Arc<Mutex<Millis>>,
    /// Whether the front does something.
    at_work: AtomicBool,
}

struct State {
    dice: Dice,
    broker: Arc<Local>,
    late: Vec<(Millis, Late)>,
    chaos: bool,
    /// The parties that are dead until they are restarted.
    dead: BTreeSet<usize>,
    /// The parties that reach nobody until a time.
    cut_off: HashMap<usize, Millis>,
    /// What each worker last said about itself, and when.
    heard: BTreeMap<String, (Alive, Millis)>,
    /// How far the wall clock is ahead.
    ahead: Millis,
    /// When each attempt was first sent, and which outcomes were reported of it.
    sent: HashMap<(Id, u32), Millis>,
    reported: HashMap<(Id, u32), Vec<Outcome>>,
    /// Where a party is to die.
    point: Option<Point>,
    /// The actions of every party, by name.
    done: BTreeMap<usize, Vec<&'static str>>,
}

impl State {
    /// Counts an action that a party is about to take. `Some` if the party dies at it: whether after it.
    fn count(&mut self, who: usize, name: &'static str) -> Option<bool> {
        let done = self.done.entry(who).or_default();
        done.push(name);
        let number = done.len() - 1;
        self.point.filter(|point| (point.who, point.number) == (who, number)).map(|point| point.after)
    }
}

impl Network {
    pub fn new(seed: u64) -> Arc<Self> {
        let now = Arc::new(Mutex::new(1_000));
        let state = State {
            dice: Dice(seed),
            broker: broker(&now),
            late: Vec::new(),
            chaos: true,
            dead: BTreeSet::new(),
            cut_off: HashMap::new(),
            heard: BTreeMap::new(),
            ahead: 200_000,
            sent: HashMap::new(),
            reported: HashMap::new(),
            point: None,
            done: BTreeMap::new(),
        };
        Arc::new(Self { state: Mutex::new(state), now, at_work: AtomicBool::new(false) })
    }

    pub fn now(&self) -> Millis {
        *lock(&self.now)
    }

    /// Lets time pass, and late messages arrive.
    pub fn pass(&self, time: Millis) {
        let now = {
            let mut now = lock(&self.now);
            *now += time;
            *now
        };
        let mut state = lock(&self.state);
        let broker = Arc::clone(&state.broker);
        for (_, late) in state.late.extract_if(.., |(due, _)| *due <= now) {
            match late {
                Late::Work(worker, work) => broker.publish(&worker, &work).unwrap(),
                Late::Done(done) => broker.report(&done).unwrap(),
            }
        }
    }

    pub fn dice<T>(&self, throw: impl FnOnce(&mut Dice) -> T) -> T {
        throw(&mut lock(&self.state).dice)
    }

    /// Whether everything works.
    pub fn is_calm(&self) -> bool {
        !lock(&self.state).chaos
    }

    /// All that the dispatch holds is gone.
    pub fn wipe(&self) {
        let mut state = lock(&self.state);
        state.broker = broker(&self.now);
        state.late.clear();
    }

    /// From now on everything works.
    pub fn calm(&self) {
        let mut state = lock(&self.state);
        state.chaos = false;
        state.cut_off.clear();
    }

    /// Starts counting everybody's actions, and lets a party die at `point`.
    pub fn count(&self, point: Option<Point>) {
        let mut state = lock(&self.state);
        (state.point, state.done) = (point, BTreeMap::new());
    }

    /// The actions of a party, by name, in order.
    pub fn done(&self, who: usize) -> Vec<&'static str> {
        lock(&self.state).done.get(&who).cloned().unwrap_or_default()
    }

    /// Lets the front do something. `None` if it dies in the middle.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        self.at_work.store(true, Ordering::Relaxed);
        let done = catch_unwind(AssertUnwindSafe(work));
        self.at_work.store(false, Ordering::Relaxed);
        match done {
            Ok(done) => Some(done),
            Err(why) if why.downcast_ref::<Killed>().is_some() => None,
            Err(why) => resume_unwind(why),
        }
    }

    /// Called when the front looks at the clock, which it does inside most transactions that change a job: it may die there, too. A
    /// transaction is on disk as a whole or not at all, through one write that decides between two states, so no other moment inside it
    /// needs a test; `kill.rs` tests what killed processes leave behind.
    pub fn tick(&self) {
        if !self.at_work.load(Ordering::Relaxed) {
            return;
        }
        let dies = lock(&self.state).count(0, "change the table").is_some();
        if dies {
            self.kill(0);
            resume_unwind(Box::new(Killed));
        }
    }

    pub fn kill(&self, who: usize) {
        lock(&self.state).dead.insert(who);
    }

    pub fn revive(&self, who: usize) {
        lock(&self.state).dead.remove(&who);
    }

    pub fn is_dead(&self, who: usize) -> bool {
        lock(&self.state).dead.contains(&who)
    }

    /// When an attempt was sent first.
    pub fn sent(&self, attempt: (Id, u32)) -> Option<Millis> {
        lock(&self.state).sent.get(&attempt).copied()
    }

    /// The workers that were heard of a short time ago.
    pub fn workers(&self) -> Vec<Alive> {
        let now = self.now();
        let state = lock(&self.state);
        state.heard.values().filter(|(_, at)| now - at < GONE).map(|(alive, _)| alive.clone()).collect()
    }

    /// The time on the wall clock.
    pub fn wall_clock(&self) -> Millis {
        self.now() + lock(&self.state).ahead
    }

    /// Sets the wall clock forward or back.
    pub fn set_clock(&self) {
        let mut state = lock(&self.state);
        state.ahead = state.dice.below(400_000);
    }

    /// What was ever reported of an attempt.
    pub fn reported(&self, attempt: (Id, u32)) -> Vec<Outcome> {
        lock(&self.state).reported.get(&attempt).cloned().unwrap_or_default()
    }
}

fn broker(now: &Arc<Mutex<Millis>>) -> Arc<Local> {
    let now = Arc::clone(now);
    Arc::new(Local::new(Rules { patience: PATIENCE, window: 0 }, move || *lock(&now)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One party's view of the network; party 0 is the front.
#[derive(Clone)]
pub struct Party {
    pub network: Arc<Network>,
    pub who: usize,
    pub files: Arc<FileBlobs>,
}

/// The name of a worker.
pub fn worker(who: usize) -> String {
    format!("w{who}")
}

impl Party {
    /// Gives a sign of life, which may be lost.
    pub fn say(&self, alive: Alive) {
        let now = self.network.now();
        let mut state = lock(&self.network.state);
        let is_cut_off = state.cut_off.get(&self.who).is_some_and(|until| *until > now);
        if state.dead.contains(&self.who) || is_cut_off || state.chaos && state.dice.one(100) {
            return;
        }
        state.heard.insert(alive.worker.clone(), (alive, now));
    }

    /// Takes one action, or dies before it or after it, or does not get through.
    fn attempt<T>(&self, name: &'static str, act: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let done = {
            let mut state = lock(&self.network.state);
            let dies = if state.dead.contains(&self.who) { None } else { state.count(self.who, name) };
            if state.dead.contains(&self.who) {
                Err(io::Error::other("dead"))
            } else if dies == Some(false) || state.chaos && state.dice.one(8) {
                state.dead.insert(self.who);
                Err(io::Error::other("dies before"))
            } else if state.cut_off.get(&self.who).is_some_and(|until| *until > self.network.now()) {
                Err(io::Error::from(io::ErrorKind::TimedOut))
            } else if state.chaos && state.dice.one(4) {
                let until = self.network.now() + state.dice.below(3 * PATIENCE);
                state.cut_off.insert(self.who, until);
                Err(io::Error::from(io::ErrorKind::TimedOut))
            } else {
                let done = act(&mut state);
                if dies == Some(true) || state.chaos && state.dice.one(8) {
                    state.dead.insert(self.who);
                }
                done
            }
        };
        if self.who == 0 && self.network.is_dead(0) {
            // Nothing that the front would still do has any effect, not even on its own table.
            resume_unwind(Box::new(Killed));
        }
        if self.network.is_dead(self.who) { Err(io::Error::other("dead")) } else { done }
    }

    /// Sends a message: now, later, twice, or never.
    fn send(state: &mut State, now: Millis, now_or: impl Fn() -> Late) -> bool {
        if !state.chaos {
            return true;
        }
        let late = now + state.dice.below(4 * PATIENCE);
        match state.dice.below(100) {
            0..=4 => false,
            5..=14 => {
                state.late.push((late, now_or()));
                false
            }
            15..=24 => {
                state.late.push((late, now_or()));
                true
            }
            _ => true,
        }
    }
}

impl Dispatch for Party {
    fn workers(&self) -> Vec<Alive> {
        self.network.workers()
    }

    fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        let now = self.network.now();
        self.attempt("hand out an attempt", |state| {
            state.sent.entry((work.job, work.attempt)).or_insert(now);
            if Self::send(state, now, || Late::Work(worker.to_owned(), work.clone())) {
                state.broker.publish(worker, work)
            } else {
                Ok(())
            }
        })
    }

    fn take(&self) -> io::Result<Option<Work>> {
        self.attempt("take an attempt", |state| Ok(state.broker.take_as(&worker(self.who))))
    }

    fn sign(&self, sign: &Sign) -> io::Result<()> {
        self.attempt("give a sign", |state| {
            let lost = state.chaos && state.dice.one(100);
            if lost { Ok(()) } else { state.broker.sign(sign) }
        })
    }

    fn report(&self, done: &Done) -> io::Result<()> {
        let now = self.network.now();
        self.attempt("report", |state| {
            state.reported.entry((done.job, done.attempt)).or_default().push(done.outcome.clone());
            if Self::send(state, now, || Late::Done(done.clone())) {
                state.broker.report(done)
            } else {
                Ok(())
            }
        })
    }

    fn reported(&self) -> io::Result<Option<Taken<Done>>> {
        self.attempt("ask for reports", |state| state.broker.reported())
    }

    fn noted(&self, taken: &Taken<Done>) -> io::Result<()> {
        self.attempt("drop a report", |state| {
            let lost = state.chaos && state.dice.one(50);
            if lost { Ok(()) } else { state.broker.noted(taken) }
        })
    }

    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()> {
        self.attempt("put a report back", |state| state.broker.put_back(taken, pause))
    }

    fn signs(&self) -> io::Result<Vec<Sign>> {
        self.attempt("ask for signs", |state| state.broker.signs())
    }

    fn cancel(&self, job: Id) -> io::Result<()> {
        self.attempt("ask to stop", |state| state.broker.cancel(job))
    }

    fn is_cancelled(&self, job: Id) -> bool {
        let state = lock(&self.network.state);
        state.broker.is_cancelled(job)
    }
}

impl Blobs for Party {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        self.attempt("store a result", |state| {
            if state.chaos && state.dice.one(30) {
                return Err(io::Error::from(io::ErrorKind::StorageFull));
            }
            let put = self.files.put(blob, bytes);
            // The result is stored, but its sender does not learn of it.
            if state.chaos && state.dice.one(20) {
                Err(io::Error::from(io::ErrorKind::TimedOut))
            } else {
                put
            }
        })
    }

    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        let name = match blob {
            Blob::KeyPart(..) => "read a piece of keys",
            Blob::Input(_) => "read an input",
            Blob::Result(_) => "read a result",
        };
        let is_damaged = self.attempt(name, |state| match state.dice.below(1000) {
            0..20 if state.chaos => Err(io::Error::other("a disk")),
            // As for a worker whose folder is not the shared one.
            20..30 if state.chaos && self.who > 0 => Ok(true),
            _ => Ok(false),
        })?;
        if is_damaged { Err(ReadError::Damaged("altered".into())) } else { self.files.get(blob, expected) }
    }

    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError> {
        self.attempt("look at a result", |_| Ok(self.files.look(blob, expected)))?
    }

    fn remove(&self, blob: Blob) -> io::Result<()> {
        self.attempt("remove a result", |_| self.files.remove(blob))
    }

    fn check(&self) -> io::Result<()> {
        self.files.check()
    }
}
