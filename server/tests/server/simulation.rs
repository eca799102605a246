//! A front and its workers over a dispatch that misbehaves, according to a seed: every accepted job ends once, with the right result,
//! whatever is lost, doubled, late or killed on the way.
//!
//! `REFLOAT_SEEDS=10000 cargo test -p refloat-server --test server simulation` tries 10000 seeds; `REFLOAT_SEEDS=417..418` tries one,
//! and repeats its failure exactly.

use std::collections::HashSet;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::trace::{Observer, StageEvent};
use refloat_server::Config;
use refloat_server::blobs::{Blobs, FileBlobs};
use refloat_server::dispatch::{Alive, Dispatch, Outcome, Sign};
use refloat_server::engine::{Operation, SlotMode, Task};
use refloat_server::engines::Engines;
use refloat_server::id::{Id, hex};
use refloat_server::service::Service;
use refloat_server::service::cache::KeyCache;
use refloat_server::service::front::{Front, Policy};
use refloat_server::service::live::Stop;
use refloat_server::service::runner::{Runner, Watch};
use refloat_server::service::worker::turn;
use refloat_server::store::holder::Holder;
use refloat_server::store::jobs::{self, Bounds, JobRecord, JobState, NewJob, Submitted};
use refloat_server::store::keys::{self, KeyRecord, Piece};
use refloat_server::work::Work;

use super::simulated::{Dice, Network, PATIENCE, Party, worker};
use super::support::engine::{CIPHERTEXT, FINGERPRINT, PARTS, TestEngine, part};

/// A job is taken back after this time without a sign of life.
const LEASE: u64 = 2 * PATIENCE;
const WORKERS: usize = 3;
/// Number of key sets; worker k has memory for k of them.
const KEYS: u8 = 3;
const KEY_BYTES: u64 = 1000;
const JOBS: usize = 6;

/// How simulations differ.
#[derive(Clone, Copy)]
pub struct Case {
    pub seed: u64,
    /// How many attempts at a job may end with a death.
    pub max_attempts: u32,
    /// Second byte of the input that kills every worker; the first byte is the mark.
    pub poison: Option<u8>,
    /// Second byte of the input of the job that is cancelled while it is being worked on, if nothing fails.
    pub cancelled: Option<u8>,
}

pub struct Simulation {
    case: Case,
    pub network: Arc<Network>,
    folder: tempfile::TempDir,
    engine: Arc<TestEngine>,
    engines: Engines,
    pool: ThreadPool,
    front: Mutex<Option<(Front, Arc<Service>)>>,
    caches: Vec<Mutex<KeyCache>>,
    /// Accepted jobs, in their order.
    pub accepted: Mutex<Vec<Accepted>>,
    cancelled: Mutex<HashSet<Id>>,
    differences: AtomicUsize,
}

/// A job that was accepted.
#[derive(Debug)]
pub struct Accepted {
    id: Id,
    input: Vec<u8>,
    /// The record of the job when it was last looked at.
    pub last: Option<JobRecord>,
}

/// What a worker hears and says in the middle of a run.
struct Ear<'a> {
    simulation: &'a Simulation,
    party: Party,
    work: Work,
    poisoned: bool,
}

impl Observer for Ear<'_> {
    fn event(&mut self, _: &StageEvent) -> ControlFlow<()> {
        if self.poisoned {
            self.party.network.kill(self.party.who);
        }
        // Meanwhile others do something, and time passes.
        self.simulation.meanwhile(self.work.job);
        self.party.say(Alive {
            jobs: vec![self.work.job],
            keys: vec![self.work.key],
            ..alive(self.party.who)
        });
        let _ = self.party.sign(&Sign::of_life(self.work.job, self.work.attempt));
        if self.stopped().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped().is_some()
    }
}

impl Watch for Ear<'_> {
    fn stopped(&self) -> Option<Stop> {
        if self.party.network.is_dead(self.party.who) {
            // The worker can no longer reach anybody.
            Some(Stop::ShuttingDown)
        } else {
            self.party.is_cancelled(self.work.job).then_some(Stop::Cancelled)
        }
    }

    fn rest(&mut self, pause: Duration) {
        self.party.network.pass(pause.as_millis() as u64);
    }
}

impl Simulation {
    pub fn new(case: Case) -> Self {
        // In memory, if there is such a file system: only the order of events matters here.
        let memory = Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let engine = Arc::new(TestEngine::default());
        let simulation = Self {
            case,
            network: Network::new(case.seed),
            folder,
            engines: engine.sets(),
            engine,
            pool: ThreadPoolBuilder::new().num_threads(1).build().unwrap(),
            front: Mutex::new(None),
            caches: (0..WORKERS).map(|index| Mutex::new(cache(index))).collect(),
            accepted: Mutex::default(),
            cancelled: Mutex::default(),
            differences: AtomicUsize::new(0),
        };
        simulation.start_front();
        simulation.with_service(|service| (0..KEYS).for_each(|key| upload(service, Id([key; 16]))));
        simulation
    }

