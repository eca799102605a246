//! A front and its workers in one process, in steps of a tenth of a second.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};
use refloat::trace::{Observer, StageEvent};
use refloat_server::Config;
use refloat_server::blobs::{Blob, Blobs, FileBlobs, Put};
use refloat_server::dispatch::held::Held;
use refloat_server::dispatch::{Alive, Dispatch, Done, Local, Rules, Sign, Taken};
use refloat_server::engine::{Operation, SlotMode, Task};
use refloat_server::engines::Engines;
use refloat_server::id::Id;
use refloat_server::service::Service;
use refloat_server::service::cache::KeyCache;
use refloat_server::service::front::{Front, Policy};
use refloat_server::service::live::Stop;
use refloat_server::service::metrics;
use refloat_server::service::runner::{Runner, Watch};
use refloat_server::service::storage_health::StorageHealth;
use refloat_server::service::worker::turn;
use refloat_server::store::files::{Expected, ReadError};
use refloat_server::store::holder::Holder;
use refloat_server::store::jobs::{self, Bounds, JobRecord, NewJob, Submitted};
use refloat_server::work::Work;

use super::super::simulation::upload;
use super::super::support::engine::{CIPHERTEXT, FINGERPRINT, TestEngine};

pub const LEASE: u64 = 20_000;
/// Milliseconds without progress after which a run counts as hanging.
pub const HUNG: u64 = 60_000;
/// Milliseconds of a step, in which each slot can do a job.
pub const STEP: u64 = 100;

/// A worker.
pub struct Hand {
    pub local: Arc<Local>,
    pub alive: Mutex<Alive>,
    pub cache: KeyCache,
    pub held: Held,
    pub blobs: Mutex<Arc<dyn Blobs>>,
    pub storage: StorageHealth,
    /// Whether the reports of the worker are lost.
    pub mute: AtomicBool,
}

impl Hand {
    pub fn alive(&self) -> Alive {
        let mut alive = self.alive.lock().unwrap().clone();
        alive.hung = self.held.hung();
        alive.storage_fails = self.storage.fails();
        if alive.hung > 0 || alive.storage_fails {
            alive.slots = 0;
        }
        Alive { keys: self.cache.held(Alive::MOST), jobs: self.held.jobs(), ..alive }
    }

    /// Checks the worker's storage, as a worker does before it takes a job.
    pub fn is_well(&self) -> bool {
        let blobs = Arc::clone(&self.blobs.lock().unwrap());
        self.storage.check(&*blobs).is_ok()
    }

