//! A disk that is full for a while, and a process that is out of file descriptors for a while: no job is lost, wrong or stuck.
//!
//! The limits of the running process are lowered and raised again from here.
#![cfg(target_os = "linux")]

mod support;

use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use support::http2::{Http2, PING};
use support::process::{Process, encrypt, key_id, message, precision, secret, serving, upload};
use support::{Client, DEADLINE};

/// Sets a limit of another process and returns what it was.
fn limit(process: &Process, resource: Resource, most: Option<u64>) -> Option<u64> {
    let pid = Pid::from_raw(process.pid() as i32).unwrap();
    let maximum = getrlimit(resource).maximum;
    prlimit(Some(pid), resource, Rlimit { current: most, maximum }).unwrap().current
}

/// Repeats a request until it is answered with this status.
#[track_caller]
fn eventually(mut ask: impl FnMut() -> u16, status: u16) {
    let began = Instant::now();
    loop {
        let found = ask();
        if found == status {
            return;
        }
        assert!(began.elapsed() < DEADLINE, "still {found}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Submits until the server accepts a job, and returns the job.
#[track_caller]
fn accepted(client: &Client, key: &str, input: &[u8]) -> String {
    let mut job = None;
    eventually(
        || {
            let answer = client.submit(key, input);
            let status = answer.status;
            job = (status == 202).then(|| answer.job());
            status
        },
        202,
    );
    job.unwrap()
}

#[test]
fn jobs_outlive_a_disk_that_is_full_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, key) = serving(folder.path(), 9);
    let values = message(&secret);
    let client = &server.client;
    let input = encrypt(&secret, &values, 2, 7);
    let long = format!("key={key}&op={}", ["bootstrap"; 8].join(","));
    let (incoming, away) = (folder.path().join("incoming"), folder.path().join("away"));
    for cancelled in [false, true] {
        let job = client.submit_with(&long, &[], &input).job();
        let next = client.submit(&key, &input).job();
        client.wait(&job, |job| job["stage"] == "blind_rotate");
        if cancelled {
            // No file can be written, but the table can: what the client asks for is done.
            std::fs::rename(&incoming, &away).unwrap();
            client.submit(&key, &input).problem(503, "STORAGE_FAILED");
            // At once: a fast machine is soon done with the job.
            client.delete(&format!("/v1/jobs/{job}")).expect(202);
        } else {
            limit(&server, Resource::Fsize, Some(1));
            let detail = client.submit(&key, &input).problem(507, "STORAGE_FULL");
            assert!(detail.contains("try again when its operator has made room"), "{detail}");
        }
        // The server may use its last finding for a second.
        eventually(|| client.get("/readyz").status, 503);
        assert_eq!(client.get("/healthz").status, 200);
        if cancelled {
            client.wait_state(&job, "cancelled");
        }
        // Long enough for a job to finish and for the server to try more than once to record that.
        std::thread::sleep(Duration::from_secs(3));
        if cancelled {
            std::fs::rename(&away, &incoming).unwrap();
        } else {
            limit(&server, Resource::Fsize, None);
        }
        eventually(|| client.get("/readyz").status, 200);
        client.wait_state(&job, if cancelled { "cancelled" } else { "done" });
        client.wait_state(&next, "done");
        for job in if cancelled { vec![&next] } else { vec![&job, &next] } {
            let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
            assert!(precision(&secret, &result, &values).1 > 5.0);
            let events = client.events(job, None);
            assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id));
            assert_eq!(events.last().unwrap().name, "end");
        }
    }
    assert!(server.terminate());
}

#[test]
fn submissions_that_a_full_disk_refuses_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, key) = serving(folder.path(), 9);
    let client = &server.client;
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let jobs = || std::fs::read_dir(folder.path().join("jobs")).unwrap().count();
    let table = std::fs::metadata(folder.path().join("refloat.redb")).unwrap().len();
    // Room for an input, and none in the table for its record.
    let room = input.len() as u64;
    assert!(room < table, "{room} {table}");
    limit(&server, Resource::Fsize, Some(room));
    for _ in 0..10 {
        client.submit(&key, &input).problem(507, "STORAGE_FULL");
    }
    limit(&server, Resource::Fsize, None);
    client.wait_state(&accepted(client, &key, &input), "done");
    assert_eq!(jobs(), 1, "nothing but the job that was accepted");
    assert!(server.terminate());
    Process::start(folder.path()).kill();
    assert!(!folder.path().join("lost+found").exists());
}

