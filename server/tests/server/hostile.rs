//! Requests that nobody should send.

use super::support;

use std::io::Write;
use std::net::TcpStream;

use refloat::wire::{ObjectKind, frame};
use serde_json::json;
use support::engine::{KEY, PART, PARTS, part};
use support::{Client, TOKEN, TestServer, open, upload};

fn missing(client: &Client) -> serde_json::Value {
    client.get(&format!("/v1/keys/{KEY}")).expect(200).json()["missing"].clone()
}

/// A request in bytes, so that it can be malformed.
fn request(first: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!(
        "{first} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n"
    )
    .into_bytes();
    for header in headers {
        bytes.extend_from_slice(format!("{header}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

#[test]
fn bodies_are_bounded_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    open(client, KEY).expect(201);
    client.put_chunk(KEY, 0, &[0; PART + 1]).problem(413, "LIMIT");
    let detail = client.put_chunk(KEY, 0, &[0; PART - 1]).problem(422, "BAD_BYTES");
    assert!(detail.contains("99") && detail.contains("100"), "{detail}");
    client.put_chunk(KEY, 0, &[]).problem(422, "BAD_BYTES");
    client.put_chunk(KEY, 0, &part(1)).problem(422, "BAD_BYTES");
    client.put_chunk(KEY, PARTS, &part(0)).problem(404, "NOT_FOUND");
    let put = format!("PUT /v1/keys/{KEY}/chunks/0");
    let octets = "content-type: application/octet-stream";
    let huge = client.raw(&request(&put, &[octets, "content-length: 18446744073709551615"], b""));
    assert!(huge.starts_with("HTTP/1.1 4"), "{huge}");
    let chunked: Vec<u8> = b"40\r\n".iter().chain(&[0; 64]).chain(b"\r\n").copied().collect();
    let endless = client.raw(&request(&put, &[octets, "transfer-encoding: chunked"], &chunked.repeat(8)));
    assert!(endless.starts_with("HTTP/1.1 413"), "{endless}");
    client.post_json("/v1/keys", &json!({ "params": "x".repeat(70_000) })).problem(413, "LIMIT");
    assert_eq!(missing(client), json!([0, 1, 2]), "nothing of it was stored");
    server.stop();
}

#[test]
fn bodies_that_break_off_or_trickle_are_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| {
        config.limits.idle_seconds = 1;
        config.limits.header_seconds = 1;
        config.limits.max_uploads = 1;
    });
    let client = &server.client;
    open(client, KEY).expect(201);
    let put = format!("PUT /v1/keys/{KEY}/chunks/0");
    let headers = ["content-type: application/octet-stream", "content-length: 100"];
    let mut socket = TcpStream::connect(client.address).unwrap();
    socket.write_all(&request(&put, &headers, &part(0)[..50])).unwrap();
    drop(socket);
    let slow = client.raw(&request(&put, &headers, &part(0)[..50]));
    assert!(slow.starts_with("HTTP/1.1 408") && slow.contains("\"TIMEOUT\""), "{slow}");
    let no_header = client.raw(b"GET /healthz HTTP/1.1\r\nhost: local");
    assert!(!no_header.contains("200 OK"), "{no_header}");
    assert_eq!(missing(client), json!([0, 1, 2]));
    client.put_chunk(KEY, 0, &part(0)).expect(204);
    server.stop();
}

#[test]
fn secret_keys_are_refused_wherever_they_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |config| config.limits.max_queued = 1);
    let client = &server.client;
    upload(client);
    // The engine of these tests has pieces of 100 bytes and ciphertexts of 64, so even the shortest frame
    // fits only a piece.
    let secret = frame::write(ObjectKind::SecretKey, [1; 16], [2; 16], &[]);
    assert!(secret.len() <= PART);
    let detail = client.put_chunk(KEY, 0, &secret).problem(422, "SECRET_KEY_REFUSED");
    assert!(detail.contains("must never leave"), "{detail}");
    server.stop();
}

#[test]
fn names_lead_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join("demo");
    std::fs::create_dir_all(demo.join("assets")).unwrap();
    std::fs::write(demo.join("index.html"), "<title>demo</title>").unwrap();
    std::fs::write(demo.join("gates.html"), "<title>gates</title>").unwrap();
    std::fs::write(demo.join("404.html"), "<title>none</title>").unwrap();
    std::fs::write(demo.join("assets/a.wasm"), b"\0asm").unwrap();
    std::fs::write(folder.path().join("outside.txt"), "private").unwrap();
    let server = TestServer::start(&folder.path().join("data"), |config| config.server.demo = demo);
    let client = &server.client;
    for path in [
        "/v1/keys/..%2f..%2foutside.txt",
        "/v1/keys/%2e%2e",
        "/v1/keys/0/chunks/0",
        "/v1/jobs/..%2F..%2Frefloat.redb/result",
        "/v1/jobs/%00/events",
        "/..%2foutside.txt",
        "/%2e%2e/outside.txt",
        "/assets/..%2f..%2foutside.txt",
        "/assets/%5c..%5c..%5coutside.txt",
        "/missing.js",
        "/..%2foutside",
        "/run/..%2fgates",
    ] {
        let answer = client.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
        assert!(!String::from_utf8_lossy(&answer.body).contains("private"), "{path}");
    }
    let literal = client.raw(&request("GET /../outside.txt", &[], b""));
    assert!(!literal.contains("private"), "{literal}");
    for (page, status, title) in [
        ("/", 200, "demo"),
        ("/gates.html", 200, "gates"),
        ("/gates", 200, "gates"),
        ("/gates?set=toy-bool", 200, "gates"),
        ("/run/1", 404, "none"),
        ("/run", 404, "none"),
    ] {
        let answer = client.get(page).expect(status);
        assert_eq!(String::from_utf8_lossy(&answer.body), format!("<title>{title}</title>"), "{page}");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-embedder-policy"), "require-corp");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    }
    // A path that looks like a file but is not one: programs get an error, and a browser gets the page.
    client.get("/missing.html").problem(404, "NOT_FOUND");
    let accept = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
    for path in ["/missing.html", "/run/missing.png", "/gates.htm"] {
        let answer = client.send("GET", path, &accept, b"").expect(404);
        assert_eq!(String::from_utf8_lossy(&answer.body), "<title>none</title>", "{path}");
    }
    let moved = client.raw(&request("GET /gates/", &[], b"")).to_ascii_lowercase();
    assert!(moved.contains(" 308 ") && moved.contains("\r\nlocation: /gates\r\n"), "{moved}");
    let module = client.get("/assets/a.wasm").expect(200);
    assert_eq!(module.header("content-type"), "application/wasm");
    server.stop();
}

