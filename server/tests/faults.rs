//! What happens when disks damage stored objects or jobs hit defects: nothing wrong is given out, and what can be healed is.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use refloat_server::Config;
use refloat_server::config::MetricsListen;
use refloat_server::store::jobs::RECORD_BYTES;
use serde_json::{Value, json};
use support::engine::{CIPHERTEXT, KEY, PARTS, part};
use support::{Client, DEADLINE, TestServer, ciphertext, flip, manifest, until, upload, upload_as};

fn submit(client: &Client, content: u8) -> String {
    client.submit(KEY, &ciphertext(content)).job()
}

/// Submits a job and holds the server in the middle of it.
fn held(server: &TestServer, content: u8) -> String {
    server.engine.hold();
    let job = submit(&server.client, content);
    server.client.wait(&job, |job| job["done"] == 2);
    job
}

fn shorten(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[1..]).unwrap();
}

fn remove(path: &Path) {
    fs::remove_file(path).unwrap();
}

/// Ways in which a disk can lose something.
const DAMAGE: [fn(&Path); 3] = [flip, shorten, remove];

/// Lets a client read the metrics.
fn observed(config: &mut Config) {
    config.server.metrics_listen = MetricsListen::Public;
}

fn metric(client: &Client, name: &str) -> f64 {
    let text = String::from_utf8(client.get("/metrics").expect(200).body).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
}

#[test]
fn a_damaged_input_fails_its_job_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    let first = held(&server, 1);
    let jobs: Vec<String> = (0..3).map(|content| submit(client, content)).collect();
    let last = submit(client, 9);
    for (job, damage) in jobs.iter().zip(DAMAGE) {
        damage(&folder.path().join(format!("jobs/{job}/input")));
    }
    server.engine.release();
    for job in &jobs {
        let document = client.wait_state(job, "failed");
        assert_eq!(document["problem"]["code"], "INPUT_DAMAGED");
        assert!(document["problem"]["detail"].as_str().unwrap().contains("submit it again"));
    }
    client.wait_state(&first, "done");
    client.wait_state(&last, "done");
    assert_eq!(server.engine.runs.load(Ordering::SeqCst), 2);
    server.stop();
}

#[test]
fn a_damaged_result_is_never_given_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    for damage in DAMAGE {
        let job = submit(client, 1);
        client.wait_state(&job, "done");
        damage(&folder.path().join(format!("jobs/{job}/result")));
        let path = format!("/v1/jobs/{job}/result");
        client.get(&path).problem(500, "RESULT_DAMAGED");
        // These requests need no content, so it is not read.
        let stated = client.head(&path).expect(200);
        assert_eq!(stated.header("content-length"), CIPHERTEXT.to_string());
        client.send("GET", &path, &[("if-none-match", stated.header("etag"))], b"").expect(304);
    }
    server.stop();
}

#[test]
fn damaged_pieces_are_named_and_uploaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let piece = |index: usize| folder.path().join(format!("keys/{KEY}/{index}"));
    let state = |client: &Client| client.get(&format!("/v1/keys/{KEY}")).expect(200).json();
    let commit = format!("/v1/keys/{KEY}/commit");
    let start = || TestServer::start(folder.path(), |config| config.storage.unsealed_hours = 0);
    {
        let server = TestServer::start(folder.path(), |_| {});
        upload(&server.client);
        server.stop();
    }
    for damage in DAMAGE {
        let server = start();
        let client = &server.client;
        server.engine.hold();
        damage(&piece(1));
        flip(&piece(2));
        // Accepted before anybody has looked at the pieces: according to the record, all are there.
        let (job, next) = (submit(client, 1), client.submit(KEY, &ciphertext(2)));
        let problem = client.wait_state(&job, "failed")["problem"].clone();
        assert_eq!((&problem["code"], &problem["missing"]), (&"KEY_PIECE_DAMAGED".into(), &json!([1, 2])));
        assert!(problem["detail"].as_str().unwrap().contains("upload piece 1 again"), "{problem}");
        if next.status == 202 {
            let problem = client.wait_state(next.json()["id"].as_str().unwrap(), "failed")["problem"].clone();
            assert_eq!(problem["code"], "KEY_PIECE_DAMAGED");
        }
        let now = state(client);
        assert_eq!((&now["state"], &now["missing"]), (&"open".into(), &json!([1, 2])));
        client.submit(KEY, &ciphertext(1)).problem(409, "KEYS_INCOMPLETE");
        server.stop();
        // Housekeeping keeps a set that has ever been sealed.
        let server = start();
        let client = &server.client;
        for index in [1, 2] {
            client.put_chunk(KEY, index, &part(index)).expect(204);
            assert_eq!(fs::read(piece(index)).unwrap(), part(index));
        }
        client.post_json(&commit, &json!({})).expect(200);
        client.wait_state(&submit(client, 1), "done");
        server.stop();
    }
    // Damage that nobody has noticed: an honest upload heals it, and the state names missing pieces.
    let server = start();
    let client = &server.client;
    flip(&piece(0));
    client.put_chunk(KEY, 0, &part(0)).expect(204);
    assert_eq!(fs::read(piece(0)).unwrap(), part(0));
    remove(&piece(2));
    assert_eq!(state(client)["missing"], json!([2]));
    remove(&piece(1));
    assert_eq!(client.post_json("/v1/keys", &manifest()).expect(200).json()["missing"], json!([1, 2]));
    remove(&piece(0));
    let refusal = client.post_json(&commit, &json!({}));
    refusal.problem(409, "KEYS_INCOMPLETE");
    assert_eq!(refusal.json()["missing"], json!([0, 1, 2]));
    for index in 0..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    client.post_json(&commit, &json!({})).expect(200);
    client.wait_state(&submit(client, 1), "done");
    server.stop();
}

