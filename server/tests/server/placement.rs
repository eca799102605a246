//! A front and its workers while nothing fails: who gets which job, who loads which keys, and what becomes of a worker that leaves or
//! is not heard for long.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::trace::{Observer, StageEvent};
use refloat_server::Config;
use refloat_server::blobs::{Blobs, FileBlobs};
use refloat_server::dispatch::held::Held;
use refloat_server::dispatch::{Alive, Dispatch, Done, Local, Rules, Sign, Taken};
use refloat_server::engine::{Operation, SlotMode, Task};
use refloat_server::engines::Engines;
use refloat_server::id::Id;
use refloat_server::service::Service;
use refloat_server::service::cache::KeyCache;
use refloat_server::service::front::{Front, Policy};
use refloat_server::service::live::Stop;
use refloat_server::service::runner::{Runner, Watch};
use refloat_server::service::worker::turn;
use refloat_server::store::holder::Holder;
use refloat_server::store::jobs::{self, Bounds, JobRecord, JobState, NewJob, Submitted};
use refloat_server::work::Work;

use super::simulation::upload;
use super::support::engine::{CIPHERTEXT, TestEngine};

const LEASE: u64 = 20_000;
/// Milliseconds of a step, in which each slot can do a job.
const STEP: u64 = 100;

/// A worker.
struct Hand {
    local: Arc<Local>,
    alive: Mutex<Alive>,
    cache: KeyCache,
    held: Held,
    /// Whether its reports do not get through.
    mute: AtomicBool,
}

impl Hand {
    fn alive(&self) -> Alive {
        let alive = self.alive.lock().unwrap().clone();
        Alive { keys: self.cache.held(Alive::MOST), jobs: self.held.jobs(), ..alive }
    }

    fn send(&self, done: &Done) -> io::Result<()> {
        if self.mute.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        self.local.report(done)
    }
}

impl Dispatch for Hand {
    fn workers(&self) -> Vec<Alive> {
        self.local.workers()
    }
    fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        self.local.publish(worker, work)
    }
    fn take(&self) -> io::Result<Option<Work>> {
        self.held.report_unsaid(|done| self.send(done))?;
        let taken = self.local.take_as(&self.alive.lock().unwrap().worker);
        if let Some(work) = &taken {
            self.held.take(work.job, work.attempt);
        }
        Ok(taken)
    }
    fn sign(&self, sign: &Sign) -> io::Result<()> {
        self.local.sign(sign)
    }
    fn report(&self, done: &Done) -> io::Result<()> {
        self.held.report(done, |done| self.send(done))
    }
    fn reported(&self) -> io::Result<Option<Taken<Done>>> {
        self.local.reported()
    }
    fn noted(&self, taken: &Taken<Done>) -> io::Result<()> {
        self.local.noted(taken)
    }
    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()> {
        self.local.put_back(taken, pause)
    }
    fn signs(&self) -> io::Result<Vec<Sign>> {
        self.local.signs()
    }
    fn cancel(&self, job: Id) -> io::Result<()> {
        self.local.cancel(job)
    }
    fn is_cancelled(&self, job: Id) -> bool {
        self.local.is_cancelled(job)
    }
}

/// Watches a run, and does nothing.
struct Idle;

