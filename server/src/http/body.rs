//! Bodies: bounded before they are read, never decompressed, given up when they trickle.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::Http;
use super::respond::Refusal;
use super::upload_turns::{Turn, Uploads};
use crate::config::LimitsSection;
use crate::id::unhex;
use crate::problem::Problem;
use crate::service::access::Peer;

/// Header with the BLAKE3 of a body in hexadecimal.
pub const DIGEST: &str = "refloat-digest";

/// How much of an unwanted body is read so that the client gets to see the answer.
const DRAINED: u64 = 16 << 20;

/// Longest JSON body taken: an honest one has a few hundred bytes, and needs no turn.
const DOCUMENT: usize = 8 << 10;

/// Receives a body of at most `limit` bytes into memory. The turn that comes with it is to be kept as long as the bytes.
///
/// # Errors
/// It is too long, too slow, or breaks off; or there is no turn.
pub async fn receive(
    http: &Http,
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    peer: Peer,
) -> Result<(Vec<u8>, Option<Turn>), Refusal> {
    let mut incoming = Incoming::new(headers, body, limit, &http.service.config.limits);
    match incoming.receive(Some((&http.uploads, peer))).await {
        Ok(turn) => Ok((incoming.bytes, turn)),
        Err(problem) => Err(incoming.refuse(headers, problem).await),
    }
}

/// Receives a body that is a document in JSON.
///
/// # Errors
/// It is too long, too slow, or breaks off.
pub async fn document(http: &Http, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Refusal> {
    let mut incoming = Incoming::new(headers, body, DOCUMENT, &http.service.config.limits);
    match incoming.receive(None).await {
        Ok(_) => Ok(incoming.bytes),
        Err(problem) => Err(incoming.refuse(headers, problem).await),
    }
}

/// A body on its way.
struct Incoming {
    body: Body,
    bytes: Vec<u8>,
    limit: usize,
    stated: Option<u64>,
    idle: Duration,
    rate: u64,
    ended: bool,
}

impl Incoming {
    fn new(headers: &HeaderMap, body: Body, limit: usize, limits: &LimitsSection) -> Self {
        let (stated, idle) = (stated_length(headers), Duration::from_secs(limits.idle_seconds));
        Self { body, bytes: Vec::new(), limit, stated, idle, rate: limits.min_bytes_per_second, ended: false }
    }

    /// Receives the whole body. A turn is taken once the first piece has come, so that a peer that sends nothing keeps nobody else from
    /// sending.
    async fn receive(&mut self, turns: Option<(&Uploads, Peer)>) -> Result<Option<Turn>, Problem> {
        if let Some(length) = self.stated.filter(|length| *length > self.limit as u64) {
            return Err(self.too_large(length));
        }
        let deadline = Instant::now() + self.idle;
        while self.bytes.is_empty() && !self.ended {
            self.piece(deadline).await?;
        }
        let turn = match turns {
            Some((uploads, peer)) => Some(uploads.take(peer).await?),
            None => None,
        };
        self.rest(turn.as_ref()).await?;
        Ok(turn)
    }

    /// Receives the rest, unless the turn passes to somebody else.
    async fn rest(&mut self, turn: Option<&Turn>) -> Result<(), Problem> {
        let began = Instant::now();
        let all = self.stated.unwrap_or(self.limit as u64);
        let end = began + self.idle + Duration::from_secs(all / self.rate);
        while !self.ended {
            // The average counts from the beginning: the bytes so far have earned this much time.
            let earned = began + self.idle + Duration::from_secs(self.bytes.len() as u64 / self.rate);
            let deadline = end.min(earned).min(Instant::now() + self.idle);
            let Some(turn) = turn else {
                self.piece(deadline).await?;
                continue;
            };
            turn.received(self.bytes.len());
            tokio::select! {
                outcome = self.piece(deadline) => outcome?,
                problem = turn.lost() => return Err(problem),
            }
        }
        if let Some(turn) = turn {
            turn.complete();
        }
        Ok(())
    }

    async fn piece(&mut self, deadline: Instant) -> Result<(), Problem> {
        let frame = match timeout_at(deadline, self.body.frame()).await {
            Ok(None) => {
                self.ended = true;
                return Ok(());
            }
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                let detail = format!("the body broke off after {} bytes", self.bytes.len());
                return Err(Problem::bad_request(detail));
            }
            Err(_) => {
                let detail = format!(
                    "{} bytes came before the time was up; send at least {} bytes per second",
                    self.bytes.len(),
                    self.rate
                );
                return Err(Problem::new(408, "TIMEOUT", "Body too slow", detail));
            }
        };
        let Ok(data) = frame.into_data() else { return Ok(()) };
        if data.len() > self.limit - self.bytes.len() {
            return Err(self.too_large(self.bytes.len() as u64 + data.len() as u64));
        }
        self.bytes.extend_from_slice(&data);
        Ok(())
    }

    fn too_large(&self, length: u64) -> Problem {
        Problem::too_large(format!(
            "the body has {length} bytes or more, this object has at most {}",
            self.limit
        ))
    }

    /// Refuses the request. Where the body is unwanted, a bounded part of it is still taken in, so that an honest client hears why.
    async fn refuse(self, headers: &HeaderMap, problem: Problem) -> Refusal {
        drop(self.bytes);
        match problem.status {
            413 | 429 => refuse(headers, self.body, problem).await,
            _ => problem.into(),
        }
    }
}