#[test]
fn deletions_uploads_and_openings_that_meet_leave_records_and_files_in_step() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    let allowed = |answer: support::Answer, codes: &[u16]| {
        assert!(codes.contains(&answer.status), "{answer:?}");
    };
    for round in 0..60 {
        let start = std::sync::Barrier::new(PARTS + 2);
        std::thread::scope(|scope| {
            for index in 0..PARTS {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..2 {
                        client.post_json("/v1/keys", &manifest());
                        allowed(client.put_chunk(KEY, index, &part(index)), &[204, 404]);
                    }
                });
            }
            scope.spawn(|| {
                start.wait();
                for _ in 0..3 {
                    allowed(client.delete(&format!("/v1/keys/{KEY}")), &[204, 404, 409]);
                }
            });
            scope.spawn(|| {
                start.wait();
                for _ in 0..2 {
                    allowed(client.post_json("/v1/keys", &manifest()), &[200, 201]);
                    allowed(client.commit(KEY), &[200, 404, 409]);
                    allowed(client.submit(KEY, &ciphertext(1)), &[202, 404, 409]);
                }
            });
        });
        let keys = folder.path().join("keys").join(KEY);
        let document = client.get(&format!("/v1/keys/{KEY}"));
        let missing: Vec<usize> = match document.status {
            200 => serde_json::from_value(document.json()["missing"].clone()).unwrap(),
            _ => (0..PARTS).collect(),
        };
        for index in 0..PARTS {
            let stored = fs::read(keys.join(index.to_string())).ok();
            let expected = (!missing.contains(&index)).then(|| part(index));
            assert_eq!(stored, expected, "round {round}, piece {index}");
        }
        let began = Instant::now();
        while client.delete(&format!("/v1/keys/{KEY}")).status == 409 {
            assert!(began.elapsed() < DEADLINE);
        }
    }
    server.stop();
    TestServer::start(folder.path(), |_| {}).stop();
    assert!(!folder.path().join("lost+found").exists());
    for name in ["keys", "incoming", "removed"] {
        assert_eq!(fs::read_dir(folder.path().join(name)).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn a_job_that_panics_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), observed);
    let client = &server.client;
    upload(client);
    client.wait_state(&submit(client, 1), "done");
    server.engine.panics.store(true, Ordering::SeqCst);
    let job = submit(client, 2);
    assert_eq!(client.wait_state(&job, "failed")["problem"]["code"], "INTERNAL");
    server.engine.panics.store(false, Ordering::SeqCst);
    client.wait_state(&submit(client, 3), "done");
    assert_eq!(server.engine.loads.load(Ordering::SeqCst), 2, "keys are loaded anew");
    assert!((metric(client, "refloat_job_panics_total") - 1.0).abs() < 0.1);
    server.stop();
}

