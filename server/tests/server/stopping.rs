//! A server that is told to stop: what it still answers, and until when.

use super::support;

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::engine::KEY;
use support::process::{Process, ended, key_id, open, secret};
use support::{Client, DEADLINE, TOKEN, TestServer, ciphertext, read_events, until, upload};

#[test]
fn a_stopping_server_answers_until_its_job_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        TestServer::start(folder.path(), |config| config.server.shutdown_seconds = DEADLINE.as_secs());
    let (engine, address) = (Arc::clone(&server.engine), server.client.address);
    // Each request has a connection of its own: none was open before the server began to stop.
    let anew = || Client::new(address);
    upload(&anew());
    engine.hold();
    let (running, waiting) =
        (anew().submit(KEY, &ciphertext(1)).job(), anew().submit(KEY, &ciphertext(2)).job());
    anew().wait(&running, |job| job["done"] == 2);
    let stream = anew().open_events(&running, None);
    let followed = std::thread::spawn(move || read_events(stream, usize::MAX));
    let stopping = std::thread::spawn(move || server.stop());
    until("it is not ready", || anew().get("/readyz").status == 503);
    anew().get("/readyz").problem(503, "STOPPING");
    anew().get("/healthz").expect(200);
    let refused = anew().submit(KEY, &ciphertext(3));
    assert!(refused.problem(503, "STOPPING").contains("is stopping") && refused.header("retry-after") == "5");
    assert_eq!(anew().get(&format!("/v1/jobs/{running}")).expect(200).json()["state"], "running");
    assert_eq!(anew().get(&format!("/v1/jobs/{waiting}")).expect(200).json()["state"], "queued");
    anew().head(&format!("/v1/keys/{KEY}")).expect(200);
    assert!(!stopping.is_finished());
    engine.release();
    let end = followed.join().unwrap().pop().unwrap();
    assert!(end.name == "end" && end.data.contains("\"done\""), "{end:?}");
    let result = anew().get(&format!("/v1/jobs/{running}/result")).expect(200).body;
    assert_eq!(result, ciphertext(1).into_iter().rev().collect::<Vec<u8>>());
    stopping.join().unwrap();
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    let server = TestServer::start(folder.path(), |_| {});
    server.client.wait_state(&waiting, "done");
    server.client.wait_state(&running, "done");
    server.stop();
}

#[test]
fn a_server_without_a_running_job_stops_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        TestServer::start(folder.path(), |config| config.server.shutdown_seconds = DEADLINE.as_secs() * 10);
    let address = server.client.address;
    upload(&server.client);
    let job = server.client.submit(KEY, &ciphertext(1)).job();
    server.client.wait_state(&job, "done");
    let began = std::time::Instant::now();
    server.stop();
    assert!(began.elapsed() < DEADLINE, "it waits for nobody");
    assert!(TcpStream::connect(address).is_err());
}

/// A server that has been told to stop, and waits for a request that is half sent; and when it was told.
fn stopping(folder: &Path) -> (Process, TcpStream, Instant) {
    let (server, secret) = (Process::start(folder), secret("toy10", 9));
    open(&server.client, &secret).expect(201);
    let mut socket = TcpStream::connect(server.client.address).unwrap();
    let id = key_id(&secret);
    let head = format!(
        "PUT /v1/keys/{id}/chunks/0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: \
         application/octet-stream\r\ncontent-length: 1000\r\n\r\nbegun"
    );
    socket.write_all(head.as_bytes()).unwrap();
    server.client.get("/readyz").expect(200);
    let told = Instant::now();
    server.signal("-TERM");
    until("it listens no more", || TcpStream::connect(server.client.address).is_err());
    (server, socket, told)
}

#[test]
fn signals_that_come_together_are_one() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let (server, socket, told) = stopping(folder.path());
        server.signal("-INT");
        // On a busy machine the second may come too late for this.
        if told.elapsed() < Duration::from_millis(450) {
            std::thread::sleep(Duration::from_millis(200));
            drop(socket);
            assert_eq!(server.end(), Some(0), "in order");
            return;
        }
    }
    panic!("this machine is too busy to send two signals within half a second");
}

#[test]
fn a_later_signal_ends_a_server_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (server, socket, _) = stopping(folder.path());
    std::thread::sleep(Duration::from_secs(1));
    server.signal("-INT");
    assert_eq!(server.end(), Some(130));
    drop(socket);
}

#[cfg(unix)]
#[test]
fn a_server_listens_to_signals_before_it_says_that_it_serves() {
    use std::fs::{File, read_to_string};
    use std::io::Read;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    // Its standard output takes nothing, so that it cannot go on after what it logs first.
    let (mut reader, mut output) = UnixStream::pair().unwrap();
    output.set_nonblocking(true).unwrap();
    for size in [4096, 1] {
        while output.write(&[0; 4096][..size]).is_ok() {}
    }
    output.set_nonblocking(false).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_refloat"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(folder.path().join("data"))
        .env("REFLOAT__LOG__LEVEL", "info")
        .stdout(OwnedFd::from(output))
        .stderr(File::create(&log).unwrap())
        .spawn()
        .unwrap();
    until("it serves", || read_to_string(&log).unwrap().contains("refloat serves"));
    let id = server.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    std::thread::sleep(Duration::from_millis(100));
    // It goes on, and ends, once its address can be read.
    let mut said = Vec::new();
    reader.read_to_end(&mut said).unwrap();
    assert_eq!(ended(&mut server), Some(0), "in order");
    assert!(String::from_utf8(said).unwrap().contains("refloat serves http://"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_or_worker_that_is_still_starting_ends_at_once() {
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    // A pipe in the place of a file, which nobody writes, holds it where it opens its data folder.
    assert!(Command::new("mkfifo").arg(folder.path().join("refloat-data.json")).status().unwrap().success());
    let roles: &[&[(&str, &str)]] = &[
        &[("REFLOAT__SERVER__LISTEN", "127.0.0.1:0")],
        #[cfg(feature = "cluster")]
        &[("REFLOAT__CLUSTER__ROLE", "worker"), ("REFLOAT__CLUSTER__NATS", "nats://127.0.0.1:1")],
    ];
    for role in roles {
        let mut server = Command::new(env!("CARGO_BIN_EXE_refloat"))
            .args(["serve", "--data"])
            .arg(folder.path())
            .envs(role.iter().copied())
            .spawn()
            .unwrap();
        let id = server.id().to_string();
        until("it catches SIGTERM", || {
            assert_eq!(server.try_wait().unwrap(), None, "{role:?}");
            let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
            let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() >> 14 & 1 == 1
        });
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        assert_eq!(ended(&mut server), Some(143), "{role:?}");
    }
}