/// Refuses a request whose body is still to come, after taking in a bounded part of it: a client
/// that is still sending would otherwise see a broken connection instead of the answer.
pub async fn refuse(headers: &HeaderMap, body: Body, problem: impl Into<Refusal>) -> Refusal {
    drain(headers, body).await;
    problem.into()
}

/// Waits for what must be known before the body is read, and returns it with the body. If that fails, the request is refused as by
/// [`refuse`].
///
/// # Errors
/// Those of `known`.
pub async fn after<T>(
    known: impl Future<Output = Result<T, Refusal>>,
    headers: &HeaderMap,
    body: Body,
) -> Result<(T, Body), Refusal> {
    match known.await {
        Ok(known) => Ok((known, body)),
        Err(refusal) => Err(refuse(headers, body, refusal).await),
    }
}

/// Requires a body of plain bytes.
///
/// # Errors
/// The media type is another one.
pub fn require_octets(headers: &HeaderMap) -> Result<(), Problem> {
    require(headers, "application/octet-stream")
}

/// Requires a media type, parameters aside.
///
/// # Errors
/// The media type is another one.
pub fn require(headers: &HeaderMap, wanted: &str) -> Result<(), Problem> {
    let stated = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    let kind = stated.split(';').next().unwrap_or("").trim();
    if kind.eq_ignore_ascii_case(wanted) {
        return Ok(());
    }
    let shown: String = kind.chars().take(64).collect();
    Err(Problem::new(
        415,
        "UNSUPPORTED_MEDIA_TYPE",
        "Wrong media type",
        format!("the body is stated to be {shown:?}, this address takes {wanted}"),
    ))
}

/// The digest that the sender states for the body, if it does.
///
/// # Errors
/// It is not a digest.
pub fn stated_digest(headers: &HeaderMap) -> Result<Option<[u8; 32]>, Problem> {
    let Some(value) = headers.get(DIGEST) else { return Ok(None) };
    let mut digest = [0; 32];
    match value.to_str().ok().and_then(|text| unhex(text, &mut digest)) {
        Some(()) => Ok(Some(digest)),
        None => Err(Problem::bad_request(format!(
            "{DIGEST} is 64 lowercase hexadecimal digits, the BLAKE3 of the body"
        ))),
    }
}

fn stated_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

async fn drain(headers: &HeaderMap, mut body: Body) {
    if stated_length(headers).is_none_or(|length| length > DRAINED) {
        return;
    }
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(Duration::from_secs(10), all).await;
}
