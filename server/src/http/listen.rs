//! Connections: bounded in number, in all and for one peer, and closed when nothing moves on them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::Layer;

use super::progress::{Patience, Progress, Socket};
use super::turns::{Slot, Slots};
use crate::config::Config;
use crate::service::Service;
use crate::service::access::Peer;

/// Connections beyond the bound that are still taken, for health checks.
pub const RESERVED: usize = 16;

/// Connections to the operators' listener.
pub const OPERATORS: usize = 16;

/// Time that a connection beyond the bound has for its request.
const RESERVED_PATIENCE: Duration = Duration::from_secs(2);

/// Streams of an HTTP/2 connection that may be open at once.
const STREAMS: u32 = 16;

/// Connections that may be open at once.
pub struct Doors {
    open: Arc<Slots>,
    /// Connections beyond those, for health checks.
    reserve: Arc<Slots>,
}

impl Doors {
    /// `total` connections, of which a peer has at most `per_peer`.
    pub fn new(total: usize, per_peer: usize) -> Self {
        Self { open: Slots::new(total, per_peer), reserve: Slots::new(RESERVED, RESERVED) }
    }
}

/// The connection that brought a request.
#[derive(Clone)]
pub struct Connection {
    /// Who is at its other end.
    pub address: SocketAddr,
    /// Whether it still moves.
    pub progress: Arc<Progress>,
    /// Whether it is beyond the bound, and for health checks only.
    pub reserved: bool,
}

/// Accepts connections until `stop` becomes true, and then waits for open requests to end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    service: Arc<Service>,
    doors: &Doors,
    mut stop: watch::Receiver<bool>,
) {
    let config = &service.config;
    let limits = &config.limits;
    let graceful = GracefulShutdown::new();
    let builder = builder(config);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok((socket, address)) = accepted else {
            // Out of file descriptors, most likely: wait for connections to close.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let peer = Peer::from(address.ip());
        let trusted = config.server.trusted_proxies.contains(&address.ip().to_canonical());
        let mut patience = Patience::new(limits);
        // A proxy stands for all its clients.
        let taken = if trusted { doors.open.try_take_for_many(peer) } else { doors.open.try_take(peer) };
        let reserved = taken.is_err();
        let Ok(slot) = taken.or_else(|_| doors.reserve.try_take(peer)) else {
            service.metrics.traffic.closed("too_many");
            continue;
        };
        if reserved {
            patience.quiet = patience.quiet.min(RESERVED_PATIENCE);
        }
        let progress = Progress::new(patience);
        let connection = Connection { address, progress, reserved };
        attend(socket, connection, slot, &builder, &router, &graceful, &service);
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Answers the requests of a connection, in a task of its own, for as long as it moves.
fn attend(
    socket: TcpStream,
    connection: Connection,
    slot: Slot,
    builder: &auto::Builder<TokioExecutor>,
    router: &Router,
    graceful: &GracefulShutdown,
    service: &Arc<Service>,
) {
    let _ = socket.set_nodelay(true);
    let progress = Arc::clone(&connection.progress);
    let io = TokioIo::new(Socket::new(socket, Arc::clone(&progress)));
    let router = TowerToHyperService::new(Extension(connection).layer(router.clone()));
    let answering = graceful.watch(builder.serve_connection(io, router).into_owned());
    let service = Arc::clone(service);
    tokio::spawn(async move {
        let _open = service.metrics.traffic.connection();
        let mut answering = std::pin::pin!(answering);
        let mut look = tokio::time::interval(Duration::from_millis(100));
        loop {
            tokio::select! {
                outcome = answering.as_mut() => {
                    if let Err(error) = outcome {
                        tracing::debug!(error, "connection ended");
                    }
                    break;
                }
                _ = look.tick() => if let Some(why) = progress.verdict() {
                    service.metrics.traffic.closed(why);
                    tracing::debug!(why, "connection closed");
                    break;
                }
            }
        }
        drop(slot);
    });
}

fn builder(config: &Config) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(config.limits.header_seconds))
        .max_buf_size(64 << 10);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(16 << 10)
        .max_send_buf_size(64 << 10)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(1 << 20)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(config.limits.header_seconds.max(1)));
    builder
}