    fn party(&self, who: usize) -> Party {
        let files = Arc::new(FileBlobs::new(self.folder.path()));
        Party { network: Arc::clone(&self.network), who, files }
    }

    fn start_front(&self) {
        let mut front = lock(&self.front);
        *front = None;
        self.network.revive(0);
        let mut config = Config::default();
        self.folder.path().clone_into(&mut config.storage.data);
        config.compute.max_attempts = self.case.max_attempts;
        let mut service = Service::open_beside(config, self.engine.sets()).unwrap();
        service.blobs = Arc::new(self.party(0));
        let clock = Arc::clone(&self.network);
        service.store.set_clock(move || {
            clock.tick();
            clock.wall_clock()
        });
        let service = Arc::new(service);
        // A busy machine must not change the course of a seed.
        let policy = Policy { lease: Some(LEASE), hand_out: Duration::MAX };
        *front = Some((Front::new(Arc::clone(&service), Arc::new(self.party(0)), policy), service));
    }

    fn with_service<T>(&self, work: impl FnOnce(&Service) -> T) -> Option<T> {
        let front = self.front.try_lock().ok()?;
        let (_, service) = front.as_ref()?;
        self.network.work(|| work(service))
    }

    /// A turn of the front, unless it is already in one.
    pub fn front(&self) {
        let Ok(mut front) = self.front.try_lock() else { return };
        let died = match front.as_mut() {
            None => true,
            Some((front, _)) => {
                let now = self.network.now();
                self.network.work(|| drop(front.turn(now))).is_none()
            }
        };
        drop(front);
        if died {
            self.network.pass(1000);
            self.start_front();
        }
        self.with_service(|service| self.look(service));
    }

    /// A turn of a worker, unless it is already in one.
    pub fn worker(&self, index: usize) {
        let Ok(mut cache) = self.caches[index].try_lock() else { return };
        let party = self.party(index + 1);
        party.say(Alive { keys: cache.held(Alive::MOST), ..alive(party.who) });
        let blobs: Arc<dyn Blobs> = Arc::new(party.clone());
        let runner = Runner { engines: &self.engines, cache: &cache, pool: &self.pool, blobs: &blobs };
        let _ = turn(&runner, &party, |work| {
            let poisoned = self.begins(work.job, self.case.poison);
            let _ = party.sign(&Sign::of_life(work.job, work.attempt));
            Ear { simulation: self, party: party.clone(), work: work.clone(), poisoned }
        });
        if self.network.is_dead(party.who) {
            *cache = self::cache(index);
            self.network.revive(party.who);
        }
    }

    /// Whether `with` is the second byte of the input of a job, after the mark.
    fn begins(&self, job: Id, with: Option<u8>) -> bool {
        lock(&self.accepted).iter().any(|known| known.id == job && Some(known.input[1]) == with)
    }

    /// What the others do in the middle of a worker's job.
    fn meanwhile(&self, job: Id) {
        if self.network.is_calm() {
            if self.begins(job, self.case.cancelled) && !lock(&self.cancelled).contains(&job) {
                self.cancel(job);
                // The time at which the front looks for jobs that are to stop.
                self.network.pass(LEASE / 8);
                self.front();
            }
            return;
        }
        let die = self.network.dice(|dice| dice.below(12));
        let time =
            self.network.dice(|dice| if dice.one(30) { dice.below(2 * LEASE) } else { dice.below(4000) });
        self.network.pass(time);
        match die {
            0..=2 => self.front(),
            3 => self.worker(self.network.dice(|dice| dice.below(WORKERS as u64)) as usize),
            _ => {}
        }
    }

    pub fn submit(&self, index: usize) {
        let input = input(self.case.seed, index);
        let submitted = self.with_service(|service| {
            let job = NewJob {
                key: Id([index as u8 % KEYS; 16]),
                params: "small".into(),
                task: Task { mode: SlotMode::Real, operations: vec![Operation::new("bootstrap")], rounds: 1 },
                ciphertext: &input,
                digest: blake3::hash(&input),
                most_result_bytes: CIPHERTEXT as u64,
                idempotency: Some(format!("job-{index}")),
                holder: Holder::default(),
                max_own: None,
            };
            let bounds = Bounds { queued: 1000, bytes: u64::MAX, key_bytes: u64::MAX };
            jobs::submit(&service.store, &job, bounds).unwrap()
        });
        let (id, new) = match submitted {
            Some(Submitted::New(record)) => (record.id, true),
            Some(Submitted::Same(record)) => (record.id, false),
            Some(other) => panic!("{other:?}"),
            None => return,
        };
        let mut accepted = lock(&self.accepted);
        let known = accepted.iter().any(|known| known.id == id);
        assert!(new != known, "job {index} was accepted twice, or forgotten");
        if new {
            accepted.push(Accepted { id, input, last: None });
        }
    }

