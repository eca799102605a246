//! A server that answers the command line as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Got {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Got {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

fn receive(stream: &mut impl Read) -> Option<Got> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut got = Got { method, path, headers, body: Vec::new() };
    got.body = vec![0; got.header("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut got.body).ok()?;
    Some(got)
}

/// How the server answers a request; if it returns false, the server falls silent.
type Answer = dyn Fn(&Got, &mut dyn Write) -> bool + Send + Sync;

/// A server with a thread for each connection, and the requests that it got.
pub struct Foe {
    pub url: String,
    pub asked: Arc<Mutex<Vec<Got>>>,
}

impl Foe {
    /// A server that answers without TLS.
    pub fn start(answer: impl Fn(&Got, &mut dyn Write) -> bool + Send + Sync + 'static) -> Self {
        Self::with(|stream| Some(Box::new(stream)), answer)
    }

    /// A server that answers over what `wrap` makes of each connection.
    pub fn with(
        wrap: impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static,
        answer: impl Fn(&Got, &mut dyn Write) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer, wrap): (_, Arc<Answer>, _) = (asked.clone(), Arc::new(answer), Arc::new(wrap));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer, wrap) = (log.clone(), answer.clone(), wrap.clone());
                std::thread::spawn(move || {
                    let Some(mut stream) = wrap(stream) else { return };
                    let Some(got) = receive(&mut stream) else { return };
                    log.lock().unwrap().push(got.clone());
                    if !answer(&got, &mut stream) {
                        // Silence, until the other side has had enough.
                        let _ = stream.read(&mut [0]);
                    }
                    let _ = stream.flush();
                });
            }
        });
        Self { url, asked }
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<Got> {
        self.asked.lock().unwrap().clone()
    }
}

/// A connection, in the clear or not.
pub trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// Sends an answer with a body in bytes.
pub fn say(out: &mut dyn Write, status: u16, headers: &str, body: &[u8]) -> bool {
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n",
        body.len()
    );
    out.write_all(head.as_bytes()).and_then(|()| out.write_all(body)).is_ok()
}

/// Answers with a JSON document, or with a problem document for statuses from 400 on.
pub fn say_json(out: &mut dyn Write, status: u16, value: &Value) -> bool {
    let kind = if status < 400 { "application/json" } else { "application/problem+json" };
    say(out, status, &format!("content-type: {kind}\r\n"), value.to_string().as_bytes())
}

/// The job in the answers.
pub const JOB: &str = "00112233445566778899aabbccddeeff";

/// A key set of `toy10`.
pub fn keys(state: &str, missing: &[u32]) -> Value {
    json!({ "id": JOB, "params": "toy10", "state": state, "present": 0, "total": 1, "bytes": 0, "missing": missing })
}

/// The job as it is when accepted.
pub fn job() -> Value {
    json!({ "id": JOB, "state": "queued", "op": "bootstrap", "mode": "real", "key": JOB, "params": "toy10", "createdAt": "" })
}

/// A problem document.
pub fn problem(status: u16, code: &str, detail: &str) -> Value {
    json!({ "type": "x", "title": "x", "status": status, "detail": detail, "code": code })
}

/// The answers of a well-meaning server, up to the result.
pub fn friendly(got: &Got, out: &mut dyn Write) -> bool {
    match (got.method.as_str(), got.path.split('?').next().unwrap()) {
        ("POST", "/v1/keys") => say_json(out, 200, &keys("sealed", &[])),
        ("POST", "/v1/jobs") => say_json(out, 201, &job()),
        (_, path) if path.ends_with("/events") => {
            let events = "id: 1\nevent: end\ndata: {\"state\":\"done\",\"seconds\":1}\n\n";
            say(out, 200, "content-type: text/event-stream\r\n", events.as_bytes())
        }
        _ => say_json(out, 404, &problem(404, "NOT_FOUND", "nothing")),
    }
}
