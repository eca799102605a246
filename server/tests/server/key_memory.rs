//! Memory of the real binary: unused evaluation keys give their memory back to the system.
#![cfg(target_os = "linux")]

use super::support;

use std::time::{Duration, Instant};

use support::DEADLINE;
use support::process::{Process, encrypt, key_id, message, secret, upload};

/// Bytes of memory that a process has.
fn resident(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() << 10
}

/// Waits until a process occupies at most `most` bytes.
#[track_caller]
fn falls(process: &Process, most: u64) {
    let began = Instant::now();
    while resident(process) > most {
        assert!(began.elapsed() < DEADLINE, "{} bytes, and {most} are to be left", resident(process));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn keys_give_their_memory_back() {
    let secret = secret("toy10", 9);
    let engines = refloat_server::engines::Engines::new(u64::MAX).unwrap();
    let expanded = engines.named("toy10").unwrap().info().expanded_key_bytes;
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let start = |idle: u32| {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("REFLOAT__COMPUTE__KEY_IDLE_SECONDS={idle} exec \"$@\"");
        let server = Process::start_by(folder.path(), &script);
        upload(&server.client, &secret);
        let before = resident(&server);
        let job = server.client.submit(&key_id(&secret), &input).expect(202).json()["id"].clone();
        server.client.wait_state(job.as_str().unwrap(), "done");
        (folder, server, before)
    };
    // Keys deleted with their set: most of the memory that loading took is occupied, and soon it is free.
    let (_folder, server, before) = start(3600);
    let loaded = resident(&server);
    assert!(loaded > before + expanded / 2, "{before} {loaded} {expanded}");
    server.client.delete(&format!("/v1/keys/{}", key_id(&secret))).expect(204);
    falls(&server, loaded - expanded / 2);
    assert!(server.terminate());
    // Keys that nobody has used for a while.
    let (_folder, server, before) = start(1);
    falls(&server, before + expanded / 2);
    assert!(server.terminate());
}
