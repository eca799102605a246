//! kill -9 at bad moments: nothing that was acknowledged is lost.

use super::support;

use std::io::Write;
use std::net::TcpStream;

use support::TOKEN;
use support::process::{Process, encrypt, key_id, message, open, precision, secret, serving};

#[test]
fn an_upload_goes_on_where_the_killed_server_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let secret = secret("toy10", 5);
    let id = key_id(&secret);
    let pieces = secret.params().key_parts().len();
    let mut acknowledged = Vec::new();
    let server = Process::start(folder.path());
    open(&server.client, &secret).expect(201);
    for index in (0..pieces).step_by(2) {
        server.client.put_chunk(&id, index, &secret.key_part(index).unwrap()).expect(204);
        acknowledged.push(index as u64);
    }
    // One piece is half uploaded when the server is killed.
    let piece = secret.key_part(1).unwrap();
    let mut socket = TcpStream::connect(server.client.address).unwrap();
    let head = format!(
        "PUT /v1/keys/{id}/chunks/1 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
        piece.len()
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket.write_all(&piece[..piece.len() / 2]).unwrap();
    server.kill();

    let server = Process::start(folder.path());
    let client = &server.client;
    let state = open(client, &secret).expect(200).json();
    let missing: Vec<u64> =
        state["missing"].as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect();
    let expected: Vec<u64> = (0..pieces as u64).filter(|index| !acknowledged.contains(index)).collect();
    assert_eq!(missing, expected);
    let mut digest = blake3::Hasher::new();
    for index in 0..pieces {
        let piece = secret.key_part(index).unwrap();
        digest.update(blake3::hash(&piece).as_bytes());
        if missing.contains(&(index as u64)) {
            client.put_chunk(&id, index, &piece).expect(204);
        }
    }
    let sealed = client.commit(&id).expect(200).json();
    assert_eq!(sealed["digest"], digest.finalize().to_hex().to_string());
    server.kill();

    let server = Process::start(folder.path());
    server.client.head(&format!("/v1/keys/{id}")).expect(200);
    let values = message(&secret);
    let job = server.client.submit(&id, &encrypt(&secret, &values, 1, 1)).job();
    server.client.wait_state(&job, "done");
    let result = server.client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
    assert!(precision(&secret, &result, &values).1 >= 10.0);
}

#[test]
fn accepted_jobs_survive_a_server_killed_in_the_middle_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, id) = serving(folder.path(), 6);
    let values = message(&secret);
    let input = encrypt(&secret, &values, 2, 7);
    // Sixteen operations keep the worker busy long enough to be met at work.
    let long = format!("key={id}&op={}", ["bootstrap"; 16].join(","));
    let jobs: Vec<String> = (0..3).map(|_| server.client.submit_with(&long, &[], &input).job()).collect();
    server.client.wait(&jobs[0], |job| job["stage"] == "blind_rotate");
    let seen = server.client.get(&format!("/v1/jobs/{}", jobs[0])).json();
    server.kill();
    assert_eq!(seen["state"], "running", "killed in the middle of it");

    let server = Process::start(folder.path());
    for job in &jobs {
        server.client.wait_state(job, "done");
        let result = server.client.get(&format!("/v1/jobs/{job}/result")).expect(200).body;
        let (level, bits) = precision(&secret, &result, &values);
        assert!(level == 2 && bits > 5.0, "level {level}, {bits} bits after sixteen refreshes");
        let events = server.client.events(job, None);
        assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert_eq!(events.last().unwrap().name, "end");
        let last_attempt =
            events.iter().rev().take_while(|event| !event.data.contains("\"running\"}")).count();
        assert!(last_attempt > 16 * 6, "the whole of the last attempt is in the log");
    }
    assert!(server.terminate());
}

#[test]
fn a_running_job_is_cancelled_between_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let (server, secret, id) = serving(folder.path(), 8);
    let client = &server.client;
    let input = encrypt(&secret, &message(&secret), 2, 7);
    let long = format!("key={id}&op={}", ["bootstrap"; 16].join(","));
    // On a busy machine, a job may end between the check and the cancellation; then another one is tried.
    let cancelled = (0..10).find_map(|_| {
        let job = client.submit_with(&long, &[], &input).job();
        client.wait(&job, |job| job["stage"] == "blind_rotate" || job["state"] == "done");
        (client.delete(&format!("/v1/jobs/{job}")).status == 202).then_some(job)
    });
    let job = cancelled.expect("one of ten jobs is still running when it is told to stop");
    client.wait_state(&job, "cancelled");
    let bootstraps = client
        .events(&job, None)
        .iter()
        .filter(|event| event.data.contains("\"stage\":\"conjugate\""))
        .count();
    assert!(bootstraps < 2 * 16, "it did not run to its end");
    let next = client.submit(&id, &input).job();
    client.wait_state(&next, "done");
    client.delete(&format!("/v1/keys/{id}")).expect(204);
}
