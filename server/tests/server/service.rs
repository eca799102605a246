//! Keys, jobs, events and their failures over HTTP, with an engine that computes nothing.

use super::support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use refloat_server::Config;
use refloat_server::config::MetricsListen;
use refloat_server::service::Service;
use refloat_server::service::access::{Caller, Presented};
use refloat_server::store::turns::Turns;
use refloat_server::store::{Store, jobs};
use serde_json::{Value, json};
use support::engine::{FINGERPRINT, HUGE_FINGERPRINT, KEY, PART, PARTS, TOY_FINGERPRINT, TestEngine, part};
use support::{TOKEN, TestServer, ciphertext, manifest, open, read_events, until, upload};

fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for index in 0..PARTS {
        hasher.update(blake3::hash(&part(index)).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

#[test]
fn a_key_set_is_uploaded_in_any_order_and_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    client.head(&format!("/v1/keys/{KEY}")).expect(404);
    let opened = client.post_json("/v1/keys", &manifest()).expect(201).json();
    assert_eq!((opened["id"].as_str(), &opened["missing"]), (Some(KEY), &json!([0, 1, 2])));
    client.put_chunk(KEY, 2, &part(2)).expect(204);
    client.put_chunk(KEY, 2, &part(2)).expect(204);
    assert_eq!(client.head(&format!("/v1/keys/{KEY}")).expect(206).header("x-refloat-present"), "1/3");
    let again = client.post_json("/v1/keys", &manifest()).expect(200).json();
    assert_eq!((&again["missing"], again["state"].as_str()), (&json!([0, 1]), Some("open")));

    let commit = format!("/v1/keys/{KEY}/commit");
    let refusal = client.post_json(&commit, &json!({}));
    refusal.problem(409, "KEYS_INCOMPLETE");
    assert_eq!(refusal.json()["missing"], json!([0, 1]));
    client.submit(KEY, &ciphertext(1)).problem(409, "KEYS_INCOMPLETE");
    client.put_chunk(KEY, 0, &part(0)).expect(204);
    client.put_chunk(KEY, 1, &part(1)).expect(204);
    let detail = client.post_json(&commit, &json!({ "digest": "00" })).problem(409, "PIECES_DIFFER");
    assert!(detail.contains(&digest()) && detail.contains("00"), "{detail}");
    let sealed = client.post_json(&commit, &json!({ "digest": digest() })).expect(200).json();
    assert_eq!(sealed, json!({ "id": KEY, "digest": digest(), "bytes": PARTS * PART }));
    client.send("POST", &commit, &[], b"").expect(200);
    client.head(&format!("/v1/keys/{KEY}")).expect(200);
    let mut other = part(2);
    other[PART - 1] = 9;
    client.put_chunk(KEY, 2, &other).problem(409, "CHUNK_CONFLICT");
    let state = client.get(&format!("/v1/keys/{KEY}")).expect(200).json();
    assert_eq!(
        (state["state"].as_str(), state["digest"].as_str()),
        (Some("sealed"), Some(digest().as_str()))
    );
    client.delete(&format!("/v1/keys/{KEY}")).expect(204);
    client.get(&format!("/v1/keys/{KEY}")).problem(404, "NOT_FOUND");
    server.stop();
}

#[test]
fn a_key_set_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.server.allow_insecure = false;
        config.storage.key_bytes = 2 * (PARTS * PART) as u64 - 1;
    });
    let client = &server.client;
    let open = |change: fn(&mut Value)| {
        let mut body = manifest();
        change(&mut body);
        client.post_json("/v1/keys", &body)
    };
    let answer = open(|body| {
        body["params"] = "none".into();
        body["fingerprint"] = "0".repeat(32).into();
    });
    answer.problem(404, "NOT_FOUND");
    let answer = open(|body| {
        body["params"] = "toy".into();
        body["fingerprint"] = TOY_FINGERPRINT.into();
    });
    let detail = answer.problem(403, "INSECURE");
    assert!(detail.contains("--allow-insecure"), "{detail}");
    let detail = open(|body| body["fingerprint"] = "beef".into()).problem(409, "PARAMS_MISMATCH");
    assert!(detail.contains("beef") && detail.contains(FINGERPRINT), "{detail}");
    open(|body| body["parts"] = 4.into()).problem(409, "PARAMS_MISMATCH");
    open(|body| body["keyId"] = "../../etc".into()).problem(400, "INVALID_ARGUMENT");
    open(|body| body["seed"] = "00".into()).problem(400, "INVALID_ARGUMENT");
    let names: Vec<String> = client.get("/v1/params").json()["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["small", "huge"], "insecure sets are not offered");
    // Key sets without pieces take no room; opening a set and storing a piece both check what is stored.
    let other = KEY.replace('0', "1");
    open(|_| {}).expect(201);
    open(|body| body["keyId"] = KEY.replace('0', "1").into()).expect(201);
    for index in 0..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    open(|body| body["keyId"] = KEY.replace('0', "2").into()).problem(507, "STORAGE_FULL");
    for index in 1..PARTS {
        client.put_chunk(&other, index, &part(index)).expect(204);
    }
    let refused = client.put_chunk(&other, 0, &part(0));
    assert!(refused.problem(507, "STORAGE_FULL").contains("storage.key_bytes"));
    client.put_chunk(KEY, 0, &part(0)).expect(204);
    open(|_| {}).expect(200);
    server.stop();
}