#[test]
fn requests_that_make_no_sense_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::start(folder.path(), |_| {});
    let client = &server.client;
    upload(client);
    let octets = [("content-type", "application/octet-stream")];
    let query = |query: &str| client.send("POST", &format!("/v1/jobs?{query}"), &octets, b"C");
    query("").problem(400, "INVALID_ARGUMENT");
    query("key=1").problem(400, "INVALID_ARGUMENT");
    query(&format!("key={KEY}&op=decrypt")).problem(400, "INVALID_ARGUMENT");
    query(&format!("key={KEY}&op={}", ["square"; 17].join(","))).problem(413, "LIMIT");
    query(&format!("key={KEY}&mode=quaternion")).problem(400, "INVALID_ARGUMENT");
    query(&format!("key={KEY}&secret=1")).problem(400, "INVALID_ARGUMENT");
    query(&format!("key={}", KEY.replace('0', "1"))).problem(404, "NOT_FOUND");
    query(&format!("key={KEY}")).problem(422, "BAD_BYTES");
    client
        .submit_with(&format!("key={KEY}"), &[("idempotency-key", &"x".repeat(129))], b"C")
        .problem(400, "INVALID_ARGUMENT");
    client.send("POST", &format!("/v1/jobs?key={KEY}"), &[], b"C").problem(415, "UNSUPPORTED_MEDIA_TYPE");
    let gzip = [octets[0], ("content-encoding", "gzip")];
    client.send("POST", &format!("/v1/jobs?key={KEY}"), &gzip, b"C").problem(415, "UNSUPPORTED_MEDIA_TYPE");
    let json = [("content-type", "application/json")];
    for body in ["", "{", "[]", "{\"params\":7}", &"[".repeat(8_000)] {
        client.send("POST", "/v1/keys", &json, body.as_bytes()).problem(400, "INVALID_ARGUMENT");
    }
    client.send("POST", "/v1/keys", &json, "[".repeat(10_000).as_bytes()).problem(413, "LIMIT");
    client
        .send("POST", "/v1/keys", &[("content-type", "text/plain")], b"{}")
        .problem(415, "UNSUPPORTED_MEDIA_TYPE");
    let foreign = [json[0], ("origin", "https://elsewhere.example")];
    client.send("POST", "/v1/keys", &foreign, b"{}").problem(403, "FORBIDDEN");
    let job = client.submit(KEY, &{
        let mut bytes = [0; support::engine::CIPHERTEXT];
        bytes[0] = b'C';
        bytes
    });
    let job = job.job();
    let replay = client.send("GET", &format!("/v1/jobs/{job}/events"), &[("last-event-id", "first")], b"");
    replay.problem(400, "INVALID_ARGUMENT");
    assert_eq!(client.events(&job, Some(u64::MAX)).len(), 1, "only the end");
    let rebound =
        client.raw(b"GET /v1/params HTTP/1.1\r\nhost: rebound.example\r\nconnection: close\r\n\r\n");
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    for garbage in [&b"\0\0\0\0"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", &b"A".repeat(100_000)] {
        let answer = client.raw(garbage);
        assert!(!answer.starts_with("HTTP/1.1 2") && !answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    assert_eq!(client.get("/healthz").status, 200);
    server.stop();
}

#[test]
fn pages_of_listed_origins_may_call() {
    let folder = tempfile::tempdir().unwrap();
    let origin = "http://localhost:5173";
    let server =
        TestServer::start(folder.path(), |config| config.server.allowed_origins = vec![origin.into()]);
    let client = &server.client;
    let asked = [
        ("origin", origin),
        ("access-control-request-method", "PUT"),
        ("access-control-request-headers", "content-type"),
    ];
    let preflight = client.send("OPTIONS", &format!("/v1/keys/{KEY}/chunks/0"), &asked, b"");
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (200, origin));
    let answer = client.send("GET", "/v1/params", &[("origin", origin)], b"");
    assert_eq!(answer.header("access-control-allow-origin"), origin);
    let other = client.send("GET", "/v1/params", &[("origin", "http://localhost:5174")], b"");
    assert_eq!(other.header("access-control-allow-origin"), "");
    client
        .send("POST", "/v1/keys", &[("origin", origin), ("content-type", "application/json")], b"{}")
        .problem(400, "INVALID_ARGUMENT");
    server.stop();
}
