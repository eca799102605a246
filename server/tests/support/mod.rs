//! A server with an engine that computes nothing, and a client for it.
#![allow(dead_code)] // Each test file uses its own part of this.

#[cfg(feature = "cluster")]
pub mod bucket;
pub mod contract;
pub mod engine;
pub mod foe;
pub mod http2;
#[cfg(all(unix, feature = "cluster"))]
pub mod nats;
pub mod process;
pub mod registered;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use refloat_server::{Config, Server};
use serde_json::{Value, json};

use engine::{CIPHERTEXT, FINGERPRINT, KEY, PARTS, TestEngine, part};

/// Token of the key sets that tests upload.
pub const TOKEN: &str = "7ea2c8b1d3f40596a7b8c9daebfc0d1e2f30415263748596a7b8c9daebfc0d1e";

/// How long anything may take. Generous: the machine may be busy with other things.
pub const DEADLINE: Duration = Duration::from_mins(2);

/// Waits until something holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < DEADLINE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Alters a byte of a file, as a disk may.
pub fn flip(path: &std::path::Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// A server in this process.
pub struct TestServer {
    runtime: tokio::runtime::Runtime,
    server: Option<Server>,
    pub engine: Arc<TestEngine>,
    pub client: Client,
}

impl TestServer {
    /// Starts a server on a free port with its data in `folder`.
    pub fn start(folder: &std::path::Path, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::default();
        config.server.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        config.server.allow_insecure = true;
        folder.clone_into(&mut config.storage.data);
        config.compute.key_cache_bytes = 1 << 20;
        change(&mut config);
        let engine = Arc::new(TestEngine::default());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(config, engine.sets())).unwrap();
        let client = Client::new(server.address());
        Self { runtime, server: Some(server), engine, client }
    }

    /// The address of the listener for metrics, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.server.as_ref().and_then(Server::metrics_address)
    }

    /// The service behind the server.
    pub fn service(&self) -> &Arc<refloat_server::service::Service> {
        self.server.as_ref().unwrap().service()
    }

    /// Stops the server in order.
    pub fn stop(mut self) {
        self.runtime.block_on(self.server.take().unwrap().stop());
    }
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts that this is a problem document with this status and code, and gives its detail.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> String {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        let document = self.json();
        assert_eq!((self.status, document["code"].as_str()), (status, Some(code)), "{document}");
        assert_eq!(document["status"], status);
        document["detail"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The job that was accepted.
    #[track_caller]
    pub fn job(self) -> String {
        self.expect(202).json()["id"].as_str().unwrap().to_owned()
    }
}

/// One event of an event stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    pub id: u64,
    pub name: String,
    pub data: String,
}

/// Speaks HTTP with a server.
#[derive(Clone)]
pub struct Client {
    pub address: SocketAddr,
    /// Sent with every request, unless the request has headers of these names itself.
    pub headers: Vec<(String, String)>,
    agent: ureq::Agent,
}

