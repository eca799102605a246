//! A front, workers and operators connected by NATS.
//!
//! `REFLOAT_NATS_SERVER=nats-server cargo test -p refloat-server --test server by_nats -- --ignored` takes that program; each test
//! starts one of its own. `node tests/tools/cluster.mjs --tests` does all of this, and so does `npm test`.

mod processes;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use refloat_server::Config;
use refloat_server::cluster::health;
use refloat_server::cluster::worker::{End, Worker};
use refloat_server::config::{MetricsListen, Role};
use refloat_server::dispatch::nats::{Nats, Operator, Settings, State};
use refloat_server::dispatch::{Alive, Dispatch, Done, Sign, Taken};
use refloat_server::engines::Engines;
use refloat_server::id::Id;
use refloat_server::work::Work;
use serde_json::Value;

use super::dispatch_contract::{contract, work};
use super::support::engine::{KEY, TestEngine};
use super::support::nats::{NatsServer, PASSWORD};
use super::support::process::{fails, ok, refloat};
use super::support::{Client, TestServer, ciphertext, until, upload, upload_as};

const SECOND: Duration = Duration::from_secs(1);

/// Lease of a job in seconds: without a sign of life for this long, the job may be handed out again.
const LEASE: u64 = 10;

/// Both ends of a dispatch, each connected as its own user.
struct Ends {
    front: Nats,
    worker: Nats,
}

impl Dispatch for Ends {
    fn workers(&self) -> Vec<Alive> {
        self.front.workers()
    }
    fn publish(&self, worker: &str, work: &Work) -> io::Result<()> {
        self.front.publish(worker, work)
    }
    fn take(&self) -> io::Result<Option<Work>> {
        self.worker.take()
    }
    fn sign(&self, sign: &Sign) -> io::Result<()> {
        self.worker.sign(sign)
    }
    fn report(&self, done: &Done) -> io::Result<()> {
        self.worker.report(done)
    }
    fn reported(&self) -> io::Result<Option<Taken<Done>>> {
        self.front.reported()
    }
    fn noted(&self, taken: &Taken<Done>) -> io::Result<()> {
        self.front.noted(taken)
    }
    fn put_back(&self, taken: Taken<Done>, pause: Duration) -> io::Result<()> {
        self.front.put_back(taken, pause)
    }
    fn signs(&self) -> io::Result<Vec<Sign>> {
        self.front.signs()
    }
    fn cancel(&self, job: Id) -> io::Result<()> {
        self.front.cancel(job)
    }
    fn is_cancelled(&self, job: Id) -> bool {
        self.worker.is_cancelled(job)
    }
}

fn connect(url: String, role: &'static str) -> Nats {
    let settings = Settings {
        url,
        credentials: None,
        front: "contract".to_owned(),
        role,
        lease: 60 * SECOND,
        patience: SECOND,
        hung: 60 * SECOND,
        wait: SECOND,
    };
    Nats::connect(settings).unwrap()
}

#[test]
#[ignore = "needs a nats-server"]
fn what_is_asked_of_every_dispatch() {
    let server = NatsServer::start();
    let bell = Arc::new(AtomicU64::new(0));
    let ring = Arc::clone(&bell);
    let front = connect(server.url("front"), "front").with_front(move || {
        ring.fetch_add(1, Ordering::Relaxed);
    });
    let about = || Alive { worker: "the-worker".into(), ..Alive::alone() };
    let worker = connect(server.url("worker"), "worker").with_worker(about);
    let dispatch = Ends { front, worker };
    // Waits until both ends have begun to listen.
    until("both ends listen", || {
        !dispatch.front.workers().is_empty() && dispatch.front.reported().is_ok() && dispatch.take().is_ok()
    });
    let pass = |time| std::thread::sleep(Duration::from_millis(time) + SECOND / 4);
    contract(&dispatch, "the-worker", 1000, &pass, &|| std::thread::sleep(SECOND / 2));
    assert!(bell.load(Ordering::Relaxed) > 0);
    // Work that was offered a short time before is not offered twice.
    dispatch.publish("the-worker", &work(5, 1)).unwrap();
    dispatch.publish("the-worker", &work(5, 1)).unwrap();
    assert!(dispatch.take().unwrap().is_some() && dispatch.take().unwrap().is_none());
    // What an end lacks, and what its user may not do.
    assert!(dispatch.front.take().is_err() && dispatch.worker.signs().is_err());
    assert!(dispatch.worker.publish("the-worker", &work(6, 1)).is_err(), "a worker hands out an attempt");
    // An operator sees both, and asks the worker to leave.
    let operator = Operator::connect(&server.url("operator"), None).unwrap();
    let (_, workers) = operator.listen(4 * SECOND).unwrap();
    assert!(
        workers.iter().any(|seen| seen.alive.worker == "the-worker" && seen.front == "contract"),
        "{workers:?}"
    );
    assert!(!operator.drain("nobody").unwrap() && !dispatch.worker.has_left());
    assert!(operator.drain("the-worker").unwrap() && dispatch.worker.has_left());
    until("the front has heard it too", || dispatch.front.workers().iter().all(|alive| alive.slots == 0));
}

