//! Routes about the server itself.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::respond::Refusal;
use super::{Http, blocking, openapi as document};
use crate::problem::Problem;
use crate::service::metrics as service_metrics;
use crate::service::shards::ShardsDocument;
use crate::service::views::{ParamsDocument, VersionDocument};

/// Media type of counters.
pub const METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Query of `GET /v1/params`.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct ParamsQuery {
    /// `1` to list the pieces of key sets too.
    parts: u8,
}

/// Documents that many requests get: equal ones are the same bytes in memory, however many are under way.
#[derive(Default)]
pub struct Shared {
    params: Mutex<Bytes>,
    params_with_parts: Mutex<Bytes>,
    openapi: Mutex<Bytes>,
}

fn shared(kept: &Mutex<Bytes>, document: &impl Serialize) -> Result<Response, Refusal> {
    let text = serde_json::to_vec(document).map_err(|error| Problem::internal(&error))?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if *kept != text {
        *kept = text.into();
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], kept.clone()).into_response())
}

/// The parameter sets this server offers.
#[utoipa::path(get, path = "/v1/params", tag = "server", params(ParamsQuery), responses((status = 200, description = "Parameter sets and limits", body = ParamsDocument)))]
pub async fn params(
    State(http): State<Arc<Http>>,
    query: Result<Query<ParamsQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Response, Refusal> {
    let Query(query) = query.map_err(|error| Problem::bad_request(error.body_text()))?;
    let parts = query.parts != 0;
    let kept = if parts { &http.shared.params_with_parts } else { &http.shared.params };
    shared(kept, &http.service.params(parts))
}

/// Query of `GET /v1/shards`.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct ShardsQuery {
    /// Identifier of a key set, to be told which front it is for.
    key: Option<String>,
}

/// The fronts that divide key sets among themselves.
#[utoipa::path(get, path = "/v1/shards", tag = "server", params(ShardsQuery), responses((status = 200, description = "Fronts, and the one that the key set is for", body = ShardsDocument)))]
pub async fn shards(
    State(http): State<Arc<Http>>,
    query: Result<Query<ShardsQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<ShardsDocument>, Refusal> {
    let Query(query) = query.map_err(|error| Problem::bad_request(error.body_text()))?;
    let key = query.key.map(|key| key.parse()).transpose();
    let key = key.map_err(|error: crate::id::BadId| Problem::bad_request(format!("key: {error}")))?;
    Ok(Json(blocking(&http, move |service| service.shards(key)).await?))
}

/// Whether the process answers.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "The process answers", body = String)))]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the server is ready for jobs: it is not stopping, and its data folder can be written to and has `storage.min_free_bytes` left.
/// A server that is not ready still accepts what it has room for.
#[utoipa::path(get, path = "/readyz", tag = "server", responses(
    (status = 200, description = "It is ready", body = String),
    (status = 503, description = "It is not", content_type = "application/problem+json", body = document::Problem),
))]
pub async fn readyz(State(http): State<Arc<Http>>) -> Result<&'static str, Refusal> {
    blocking(&http, crate::service::Service::ready).await?;
    Ok("ready\n")
}

/// Counters in the Prometheus text format.
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "All counters", content_type = "application/openmetrics-text", body = String),
    (status = 404, description = "They are not served here: server.metrics_listen says where", content_type = "application/problem+json", body = document::Problem)))]
pub async fn metrics(State(http): State<Arc<Http>>) -> Result<Response, Refusal> {
    let text = blocking(&http, |service| Ok(service_metrics::render(service)?)).await?;
    Ok(([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response())
}

/// Name and version of the server.
#[utoipa::path(get, path = "/version", tag = "server", responses((status = 200, description = "Name and version", body = VersionDocument)))]
pub async fn version() -> Json<VersionDocument> {
    Json(VersionDocument {
        name: "refloat".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: refloat::about().backend_u32.to_owned(),
    })
}

/// This description.
#[utoipa::path(get, path = "/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI document", content_type = "application/json", body = Object)))]
pub async fn openapi(State(http): State<Arc<Http>>) -> Result<Response, Refusal> {
    shared(&http.shared.openapi, &document::document())
}
