//! Routes under `/v1/jobs`, except the event stream.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use tokio_util::io::ReaderStream;

use super::body;
use super::named_resource::Asked;
use super::respond::Refusal;
use super::{Http, blocking, openapi};
use crate::blobs::Source;
use crate::engine::{BOOTSTRAP, Operation, SlotMode, one_round};
use crate::problem::Problem;
use crate::service::Service;
use crate::service::access::Caller;
use crate::service::jobs::Order;
use crate::service::views::JobDocument;

/// Bytes of a result in a file that are in memory at once.
const PIECE: usize = 64 << 10;

/// Query of `POST /v1/jobs`.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct JobQuery {
    /// The key set, sealed.
    key: String,
    /// Operations in order, comma-separated, of those that the set of the keys has (`operations` in `GET /v1/params`): of
    /// CKKS `square` and `bootstrap`, on some sets also `program`, by itself; of integers `square`, `multiply` and
    /// `bootstrap`, or `program` by itself; of DM/CGGI `circuit` or `lookup`. Default: `bootstrap`.
    #[serde(default = "bootstrap")]
    op: String,
    /// What the slots hold: `real`, `complex`, `bits` or `integers`. Default: what the parameter set says.
    mode: Option<SlotMode>,
    /// Rounds of META-BTS for each bootstrap of a CKKS ciphertext: 1 to 8, and no more than it takes to gain 60 bits. Each round beyond the
    /// first costs a bootstrap and adds the bits that a bootstrap promises in the worst slot, until the noise of the input is the limit.
    /// All rounds together take one level. Default: 1.
    #[serde(default = "one_round")]
    #[param(minimum = 1, maximum = 8)]
    rounds: u32,
}

/// Submits a ciphertext, or a circuit with its inputs, for evaluation.
#[utoipa::path(post, path = "/v1/jobs", operation_id = "submit_job", tag = "jobs",
    params(JobQuery, ("Idempotency-Key" = Option<String>, Header, description = "Repeating a request with the same key gives the same job"),
        ("refloat-digest" = Option<String>, Header, description = "BLAKE3 of the body in hexadecimal, checked when it arrives")),
    request_body(content_type = "application/octet-stream", content = inline(openapi::Bytes), description = "The ciphertext as the library writes it; where operations are `multiply`, those that it is multiplied by after it, in order. For `circuit`: the length of the netlist's text as 4 bytes, little-endian, the text in UTF-8, and the list of ciphertexts of its inputs as the library writes it. For `lookup` the same with the text of a table, such as `padded 8: 0 1 4 1 0 1 4 1`; encodings of its entries are `bit`, `padded N` and `cyclic N`. For `program`: 1 if bootstraps are to be put in where levels run out or else 0, the length of the program as 4 bytes, the program as `refloat::circuits::program` writes it, and the ciphertexts of its inputs one after the other; the result is those of its outputs"),
    responses(
    (status = 202, description = "Accepted", body = JobDocument, headers(("Location" = String, description = "The address of the job"))),
    (status = 409, description = "Key set not sealed, or Idempotency-Key used for another request", content_type = "application/problem+json", body = openapi::Problem),
    (status = 422, description = "Does not conform", content_type = "application/problem+json", body = openapi::Problem),
    (status = 429, description = "The queue is full, or too many bodies are being received; Retry-After says when to come back", content_type = "application/problem+json", body = openapi::Problem),
    (status = 503, description = "The server is stopping: running jobs end, and new ones are refused", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn submit(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Arc<Caller>>,
    query: Result<Query<JobQuery>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let plan = async {
        body::require_octets(&headers)?;
        let Query(query) = query.map_err(|error| Problem::bad_request(error.body_text()))?;
        let key = query.key.parse().map_err(|error| Problem::bad_request(format!("key: {error}")))?;
        let operations = Operation::parse_list(&query.op).map_err(Problem::from)?;
        let idempotency = idempotency_key(&headers)?;
        let digest = body::stated_digest(&headers)?;
        let (asking, asked) = (Arc::clone(&caller), operations.clone());
        let limit = blocking(&http, move |service| {
            let name = &service.job_set(key, &asking)?.name;
            service.engines.check_operations(name, &asked)?;
            Ok(service.engines.named(name)?.largest_input())
        })
        .await?;
        let JobQuery { mode, rounds, .. } = query;
        Ok((Order { key, operations, mode, rounds, idempotency, digest }, limit))
    };
    let ((order, limit), body) = body::after(plan, &headers, body).await?;
    let (bytes, turn) = body::receive(&http, &headers, body, limit, caller.peer).await?;
    let document = blocking(&http, move |service| service.submit(order, &bytes, &caller)).await?;
    drop(turn);
    let location = format!("/v1/jobs/{}", document.id);
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, location)], Json(document)).into_response())
}

/// Where a job stands.
#[utoipa::path(get, path = "/v1/jobs/{id}", operation_id = "get_job", tag = "jobs", params(("id" = String, Path, description = "Job")), responses(
    (status = 200, description = "Its state", body = JobDocument),
    (status = 404, description = "No such job", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn get(asked: Asked) -> Result<Json<JobDocument>, Refusal> {
    Ok(Json(asked.of(Service::job).await?))
}

/// Cancels a job.
#[utoipa::path(delete, path = "/v1/jobs/{id}", operation_id = "cancel_job", tag = "jobs", params(("id" = String, Path, description = "Job")), responses(
    (status = 202, description = "It runs and will stop shortly"),
    (status = 204, description = "It does not run: it waited, or had ended before"),
    (status = 404, description = "No such job", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn cancel(asked: Asked) -> Result<StatusCode, Refusal> {
    let running = asked.of(Service::cancel).await?;
    Ok(if running { StatusCode::ACCEPTED } else { StatusCode::NO_CONTENT })
}

/// The resulting ciphertext.
#[utoipa::path(get, path = "/v1/jobs/{id}/result", operation_id = "get_job_result", tag = "jobs", params(("id" = String, Path, description = "Job")), responses(
    (status = 200, description = "The ciphertext, or the list of ciphertexts of a circuit's outputs; ETag is its BLAKE3 digest", content_type = "application/octet-stream", body = inline(openapi::Bytes), headers(("ETag" = String, description = "BLAKE3 digest of the bytes, in hexadecimal and quoted"))),
    (status = 304, description = "The client has it"),
    (status = 409, description = "The job is not done", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn result(asked: Asked, method: Method, headers: HeaderMap) -> Result<Response, Refusal> {
    let turn = asked.http.downloads.try_take(asked.caller.peer).map_err(|full| full.problem("downloads"))?;
    let (digest, length) = asked.of(Service::stated_result).await?;
    let tag = format!("\"{digest}\"");
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return Ok((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream".to_owned()),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::ETAG, tag),
        (HeaderName::from_static(body::DIGEST), digest),
    ];
    if method == Method::HEAD {
        return Ok(headers.into_response());
    }
    let body = match asked.of(Service::result).await? {
        Source::File(file) => {
            Body::from_stream(ReaderStream::with_capacity(tokio::fs::File::from_std(file), PIECE))
        }
        Source::Bytes(bytes) => Body::from(bytes),
    };
    Ok((headers, Extension(Arc::new(turn)), body).into_response())
}

fn bootstrap() -> String {
    BOOTSTRAP.to_owned()
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let text = value.to_str().ok().filter(|text| (1..=128).contains(&text.len()));
    text.map(|text| Some(text.to_owned()))
        .ok_or_else(|| Problem::bad_request("an Idempotency-Key is 1 to 128 visible characters"))
}