#[test]
fn open_key_sets_are_bounded_and_empty_ones_expire() {
    let folder = tempfile::tempdir().unwrap();
    let key = |digit: &str| KEY.replace('0', digit);
    let bounded = |config: &mut refloat_server::Config| config.limits.max_open_key_sets = 2;
    let server = TestServer::start(folder.path(), bounded);
    let client = &server.client;
    upload(client);
    open(client, &key("1")).expect(201);
    open(client, &key("2")).expect(201);
    open(client, &key("1")).expect(200);
    assert!(open(client, &key("3")).problem(429, "QUOTA").contains("limits.max_open_key_sets"));
    client.delete(&format!("/v1/keys/{}", key("1"))).expect(204);
    open(client, &key("3")).expect(201);
    client.put_chunk(&key("3"), 0, &part(0)).expect(204);
    server.stop();
    // Key sets opened before a restart count.
    let server = TestServer::start(folder.path(), bounded);
    open(&server.client, &key("4")).problem(429, "QUOTA");
    server.stop();
    let server = TestServer::start(folder.path(), |config| config.storage.empty_keys_minutes = 0);
    let began = std::time::Instant::now();
    while server.client.head(&format!("/v1/keys/{}", key("2"))).status != 404 {
        assert!(began.elapsed() < support::DEADLINE);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    server.client.head(&format!("/v1/keys/{}", key("3"))).expect(206);
    server.client.head(&format!("/v1/keys/{KEY}")).expect(200);
    server.stop();
}

/// Sends all requests at once, and counts the answers by status.
fn at_once<T: Sync>(all: &[T], ask: impl Fn(&T) -> u16 + Sync) -> std::collections::BTreeMap<u16, usize> {
    let (start, ask) = (std::sync::Barrier::new(all.len()), &ask);
    let mut counts = std::collections::BTreeMap::new();
    std::thread::scope(|scope| {
        let start = &start;
        let asked: Vec<_> = all
            .iter()
            .map(|one| {
                scope.spawn(move || {
                    start.wait();
                    ask(one)
                })
            })
            .collect();
        for status in asked {
            *counts.entry(status.join().unwrap()).or_default() += 1;
        }
    });
    counts
}

#[test]
fn bounds_on_key_sets_hold_for_requests_that_meet() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.limits.max_open_key_sets = 16;
        config.limits.max_uploads = 64;
        config.limits.max_uploads_per_peer = 64;
        config.storage.key_bytes = (7 * PART) as u64;
    });
    let client = &server.client;
    let keys: Vec<String> = (0..64).map(|number| format!("{number:032x}")).collect();
    let counts = at_once(&keys, |key| open(client, key).status);
    assert_eq!(counts, [(201, 16), (429, 48)].into());
    let opened: Vec<&String> =
        keys.iter().filter(|key| client.head(&format!("/v1/keys/{key}")).status == 206).collect();
    assert_eq!(opened.len(), 16);
    // Each set would fit by itself; together they have room for seven pieces.
    let pieces: Vec<(&String, usize)> =
        opened.iter().flat_map(|key| (0..PARTS).map(move |index| (*key, index))).collect();
    let counts = at_once(&pieces, |(key, index)| client.put_chunk(key, *index, &part(*index)).status);
    assert_eq!(counts, [(204, 7), (507, 41)].into());
    server.stop();
}