#[test]
#[ignore = "needs a nats-server"]
fn who_may_not_listen_or_ask_is_told_so() {
    let server = NatsServer::start();
    for user in ["front", "worker"] {
        let operator = Operator::connect(&server.url(user), None).unwrap();
        for error in [operator.listen(SECOND).unwrap_err(), operator.drain("somebody").unwrap_err()] {
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            let error = error.to_string();
            assert!(error.contains("refloat.front.*") && error.contains("nats.conf"), "{error}");
        }
    }
    let operator = Operator::connect(&server.url("operator"), None).unwrap();
    assert_eq!(operator.listen(SECOND).unwrap(), (Vec::new(), Vec::new()));
    let status = |user: &str| {
        let line = format!("cluster status --wait 1 --json --nats {}", server.url(user));
        refloat(&line, Path::new("."))
    };
    let denied = fails(&status("front"), "CLUSTER");
    assert!(denied.contains("refloat.front.*") && !denied.contains(PASSWORD), "{denied}");
    assert!(fails(&status("operator"), "NOBODY").contains("no front and no worker"));
}

/// The settings of a front or a worker.
fn settings(config: &mut Config, server: &NatsServer, role: Role) {
    config.cluster.role = role;
    config.cluster.nats = server.url(if role == Role::Front { "front" } else { "worker" });
    config.cluster.lease_seconds = LEASE;
    config.cluster.hung_seconds = LEASE;
    config.cluster.slots = 1;
    config.compute.threads = 1;
    config.compute.key_cache_bytes = 1 << 20;
}

fn start_front(folder: &Path, server: &NatsServer) -> TestServer {
    TestServer::start(folder, |config| settings(config, server, Role::Front))
}

/// A worker in this process.
struct TestWorker {
    worker: Option<Worker>,
    engine: Arc<TestEngine>,
}

impl TestWorker {
    fn start(data: &Path, server: &NatsServer, change: impl FnOnce(&mut Config)) -> Self {
        Self::start_as(data, server, TestEngine::sets, change)
    }

    /// A worker with these sets.
    fn start_as(
        data: &Path,
        server: &NatsServer,
        sets: impl FnOnce(&Arc<TestEngine>) -> Engines,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = Config::default();
        settings(&mut config, server, Role::Worker);
        data.clone_into(&mut config.storage.data);
        change(&mut config);
        let engine = Arc::new(TestEngine::default());
        Self { worker: Some(Worker::start(config, sets(&engine)).unwrap()), engine }
    }

    fn stop(mut self) {
        self.worker.take().unwrap().stop();
    }
}

fn submit(client: &Client, key: &str) -> String {
    client.submit(key, &ciphertext(1)).job()
}

fn job(client: &Client, job: &str) -> Value {
    client.get(&format!("/v1/jobs/{job}")).expect(200).json()
}

#[test]
#[ignore = "needs a nats-server"]
fn keys_are_loaded_by_their_two_owners() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    let keys: Vec<String> = (0..8_u8).map(|key| Id([key; 16]).to_string()).collect();
    for key in &keys {
        upload_as(&front.client, key);
    }
    let workers: Vec<TestWorker> = (0..4)
        .map(|index| {
            TestWorker::start(folder.path(), &server, |config| config.cluster.name = format!("w{index}"))
        })
        .collect();
    until("the front hears all workers", || front_workers(&front) == 4);
    for _ in 0..10 {
        let jobs: Vec<String> = keys.iter().map(|key| submit(&front.client, key)).collect();
        for job in &jobs {
            front.client.wait_state(job, "done");
        }
    }
    let loads: Vec<usize> = workers.iter().map(|worker| worker.engine.loads.load(Ordering::SeqCst)).collect();
    let runs: Vec<usize> = workers.iter().map(|worker| worker.engine.runs.load(Ordering::SeqCst)).collect();
    assert_eq!(runs.iter().sum::<usize>(), 80);
    assert!(loads.iter().sum::<usize>() <= 16, "8 key sets were loaded by {loads:?}");
    assert!(runs.iter().filter(|runs| **runs > 0).count() > 1, "{runs:?}");
    workers.into_iter().for_each(TestWorker::stop);
    front.stop();
}

