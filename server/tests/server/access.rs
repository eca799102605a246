//! Who may use which keys, jobs and results: tokens of key sets, and API keys.

use super::support;

use std::io::Write;
use std::process::{Command, Stdio};

use redb::ReadableTable;
use refloat_server::config::{ApiKey, Config, api_key_hash};
use serde_json::{Value, json};
use support::engine::{CIPHERTEXT, FINGERPRINT, KEY, PART, PARTS, part};
use support::process::{Process, fails, ok, refloat};
use support::{Client, TOKEN, TestServer};

const OTHER: &str = "00000000000000000000000000000000000000000000000000000000000000ff";
const SECRET: &str = "a secret of sixteen and more";

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn manifest(key: &str, public: bool) -> Value {
    json!({ "params": "small", "fingerprint": FINGERPRINT, "keyId": key, "parts": PARTS, "public": public })
}

fn upload(client: &Client, key: &str, public: bool) -> Value {
    let opened = client.post_json("/v1/keys", &manifest(key, public)).expect(201).json();
    let owner = opened["token"].as_str().map(bearer);
    let client = owner.map_or_else(|| client.clone(), |token| client.with(&[("authorization", &token)]));
    for index in 0..PARTS {
        client.put_chunk(key, index, &part(index)).expect(204);
    }
    client.commit(key).expect(200);
    opened
}

fn ciphertext() -> Vec<u8> {
    let mut bytes = vec![1; CIPHERTEXT];
    bytes[0] = b'C';
    bytes
}

fn finished(client: &Client, key: &str) -> String {
    let job = client.submit(key, &ciphertext()).job();
    client.wait_state(&job, "done");
    job
}

/// Asks for every operation of the interface on this key set and job, and returns the answers to `client`.
fn everything(client: &Client, key: &str, job: &str) -> Vec<(String, u16, String)> {
    let document = serde_json::to_value(refloat_server::http::openapi::document()).unwrap();
    let mut answers = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        if !path.starts_with("/v1/keys") && !path.starts_with("/v1/jobs") {
            continue;
        }
        for method in operations.as_object().unwrap().keys() {
            let id = if path.starts_with("/v1/keys") { key } else { job };
            let mut place = path.replace("{id}", id).replace("{index}", "0");
            let octets = path.contains("chunks") || path == "/v1/jobs";
            let kind = if octets { "application/octet-stream" } else { "application/json" };
            let body = match path.as_str() {
                "/v1/keys" => manifest(key, false).to_string().into_bytes(),
                "/v1/keys/{id}/chunks/{index}" => part(0),
                "/v1/jobs" => ciphertext(),
                _ => Vec::new(),
            };
            if path == "/v1/jobs" {
                place = format!("/v1/jobs?key={key}");
            }
            let answer = client.send(&method.to_uppercase(), &place, &[("content-type", kind)], &body);
            let code = serde_json::from_slice::<Value>(&answer.body)
                .map_or_else(|_| String::new(), |problem| problem["code"].as_str().unwrap_or("").to_owned());
            if answer.status == 401 {
                assert_eq!(answer.header("www-authenticate"), "Bearer", "{method} {path}");
            }
            answers.push((format!("{method} {path}"), answer.status, code));
        }
    }
    assert_eq!(answers.len(), 12, "the operations on keys and jobs");
    answers
}

