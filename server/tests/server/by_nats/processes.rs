//! The front, its workers and their operator as processes.

use std::io::BufReader;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;

use super::super::support::bucket::Bucket;
use super::super::support::nats::NatsServer;
use super::super::support::process::{Process, encrypt, fails, key_id, message, ok, refloat, secret, upload};
use super::super::support::{Client, TOKEN, until};
use super::SECOND;

/// A worker in a process of its own.
struct WorkerProcess {
    child: Child,
    /// The line that the worker printed at its start.
    said: Value,
    /// The rest of its standard output.
    _rest: BufReader<ChildStdout>,
}

impl WorkerProcess {
    /// Starts a worker, and waits for its first line.
    fn start(environment: &[(&str, String)], folder: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_refloat"))
            .args(["--json", "serve", "--role", "worker", "--allow-insecure", "--log-level", "warn"])
            .envs(environment.iter().map(|(name, value)| (*name, value.as_str())))
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut rest = BufReader::new(child.stdout.take().unwrap());
        let said = serde_json::Deserializer::from_reader(&mut rest).into_iter().next();
        Self { child, said: said.expect("the worker ended at its start").unwrap(), _rest: rest }
    }

    /// Waits until the worker ends by itself.
    fn ended(mut self) -> ExitStatus {
        let mut status = None;
        until("the worker ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Tells the worker to stop, and returns its exit status.
    fn stop(self) -> ExitStatus {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.ended()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A front whose metrics are public, and the environment that its workers need.
fn start_front(server: &NatsServer, data: &Path) -> (Process, Vec<(&'static str, String)>) {
    let script = format!(
        "REFLOAT__SERVER__METRICS_LISTEN=public REFLOAT__CLUSTER__NATS='{}' exec \"$@\" --role front",
        server.url("front")
    );
    let front = Process::start_by(data, &script);
    let environment = vec![
        ("REFLOAT__CLUSTER__NATS", server.url("worker")),
        ("REFLOAT__STORAGE__DATA", data.to_str().unwrap().to_owned()),
        ("REFLOAT__CLUSTER__SLOTS", "1".to_owned()),
        ("REFLOAT__COMPUTE__THREADS", "1".to_owned()),
    ];
    (front, environment)
}

/// The value of one of a front's metrics.
fn metric(client: &Client, name: &str) -> usize {
    let text = String::from_utf8(client.get("/metrics").expect(200).body).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("no {name} in\n{text}")).parse().unwrap()
}

#[test]
#[ignore = "needs a nats-server"]
fn results_are_the_same_bytes_on_one_machine_and_on_several() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let secret = secret("toy10", 4);
    let key = key_id(&secret);
    let inputs: Vec<Vec<u8>> = (0..8).map(|seed| encrypt(&secret, &message(&secret), 2, seed)).collect();
    let results = |client: &Client| -> Vec<blake3::Hash> {
        let query = format!("key={key}&op=square,bootstrap");
        let submit = |input: &Vec<u8>| client.submit_with(&query, &[], input).expect(202).json();
        let jobs: Vec<Value> = inputs.iter().map(submit).collect();
        let result = |job: &Value| {
            let id = job["id"].as_str().unwrap();
            client.wait_state(id, "done");
            blake3::hash(&client.get(&format!("/v1/jobs/{id}/result")).expect(200).body)
        };
        jobs.iter().map(result).collect()
    };
    let alone = Process::start(&folder.path().join("alone"));
    upload(&alone.client, &secret);
    let expected = results(&alone.client);
    assert!(alone.terminate());
    assert!(expected[1..].iter().all(|digest| *digest != expected[0]), "inputs are told apart");

    let (front, environment) = start_front(&server, &folder.path().join("data"));
    upload(&front.client, &secret);
    for count in [1, 2, 4] {
        let start = |index: usize| {
            let mut environment = environment.clone();
            environment.push(("REFLOAT__CLUSTER__NAME", format!("w{index}")));
            // The first worker, which is alone at one point, computes without vector instructions.
            if index == 0 {
                environment.push(("REFLOAT_BACKEND", "scalar".to_owned()));
            }
            WorkerProcess::start(&environment, folder.path())
        };
        let workers: Vec<WorkerProcess> = (0..count).map(start).collect();
        assert_eq!(workers[0].said["backend"], "scalar", "{}", workers[0].said);
        let hears = |workers| metric(&front.client, "refloat_cluster_workers") == workers;
        until("the front hears all workers", || hears(count));
        assert_eq!(results(&front.client), expected, "{count} workers");
        for worker in workers {
            assert!(worker.stop().success());
        }
        until("the front knows that they have left", || hears(0));
    }
    assert_eq!(metric(&front.client, "refloat_job_differences_total"), 0);
    assert_eq!(metric(&front.client, "refloat_cluster_jobs_taken_back_total"), 0);
    assert!(front.terminate());
}

#[test]
#[ignore = "needs a nats-server"]
fn a_worker_that_is_drained_ends_its_job_and_then_itself() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let (front, mut environment) = start_front(&server, &folder.path().join("data"));
    let secret = secret("toy10", 4);
    upload(&front.client, &secret);
    environment.push(("REFLOAT__CLUSTER__NAME", "node7".to_owned()));
    let worker = WorkerProcess::start(&environment, folder.path());
    until("the front hears the worker", || metric(&front.client, "refloat_cluster_workers") == 1);
    let cluster = |line: &str| {
        refloat(&format!("--json cluster {line} --nats {}", server.url("operator")), Path::new("."))
    };
    let status = ok(&cluster("status"));
    let seen = &status["workers"][0];
    let name = seen["worker"].as_str().unwrap().to_owned();
    assert!(name.starts_with("node7-"), "{status}");
    assert_eq!((&seen["state"], &seen["slots"], &seen["front"]), (&"ready".into(), &1.into(), &"0".into()));
    assert_eq!((&status["fronts"][0]["queued"], &status["fronts"][0]["out"]), (&0.into(), &0.into()));
    let nobody = fails(&cluster("drain node8-0123456789abcdef"), "NO_WORKER");
    assert!(
        nobody.contains("node8-0123456789abcdef") && nobody.contains("refloat cluster status"),
        "{nobody}"
    );

    let long = format!("key={}&op={}", key_id(&secret), ["bootstrap"; 16].join(","));
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let job = front.client.submit_with(&long, &[], &input).job();
    front.client.wait(&job, |job| job["state"] != "queued");
    assert_eq!(ok(&cluster(&format!("drain {name}"))), serde_json::json!({ "worker": name, "drains": true }));
    let waits = front.client.submit_with(&long, &[], &input).job();
    let done = front.client.wait_state(&job, "done");
    assert_eq!(done["attempts"], 1, "{done}");
    assert_eq!(worker.ended().code(), Some(0));
    assert_eq!(metric(&front.client, "refloat_cluster_workers"), 0);
    let waiting = front.client.get(&format!("/v1/jobs/{waits}")).expect(200).json();
    assert_eq!((&waiting["state"], &waiting["attempts"]), (&"queued".into(), &0.into()), "{waiting}");
    assert!(front.terminate());
}

#[test]
#[ignore = "needs a nats-server"]
fn a_front_and_its_workers_share_a_bucket_and_no_folder() {
    let (server, folder) = (NatsServer::start(), tempfile::tempdir().unwrap());
    let mut bucket = Bucket::start();
    let of_bucket = bucket.environment();
    let environment = |role: &str| {
        let mut all = of_bucket.to_vec();
        all.push(("REFLOAT__CLUSTER__BLOBS", Bucket::address("front")));
        all.push(("REFLOAT__CLUSTER__NATS", server.url(role)));
        all
    };
    let variables: Vec<String> =
        environment("front").iter().map(|(name, value)| format!("export {name}='{value}'; ")).collect();
    let script = format!("{}exec \"$@\" --role front", variables.concat());
    let front = Process::start_by(&folder.path().join("data"), &script);
    let there = folder.path().join("elsewhere");
    std::fs::create_dir(&there).unwrap();
    let workers = [(); 2].map(|()| WorkerProcess::start(&environment("worker"), &there));
    let run = |line: &str| refloat(line, folder.path());
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run("--json encrypt --key @keys --bits 0011 --out @a.ct"));
    ok(&run("--json encrypt --key @keys --bits 0101 --out @b.ct"));
    let nand = || {
        let gate = run(&format!(
            "gate nand --keys @keys --in @a.ct --in @b.ct --out @c.ct --server {} --token {TOKEN}",
            front.client.url("")
        ));
        assert!(gate.status.success(), "{}", String::from_utf8_lossy(&gate.stderr));
        ok(&run("--json decrypt --key @keys --in @c.ct --out @c.csv"));
        assert_eq!(std::fs::read_to_string(folder.path().join("c.csv")).unwrap(), "1\n1\n1\n0\n");
    };
    nand();
    // The bucket is away for a while; after that, another worker is the only one.
    bucket.stop();
    std::thread::sleep(2 * SECOND);
    bucket.go_on();
    nand();
    drop(workers);
    let _worker = WorkerProcess::start(&environment("worker"), &there);
    nand();
    assert_eq!(std::fs::read_dir(&there).unwrap().count(), 0, "a worker keeps nothing in a folder");
    assert_eq!(bucket.objects().iter().filter(|object| object.ends_with("/result")).count(), 3);
}