#[test]
fn a_result_longer_than_its_set_announced_is_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), observed);
    let client = &server.client;
    upload(client);
    server.engine.overflows.store(true, Ordering::SeqCst);
    let job = submit(client, 1);
    assert_eq!(client.wait_state(&job, "failed")["problem"]["code"], "INTERNAL");
    assert_ne!(client.get(&format!("/v1/jobs/{job}/result")).status, 200);
    server.engine.overflows.store(false, Ordering::SeqCst);
    client.wait_state(&submit(client, 2), "done");
    assert_eq!(server.engine.loads.load(Ordering::SeqCst), 1, "the keys stay");
    assert!(metric(client, "refloat_job_panics_total") < 0.1);
    server.stop();
}

#[test]
fn inputs_go_when_jobs_end_and_jobs_are_bounded_in_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = CIPHERTEXT as u64;
    let taken = |jobs: u64, ciphertexts: u64| jobs * RECORD_BYTES + ciphertexts * bytes;
    let server = TestServer::start(folder.path(), |config| {
        observed(config);
        config.storage.job_bytes = taken(9, 6);
        config.storage.key_job_bytes = taken(5, 4);
    });
    let client = &server.client;
    let files = |name: &str| -> Vec<PathBuf> {
        let jobs = fs::read_dir(folder.path().join("jobs")).unwrap();
        jobs.map(|job| job.unwrap().path().join(name)).filter(|path| path.exists()).collect()
    };
    upload(client);
    let running = held(&server, 1);
    for content in 0..3 {
        let job = submit(client, content);
        client.delete(&format!("/v1/jobs/{job}")).expect(204);
    }
    assert_eq!(files("input").len(), 1);
    // Two inputs and room for two results: three inputs alone would fit.
    let waiting = submit(client, 2);
    assert!((metric(client, "refloat_stored_jobs_bytes") - taken(5, 4) as f64).abs() < 0.1);
    let refusal = client.submit(KEY, &ciphertext(3));
    assert!(refusal.problem(429, "QUOTA").contains("storage.key_job_bytes"));
    assert_eq!(refusal.json()["limit"], "storage.key_job_bytes");
    server.engine.release();
    client.wait_state(&running, "done");
    client.wait_state(&waiting, "done");
    // A job is said to have ended before its input is removed.
    until("inputs stay", || files("input").is_empty());
    assert_eq!(files("result").len(), 2);
    assert!((metric(client, "refloat_stored_jobs_bytes") - taken(5, 2) as f64).abs() < 0.1);
    client.submit(KEY, &ciphertext(4)).problem(429, "QUOTA");
    server.stop();
    // After a restart, what is stored still counts, towards the total as well as per key.
    let start = |jobs, ciphertexts| {
        TestServer::start(folder.path(), |config| config.storage.job_bytes = taken(jobs, ciphertexts))
    };
    let server = start(6, 3);
    let refusal = server.client.submit(KEY, &ciphertext(4));
    assert!(refusal.problem(507, "STORAGE_FULL").contains("storage.job_bytes"));
    server.stop();
    let server = start(6, 4);
    let client = &server.client;
    client.wait_state(&submit(client, 4), "done");
    server.stop();
    // A job that takes more than all the room is refused at once, because waiting makes no room for it.
    let server = start(1, 1);
    let detail = server.client.submit(KEY, &ciphertext(4)).problem(507, "STORAGE_FULL");
    let part = format!("{} bytes", taken(1, 2));
    assert!(detail.contains(&part) && detail.ends_with("; raise storage.job_bytes"), "{detail}");
    server.stop();
    let server = TestServer::start(folder.path(), |config| config.storage.key_job_bytes = taken(1, 1));
    let refusal = server.client.submit(KEY, &ciphertext(4));
    let detail = refusal.problem(507, "STORAGE_FULL");
    assert!(detail.contains(&part) && detail.ends_with("; raise storage.key_job_bytes"), "{detail}");
    server.stop();
}

#[test]
fn jobs_that_were_cancelled_count_until_they_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| config.storage.key_job_bytes = 10 * RECORD_BYTES);
    let client = &server.client;
    upload(client);
    server.engine.hold();
    // The number of jobs that leave only their records is bounded as well.
    let mut cancelled = 0;
    loop {
        let answer = client.submit(KEY, &ciphertext(1));
        if answer.status != 202 {
            assert!(answer.problem(429, "QUOTA").contains("storage.key_job_bytes"));
            break;
        }
        client.delete(&format!("/v1/jobs/{}", answer.json()["id"].as_str().unwrap()));
        cancelled += 1;
        assert!(cancelled <= 10, "records without end");
    }
    server.engine.release();
    server.stop();
}

