//! The HTTP surface: routes, documents and problems, over [`Service`].

pub mod body;
pub mod caller;
pub mod files;
pub mod guard;
pub mod jobs;
pub mod key_sets;
pub mod keys;
pub mod listen;
pub mod meta;
pub mod named_resource;
pub mod openapi;
pub mod progress;
pub mod record;
pub mod respond;
pub mod stream;
pub mod turns;
pub mod upload_turns;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post, put};
use tokio::sync::watch;

use crate::config::MetricsListen;
use crate::problem::Problem;
use crate::service::Service;
use listen::{Doors, OPERATORS};
use meta::Shared;
use respond::Refusal;
use turns::Slots;
use upload_turns::Uploads;

/// What handlers share.
pub struct Http {
    /// The service behind them.
    pub service: Arc<Service>,
    /// Bodies that may be received at once.
    pub uploads: Uploads,
    /// Results that may be sent at once.
    pub downloads: Arc<Slots>,
    /// Files of the demo that may be sent at once.
    pub files: Arc<Slots>,
    /// Event streams that may be open at once.
    pub streams: Arc<Slots>,
    /// Connections that may be open at once.
    pub doors: Doors,
    /// Connections to the operators' listener that may be open at once.
    pub operators: Doors,
    /// Answers that many requests get.
    pub shared: Shared,
    /// Becomes true when the server takes no more connections.
    pub stop: watch::Receiver<bool>,
}

/// What handlers share, for a service.
pub fn share(service: &Arc<Service>, stop: watch::Receiver<bool>) -> Arc<Http> {
    let limits = &service.config.limits;
    Arc::new(Http {
        uploads: Uploads::new(limits.max_uploads, limits.max_uploads_per_peer, limits.min_bytes_per_second),
        downloads: Slots::new(limits.max_downloads, limits.max_downloads_per_peer),
        files: Slots::new(limits.max_downloads, limits.max_downloads_per_peer),
        streams: Slots::new(limits.max_event_streams, limits.max_event_streams_per_peer),
        doors: Doors::new(limits.max_connections, limits.max_connections_per_peer),
        operators: Doors::new(OPERATORS, OPERATORS),
        shared: Shared::default(),
        service: Arc::clone(service),
        stop,
    })
}

/// The routes for operators, on a listener of their own.
pub fn operator_router(http: &Arc<Http>) -> Router {
    health()
        .route("/metrics", get(meta::metrics))
        .merge(key_sets::routes())
        .fallback(unknown_to_operators)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(axum::middleware::from_fn_with_state(Arc::clone(http), guard::guard))
        .with_state(Arc::clone(http))
}

fn health() -> Router<Arc<Http>> {
    Router::new().route("/healthz", get(meta::healthz)).route("/readyz", get(meta::readyz))
}

/// All routes for everybody.
pub fn router(http: &Arc<Http>) -> Router {
    let config = &http.service.config;
    let open = match config.server.metrics_listen {
        MetricsListen::Public => health().route("/metrics", get(meta::metrics)),
        _ => health(),
    };
    open.merge(key_sets::elsewhere())
        .route("/v1/params", get(meta::params))
        .route("/v1/shards", get(meta::shards))
        .route("/v1/keys", post(keys::open))
        .route("/v1/keys/{id}", get(keys::get).head(keys::head).delete(keys::delete))
        .route("/v1/keys/{id}/chunks/{index}", put(keys::put_chunk))
        .route("/v1/keys/{id}/commit", post(keys::commit))
        .route("/v1/keys/{id}/wake", post(keys::wake))
        .route("/v1/jobs", post(jobs::submit))
        .route("/v1/jobs/{id}", get(jobs::get).delete(jobs::cancel))
        .route("/v1/jobs/{id}/events", get(stream::events))
        .route("/v1/jobs/{id}/result", get(jobs::result))
        .route("/v1/{*rest}", axum::routing::any(unknown))
        .route("/version", get(meta::version))
        .route("/openapi.json", get(meta::openapi))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback_service(files::service(http))
        .layer(guard::cors(&config.server))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(http), guard::guard))
        .with_state(Arc::clone(http))
}

async fn unknown(uri: axum::http::Uri) -> Refusal {
    let path: String = uri.path().chars().take(200).collect();
    Problem::not_found(format!("there is nothing at {path}; /openapi.json lists the addresses")).into()
}

async fn unknown_to_operators(uri: axum::http::Uri) -> Refusal {
    let path: String = uri.path().chars().take(200).collect();
    Problem::not_found(format!(
        "there is nothing at {path}: this is the operators' address, server.metrics_listen; clients call that of server.listen"
    ))
    .into()
}

async fn method_not_allowed(method: axum::http::Method, uri: axum::http::Uri) -> Refusal {
    let path: String = uri.path().chars().take(200).collect();
    Problem::new(
        405,
        "METHOD_NOT_ALLOWED",
        "Method not allowed",
        format!("{path} does not take {method}; see /openapi.json"),
    )
    .into()
}

/// Runs work that waits for the disk or computes, away from the threads that answer requests.
async fn blocking<T: Send + 'static>(
    http: &Arc<Http>,
    work: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refusal> {
    let service = Arc::clone(&http.service);
    let span = tracing::Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(|| work(&service))).await {
        Ok(outcome) => outcome.map_err(Refusal::from),
        Err(error) => Err(Problem::internal(&error).into()),
    }
}

/// An identifier from an address. Anything other than 32 hexadecimal digits names nothing.
fn parse_id(text: &str) -> Result<crate::id::Id, Refusal> {
    text.parse().map_err(|error: crate::id::BadId| Problem::not_found(error.to_string()).into())
}