    fn cancel(&self, id: Id) {
        self.with_service(|service| {
            lock(&self.cancelled).insert(id);
            jobs::cancel(&service.store, id).unwrap();
        });
    }

    /// Compares the table with its earlier state, and with all that was sent.
    fn look(&self, service: &Service) {
        for Accepted { id, input, last } in lock(&self.accepted).iter_mut() {
            let now = jobs::get(&service.store, *id).unwrap().expect("a job is lost");
            if let Some(last) = last {
                self.compare(last, &now);
            }
            match now.state {
                JobState::Done => {
                    let result: Vec<u8> = input.iter().rev().copied().collect();
                    let digest = hex(blake3::hash(&result).as_bytes());
                    assert_eq!(now.result, Some((digest, CIPHERTEXT as u64)), "a wrong result is recorded");
                    let stored =
                        jobs::result(&service.store, &now).expect("a result that is recorded is gone");
                    assert_eq!(stored.read().unwrap(), result);
                }
                JobState::Failed => {
                    let code = &now.problem.as_ref().unwrap().code;
                    // Trouble that only one worker has does not make a job fail.
                    let due = code == "INTERRUPTED" && Some(input[1]) == self.case.poison;
                    assert!(due, "a job failed: {now:?}");
                    assert_eq!(now.crashes + 1, self.case.max_attempts);
                }
                JobState::Cancelled => assert!(lock(&self.cancelled).contains(id), "nobody cancelled {id}"),
                JobState::Queued | JobState::Running => {}
            }
            *last = Some(now);
        }
        let text = refloat_server::service::metrics::render(service).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("refloat_job_differences_total "));
        self.differences.fetch_max(line.unwrap().parse().unwrap(), Ordering::SeqCst);
    }

    fn compare(&self, last: &JobRecord, now: &JobRecord) {
        if last.state.is_final() {
            let (last, now) = (serde_json::to_value(last).unwrap(), serde_json::to_value(now).unwrap());
            assert_eq!(last, now, "a job that had ended changed");
            return;
        }
        assert!(now.attempts >= last.attempts);
        // An attempt ends by its own report, or after a long time without a sign of life.
        let ended =
            last.state == JobState::Running && (now.state, now.attempts) != (last.state, last.attempts);
        if ended {
            let attempt = (last.id, last.attempts);
            // Or its worker seems to be gone; after a restart of the front, that may be the worker of an earlier attempt.
            let sent = self.network.sent(attempt);
            let expired = self.network.workers().len() < WORKERS
                || sent.is_none_or(|at| self.network.now() - at >= LEASE);
            let reported = self.network.reported(attempt);
            assert!(expired || !reported.is_empty(), "an attempt ended for nothing: {last:?}, {now:?}");
            if now.state == JobState::Done {
                assert!(reported.iter().any(|outcome| matches!(outcome, Outcome::Made(_))), "{now:?}");
            }
            if now.failures > last.failures {
                let trouble = |outcome: &Outcome| {
                    use Outcome::{DamagedInput, DamagedKeys, Made, Trouble};
                    matches!(outcome, Trouble(_) | Made(_) | DamagedInput | DamagedKeys(_))
                };
                assert!(reported.iter().any(trouble), "a failure that nobody reported: {now:?}");
            }
        }
    }

    fn run(&self) {
        let mut accepted = 0;
        for _ in 0..120 {
            match self.network.dice(|dice| dice.below(100)) {
                0..=9 if accepted < JOBS => {
                    self.submit(accepted);
                    accepted = lock(&self.accepted).len();
                }
                10..=12 if accepted > 0 => {
                    self.submit(self.network.dice(|dice| dice.below(accepted as u64)) as usize);
                }
                13..=14 => {
                    let ids: Vec<Id> = lock(&self.accepted).iter().map(|job| job.id).collect();
                    if !ids.is_empty() {
                        let place = self.network.dice(|dice| dice.below(ids.len() as u64));
                        self.cancel(ids[place as usize]);
                    }
                }
                15 => self.network.wipe(),
                16 => self.network.kill(0),
                99 => self.network.set_clock(),
                17..=20 => {
                    self.network.kill(1 + self.network.dice(|dice| dice.below(WORKERS as u64)) as usize);
                }
                21..=60 => self.front(),
                _ => self.worker(self.network.dice(|dice| dice.below(WORKERS as u64)) as usize),
            }
            self.network.pass(self.network.dice(|dice| dice.below(3000)));
        }
        self.network.calm();
        self.finish();
    }

    /// Runs until all jobs have ended.
    pub fn finish(&self) {
        let running = |job: &Accepted| job.last.as_ref().is_none_or(|record| !record.state.is_final());
        for turn in 0.. {
            self.front();
            if !lock(&self.accepted).iter().any(running) {
                break;
            }
            (0..WORKERS).for_each(|index| self.worker(index));
            self.network.pass(1000);
            assert!(turn < 4000, "stuck: {:?}", lock(&self.accepted));
        }
        self.with_service(|service| assert_eq!(jobs::queued(&service.store).unwrap(), 0)).unwrap();
        assert_eq!(self.differences.load(Ordering::SeqCst), 0);
    }
}