fn front_workers(front: &TestServer) -> usize {
    front.service().crew.workers()
}

#[test]
#[ignore = "needs a nats-server"]
fn a_silent_nats_server_makes_no_job_count_as_lost() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    upload(&front.client);
    let worker = TestWorker::start(folder.path(), &server, |_| {});
    worker.engine.hold();
    let id = submit(&front.client, KEY);
    front.client.wait(&id, |job| job["stage"] == "blind_rotate");
    // NATS keeps its connections open but is silent for longer than a lease.
    server.signal("STOP");
    std::thread::sleep(Duration::from_secs(LEASE + 5));
    server.signal("CONT");
    // Long enough for signs that would have been due.
    std::thread::sleep(3 * SECOND);
    assert_eq!(job(&front.client, &id)["state"], "running");
    worker.engine.release();
    let done = front.client.wait_state(&id, "done");
    assert_eq!((&done["attempts"], worker.engine.runs.load(Ordering::SeqCst)), (&Value::from(1), 1));
    worker.stop();
    front.stop();
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_without_its_folder_takes_no_jobs() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(&folder.path().join("data"), &server);
    upload(&front.client);
    let mount = folder.path().join("mount");
    let link = || std::os::unix::fs::symlink(folder.path().join("data"), &mount).unwrap();
    link();
    let worker = TestWorker::start(&mount, &server, |_| {});
    until("the front hears the worker", || front_workers(&front) == 1);
    // An unmounted volume leaves an empty folder behind.
    std::fs::remove_file(&mount).unwrap();
    std::fs::create_dir(&mount).unwrap();
    // By then the worker has taken whatever it was about to take.
    std::thread::sleep(3 * SECOND);
    assert_eq!(worker.worker.as_ref().unwrap().condition().ready().unwrap_err().code, "STORAGE_FAILED");
    let id = submit(&front.client, KEY);
    std::thread::sleep(3 * SECOND);
    let waiting = job(&front.client, &id);
    assert!(["queued", "running"].contains(&waiting["state"].as_str().unwrap()), "{waiting}");
    assert_eq!(worker.engine.runs.load(Ordering::SeqCst), 0);
    std::fs::remove_dir(&mount).unwrap();
    link();
    let done = front.client.wait_state(&id, "done");
    assert!(done["trouble"].is_null(), "{done}");
    worker.stop();
    front.stop();
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_whose_run_hangs_gives_up_its_job_and_ends() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    upload(&front.client);
    let mut hangs = TestWorker::start(folder.path(), &server, |_| {});
    hangs.engine.hangs.store(true, Ordering::SeqCst);
    let id = submit(&front.client, KEY);
    front.client.wait(&id, |job| job["stage"] == "blind_rotate");
    let other = TestWorker::start(folder.path(), &server, |_| {});
    let done = front.client.wait_state(&id, "done");
    assert_eq!((&done["attempts"], other.engine.runs.load(Ordering::SeqCst)), (&Value::from(2), 1));
    let worker = hangs.worker.take().unwrap();
    assert_eq!(worker.condition().ready().unwrap_err().code, "HUNG");
    until("the worker ends", || worker.ended().is_some());
    assert_eq!(worker.ended(), Some(End::Hung));
    hangs.engine.hangs.store(false, Ordering::SeqCst);
    worker.stop();
    other.stop();
    front.stop();
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_says_how_it_is() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    upload(&front.client);
    let at = MetricsListen::At(([127, 0, 0, 1], 0).into());
    let mut config = Config::default();
    config.server.metrics_listen = at;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (listener, address) = runtime.block_on(health::listen(&config)).unwrap().unwrap();
    let worker = TestWorker::start(folder.path(), &server, |_| {});
    let condition = worker.worker.as_ref().unwrap().condition();
    runtime.spawn(health::serve(listener, condition));
    let client = Client::new(address);
    assert_eq!(client.get("/healthz").expect(200).body, b"ok\n");
    until("the worker is ready", || client.get("/readyz").status == 200);
    front.client.send("POST", &format!("/v1/keys/{KEY}/wake"), &[], b"").expect(202);
    let loads = || worker.engine.loads.load(Ordering::SeqCst);
    until("the keys are loaded ahead", || loads() == 1);
    for _ in 0..2 {
        front.client.wait_state(&submit(&front.client, KEY), "done");
    }
    assert_eq!(loads(), 1);
    let text = String::from_utf8(client.get("/metrics").expect(200).body).unwrap();
    for line in [
        "refloat_worker_runs_total{name=\"made\"} 2",
        "refloat_worker_runs_total{name=\"loaded\"} 1",
        "refloat_key_loads_total 1",
        "refloat_key_hits_total 2",
        "refloat_worker_slots 1",
        "refloat_worker_jobs 0",
        "refloat_worker_hung 0",
        "refloat_worker_nats 1",
        "refloat_key_cache_bytes 1000",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
    }
    worker.stop();
    client.get("/readyz").problem(503, "STOPPING");
    front.stop();
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_of_another_build_gets_no_job_and_is_seen_to_be_one() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    upload(&front.client);
    let build = "0dd0dd0dd0dd0dd0dd0dd0dd0dd0dd0d";
    let other = TestWorker::start_as(
        folder.path(),
        &server,
        |engine| engine.sets_as(build),
        |config| {
            config.cluster.name = "other".into();
        },
    );
    until("the front hears the worker", || front_workers(&front) == 1);
    let detail = front.client.submit(KEY, &ciphertext(1)).problem(507, "MEMORY");
    assert!(detail.contains("run one build on all machines"), "{detail}");
    let same = TestWorker::start(folder.path(), &server, |config| config.cluster.name = "same".into());
    until("the front hears both workers", || front_workers(&front) == 2);
    for _ in 0..10 {
        front.client.wait_state(&submit(&front.client, KEY), "done");
    }
    let runs = [&other, &same].map(|worker| worker.engine.runs.load(Ordering::SeqCst));
    assert_eq!(runs, [0, 10]);
    let command = |json: &str| {
        refloat(&format!("{json} cluster status --nats {}", server.url("operator")), Path::new("."))
    };
    let status = ok(&command("--json"));
    let states: Vec<(&str, &str)> = status["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|worker| {
            (worker["worker"].as_str().unwrap().split('-').next().unwrap(), worker["state"].as_str().unwrap())
        })
        .collect();
    assert_eq!(states, [("other", "other_build"), ("same", "ready")], "{status}");
    let words = String::from_utf8(command("").stdout).unwrap();
    assert!(words.contains("other build") && words.contains("takes jobs"), "{words}");
    other.stop();
    same.stop();
    front.stop();
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_that_cannot_store_a_result_says_so() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let front = start_front(folder.path(), &server);
    upload(&front.client);
    let worker = TestWorker::start(folder.path(), &server, |_| {});
    let condition = worker.worker.as_ref().unwrap().condition();
    worker.engine.hold();
    let id = submit(&front.client, KEY);
    front.client.wait(&id, |job| job["stage"] == "blind_rotate");
    // Nothing can be written any more, and all can be read.
    let (incoming, away) = (folder.path().join("incoming"), folder.path().join("away"));
    std::fs::rename(&incoming, &away).unwrap();
    worker.engine.release();
    until("the worker is not ready", || condition.ready().is_err());
    let refused = condition.ready().unwrap_err();
    assert!(refused.code == "STORAGE_FAILED" && refused.detail.contains("64 bytes"), "{refused:?}");
    let operator = Operator::connect(&server.url("operator"), None).unwrap();
    let (_, workers) = operator.listen(4 * SECOND).unwrap();
    assert_eq!(workers.iter().map(|seen| seen.state).collect::<Vec<_>>(), [State::StorageFails]);
    std::fs::rename(&away, &incoming).unwrap();
    let done = front.client.wait_state(&id, "done");
    assert!(done["trouble"].is_null(), "{done}");
    until("the worker is ready again", || condition.ready().is_ok());
    until("the front counts on it again", || front_workers(&front) == 1);
    worker.stop();
    front.stop();
}