#[test]
fn a_job_runs_tells_its_stages_and_replays_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    let accepted = client
        .submit_with(&format!("key={KEY}&op=square,bootstrap&mode=complex"), &[], &ciphertext(7))
        .expect(202);
    let job = accepted.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(accepted.header("location"), format!("/v1/jobs/{job}"));
    let events = client.events(&job, None);
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let stages: Vec<Value> = events
        .iter()
        .filter(|event| event.name == "stage")
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect();
    assert_eq!(names.first(), Some(&"state"));
    assert_eq!(names.iter().filter(|name| **name == "end").count(), 1);
    assert_eq!(stages.len(), 6);
    assert_eq!((stages[0]["kind"].as_str(), stages[2]["done"].as_u64()), (Some("enter"), Some(2)));
    assert_eq!((stages[5]["kind"].as_str(), stages[5]["logQ"].as_f64()), (Some("exit"), Some(62.5)));
    assert_eq!(stages[5]["counters"], json!({ "ntt": 0, "limbMac": 0, "keySwitch": 0 }));
    assert!(events.windows(2).all(|pair| pair[0].id < pair[1].id), "{events:?}");
    let end: Value = serde_json::from_str(&events.last().unwrap().data).unwrap();
    assert_eq!(end["state"], "done");

    for (position, event) in events.iter().enumerate() {
        assert_eq!(
            client.events(&job, Some(event.id))[..],
            if position + 1 < events.len() {
                events[position + 1..].to_vec()
            } else {
                client.events(&job, Some(event.id))
            }[..]
        );
    }
    let done = client.wait_state(&job, "done");
    assert_eq!((done["op"].as_str(), done["mode"].as_str()), (Some("square,bootstrap"), Some("complex")));
    assert!(done["seconds"].as_f64().is_some() && done["createdAt"].as_str().unwrap().ends_with('Z'));
    let result = client.get(&format!("/v1/jobs/{job}/result")).expect(200);
    assert_eq!(result.body, ciphertext(7).into_iter().rev().collect::<Vec<u8>>());
    let tag = result.header("etag").to_owned();
    assert_eq!(tag, format!("\"{}\"", blake3::hash(&result.body).to_hex()));
    let same = client.send("GET", &format!("/v1/jobs/{job}/result"), &[("if-none-match", &tag)], b"");
    assert_eq!((same.status, same.body.len()), (304, 0));
    client.submit(KEY, &ciphertext(8)).expect(202);
    server.stop();
}