#[test]
fn nothing_of_a_key_set_or_its_jobs_is_done_without_its_token() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let owner = &server.client;
    assert!(upload(owner, KEY, false).get("token").is_none(), "the client chose it");
    let job = finished(owner, KEY);
    let malformed =
        [OTHER.to_owned(), format!("Basic {TOKEN}"), bearer(&TOKEN[..62]), bearer(&TOKEN.to_uppercase())];
    let stranger = owner.with(&[]);
    let others = malformed.iter().map(|text| owner.with(&[("authorization", text)]));
    for client in std::iter::once(stranger).chain(others) {
        for (what, status, code) in everything(&client, KEY, &job) {
            assert_eq!(status, 401, "{what}");
            assert!(code == "TOKEN_MISSING" || what.starts_with("head"), "{what}: {code}");
        }
    }
    for (what, status, code) in everything(&owner.with(&[("authorization", &bearer(OTHER))]), KEY, &job) {
        assert_eq!(status, 403, "{what}");
        assert!(code == "TOKEN_WRONG" || what.starts_with("head"), "{what}: {code}");
    }
    // A token in the address would get into logs, so it does not count.
    let query = format!("/v1/jobs/{job}?token={TOKEN}&authorization=Bearer%20{TOKEN}");
    owner.with(&[]).get(&query).problem(401, "TOKEN_MISSING");
    let twice = format!(
        "GET /v1/jobs/{job} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {OTHER}\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    assert!(owner.raw(twice.as_bytes()).starts_with("HTTP/1.1 400"));
    let result = owner.get(&format!("/v1/jobs/{job}/result")).expect(200);
    assert_eq!(result.header("refloat-digest"), blake3::hash(&result.body).to_hex().as_str());
    owner.delete(&format!("/v1/keys/{KEY}")).expect(204);
    // The result outlives the keys, and only its owner can still get it.
    owner.get(&format!("/v1/jobs/{job}/result")).expect(200);
    owner.with(&[]).get(&format!("/v1/jobs/{job}/result")).problem(401, "TOKEN_MISSING");
    server.stop();
    for entry in walk(folder.path()) {
        let bytes = std::fs::read(&entry).unwrap();
        assert!(!bytes.windows(64).any(|window| window == TOKEN.as_bytes()), "{}", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path) } else { vec![path] }
        })
        .collect()
}

#[test]
fn a_token_is_drawn_for_who_brings_none_and_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let opened = upload(&server.client.with(&[]), KEY, false);
    let token = opened["token"].as_str().unwrap().to_owned();
    assert!(token.len() == 64 && token != TOKEN);
    server.stop();
    let server = TestServer::start(folder.path(), |_| {});
    let owner = server.client.with(&[("authorization", &bearer(&token))]);
    let again = owner.post_json("/v1/keys", &manifest(KEY, false)).expect(200).json();
    assert!(again["state"] == "sealed" && again.get("token").is_none(), "it is told once: {again}");
    server.client.post_json("/v1/keys", &manifest(KEY, false)).problem(403, "TOKEN_WRONG");
    owner.with(&[]).post_json("/v1/keys", &manifest(KEY, false)).problem(401, "TOKEN_MISSING");
    let state = owner.get(&format!("/v1/keys/{KEY}")).expect(200).json();
    let digests: Vec<Value> =
        (0..PARTS).map(|index| blake3::hash(&part(index)).to_hex().as_str().into()).collect();
    assert_eq!(state["digests"], json!(digests));
    finished(&owner, KEY);
    server.stop();
}

#[test]
fn a_public_key_set_is_for_everybody_to_use_and_for_its_owner_to_change() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let owner = &server.client;
    upload(owner, KEY, true);
    let stranger = owner.with(&[]);
    let job = finished(&stranger, KEY);
    stranger.get(&format!("/v1/jobs/{job}/result")).expect(200);
    assert_eq!(stranger.get(&format!("/v1/keys/{KEY}")).expect(200).json()["public"], true);
    stranger.put_chunk(KEY, 0, &part(0)).problem(401, "TOKEN_MISSING");
    stranger.delete(&format!("/v1/keys/{KEY}")).problem(401, "TOKEN_MISSING");
    stranger.commit(KEY).problem(401, "TOKEN_MISSING");
    owner.post_json("/v1/keys", &manifest(KEY, false)).expect(200);
    let private = KEY.replace('0', "1");
    upload(owner, &private, false);
    owner.post_json("/v1/keys", &manifest(&private, true)).problem(409, "NOT_PUBLIC");
    server.stop();
}

#[test]
fn what_is_altered_on_its_way_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    client.post_json("/v1/keys", &manifest(KEY, false)).expect(201);
    let octets = ("content-type", "application/octet-stream");
    let put = |digest: &str| {
        let chunk = format!("/v1/keys/{KEY}/chunks/0");
        client.send("PUT", &chunk, &[octets, ("refloat-digest", digest)], &part(0))
    };
    let digest = blake3::hash(&part(0)).to_hex();
    put(OTHER).problem(422, "DIGEST_MISMATCH");
    put("00").problem(400, "INVALID_ARGUMENT");
    assert_eq!(client.get(&format!("/v1/keys/{KEY}")).json()["present"], 0);
    put(&digest).expect(204);
    for index in 1..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    client.commit(KEY).expect(200);
    let submit = |digest: &str| {
        client.submit_with(&format!("key={KEY}"), &[("refloat-digest", digest)], &ciphertext())
    };
    submit(OTHER).problem(422, "DIGEST_MISMATCH");
    submit(&blake3::hash(&ciphertext()).to_hex()).expect(202);
    server.stop();
}