#[test]
fn a_server_that_cannot_note_a_cancellation_stops_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let secret = secret("toy10", 9);
    let key = key_id(&secret);
    let settings = "REFLOAT__SERVER__SHUTDOWN_SECONDS=1 exec \"$@\"";
    let server = Process::start_by(folder.path(), settings);
    let client = &server.client;
    upload(client, &secret);
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let job = client.submit_with(&format!("key={key}&op=bootstrap,bootstrap"), &[], &input).job();
    client.wait(&job, |job| job["state"] == "running");
    // The result cannot be written, so the job does not finish, and nothing is written to the table.
    let incoming = folder.path().join("incoming");
    std::fs::rename(&incoming, folder.path().join("away")).unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert_eq!(client.get(&format!("/v1/jobs/{job}")).expect(200).json()["state"], "running");
    limit(&server, Resource::Fsize, Some(1));
    // The server is told to cancel the job but cannot record that.
    client.delete(&format!("/v1/jobs/{job}")).problem(507, "STORAGE_FULL");
    assert!(server.terminate());
    // The cancellation was not promised, so the job is taken up again.
    std::fs::rename(folder.path().join("away"), &incoming).unwrap();
    let server = Process::start(folder.path());
    server.client.wait_state(&job, "done");
    assert!(server.terminate());
}

#[test]
fn a_job_is_tried_again_when_files_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, key) = serving(folder.path(), 9);
    let client = &server.client;
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let long = format!("key={key}&op={}", ["bootstrap"; 16].join(","));
    let (first, second) = loop {
        let first = client.submit_with(&long, &[], &input).job();
        let second = client.submit(&key, &input).job();
        client.wait(&first, |job| job["stage"] == "blind_rotate");
        // The connection of this client stays open, and nothing else can be opened. A cancelled job has no result to write.
        let most = limit(&server, Resource::Nofile, Some(1));
        let deleted = client.delete(&format!("/v1/jobs/{first}")).status;
        if deleted == 202 {
            client.wait(&second, |job| job["trouble"].is_string());
        }
        limit(&server, Resource::Nofile, most);
        // Else the job had ended before the limit fell: this machine is busy with other things.
        if deleted == 202 {
            break (first, second);
        }
    };
    client.wait_state(&first, "cancelled");
    let document = client.wait_state(&second, "done");
    assert!(document["attempts"].as_u64().unwrap() > 1, "{document}");
    assert!(server.terminate());
}

#[test]
fn connections_leave_files_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let secret = secret("toy10", 9);
    let server =
        Process::start_by(folder.path(), "ulimit -n 256; REFLOAT__LIMITS__HEADER_SECONDS=1 exec \"$@\"");
    let client = &server.client;
    upload(client, &secret);
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let mut half_open = Vec::new();
    for _ in 0..4 {
        half_open.extend((0..100).filter_map(|_| TcpStream::connect(client.address).ok()));
        client.wait_state(&accepted(client, &key_id(&secret), &input), "done");
    }
    drop(half_open);
    assert!(server.terminate());
}

#[test]
fn files_of_the_demo_leave_files_to_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    std::fs::create_dir(&demo).unwrap();
    std::fs::write(demo.join("index.html"), vec![b' '; 100_000]).unwrap();
    let secret = secret("toy10", 9);
    let script = format!("ulimit -n 256; REFLOAT__SERVER__DEMO='{}' exec \"$@\"", demo.display());
    let server = Process::start_by(&folder.path().join("data"), &script);
    let client = &server.client;
    upload(client, &secret);
    let input = encrypt(&secret, &message(&secret), 2, 7);
    // Streams whose peers take no data keep their files open until the streams are closed.
    let held: Vec<Http2> = (0..8)
        .map(|_| {
            let mut connection = Http2::connect(client.address, 0);
            for _ in 0..64 {
                connection.ask("GET", "/index.html", "localhost");
            }
            connection.ping().unwrap();
            connection
        })
        .collect();
    for mut connection in held.iter().map(Http2::reader) {
        // Once the ping is answered, the earlier requests have reached the server.
        while connection.next().unwrap().kind != PING {}
    }
    for round in 0..20 {
        let answer = client.submit(&key_id(&secret), &input);
        assert_eq!((answer.status, client.get("/readyz").status), (202, 200), "{round}: {answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(held);
    assert!(server.terminate());
}
