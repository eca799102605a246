//! What a worker answers over HTTP: whether it is well, and counters for operators.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::worker::Condition;
use crate::config::{Config, MetricsListen};
use crate::http::meta::METRICS_TYPE;
use crate::http::respond::Refusal;
use crate::problem::Problem;
use crate::server::{Listener, StartError, bind};

/// Connections at once.
const CONNECTIONS: usize = 16;

/// Time that a connection has for its requests.
const PATIENCE: Duration = Duration::from_secs(10);

/// The listener of a worker and its address, if `server.metrics_listen` asks for one.
///
/// # Errors
/// The address cannot be had, or other hosts could reach it and the configuration does not say that this is meant.
pub async fn listen(config: &Config) -> Result<Option<(TcpListener, SocketAddr)>, StartError> {
    match config.server.metrics_listen {
        MetricsListen::At(address) => bind(Listener::Operators, address, config).await.map(Some),
        _ => Ok(None),
    }
}

/// Answers `/healthz`, `/readyz` and `/metrics`, for ever.
pub async fn serve(listener: TcpListener, condition: Condition) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(condition);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let open = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&open).acquire_owned().await else { return };
        let Ok((socket, _)) = listener.accept().await else {
            // Out of file descriptors, most likely.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let answering = builder.serve_connection(TokioIo::new(socket), service).into_owned();
        tokio::spawn(async move {
            let _ = tokio::time::timeout(PATIENCE, answering).await;
            drop(permit);
        });
    }
}

async fn ready(State(condition): State<Condition>) -> Result<&'static str, Refusal> {
    aside(move || condition.ready()).await?;
    Ok("ready\n")
}

async fn metrics(State(condition): State<Condition>) -> Result<Response, Refusal> {
    let text = aside(move || condition.metrics()).await?;
    Ok(([(header::CONTENT_TYPE, METRICS_TYPE)], text).into_response())
}

/// Does something that may wait for a disk, away from the threads that answer.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.unwrap_or_else(|error| Err(Problem::internal(&error)))?)
}