impl Client {
    pub fn new(address: SocketAddr) -> Self {
        let agent =
            ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(DEADLINE)).build();
        let headers = vec![("authorization".to_owned(), format!("Bearer {TOKEN}"))];
        Self { address, headers, agent: agent.into() }
    }

    /// The same client with these headers in every request instead.
    pub fn with(&self, headers: &[(&str, &str)]) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { headers, ..self.clone() }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = ureq::http::Request::builder().method(method).uri(self.url(path));
        let own = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in own.filter(|(name, _)| headers.iter().all(|(other, _)| other != name)) {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = self.agent.run(request.body(body).unwrap()).unwrap();
        let body = response.body_mut().with_config().limit(64 << 20).read_to_vec().unwrap();
        let answer = Answer { status: response.status().as_u16(), headers: response.headers().clone(), body };
        contract::check(method, path, &answer);
        answer
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub fn head(&self, path: &str) -> Answer {
        self.send("HEAD", path, &[], b"")
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub fn post_json(&self, path: &str, value: &Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], value.to_string().as_bytes())
    }

    pub fn put_chunk(&self, key: &str, index: usize, bytes: &[u8]) -> Answer {
        self.send(
            "PUT",
            &format!("/v1/keys/{key}/chunks/{index}"),
            &[("content-type", "application/octet-stream")],
            bytes,
        )
    }

    /// Seals a key set.
    pub fn commit(&self, key: &str) -> Answer {
        self.send("POST", &format!("/v1/keys/{key}/commit"), &[], b"")
    }

    pub fn submit(&self, key: &str, ciphertext: &[u8]) -> Answer {
        self.submit_with(&format!("key={key}"), &[], ciphertext)
    }

    pub fn submit_with(&self, query: &str, headers: &[(&str, &str)], ciphertext: &[u8]) -> Answer {
        let mut all = vec![("content-type", "application/octet-stream")];
        all.extend(headers);
        self.send("POST", &format!("/v1/jobs?{query}"), &all, ciphertext)
    }

    /// Polls a job until `until` holds of its document.
    #[track_caller]
    pub fn wait(&self, job: &str, until: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let document = self.get(&format!("/v1/jobs/{job}")).expect(200).json();
            if until(&document) {
                return document;
            }
            assert!(began.elapsed() < DEADLINE, "still waiting: {document}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Polls a job until it is in `state`.
    #[track_caller]
    pub fn wait_state(&self, job: &str, state: &str) -> Value {
        self.wait(job, |document| {
            let now = document["state"].as_str().unwrap();
            assert!(
                now == state || !["done", "failed", "cancelled"].contains(&now),
                "ended otherwise: {document}"
            );
            now == state
        })
    }

    /// Reads a job's events after `last` until the stream ends.
    pub fn events(&self, job: &str, last: Option<u64>) -> Vec<StreamEvent> {
        read_events(self.open_events(job, last), usize::MAX)
    }

    /// The stages that a job left, in order, once it has ended.
    pub fn stages_left(&self, job: &str) -> Vec<String> {
        let events = self.events(job, None);
        let stages = events.iter().filter(|event| event.name == "stage");
        stages
            .map(|event| serde_json::from_str::<Value>(&event.data).unwrap())
            .filter(|event| event["kind"] == "exit")
            .map(|event| event["stage"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Opens the stream of a job's events after `last`.
    pub fn open_events(&self, job: &str, last: Option<u64>) -> impl BufRead + Send + 'static {
        let mut request = self.agent.get(self.url(&format!("/v1/jobs/{job}/events")));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let response = request.call().unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-store");
        BufReader::new(response.into_body().into_reader())
    }

    /// Sends raw bytes and returns what comes back until the server closes.
    pub fn raw(&self, request: &[u8]) -> String {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        socket.write_all(request).unwrap();
        let mut answer = Vec::new();
        // A reset after the answer is not a failure of the server.
        let _ = socket.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// A ciphertext for the test engine.
pub fn ciphertext(content: u8) -> Vec<u8> {
    let mut bytes = vec![content; CIPHERTEXT];
    bytes[0] = b'C';
    bytes
}

/// The document that opens the test key set.
pub fn manifest() -> Value {
    json!({ "params": "small", "fingerprint": FINGERPRINT, "keyId": KEY, "parts": PARTS })
}

/// Opens a test key set under an identifier.
pub fn open(client: &Client, key: &str) -> Answer {
    let mut body = manifest();
    body["keyId"] = key.into();
    client.post_json("/v1/keys", &body)
}

/// Uploads and seals the test key set.
pub fn upload(client: &Client) {
    upload_as(client, KEY);
}

/// Uploads and seals a test key set under an identifier.
pub fn upload_as(client: &Client, key: &str) {
    open(client, key).expect(201);
    for index in 0..PARTS {
        client.put_chunk(key, index, &part(index)).expect(204);
    }
    client.commit(key).expect(200);
}

/// Parses at most `limit` events.
pub fn read_events(reader: impl BufRead, limit: usize) -> Vec<StreamEvent> {
    let mut events = Vec::new();
    let (mut id, mut name, mut data) = (0, String::new(), String::new());
    for line in reader.lines() {
        // If the server goes away, the stream ends; the caller asserts that nothing is missing.
        let Ok(line) = line else { break };
        match line.split_once(": ") {
            Some(("id", value)) => id = value.parse().unwrap(),
            Some(("event", value)) => value.clone_into(&mut name),
            Some(("data", value)) => value.clone_into(&mut data),
            _ if line.is_empty() && !data.is_empty() => {
                events.push(StreamEvent {
                    id,
                    name: std::mem::take(&mut name),
                    data: std::mem::take(&mut data),
                });
                if events.len() == limit {
                    break;
                }
            }
            _ => {}
        }
    }
    events
}