#[test]
fn idle_keys_leave_memory_while_a_job_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        observed(config);
        config.compute.key_idle_seconds = 0;
    });
    let client = &server.client;
    upload(client);
    let other = KEY.replace('0', "1");
    upload_as(client, &other);
    let until = |name: &str, holds: &dyn Fn(f64) -> bool| {
        let began = Instant::now();
        while !holds(metric(client, name)) {
            assert!(began.elapsed() < DEADLINE, "{name}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    client.wait_state(&submit(client, 1), "done");
    until("refloat_key_cache_bytes", &|bytes| bytes < 0.5);
    // The keys of the first set go while a job with those of the second runs.
    client.wait_state(&submit(client, 1), "done");
    server.engine.hold();
    let job = client.submit(&other, &ciphertext(2)).job();
    client.wait(&job, |job| job["done"] == 2);
    until("refloat_key_cache_releases_total", &|count| count > 1.5);
    until("refloat_key_cache_bytes", &|bytes| bytes > 0.5);
    server.engine.release();
    client.wait_state(&job, "done");
    server.stop();
}

#[cfg(unix)]
#[test]
fn a_job_whose_files_cannot_be_read_delays_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    held(&server, 1);
    let unreadable = submit(client, 2);
    let others: Vec<String> = (3..6).map(|content| submit(client, content)).collect();
    let input = folder.path().join(format!("jobs/{unreadable}/input"));
    remove(&input);
    // Opening the file fails, but not because it is missing.
    std::os::unix::fs::symlink(&input, &input).unwrap();
    server.engine.release();
    for job in &others {
        client.wait_state(job, "done");
    }
    let document = client.get(&format!("/v1/jobs/{unreadable}")).expect(200).json();
    assert_eq!((&document["state"], &document["attempts"]), (&json!("queued"), &json!(1)), "{document}");
    assert!(document["trouble"].is_string(), "{document}");
    remove(&input);
    fs::write(&input, ciphertext(2)).unwrap();
    client.wait_state(&unreadable, "done");
    server.stop();
}

#[test]
fn a_server_without_room_says_that_it_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| config.storage.min_free_bytes = u64::MAX);
    let detail = server.client.get("/readyz").problem(503, "STORAGE_FULL");
    assert!(detail.contains("storage.min_free_bytes"), "{detail}");
    server.stop();
    let server = TestServer::start(folder.path(), |_| {});
    server.client.get("/readyz").expect(200);
    let document: Value = server.client.get("/openapi.json").json();
    assert!(document["paths"]["/readyz"]["get"]["responses"]["503"].is_object());
    server.stop();
}

/// Flips a bit in the record of a job.
fn flip_record(folder: &Path, job: &str) {
    let mut id = [0; 16];
    refloat_server::id::unhex(job, &mut id).unwrap();
    let database = redb::Database::open(folder.join("refloat.redb")).unwrap();
    let txn = database.begin_write().unwrap();
    {
        let table: redb::TableDefinition<'_, [u8; 16], &[u8]> = redb::TableDefinition::new("jobs");
        let mut table = txn.open_table(table).unwrap();
        let mut record = redb::ReadableTable::get(&table, id).unwrap().unwrap().value().to_owned();
        // Flipped in a name, so that the bytes still parse as a record.
        let at = record.windows(9).position(|window| window == b"bootstrap").unwrap();
        record[at] ^= 1;
        table.insert(id, record.as_slice()).unwrap();
    }
    txn.commit().unwrap();
}

#[test]
fn a_damaged_record_takes_its_job_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| config.server.shutdown_seconds = 0);
    let client = &server.client;
    upload(client);
    server.engine.hold();
    let jobs: Vec<String> = (0..3).map(|content| submit(client, content)).collect();
    client.wait(&jobs[0], |job| job["done"] == 2);
    server.stop();
    flip_record(folder.path(), &jobs[1]);

    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    for job in [&jobs[0], &jobs[2]] {
        client.wait_state(job, "done");
    }
    assert!(folder.path().join(format!("jobs/{}/input", jobs[1])).exists(), "its files stay");
    for path in ["", "/result", "/events"] {
        let detail = client.get(&format!("/v1/jobs/{}{path}", jobs[1])).problem(500, "RECORD_DAMAGED");
        assert!(detail.contains("submit the job again"), "{detail}");
    }
    client.wait_state(&submit(client, 7), "done");
    client.delete(&format!("/v1/keys/{KEY}")).expect(204);
    server.stop();
}