    pub fn send(&self, done: &Done) -> io::Result<()> {
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

/// Watches a run of a worker, for which no time passes.
pub struct Idle(pub Arc<Hand>);

impl Observer for Idle {
    fn event(&mut self, _: &StageEvent) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl Watch for Idle {
    fn stopped(&self) -> Option<Stop> {
        None
    }
    fn refused(&mut self, bytes: u64, time: Duration) -> bool {
        self.0.storage.refused(bytes, time)
    }
    fn rest(&mut self, _: Duration) {}
}

/// Stored bytes on a disk with faults, as seen by one worker.
pub struct Faulty {
    pub blobs: Arc<dyn Blobs>,
    /// While this is set, the disk is full.
    pub full: Arc<AtomicBool>,
    /// Which blobs read as damaged.
    pub damaged: fn(Blob) -> bool,
}

impl Faulty {
    fn room(&self) -> io::Result<()> {
        if self.full.load(Ordering::Relaxed) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

impl Blobs for Faulty {
    fn put(&self, blob: Blob, bytes: &[u8]) -> io::Result<Put> {
        self.room().and_then(|()| self.blobs.put(blob, bytes))
    }
    fn get(&self, blob: Blob, expected: Expected) -> Result<Vec<u8>, ReadError> {
        if (self.damaged)(blob) {
            return Err(ReadError::Damaged("altered".into()));
        }
        self.blobs.get(blob, expected)
    }
    fn look(&self, blob: Blob, expected: Expected) -> Result<(), ReadError> {
        self.blobs.look(blob, expected)
    }
    fn remove(&self, blob: Blob) -> io::Result<()> {
        self.blobs.remove(blob)
    }
    fn check(&self) -> io::Result<()> {
        self.blobs.check()
    }
    fn try_room(&self, bytes: u64) -> io::Result<()> {
        self.room().and_then(|()| self.blobs.try_room(bytes))
    }
}

/// A front, its workers, and a log of what they did.
pub struct Cluster {
    _folder: tempfile::TempDir,
    pub service: Arc<Service>,
    pub front: Front,
    pub local: Arc<Local>,
    pub now: Arc<AtomicU64>,
    pub hands: Vec<Arc<Hand>>,
    pub blobs: Arc<dyn Blobs>,
    pub engine: Arc<TestEngine>,
    pub engines: Engines,
    pub pool: ThreadPool,
    /// The workers that loaded each key set, once for every time.
    pub loads: BTreeMap<Id, Vec<usize>>,
    /// The key set of each run, in order, and the worker that ran it.
    pub ran: Vec<(Id, usize)>,
    pub count: u8,
}

impl Cluster {
    pub fn new(workers: usize, slots: usize, keys: u8) -> Self {
        Self::with_memory(workers, slots, keys, 1 << 20)
    }

    /// A cluster whose workers have `key_bytes` of memory for keys; each key set takes 1000 bytes.
    pub fn with_memory(workers: usize, slots: usize, keys: u8, key_bytes: u64) -> Self {
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
        let clock = Arc::clone(&now);
        service.store.set_clock(move || clock.load(Ordering::Relaxed));
        (0..keys).for_each(|key| upload(&service, Id([key; 16])));
        let blobs: Arc<dyn Blobs> = Arc::new(FileBlobs::new(folder.path()));
        let dispatch = Arc::clone(&local) as Arc<dyn Dispatch>;
        let hand = |index| {
            let (worker, clock) = (format!("w{index}"), Arc::clone(&now));
            let sets = [(FINGERPRINT.to_owned(), 1000)].into();
            Arc::new(Hand {
                local: Arc::clone(&local),
                alive: Mutex::new(Alive { worker, slots, key_bytes, sets, ..Alive::default() }),
                cache: KeyCache::new(key_bytes),
                held: Held::by(HUNG, move || clock.load(Ordering::Relaxed)),
                blobs: Mutex::new(Arc::clone(&blobs)),
                storage: StorageHealth::default(),
                mute: AtomicBool::new(false),
            })
        };
        Self {
            front: Front::new(
                Arc::clone(&service),
                dispatch,
                Policy { lease: Some(LEASE), hand_out: Duration::MAX },
            ),
            hands: (0..workers).map(hand).collect(),
            blobs,
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

    pub fn submit(&mut self, key: u8) -> Id {
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

    pub fn submit_some(&mut self, key: u8, count: usize) {
        for _ in 0..count {
            self.submit(key);
        }
    }

    /// Records these times of jobs and of loading keys often enough to determine the averages.
    pub fn measured(&self, job: f64, load: f64) {
        for _ in 0..100 {
            self.service.estimates.record("small", 1, job);
            self.service.estimates.record_load("small", load);
        }
    }

    pub fn front(&mut self) {
        self.local.set_workers(self.hands.iter().map(|hand| hand.alive()).collect());
        self.front.turn(self.now.load(Ordering::Relaxed)).unwrap();
    }

    /// Lets a worker do one job. Returns whether it had been given one.
    pub fn work(&mut self, index: usize) -> bool {
        let hand = Arc::clone(&self.hands[index]);
        if !hand.is_well() {
            return false;
        }
        let blobs = Arc::clone(&hand.blobs.lock().unwrap());
        let runner = Runner { engines: &self.engines, cache: &hand.cache, pool: &self.pool, blobs: &blobs };
        let before = self.engine.loads.load(Ordering::SeqCst);
        let mut key = None;
        let ran = turn(&runner, &*hand, |work| {
            key = Some(work.key);
            Idle(Arc::clone(&hand))
        });
        if let Some(key) = key {
            self.ran.push((key, index));
            if self.engine.loads.load(Ordering::SeqCst) > before {
                self.loads.entry(key).or_default().push(index);
            }
        }
        ran.unwrap_or(false)
    }

    /// The front and all workers do what they can in a tenth of a second.
    pub fn step(&mut self) {
        self.front();
        for index in 0..self.hands.len() {
            self.hands[index].is_well();
            for _ in 0..self.hands[index].alive().slots {
                self.work(index);
            }
            self.sign(index);
        }
        self.now.fetch_add(STEP, Ordering::Relaxed);
    }

    pub fn sign(&self, index: usize) {
        for sign in self.hands[index].held.signs() {
            self.local.sign(&sign).unwrap();
        }
    }

    pub fn queued(&self) -> usize {
        jobs::queued(&self.service.store).unwrap()
    }

    /// The value of the metric whose line begins with `name`.
    pub fn metric(&self, name: &str) -> usize {
        let text = metrics::render(&self.service).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.map_or(0, |value| value.parse().unwrap())
    }

    pub fn record(&self, job: Id) -> JobRecord {
        jobs::get(&self.service.store, job).unwrap().unwrap()
    }

    /// Runs until no job is waiting or handed out.
    pub fn finish(&mut self) {
        for _ in 0..2000 {
            self.step();
            if self.queued() == 0 && self.front.is_idle() {
                return;
            }
        }
        panic!("stuck with {} jobs", self.queued());
    }
}
