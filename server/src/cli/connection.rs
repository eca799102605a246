//! Requests to a server that is not trusted: answers are bounded in size and time, redirects are not followed,
//! and control characters are removed from their text.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use ureq::http::{HeaderMap, Request, Response};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::address::Address;
use super::failure::Failure;
use super::message_files::read_file;
use super::output::Output;
use crate::problem::Problem;

/// How often a request is tried before it counts as failed.
pub const TRIES: u32 = 6;

/// How long a server that has answered before is tried at least: it may be in the middle of a restart.
const RESTART: Duration = Duration::from_secs(40);

/// Statuses of a server, or of a proxy before it, that mean to try again later.
const BUSY: [u16; 4] = [429, 502, 503, 504];

/// Waits of at least this are reported to the user.
const TOLD: Duration = Duration::from_secs(2);

/// Bytes per second that an answer must bring on average, once the server's time to be silent has passed.
const BYTES_PER_SECOND: u64 = 4096;

/// Largest answer in JSON, and largest refusal, in bytes.
const DOCUMENT: usize = 4 << 20;
const REFUSAL: usize = 1 << 16;

/// Characters shown of a text from the server.
const WORDS: usize = 1000;

/// The code of failures that another try may mend.
pub const NETWORK: &str = "NETWORK";

/// A server.
pub struct Connection {
    base: String,
    agent: Agent,
    headers: HeaderMap,
    patience: Duration,
    output: Output,
    /// Whether the server has taken a request.
    answered: AtomicBool,
}

/// A request to a server.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// GET, POST, PUT or DELETE.
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Media type of the body; empty where there is none.
    pub kind: &'a str,
    /// The body.
    pub body: &'a [u8],
    /// Further headers.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> Ask<'a> {
    /// Requests what is at a path.
    pub fn get(path: &'a str) -> Self {
        Self { method: "GET", path, kind: "", body: &[], headers: &[] }
    }

    /// Removes what is at a path.
    pub fn delete(path: &'a str) -> Self {
        Self { method: "DELETE", ..Self::get(path) }
    }

    /// Posts a JSON document.
    pub fn post_json(path: &'a str, body: &'a [u8]) -> Self {
        Self { method: "POST", path, kind: "application/json", body, headers: &[] }
    }
}

