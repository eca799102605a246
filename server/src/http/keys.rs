//! Routes under `/v1/keys`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};

use super::body;
use super::named_resource::Asked;
use super::respond::Refusal;
use super::{Http, blocking, openapi, parse_id};
use crate::problem::Problem;
use crate::service::Service;
use crate::service::access::{Act, Caller};
use crate::service::views::{Commit, Committed, KeysDocument, NewKeys};

/// Opens a key set for upload, or finds the one that is there.
#[utoipa::path(post, path = "/v1/keys", operation_id = "open_keys", tag = "keys", request_body = NewKeys, responses(
    (status = 201, description = "Opened; all pieces are missing", body = KeysDocument),
    (status = 200, description = "It was there; send what is missing", body = KeysDocument),
    (status = 409, description = "Other parameters than here", content_type = "application/problem+json", body = openapi::Problem),
    (status = 421, description = "Another front takes it, at the address in `url`", content_type = "application/problem+json", body = openapi::Problem),
    (status = 429, description = "As many key sets are open as an address or an API key may have; Retry-After says when to come back", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn open(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Arc<Caller>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let request: NewKeys = json(&http, &headers, body).await?;
    let (new, document) = blocking(&http, move |service| service.open_keys(&request, &caller)).await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(document)).into_response())
}

/// What is present of a key set.
#[utoipa::path(get, path = "/v1/keys/{id}", operation_id = "get_keys", tag = "keys", params(("id" = String, Path, description = "Key set")), responses(
    (status = 200, description = "What is present and what is missing", body = KeysDocument),
    (status = 404, description = "No such key set", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn get(asked: Asked) -> Result<Json<KeysDocument>, Refusal> {
    Ok(Json(asked.of(Service::keys).await?))
}

/// Whether a key set is complete.
#[utoipa::path(head, path = "/v1/keys/{id}", operation_id = "check_keys", tag = "keys", params(("id" = String, Path, description = "Key set")), responses(
    (status = 200, description = "Sealed"),
    (status = 206, description = "Pieces are missing or it is not committed; X-Refloat-Present: n/total"),
    (status = 404, description = "No such key set"),
))]
pub async fn head(asked: Asked) -> Result<Response, Refusal> {
    let document = asked.of(Service::keys).await?;
    let status = if document.state == "sealed" { StatusCode::OK } else { StatusCode::PARTIAL_CONTENT };
    Ok((status, [("x-refloat-present", format!("{}/{}", document.present, document.total))]).into_response())
}

/// Stores one piece. Pieces may come in any order, in parallel, and again.
#[utoipa::path(put, path = "/v1/keys/{id}/chunks/{index}", operation_id = "put_key_chunk", tag = "keys",
    params(("id" = String, Path, description = "Key set"), ("index" = usize, Path, description = "Piece, from 0"),
        ("refloat-digest" = Option<String>, Header, description = "BLAKE3 of the piece in hexadecimal, checked when it arrives")),
    request_body(content_type = "application/octet-stream", content = inline(openapi::Bytes), description = "The piece as the library writes it"),
    responses(
    (status = 204, description = "On disk"),
    (status = 409, description = "Stored with other bytes", content_type = "application/problem+json", body = openapi::Problem),
    (status = 422, description = "Does not conform", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn put_chunk(
    State(http): State<Arc<Http>>,
    Extension(caller): Extension<Arc<Caller>>,
    Path((id, index)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let place = async {
        body::require_octets(&headers)?;
        let id = parse_id(&id)?;
        let index: usize = index
            .parse()
            .map_err(|_| Problem::not_found("a piece of a key set is named by its index, a number from 0"))?;
        let asking = Arc::clone(&caller);
        let bytes = blocking(&http, move |service| service.part_bytes(id, index, &asking)).await?;
        let digest = body::stated_digest(&headers)?;
        Ok((id, index, bytes, digest))
    };
    let ((id, index, length, digest), body) = body::after(place, &headers, body).await?;
    let (bytes, turn) = body::receive(&http, &headers, body, length, caller.peer).await?;
    blocking(&http, move |service| service.put_part(id, index, &bytes, digest, &caller)).await?;
    drop(turn);
    Ok(StatusCode::NO_CONTENT)
}

/// Seals a complete key set, after which jobs can use it.
#[utoipa::path(post, path = "/v1/keys/{id}/commit", operation_id = "commit_keys", tag = "keys", params(("id" = String, Path, description = "Key set")),
    request_body(content = Option<Commit>), responses(
    (status = 200, description = "Sealed", body = Committed),
    (status = 409, description = "Pieces are missing, or the digest differs", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn commit(asked: Asked, headers: HeaderMap, body: Body) -> Result<Json<Committed>, Refusal> {
    let allowed = asked.of(|service, id, caller| service.keys_for(id, caller, Act::Change).map(drop));
    let ((), body) = body::after(allowed, &headers, body).await?;
    let bytes = body::document(&asked.http, &headers, body).await?;
    let request: Commit = if bytes.is_empty() { Commit::default() } else { parse(&bytes)? };
    let sealed =
        asked.of(move |service, id, caller| service.commit_keys(id, request.digest.as_deref(), caller));
    Ok(Json(sealed.await?))
}

/// Has a sealed key set loaded into memory ahead of the first job that uses it, so that the job need not wait. The keys may be dropped
/// from memory again when other keys need the room.
#[utoipa::path(post, path = "/v1/keys/{id}/wake", operation_id = "wake_keys", tag = "keys", params(("id" = String, Path, description = "Key set")), responses(
    (status = 202, description = "It is loaded, or will be"),
    (status = 409, description = "It is not sealed", content_type = "application/problem+json", body = openapi::Problem),
    (status = 507, description = "It fits into no memory", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn wake(asked: Asked) -> Result<StatusCode, Refusal> {
    asked.of(Service::wake_keys).await?;
    Ok(StatusCode::ACCEPTED)
}

/// Deletes a key set.
#[utoipa::path(delete, path = "/v1/keys/{id}", operation_id = "delete_keys", tag = "keys", params(("id" = String, Path, description = "Key set")), responses(
    (status = 204, description = "Gone"),
    (status = 409, description = "Jobs wait for it", content_type = "application/problem+json", body = openapi::Problem),
))]
pub async fn delete(asked: Asked) -> Result<StatusCode, Refusal> {
    asked.of(Service::delete_keys).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn json<T: serde::de::DeserializeOwned>(
    http: &Http,
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Refusal> {
    if let Err(problem) = body::require(headers, "application/json") {
        return Err(body::refuse(headers, body, problem).await);
    }
    Ok(parse(&body::document(http, headers, body).await?)?)
}

fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|error| Problem::bad_request(format!("the JSON body is not understood: {error}")))
}