impl Observer for Idle {
    fn event(&mut self, _: &StageEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Watch for Idle {
    fn stopped(&self) -> Option<Stop> {
        None
    }
    fn rest(&mut self, _: Duration) {}
}

/// A front, workers, and what was done.
struct Cluster {
    _folder: tempfile::TempDir,
    service: Arc<Service>,
    front: Front,
    local: Arc<Local>,
    now: Arc<AtomicU64>,
    hands: Vec<Arc<Hand>>,
    blobs: Arc<dyn Blobs>,
    engine: Arc<TestEngine>,
    engines: Engines,
    pool: ThreadPool,
    /// Workers that loaded a key set, each as often as it did.
    loads: BTreeMap<Id, Vec<usize>>,
    /// The key sets of the jobs that were run, in their order, and who ran them.
    ran: Vec<(Id, usize)>,
    count: u8,
}

impl Cluster {
    fn new(workers: usize, slots: usize, keys: u8) -> Self {
        let memory = std::path::Path::new("/dev/shm");
        let folder =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let engine = Arc::new(TestEngine::default());
        let mut config = Config::default();
        folder.path().clone_into(&mut config.storage.data);
        let now = Arc::new(AtomicU64::new(1));
        let clock = Arc::clone(&now);
        let rules = Rules { patience: LEASE, window: 0 };
        let local = Arc::new(Local::new(rules, move || clock.load(Ordering::Relaxed)));
        let service = Arc::new(Service::open_beside(config, engine.sets()).unwrap());
        (0..keys).for_each(|key| upload(&service, Id([key; 16])));
        let dispatch = Arc::clone(&local) as Arc<dyn Dispatch>;
        let hand = |index| {
            let worker = format!("w{index}");
            Arc::new(Hand {
                local: Arc::clone(&local),
                alive: Mutex::new(Alive { worker, slots, key_bytes: 1 << 20, ..Alive::default() }),
                cache: KeyCache::new(1 << 20),
                held: Held::default(),
                mute: AtomicBool::new(false),
            })
        };
        Self {
            front: Front::new(Arc::clone(&service), dispatch, Policy { lease: Some(LEASE) }),
            hands: (0..workers).map(hand).collect(),
            blobs: Arc::new(FileBlobs::new(folder.path())),
            engines: engine.sets(),
            pool: ThreadPoolBuilder::new().num_threads(1).build().unwrap(),
            loads: BTreeMap::new(),
            ran: Vec::new(),
            count: 0,
            _folder: folder,
            service,
            local,
            now,
            engine,
        }
    }

    fn submit(&mut self, key: u8) -> Id {
        self.count = self.count.wrapping_add(1);
        let mut input = vec![self.count; CIPHERTEXT];
        input[0] = b'C';
        let job = NewJob {
            key: Id([key; 16]),
            params: "small".into(),
            task: Task { mode: SlotMode::Real, operations: vec![Operation::new("bootstrap")], rounds: 1 },
            ciphertext: &input,
            digest: blake3::hash(&input),
            most_result_bytes: CIPHERTEXT as u64,
            idempotency: None,
            holder: Holder::default(),
            max_own: None,
        };
        let bounds = Bounds { queued: 10_000, bytes: u64::MAX, key_bytes: u64::MAX };
        match jobs::submit(&self.service.store, &job, bounds).unwrap() {
            Submitted::New(record) => record.id,
            other => panic!("{other:?}"),
        }
    }

    fn submit_some(&mut self, key: u8, count: usize) {
        for _ in 0..count {
            self.submit(key);
        }
    }

    /// So long jobs and loading took, often enough that it is what averages say.
    fn measured(&self, job: f64, load: f64) {
        for _ in 0..100 {
            self.service.estimates.record("small", 1, job);
            self.service.estimates.record_load("small", load);
        }
    }

    fn front(&mut self) {
        self.local.set_workers(self.hands.iter().map(|hand| hand.alive()).collect());
        self.front.turn(self.now.load(Ordering::Relaxed)).unwrap();
    }

    /// A job of a worker, if it was given one.
    fn work(&mut self, index: usize) -> bool {
        let hand = Arc::clone(&self.hands[index]);
        let runner =
            Runner { engines: &self.engines, cache: &hand.cache, pool: &self.pool, blobs: &self.blobs };
        let before = self.engine.loads.load(Ordering::SeqCst);
        let mut key = None;
        let ran = turn(&runner, &*hand, |work| {
            key = Some(work.key);
            Idle
        });
        if let Some(key) = key {
            self.ran.push((key, index));
            if self.engine.loads.load(Ordering::SeqCst) > before {
                self.loads.entry(key).or_default().push(index);
            }
        }
        ran.unwrap_or(false)
    }

    /// The front and all workers do what there is to do in a tenth of a second.
    fn step(&mut self) {
        self.front();
        for index in 0..self.hands.len() {
            for _ in 0..self.hands[index].alive().slots {
                self.work(index);
            }
            for sign in self.hands[index].held.signs() {
                self.local.sign(&sign).unwrap();
            }
        }
        self.now.fetch_add(STEP, Ordering::Relaxed);
    }

    fn queued(&self) -> usize {
        jobs::queued(&self.service.store).unwrap()
    }

    fn record(&self, job: Id) -> JobRecord {
        jobs::get(&self.service.store, job).unwrap().unwrap()
    }

    /// Runs until nothing waits and nothing is out.
    fn finish(&mut self) {
        for _ in 0..2000 {
            self.step();
            if self.queued() == 0 && self.front.is_idle() {
                return;
            }
        }
        panic!("stuck with {} jobs", self.queued());
    }
}

#[test]
fn keys_are_loaded_by_two_workers_at_most_unless_many_jobs_wait_for_them() {
    for workers in [2, 5] {
        let mut cluster = Cluster::new(workers, 1, 8);
        for job in 0..1000_u32 {
            cluster.submit((job.wrapping_mul(2_654_435_761) >> 29) as u8);
            if job % 2 == 1 {
                cluster.step();
            }
        }
        cluster.finish();
        assert_eq!((cluster.ran.len(), cluster.loads.len()), (1000, 8));
        for (key, by) in &cluster.loads {
            assert!(by.len() <= 2 && by.first() != by.get(1), "{key} was loaded by {by:?}");
        }
        let busy: Vec<usize> =
            (0..workers).map(|worker| cluster.ran.iter().filter(|(_, by)| *by == worker).count()).collect();
        assert!(busy.iter().all(|jobs| *jobs > 0) || workers > 2, "{busy:?}");
    }
    // 100 jobs at once with keys that take as long to load as ten jobs: others load them, too.
    let mut cluster = Cluster::new(5, 1, 1);
    cluster.measured(1.0, 10.0);
    cluster.submit_some(0, 19);
    cluster.finish();
    assert_eq!(cluster.loads[&Id([0; 16])].len(), 2, "19 wait, and ten for each of two owners do not pay");
    cluster.measured(1.0, 10.0);
    cluster.submit_some(0, 100);
    cluster.finish();
    assert_eq!(cluster.loads[&Id([0; 16])].len(), 5);
}

#[test]
fn tenants_get_equal_shares_however_many_jobs_each_has() {
    let mut cluster = Cluster::new(2, 2, 8);
    for key in 0..8_u8 {
        cluster.submit_some(key, 20 + 10 * usize::from(key));
    }
    // As long as all have jobs that wait.
    while cluster.ran.len() < 120 {
        cluster.step();
    }
    for key in 0..8 {
        let share = cluster.ran[..120].iter().filter(|(of, _)| *of == Id([key; 16])).count();
        assert!((14..=16).contains(&share), "key {key} has {share} of 120");
    }
}

#[test]
fn a_worker_that_leaves_ends_what_it_has_and_its_keys_go_to_another() {
    let mut cluster = Cluster::new(3, 1, 4);
    let jobs: Vec<Id> = (0..60).map(|job| cluster.submit(job % 4)).collect();
    (0..5).for_each(|_| cluster.step());
    cluster.front();
    let before = cluster.ran.len();
    // Whoever leaves has a job that it was given, and is given no other.
    cluster.hands[0].alive.lock().unwrap().slots = 0;
    cluster.front();
    let last = cluster.work(0);
    let (began, leaving) = (cluster.now.load(Ordering::Relaxed), cluster.ran.len());
    assert!(leaving - before == usize::from(last));
    cluster.finish();
    assert!(cluster.now.load(Ordering::Relaxed) - began < 20_000, "moved late");
    assert!(cluster.ran[leaving..].iter().all(|(_, by)| *by != 0));
    assert_eq!(cluster.ran.len(), 60, "a job was run twice");
    for job in jobs {
        let record = cluster.record(job);
        assert_eq!((record.state, record.attempts, record.crashes), (JobState::Done, 1, 0));
    }
}

#[test]
fn what_was_given_to_a_worker_that_died_before_it_began_goes_to_another() {
    let mut cluster = Cluster::new(2, 1, 1);
    let jobs = [cluster.submit(0), cluster.submit(0)];
    cluster.front();
    let died = cluster.hands.remove(0);
    cluster.now.fetch_add(LEASE / 4, Ordering::Relaxed);
    cluster.finish();
    assert!(cluster.now.load(Ordering::Relaxed) < LEASE);
    for job in jobs {
        let record = cluster.record(job);
        assert_eq!((record.state, record.crashes), (JobState::Done, 0));
    }
    // Had it only been silent, it would find that its attempt counts no more.
    cluster.hands.push(died);
    cluster.work(1);
    cluster.finish();
    assert!(jobs.into_iter().all(|job| cluster.record(job).state == JobState::Done));
}

#[test]
fn a_report_that_nobody_hears_for_longer_than_the_lease_is_heard_in_the_end() {
    let mut cluster = Cluster::new(1, 1, 1);
    let (job, next) = (cluster.submit(0), cluster.submit(0));
    cluster.hands[0].mute.store(true, Ordering::Relaxed);
    for _ in 0..5 * LEASE / STEP {
        cluster.step();
    }
    // It has run, and is not run again; nothing else is begun before that is known.
    assert_eq!((cluster.record(job).state, cluster.ran.len()), (JobState::Running, 1));
    cluster.hands[0].mute.store(false, Ordering::Relaxed);
    cluster.finish();
    for job in [job, next] {
        let record = cluster.record(job);
        assert_eq!((record.state, record.attempts, record.crashes), (JobState::Done, 1, 0));
    }
    // Without signs it would have been: then whoever had it counts as dead.
    let job = cluster.submit(0);
    cluster.hands[0].mute.store(true, Ordering::Relaxed);
    (0..2).for_each(|_| cluster.step());
    cluster.now.fetch_add(2 * LEASE, Ordering::Relaxed);
    cluster.local.signs().unwrap();
    cluster.front();
    assert_eq!((cluster.record(job).crashes, cluster.ran.len()), (1, 3));
}
