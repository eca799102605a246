//! Connections: bounded in number, and given up when their header does not come.

use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tower::Layer;

use crate::config::Config;

/// Accepts connections until `stop` becomes true, then lets open requests end for at most the
/// configured time.
pub async fn serve(listener: TcpListener, router: Router, config: &Config, mut stop: watch::Receiver<bool>) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(config.limits.header_seconds))
        .max_buf_size(64 << 10);
    let connections = Arc::new(Semaphore::new(config.limits.max_connections));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = async {
                let permit = Arc::clone(&connections).acquire_owned().await;
                (permit, listener.accept().await)
            } => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (Ok(permit), Ok((socket, peer))) = accepted else {
            // Out of file descriptors, most likely: wait for connections to close.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let _ = socket.set_nodelay(true);
        let service = TowerToHyperService::new(Extension(peer).layer(router.clone()));
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(socket), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection ended");
            }
            drop(permit);
        });
    }
    drop(listener);
    let patience = Duration::from_secs(config.server.shutdown_seconds);
    if tokio::time::timeout(patience, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time");
    }
}