impl Connection {
    /// A server at an address. It gets `headers` with every request and may be silent for as long as `patience`; `ca` is a file
    /// of certificate authorities.
    pub fn new(
        address: &Address,
        headers: HeaderMap,
        patience: Duration,
        ca: Option<&Path>,
        output: Output,
    ) -> Result<Self, Failure> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // What a request carries is for this server; only the user may name another address.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(Duration::from_secs(10)))
            .timeout_per_read(Some(patience))
            .timeout_per_write(Some(patience))
            .timeout_recv_response(Some(2 * patience))
            .max_response_header_size(1 << 14)
            .user_agent(concat!("refloat/", env!("CARGO_PKG_VERSION")));
        if address.origin.starts_with("https://") {
            let roots = match ca {
                Some(path) => certificates(path)?,
                None => system_certificates()?,
            };
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::Specific(Arc::new(roots)))
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
            config = config.tls_config(tls.build());
        }
        Ok(Self {
            base: address.base.clone(),
            agent: config.build().into(),
            headers,
            patience,
            output,
            answered: AtomicBool::new(false),
        })
    }

    /// What the server is called in messages.
    pub fn name(&self) -> &str {
        &self.base
    }

    /// The document that answers a request.
    pub fn document<T: DeserializeOwned>(&self, ask: Ask<'_>) -> Result<T, Failure> {
        let bytes = self.read(self.send(ask)?, DOCUMENT)?;
        serde_json::from_slice(&bytes).map_err(|error| not_understood(&error))
    }

    /// One request, repeated while the server is busy or out of reach. A server that has answered before is given the time of a restart.
    pub fn send(&self, ask: Ask<'_>) -> Result<Response<Body>, Failure> {
        let patience = if self.answered.load(Ordering::Relaxed) { RESTART } else { Duration::ZERO };
        self.send_for(ask, patience)
    }

    /// As [`send`](Self::send), for callers who repeat the request themselves.
    pub fn send_briefly(&self, ask: Ask<'_>) -> Result<Response<Body>, Failure> {
        self.send_for(ask, Duration::ZERO)
    }

    /// One request, repeated [`TRIES`] times, and until `least` has passed since the first failure.
    fn send_for(&self, ask: Ask<'_>, least: Duration) -> Result<Response<Body>, Failure> {
        let (mut failures, mut began) = (0, None);
        loop {
            failures += 1;
            let mut full = false;
            let (failure, pause, why) = match self.send_once(ask)? {
                Ok(response) if response.status().is_success() => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(response);
                }
                Ok(response) => {
                    // A server that is full runs.
                    full = response.status().as_u16() == 429;
                    let busy = BUSY.contains(&response.status().as_u16());
                    let asked = response.headers().get("retry-after");
                    let asked = asked.and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
                    let failure = self.refusal(response);
                    if !busy {
                        return Err(failure);
                    }
                    (failure, Duration::from_secs(asked.unwrap_or(1).min(60)), "the server asks to wait")
                }
                Err(error) => {
                    let failure = self.unreachable(&error);
                    match error {
                        _ if is_tls(&error) => return Err(failure),
                        ureq::Error::Io(_) | ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => {}
                        // A timeout takes long enough to count as two more tries.
                        ureq::Error::Timeout(_) => failures += 2,
                        _ => return Err(failure),
                    }
                    (failure, pause(failures), "trying again in")
                }
            };
            let began = began.get_or_insert_with(Instant::now);
            if failures >= TRIES && (full || began.elapsed() >= least) {
                return Err(failure);
            }
            // Who asks for no pause is not asked without one for the time of a restart.
            let pause = if failures >= TRIES { pause.max(Duration::from_secs(1)) } else { pause };
            if pause >= TOLD {
                let (name, seconds, detail) = (&self.base, pause.as_secs(), &failure.detail);
                self.output.note(&format!("{name}: {why} {seconds} s: {detail}"));
            }
            std::thread::sleep(pause);
        }
    }

    fn send_once(&self, ask: Ask<'_>) -> Result<Result<Response<Body>, ureq::Error>, Failure> {
        let mut request = Request::builder().method(ask.method).uri(format!("{}{}", self.base, ask.path));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if !ask.kind.is_empty() {
            request = request.header("content-type", ask.kind);
        }
        for (name, value) in ask.headers {
            request = request.header(*name, *value);
        }
        let bad = |error: ureq::http::Error| Failure::usage(error.to_string());
        Ok(if ask.method == "GET" {
            self.agent.run(request.body(()).map_err(bad)?)
        } else {
            self.agent.run(request.body(ask.body).map_err(bad)?)
        })
    }

    /// The body of an answer, of at most `largest` bytes.
    pub fn read(&self, response: Response<Body>, largest: usize) -> Result<Vec<u8>, Failure> {
        let too_long = |length: u64| {
            Failure::network(format!(
                "{} answers with {length} bytes or more where {largest} are the most; check that it is a refloat server of this version",
                self.base
            ))
        };
        if let Some(length) = response.body().content_length().filter(|length| *length > largest as u64) {
            return Err(too_long(length));
        }
        let began = Instant::now();
        // The server has stated at most `largest` bytes; memory for bytes that never come is never touched.
        let stated = response.body().content_length().unwrap_or(0) as usize;
        let mut reader = response.into_body().into_reader();
        let (mut bytes, mut buffer) = (Vec::with_capacity(stated), vec![0; 1 << 16]);
        loop {
            let length = reader.read(&mut buffer).map_err(|error| {
                Failure::network(format!(
                    "{}: the answer broke off after {} bytes: {error}",
                    self.base,
                    bytes.len()
                ))
            })?;
            if length == 0 {
                return Ok(bytes);
            }
            if length > largest - bytes.len() {
                return Err(too_long((bytes.len() + length) as u64));
            }
            bytes.extend_from_slice(&buffer[..length]);
            let late = began.elapsed().saturating_sub(self.patience).as_secs();
            if late * BYTES_PER_SECOND > bytes.len() as u64 {
                return Err(Failure::network(format!(
                    "{} sent {} bytes of its answer in {} s, which is too slow to wait for",
                    self.base,
                    bytes.len(),
                    began.elapsed().as_secs()
                )));
            }
        }
    }

    fn unreachable(&self, error: &ureq::Error) -> Failure {
        let repair = match error {
            error if is_tls(error) && error.to_string().contains("InvalidContentType") => {
                "no TLS is spoken there: write http:// in place of https://, or give the address of the proxy that has the certificate"
            }
            error if is_tls(error) && error.to_string().contains("CaUsedAsEndEntity") => {
                "its certificate says that it is an authority itself: make it with openssl req -x509 -addext basicConstraints=critical,CA:FALSE (OpenSSL 3), or have an authority sign one that is none, and give that authority by --ca FILE"
            }
            error if is_tls(error) => {
                "its certificate is to be signed for this name by an authority of the system or of --ca FILE"
            }
            ureq::Error::Timeout(_) => {
                "check that the server runs, and give a slow one more time with --timeout"
            }
            _ => "check that the server runs",
        };
        Failure::network(format!("{} cannot be reached: {}; {repair}", self.base, words(&error.to_string())))
    }

    fn refusal(&self, response: Response<Body>) -> Failure {
        let status = response.status();
        if status.is_redirection() {
            let location = response.headers().get("location").and_then(|value| value.to_str().ok());
            return Failure::network(format!(
                "{} answers {status} and points to {}; name that address with --server if it is to have your keys",
                self.base,
                words(location.unwrap_or("nowhere"))
            ));
        }
        let proxy = match status.as_u16() {
            502..=504 => "; that is a proxy, which does not reach the server: check that the server runs",
            _ => "",
        };
        match self.read(response, REFUSAL).map(|bytes| serde_json::from_slice::<Problem>(&bytes)) {
            Ok(Ok(problem)) => of_problem(&problem),
            _ => Failure::network(format!(
                "{} answered {status} and not as a refloat server does{proxy}",
                self.base
            )),
        }
    }
}