#[test]
fn a_piece_of_an_open_set_is_replaced_and_of_a_sealed_one_kept() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    client.post_json("/v1/keys", &manifest(KEY, false)).expect(201);
    let mut other = part(0);
    other[PART - 1] = 9;
    client.put_chunk(KEY, 0, &other).expect(204);
    for index in 1..PARTS {
        client.put_chunk(KEY, index, &part(index)).expect(204);
    }
    let mut hasher = blake3::Hasher::new();
    for index in 0..PARTS {
        hasher.update(blake3::hash(&part(index)).as_bytes());
    }
    let commit = format!("/v1/keys/{KEY}/commit");
    let seal = json!({ "digest": hasher.finalize().to_hex().as_str() });
    client.post_json(&commit, &seal).problem(409, "PIECES_DIFFER");
    client.put_chunk(KEY, 0, &part(0)).expect(204);
    client.post_json(&commit, &seal).expect(200);
    client.put_chunk(KEY, 0, &other).problem(409, "CHUNK_CONFLICT");
    let state = client.get(&format!("/v1/keys/{KEY}")).json();
    assert_eq!(state["bytes"], PARTS * PART, "the first version is not counted: {state}");
    finished(client, KEY);
    server.stop();
}

fn with_api_keys(config: &mut Config) {
    let key = |name: &str, secret: &str| ApiKey {
        name: name.into(),
        hash: api_key_hash(secret.as_bytes()),
        ..ApiKey::default()
    };
    let small = ApiKey { max_key_bytes: (PARTS * PART) as u64, max_queued_jobs: 1, ..key("small", SECRET) };
    config.access.api_keys = vec![small, key("large", &SECRET.replace('a', "b"))];
}

#[test]
fn api_keys_are_asked_for_and_their_quotas_hold() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), with_api_keys);
    let token = bearer(TOKEN);
    let anonymous = &server.client;
    let small = anonymous.with(&[("authorization", &token), ("x-api-key", SECRET)]);
    let large = anonymous.with(&[("authorization", &token), ("x-api-key", &SECRET.replace('a', "b"))]);
    let missing = anonymous.post_json("/v1/keys", &manifest(KEY, false));
    missing.problem(401, "API_KEY_MISSING");
    assert_eq!(missing.header("www-authenticate"), "ApiKey");
    let wrong = anonymous.with(&[("authorization", &token), ("x-api-key", "another secret")]);
    wrong.post_json("/v1/keys", &manifest(KEY, false)).problem(403, "API_KEY_WRONG");
    anonymous.get("/v1/params").expect(200);
    upload(&small, KEY, false);
    anonymous.submit(KEY, &ciphertext()).problem(401, "API_KEY_MISSING");
    let more = KEY.replace('0', "1");
    let refused = small.post_json("/v1/keys", &manifest(&more, false));
    let detail = refused.problem(507, "QUOTA");
    assert!(detail.contains("small") && refused.json()["quota"] == "max_key_bytes", "{detail}");
    upload(&large, &more, false);
    server.engine.hold();
    let id = |client: &Client, key: &str, content: u8| {
        let mut input = ciphertext();
        input[1] = content;
        client.submit(key, &input).job()
    };
    let running = id(&large, &more, 1);
    large.wait(&running, |job| job["done"] == 2);
    let (second, third) = (id(&large, &more, 2), id(&large, &more, 3));
    let one = id(&small, KEY, 4);
    let refused = small.submit(KEY, &ciphertext());
    refused.problem(429, "QUOTA");
    assert_eq!(refused.json()["quota"], "max_queued_jobs");
    server.engine.release();
    for (client, job) in [(&small, &one), (&large, &second), (&large, &third)] {
        client.wait_state(job, "done");
    }
    assert_eq!(*server.engine.order.lock().unwrap(), [1, 4, 2, 3], "API keys take turns");
    server.stop();
}

/// Changes the records in a data folder into those of versions without tokens.
fn without_holders(folder: &std::path::Path) {
    let database = redb::Database::open(folder.join("refloat.redb")).unwrap();
    let txn = database.begin_write().unwrap();
    for name in ["keys", "jobs"] {
        let table: redb::TableDefinition<'_, [u8; 16], &[u8]> = redb::TableDefinition::new(name);
        let mut table = txn.open_table(table).unwrap();
        let records: Vec<([u8; 16], Vec<u8>)> = table
            .iter()
            .unwrap()
            .map(|entry| entry.map(|(id, record)| (id.value(), record.value().to_owned())).unwrap())
            .collect();
        assert_eq!(records.len(), 1, "{name}");
        for (id, record) in records {
            // A digest came later as well.
            let json = record.split(|&byte| byte == b'\n').next().unwrap();
            let mut record: Value = serde_json::from_slice(json).unwrap();
            assert!(record.as_object_mut().unwrap().remove("holder").is_some(), "{record}");
            table.insert(id, record.to_string().as_bytes()).unwrap();
        }
    }
    txn.commit().unwrap();
}