#[test]
fn requests_can_be_repeated_and_the_queue_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.limits.max_queued = 2;
        config.server.metrics_listen = MetricsListen::Public;
    });
    let client = &server.client;
    upload(client);
    server.engine.hold();
    let submit = |name: &str, content| {
        client.submit_with(&format!("key={KEY}"), &[("idempotency-key", name)], &ciphertext(content))
    };
    let id = |answer: support::Answer| answer.job();
    let first = id(submit("a", 1));
    client.wait(&first, |job| job["stage"] == "blind_rotate" && job["done"] == 2);
    let (second, third) = (id(submit("b", 2)), id(submit("c", 3)));
    assert_eq!(client.get(&format!("/v1/jobs/{third}")).json()["queuePosition"], 1);
    let full = submit("d", 4);
    let detail = full.problem(429, "QUEUE_FULL");
    assert!(detail.contains('2') && full.header("retry-after").parse::<u64>().unwrap() >= 1, "{detail}");
    assert_eq!(id(submit("b", 2)), second, "repeating an accepted request does not make a new job");
    let conflict = submit("b", 5);
    let detail = conflict.problem(409, "IDEMPOTENCY_CONFLICT");
    assert!(!detail.contains(&second) && conflict.json().get("job").is_none(), "the conflict names no job");
    let other_mode =
        client.submit_with(&format!("key={KEY}&mode=bits"), &[("idempotency-key", "b")], &ciphertext(2));
    other_mode.problem(409, "IDEMPOTENCY_CONFLICT");
    client.delete(&format!("/v1/keys/{KEY}")).problem(409, "KEY_IN_USE");
    client.get(&format!("/v1/jobs/{second}/result")).problem(409, "JOB_NOT_DONE");
    let metrics = String::from_utf8(client.get("/metrics").body).unwrap();
    assert!(
        metrics.contains("refloat_queue_depth 2") && metrics.contains("refloat_running_jobs 1"),
        "{metrics}"
    );
    assert!(metrics.contains(r#"refloat_refused_total{name="QUEUE_FULL"} 1"#), "{metrics}");
    assert!(
        metrics.contains(r#"refloat_limit{name="limits.max_queued"} 2"#)
            && metrics.contains("refloat_ready 1"),
        "{metrics}"
    );
    let stored: u64 = metrics
        .lines()
        .find_map(|line| line.strip_prefix("refloat_stored_keys_bytes "))
        .unwrap()
        .parse()
        .unwrap();
    assert!(stored > 0 && metrics.contains("refloat_free_disk_bytes "), "{metrics}");
    server.engine.release();
    for job in [&first, &second, &third] {
        client.wait_state(job, "done");
    }
    assert_eq!(server.engine.runs.load(Ordering::SeqCst), 3);
    assert_eq!(server.engine.loads.load(Ordering::SeqCst), 1, "keys stay in memory");
    server.stop();
}

#[test]
fn jobs_are_cancelled_waiting_and_running() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    server.engine.hold();
    let id = |content| client.submit(KEY, &ciphertext(content)).job();
    let (running, waiting, last) = (id(1), id(2), id(3));
    client.wait(&running, |job| job["done"] == 2);
    client.delete(&format!("/v1/jobs/{waiting}")).expect(204);
    assert_eq!(client.get(&format!("/v1/jobs/{waiting}")).json()["state"], "cancelled");
    client.delete(&format!("/v1/jobs/{running}")).expect(202);
    client.wait_state(&running, "cancelled");
    let end = client.events(&running, None).pop().unwrap();
    assert_eq!((end.name.as_str(), end.data.as_str()), ("end", r#"{"state":"cancelled"}"#));
    client.delete(&format!("/v1/jobs/{running}")).expect(204);
    client.delete(&format!("/v1/jobs/{KEY}")).problem(404, "NOT_FOUND");
    server.engine.release();
    client.wait_state(&last, "done");
    client.get(&format!("/v1/jobs/{waiting}/result")).problem(409, "JOB_NOT_DONE");
    server.stop();
}

#[test]
fn a_stopped_server_takes_up_its_work_again() {
    let folder = tempfile::tempdir().unwrap();
    let (job, waiting, last_seen);
    {
        let server = TestServer::start(folder.path(), |config| config.server.shutdown_seconds = 0);
        let client = &server.client;
        upload(client);
        server.engine.hold();
        let id = |content| client.submit(KEY, &ciphertext(content)).job();
        (job, waiting) = (id(1), id(2));
        client.wait(&job, |job| job["done"] == 2);
        let mut stream = client.open_events(&job, None);
        let seen = read_events(&mut stream, 1);
        assert_eq!(seen[0].name, "state");
        let stream = std::thread::spawn(move || read_events(stream, usize::MAX));
        server.stop();
        last_seen = stream.join().unwrap().last().map_or(seen[0].id, |event| event.id);
    }
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    client.head(&format!("/v1/keys/{KEY}")).expect(200);
    client.wait_state(&job, "done");
    client.wait_state(&waiting, "done");
    let rest = client.events(&job, Some(last_seen));
    assert!(rest.iter().all(|event| event.id > last_seen));
    assert!(
        rest.iter().any(|event| event.data.contains("exit")) && rest.last().unwrap().data.contains("done"),
        "{rest:?}"
    );
    server.stop();
}

#[test]
fn a_job_that_keeps_killing_the_server_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let job = {
        let server = TestServer::start(folder.path(), |config| config.server.shutdown_seconds = 0);
        upload(&server.client);
        server.engine.hold();
        let job = server.client.submit(KEY, &ciphertext(1)).job();
        server.stop();
        job
    };
    // Leaves the folder as a process does that dies while it runs the job.
    let die = || {
        let store = Store::open(folder.path()).unwrap();
        let id = job.parse().unwrap();
        let any = |_: &jobs::Backlog, _| Some(());
        assert_eq!(jobs::claim(&store, &mut Turns::default(), any).unwrap().unwrap().0.id, id);
    };
    let token = Presented::Given(TOKEN.parse().ok().unwrap());
    let owner = Caller { token, ..Caller::local() };
    for _ in 0..2 {
        die();
        let mut config = Config::default();
        folder.path().clone_into(&mut config.storage.data);
        let service = Service::open(config, Arc::new(TestEngine::default()).sets()).unwrap();
        assert_eq!(service.job(job.parse().unwrap(), &owner).unwrap().state, jobs::JobState::Queued);
    }
    die();
    let server = TestServer::start(folder.path(), |config| {
        config.server.metrics_listen = MetricsListen::Public;
    });
    let document = server.client.wait_state(&job, "failed");
    assert_eq!(document["problem"]["code"], "INTERRUPTED");
    assert!(document["problem"]["detail"].as_str().unwrap().contains("submit it again"), "{document}");
    let metrics = String::from_utf8(server.client.get("/metrics").expect(200).body).unwrap();
    let failed =
        metrics.lines().find(|line| line.starts_with("refloat_jobs_total") && line.contains("failed"));
    assert!(failed.is_some_and(|line| line.ends_with(" 1")), "{metrics}");
    assert!(server.client.events(&job, None).last().unwrap().data.contains("INTERRUPTED"));
    server.stop();
}

#[test]
fn a_folder_that_cannot_be_written_to_makes_the_server_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    client.get("/readyz").expect(200);
    let away = folder.path().join("away");
    for name in ["keys", "jobs", "removed", "incoming"] {
        std::fs::rename(folder.path().join(name), &away).unwrap();
        // The server may use its last finding for a second.
        until("it is not ready", || client.get("/readyz").status == 503);
        let detail = client.get("/readyz").problem(503, "STORAGE_FAILED");
        assert!(detail.contains("cannot be written to"), "{detail}");
        std::fs::rename(&away, folder.path().join(name)).unwrap();
        client.get("/readyz").expect(200);
    }
    server.stop();
}

#[test]
fn what_outlives_its_time_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let other = KEY.replace('0', "1");
    let job = {
        let server = TestServer::start(folder.path(), |_| {});
        let client = &server.client;
        upload(client);
        let mut body = manifest();
        body["keyId"] = other.as_str().into();
        client.post_json("/v1/keys", &body).expect(201);
        let job = client.submit(KEY, &ciphertext(1)).job();
        client.wait_state(&job, "done");
        server.stop();
        job
    };
    let server = TestServer::start(folder.path(), |config| {
        config.storage.unsealed_hours = 0;
        config.storage.retention_hours = 0;
    });
    let client = &server.client;
    let began = std::time::Instant::now();
    while client.get(&format!("/v1/jobs/{job}")).status != 404
        || client.head(&format!("/v1/keys/{other}")).status != 404
        // The files are removed after the record.
        || folder.path().join(format!("jobs/{job}")).exists()
    {
        assert!(began.elapsed() < support::DEADLINE);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    client.head(&format!("/v1/keys/{KEY}")).expect(200);
    server.stop();
}

#[test]
fn keys_are_loaded_ahead_of_the_first_job() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    let wake = |key: &str| client.send("POST", &format!("/v1/keys/{key}/wake"), &[], b"");
    wake(KEY).problem(404, "NOT_FOUND");
    open(client, KEY).expect(201);
    wake(KEY).problem(409, "KEYS_INCOMPLETE");
    for index in 0..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    client.commit(KEY).expect(200);
    let stranger = client.with(&[("authorization", &format!("Bearer {}", "ab".repeat(32)))]);
    assert!(
        [401, 403, 404].contains(&stranger.send("POST", &format!("/v1/keys/{KEY}/wake"), &[], b"").status)
    );
    assert_eq!(server.engine.loads.load(Ordering::SeqCst), 0);
    wake(KEY).expect(202);
    until("the keys are loaded", || server.engine.loads.load(Ordering::SeqCst) == 1);
    let job = client.submit(KEY, &ciphertext(1)).job();
    client.wait_state(&job, "done");
    // Waking again does nothing.
    wake(KEY).expect(202);
    let job = client.submit(KEY, &ciphertext(2)).job();
    client.wait_state(&job, "done");
    assert_eq!(server.engine.loads.load(Ordering::SeqCst), 1);
    server.stop();
}