/// A worker's sign of life.
fn alive(who: usize) -> Alive {
    let sets = [(FINGERPRINT.to_owned(), KEY_BYTES)].into();
    Alive { worker: worker(who), slots: 2, key_bytes: who as u64 * KEY_BYTES, sets, ..Alive::default() }
}

/// The memory for keys of a worker.
fn cache(index: usize) -> KeyCache {
    KeyCache::new((index as u64 + 1) * KEY_BYTES)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The input of job `index`: a ciphertext of the test engine.
fn input(seed: u64, index: usize) -> Vec<u8> {
    let mut dice = Dice(seed ^ (index as u64) << 32);
    let rest = (2..CIPHERTEXT).map(|_| dice.below(256) as u8);
    [b'C', index as u8].into_iter().chain(rest).collect()
}

/// Uploads keys of the small set under this identifier.
pub fn upload(service: &Service, id: Id) {
    let record = KeyRecord { touched: 0, ..KeyRecord::new(id, "small", FINGERPRINT, PARTS) };
    let bounds = keys::Bounds { bytes: u64::MAX, own_bytes: None, open: usize::MAX };
    let store = &service.store;
    keys::open(store, &record, 0, &bounds).unwrap();
    for index in 0..PARTS {
        let bytes = part(index);
        let piece = Piece { index: index as u32, bytes: &bytes, digest: *blake3::hash(&bytes).as_bytes() };
        keys::put_part(store, id, &piece, &bounds).unwrap();
    }
    assert!(matches!(keys::seal(store, id, None).unwrap(), keys::Sealed::Done(_)));
}

/// Runs a case. Returns how often jobs were run, and the final states of dice and clock.
fn simulate(case: Case) -> (usize, u64, u64) {
    let simulation = Simulation::new(case);
    if let Err(why) = catch_unwind(AssertUnwindSafe(|| simulation.run())) {
        eprintln!("seed {0} fails; REFLOAT_SEEDS={0}..{1} runs it again", case.seed, case.seed + 1);
        std::panic::resume_unwind(why);
    }
    let (dice, now) = (simulation.network.dice(|dice| dice.0), simulation.network.now());
    (simulation.engine.runs.load(Ordering::SeqCst), dice, now)
}

/// The seeds asked for by `REFLOAT_SEEDS`, or else `usual` seeds.
fn seeds(usual: u64) -> Range<u64> {
    static ASKED: OnceLock<Option<Range<u64>>> = OnceLock::new();
    let parse = |text: String| {
        let (from, to) = text.split_once("..").unwrap_or(("0", &text));
        from.parse().unwrap()..to.parse().unwrap()
    };
    ASKED.get_or_init(|| std::env::var("REFLOAT_SEEDS").ok().map(parse)).clone().unwrap_or(0..usual)
}

#[test]
fn no_job_is_lost_and_none_ends_twice() {
    let runs: usize = seeds(200)
        .map(|seed| simulate(Case { seed, max_attempts: 1000, poison: None, cancelled: None }).0)
        .sum();
    println!("{} seeds, {runs} runs of jobs", seeds(200).count());
}

#[test]
fn a_seed_has_one_course() {
    for seed in 0..4 {
        let case = Case { seed, max_attempts: 20, poison: Some(1), cancelled: None };
        assert_eq!(simulate(case), simulate(case), "seed {seed}");
    }
}

#[test]
fn a_job_that_kills_whoever_works_on_it_is_given_up_and_no_other() {
    // Other jobs may die with it by bad luck, so many attempts are allowed. That takes long, so one seed in twenty has to do.
    for seed in seeds(200).step_by(20) {
        simulate(Case { seed, max_attempts: 20, poison: Some(1), cancelled: None });
    }
}