#[test]
fn what_was_stored_before_there_were_tokens_is_for_the_operator_to_open() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    upload(&server.client, KEY, false);
    let job = finished(&server.client, KEY);
    server.stop();
    without_holders(folder.path());

    let server = TestServer::start(folder.path(), |_| {});
    let anybody = server.client.with(&[]);
    for client in [&server.client, &anybody] {
        for (what, status, code) in everything(client, KEY, &job) {
            assert_eq!(status, 403, "{what}");
            assert!(code == "TOKEN_WRONG" || what.starts_with("head"), "{what}: {code}");
        }
    }
    let detail = anybody.get(&format!("/v1/keys/{KEY}")).problem(403, "TOKEN_WRONG");
    assert!(detail.contains("access.allow_untokened = true"), "{detail}");
    server.stop();

    let server = TestServer::start(folder.path(), |config| config.access.allow_untokened = true);
    let anybody = server.client.with(&[]);
    assert_eq!(anybody.get(&format!("/v1/keys/{KEY}")).expect(200).json()["state"], "sealed");
    anybody.get(&format!("/v1/jobs/{job}/result")).expect(200);
    finished(&anybody, KEY);
    anybody.delete(&format!("/v1/keys/{KEY}")).expect(204);
    // What is uploaded now is its owner's, whatever the setting.
    upload(&server.client, KEY, false);
    anybody.get(&format!("/v1/keys/{KEY}")).problem(401, "TOKEN_MISSING");
    server.stop();
}

#[test]
fn an_api_key_goes_from_its_secret_to_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |line: &str| refloat(line, folder.path());
    let hashed = |secret: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_refloat"))
            .args(["--json", "serve", "--hash-api-key"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(secret.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let hash = ok(&hashed(&format!("{SECRET}\n")))["hash"].as_str().unwrap().to_owned();
    assert_eq!(hash, api_key_hash(SECRET.as_bytes()));
    assert_eq!(ok(&hashed(&format!(" {SECRET} \r\n")))["hash"], hash.as_str());
    for (bad, part) in [
        ("", "0 characters"),
        ("fifteen letters", "15 characters"),
        ("a secret with an \u{e9} in it", "no header"),
        (&*"x".repeat(5000), "1024"),
    ] {
        let detail = fails(&hashed(bad), "INVALID_ARGUMENT");
        assert!(detail.contains(part) && (bad.is_empty() || !detail.contains(bad)), "{detail}");
    }

    let other = "another secret of sixteen and more";
    std::fs::write(at("secret"), format!("{other}\n")).unwrap();
    let settings = format!(
        "[[access.api_keys]]\nname = \"one\"\nhash = \"{hash}\"\n[[access.api_keys]]\nname = \"two\"\nfile = {:?}\n",
        at("secret")
    );
    std::fs::write(at("refloat.toml"), settings).unwrap();
    let script = format!("REFLOAT_CONFIG={:?} exec \"$@\"", at("refloat.toml"));
    let server = Process::start_by(&at("data"), &script);
    let url = server.client.url("");
    ok(&run("--json keygen --preset toy-bool --allow-insecure --out @keys"));
    ok(&run("--json encrypt --key @keys --bits 01 --out @a.ct"));
    let gate = |key: &str| {
        let line = format!("--json gate nand --keys @keys --in @a.ct --in @a.ct --out @b.ct --server {url}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_refloat"));
        let file =
            |word: &str| word.strip_prefix('@').map_or_else(|| word.into(), |name| at(name).into_os_string());
        command.args(line.split_whitespace().map(file));
        if !key.is_empty() {
            command.args(["--api-key", key]);
        }
        command.output().unwrap()
    };
    fails(&gate(""), "API_KEY_MISSING");
    let detail = fails(&gate("no secret of this server"), "API_KEY_WRONG");
    assert!(!detail.contains("no secret of"), "{detail}");
    ok(&gate(SECRET));
    ok(&gate(other));
    assert!(server.terminate());
}