/// Whether the server is not trusted, rather than unreachable.
fn is_tls(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) => true,
        ureq::Error::Io(error) => {
            let inner = error.get_ref();
            matches!(inner, Some(inner) if inner.is::<rustls::Error>())
        }
        _ => false,
    }
}

/// A problem that a server reports, in words that fit in a line.
pub fn of_problem(problem: &Problem) -> Failure {
    let plain = |code: &&str| {
        code.len() <= 64
            && code.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let code = Some(problem.code.as_str()).filter(plain).filter(|code| !code.is_empty()).unwrap_or("PROBLEM");
    let repair = match code {
        "TOKEN_MISSING" | "TOKEN_WRONG" => {
            "; a token goes by the address of the server: use the one that the keys were uploaded to, or have refloat token --keys DIR --server URL print its token, and give that by --token or REFLOAT_TOKEN"
        }
        "API_KEY_MISSING" | "API_KEY_WRONG" => "; give yours by --api-key or REFLOAT_API_KEY",
        _ => "",
    };
    Failure { code: code.to_owned(), detail: format!("{}{repair}", words(&problem.detail)) }
}

/// A server's text on one line, cut off after some characters.
pub fn words(text: &str) -> String {
    let line: String = text.chars().take(WORDS).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if line.len() < text.len() { format!("{line}...") } else { line }
}

/// How long to wait after `failures` failures.
pub fn pause(failures: u32) -> Duration {
    Duration::from_millis(100 << failures.min(6))
}

/// The failure for an answer that is not the JSON expected.
pub fn not_understood(error: &serde_json::Error) -> Failure {
    Failure::network(format!(
        "the server's answer is not understood: {}; check that both sides have the same version",
        words(&error.to_string())
    ))
}

fn certificates(path: &Path) -> Result<Vec<Certificate<'static>>, Failure> {
    let mut found = Vec::new();
    for item in parse_pem(&read_file(path)?) {
        if let PemItem::Certificate(certificate) =
            item.map_err(|error| Failure::file("understand", path, &error))?
        {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds no certificate; give --ca a PEM file of some",
            path.display()
        )));
    }
    Ok(found)
}

fn system_certificates() -> Result<Vec<Certificate<'static>>, Failure> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let reason = found.errors.first().map_or(String::new(), |error| format!(" ({error})"));
        return Err(Failure::usage(format!(
            "the system knows no authorities for https{reason}; give some with --ca FILE"
        )));
    }
    Ok(found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_server_fit_in_a_line() {
        assert_eq!(words("one\r\ntwo\tthree"), "one  two three");
        assert_eq!(words(&"é".repeat(5000)).chars().count(), WORDS + 3);
        let failure = of_problem(&Problem::new(400, "BAD\u{1b}", "t", "error (OK): done\nerror (X): y"));
        assert_eq!(
            (failure.code.as_str(), failure.detail.as_str()),
            ("PROBLEM", "error (OK): done error (X): y")
        );
        assert!(of_problem(&Problem::new(403, "TOKEN_WRONG", "t", "no")).detail.contains("--token"));
    }
}