#[test]
fn keys_too_large_for_memory_are_refused_before_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let mut body = manifest();
    body["params"] = "huge".into();
    body["fingerprint"] = HUGE_FINGERPRINT.into();
    let server = TestServer::start(folder.path(), |_| {});
    let detail = server.client.post_json("/v1/keys", &body).problem(507, "MEMORY");
    assert!(detail.contains("key_cache_bytes"), "{detail}");
    server.stop();
    let server = TestServer::start(folder.path(), |config| config.compute.key_cache_bytes = 2 << 40);
    let client = &server.client;
    client.post_json("/v1/keys", &body).expect(201);
    for index in 0..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    client.commit(KEY).expect(200);
    server.stop();
    // Keys that were uploaded when the server had more memory.
    let server = TestServer::start(folder.path(), |_| {});
    let detail = server.client.submit(KEY, &ciphertext(1)).problem(507, "MEMORY");
    assert!(detail.contains("key_cache_bytes"), "{detail}");
    server.stop();
}

#[test]
fn the_server_describes_itself() {
    let folder = tempfile::tempdir().unwrap();
    let server =
        TestServer::start(folder.path(), |config| config.server.demo = folder.path().join("nothing"));
    let client = &server.client;
    assert_eq!(client.get("/healthz").expect(200).body, b"ok\n");
    assert_eq!(client.get("/readyz").expect(200).body, b"ready\n");
    assert_eq!(client.get("/version").json()["version"], env!("CARGO_PKG_VERSION"));
    let params = client.get("/v1/params").expect(200).json();
    assert_eq!(params["limits"], json!({ "chunkBytes": PART, "maxQueued": 64 }));
    assert!(params["sets"][0].get("keyParts").is_none());
    let parts = client.get("/v1/params?parts=1").json();
    assert_eq!(parts["sets"][0]["keyParts"][2], json!({ "index": 2, "label": "piece 2", "bytes": PART }));
    assert_eq!(parts["sets"][0]["logQ0P"], 40.0);
    let page = client.get("/");
    assert_eq!((page.status, page.header("cross-origin-resource-policy")), (200, "same-origin"));
    client.get("/v1/nothing").problem(404, "NOT_FOUND");
    client.send("POST", "/v1/params", &[], b"").problem(405, "METHOD_NOT_ALLOWED");
    server.stop();
}

#[test]
fn the_openapi_description_is_the_recorded_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    let current = serde_json::to_string_pretty(&refloat_server::http::openapi::document()).unwrap() + "\n";
    if std::env::var_os("REFLOAT_WRITE_OPENAPI").is_some() {
        std::fs::write(path, &current).unwrap();
    }
    let recorded = std::fs::read_to_string(path).unwrap();
    assert!(
        current == recorded,
        "the interface has changed; if that is meant, run this test with REFLOAT_WRITE_OPENAPI=1"
    );
    let document: Value = serde_json::from_str(&recorded).unwrap();
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths.len(), 18, "{paths:?}");
    let mut operations: Vec<&str> = document["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|path| path.as_object().unwrap().values())
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    let count = operations.len();
    operations.sort_unstable();
    operations.dedup();
    assert_eq!((operations.len(), count), (21, 21), "operations have names of their own");
}
