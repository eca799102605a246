//! Bodies: bounded before they are read, never decompressed, given up when they trickle.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::Http;
use super::respond::Refusal;
use super::slots::Slot;
use crate::config::LimitsSection;
use crate::id::unhex;
use crate::problem::Problem;
use crate::service::access::Peer;

/// Header with the BLAKE3 of a body in hexadecimal.
pub const DIGEST: &str = "refloat-digest";

/// How much of an unwanted body is read so that the client gets to see the answer.
const DRAINED: u64 = 16 << 20;

/// How long a body may have to wait for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// A turn to send a body: bounds the memory that bodies take together.
pub async fn turn(http: &Http, peer: Peer) -> Result<Slot, Problem> {
    http.uploads.take(peer, PATIENCE).await.map_err(|full| full.problem("uploads"))
}

/// Reads a body of at most `limit` bytes into memory.
///
/// # Errors
/// It is too long, too slow, or breaks off.
pub async fn read(
    headers: &HeaderMap,
    body: Body,
    limit: usize,
    limits: &LimitsSection,
) -> Result<Vec<u8>, Problem> {
    if let Some(length) = stated_length(headers)
        && length > limit as u64
    {
        let problem = too_large(length, limit);
        drain(headers, body).await;
        return Err(problem);
    }
    let idle = Duration::from_secs(limits.idle_seconds);
    let rate = limits.min_bytes_per_second.max(1);
    let began = Instant::now();
    let end = began + idle + Duration::from_secs(stated_length(headers).unwrap_or(limit as u64) / rate);
    let mut bytes = Vec::new();
    let mut body = body;
    loop {
        // The average counts from the beginning: what has come bought this much time.
        let earned = began + idle + Duration::from_secs(bytes.len() as u64 / rate);
        let deadline = end.min(earned).min(Instant::now() + idle);
        let frame = match timeout_at(deadline, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) => {
                return Err(Problem::bad_request(format!("the body broke off after {} bytes", bytes.len())));
            }
            Err(_) => {
                return Err(Problem::new(
                    408,
                    "TIMEOUT",
                    "Body too slow",
                    format!(
                        "{} bytes came before the time was up; send at least {} bytes per second",
                        bytes.len(),
                        limits.min_bytes_per_second
                    ),
                ));
            }
        };
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > limit - bytes.len() {
            return Err(too_large(bytes.len() as u64 + data.len() as u64, limit));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Refuses a request whose body is still to come, after taking in a bounded part of it: a client
/// that is still sending would otherwise see a broken connection instead of the answer.
pub async fn refuse(headers: &HeaderMap, body: Body, problem: impl Into<Refusal>) -> Refusal {
    drain(headers, body).await;
    problem.into()
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
/// It is no digest.
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

fn too_large(length: u64, limit: usize) -> Problem {
    Problem::too_large(format!("the body has {length} bytes or more, this object has at most {limit}"))
}

async fn drain(headers: &HeaderMap, mut body: Body) {
    if stated_length(headers).is_none_or(|length| length > DRAINED) {
        return;
    }
    let all = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(Duration::from_secs(10), all).await;
}
