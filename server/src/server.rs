//! A running server: storage, worker, housekeeping and HTTP, started and stopped together.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::config::{Config, ConfigError, LimitsSection, MetricsListen, Role};
use crate::engines::Engines;
use crate::http;
use crate::http::listen::{Doors, OPERATORS, RESERVED};
use crate::service::live::Stop;
use crate::service::{Service, worker};
use crate::store::{StoreError, jobs};
use crate::system;

/// How often things that have outlived their time are removed.
const TIDY: Duration = Duration::from_mins(1);

/// How often the disk and the store are checked if nobody asks.
const PROBE: Duration = Duration::from_secs(30);

/// How often keys that no job uses are looked for in memory.
const RELEASE: Duration = Duration::from_secs(1);

/// How long a server that stops goes on answering once its last job has ended, for clients to learn of that and fetch the result.
const FETCH: Duration = Duration::from_secs(5);

/// Least time for open requests to end, if jobs took all that there was.
const CLOSE: Duration = Duration::from_secs(1);

/// A server that answers requests until it is stopped.
pub struct Server {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    listeners: Vec<JoinHandle<()>>,
    worker: std::thread::JoinHandle<()>,
    housekeeping: [JoinHandle<()>; 3],
}

/// Which listener is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// The clients' listener: `server.listen`.
    Clients,
    /// The operators' listener: `server.metrics_listen`.
    Operators,
}

/// The server cannot start.
#[derive(Debug)]
pub enum StartError {
    /// The address is reachable from other hosts, and the configuration does not say that this is meant.
    Exposed(Listener, SocketAddr),
    /// A setting makes no sense.
    Config(ConfigError),
    /// The address cannot be used.
    Listen(Listener, SocketAddr, std::io::Error),
    /// The data folder cannot be used.
    Store(StoreError),
    /// The operating system refuses.
    System(std::io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exposed(Listener::Operators, address) => write!(
                f,
                "server.metrics_listen = {address} can be reached from other machines, without transport encryption; set it to \
                 127.0.0.1:{}, or set server.insecure_listen = true if that is meant, for server.listen too",
                address.port()
            ),
            Self::Exposed(Listener::Clients, address) => write!(
                f,
                "{address} can be reached from other machines and this server has no transport encryption; \
                 listen on 127.0.0.1 behind a proxy that has, or add --insecure-listen"
            ),
            Self::Config(error) => error.fmt(f),
            Self::Listen(Listener::Operators, address, error) => write!(
                f,
                "cannot listen on {address} for operators: {error}; choose a free address for server.metrics_listen, other than that of server.listen"
            ),
            Self::Listen(Listener::Clients, address, error) => {
                write!(f, "cannot listen on {address}: {error}; choose another address with --listen")
            }
            Self::Store(error) => error.fmt(f),
            Self::System(error) => write!(f, "cannot start: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl Server {
    /// Opens the data folder and starts to answer requests.
    ///
    /// # Errors
    /// The address or the data folder cannot be used.
    pub async fn start(mut config: Config, engines: Engines) -> Result<Self, StartError> {
        config.check().map_err(StartError::Config)?;
        let (listener, address) = bind(Listener::Clients, config.server.listen, &config).await?;
        let (operators, metrics_address) = match config.server.metrics_listen {
            MetricsListen::At(address) => {
                let (listener, address) = bind(Listener::Operators, address, &config).await?;
                (Some(listener), Some(address))
            }
            _ => (None, None),
        };
        fit(&mut config.limits);
        system::signals::survive_file_size_limit().map_err(StartError::System)?;
        let (service, worker, pool) = match config.cluster.role {
            Role::Front => {
                let service = Arc::new(Service::open_beside(config, engines).map_err(StartError::Store)?);
                let front = start_front(&service).await.map_err(StartError::System)?;
                (service, front, None)
            }
            Role::Worker => return Err(StartError::Config(ConfigError(
                "cluster.role = \"worker\": a worker answers no requests; cluster::worker::Worker starts one"
                    .to_owned(),
            ))),
            Role::All => {
                let service = Arc::new(Service::open(config, engines).map_err(StartError::Store)?);
                let pool = worker::pool(&service.config).map_err(StartError::System)?;
                let worker =
                    worker::start(Arc::clone(&service), Arc::clone(&pool)).map_err(StartError::System)?;
                (service, worker, Some(pool))
            }
        };
        let (stop, stopped) = watch::channel(false);
        let http = http::share(&service, stopped.clone());
        let serve = |listener, router, doors: fn(&http::Http) -> &Doors| {
            let (http, stopped) = (Arc::clone(&http), stopped.clone());
            tokio::spawn(async move {
                http::listen::serve(listener, router, Arc::clone(&http.service), doors(&http), stopped).await;
            })
        };
        let mut listeners = vec![serve(listener, http::router(&http), |http| &http.doors)];
        if let Some(listener) = operators {
            listeners.push(serve(listener, http::operator_router(&http), |http| &http.operators));
        }
        let housekeeping = [
            // The store has logged why it fails.
            every(TIDY, &service, &stopped, |service| drop(service.tidy())),
            every(PROBE, &service, &stopped, |service| drop(service.ready())),
            every(RELEASE, &service, &stopped, move |service| {
                if let Some(pool) = &pool {
                    worker::release_idle(&service.cache, &service.config.compute, pool);
                }
            }),
        ];
        Ok(Self { address, metrics_address, service, stop, listeners, worker, housekeeping })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it serves its counters, if on a listener of its own.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The service behind it, for programs that embed the server.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// Stops: takes no more jobs, and says so, but goes on answering requests until the running job has ended, and a moment longer, so
    /// that its client gets the result. After the configured time the job is put back into the queue instead. Then no more connections
    /// are taken, and open requests get what is left of the time.
    pub async fn stop(self) {
        self.service.stop();
        let patience = Duration::from_secs(self.service.config.server.shutdown_seconds);
        let deadline = Instant::now() + patience;
        let drains = self.has_jobs_to_end();
        if drains {
            tracing::info!(
                seconds = patience.as_secs(),
                "a job runs, and gets this long to end; new ones are refused"
            );
        }
        let service = Arc::clone(&self.service);
        let worker = tokio::task::spawn_blocking(move || {
            worker::join(vec![self.worker], patience, || service.live.stop_all(Stop::ShuttingDown));
        });
        let _ = worker.await;
        if drains {
            sleep_until(deadline.min(Instant::now() + FETCH)).await;
        }
        let _ = self.stop.send(true);
        let closed = async {
            for listener in self.listeners {
                let _ = listener.await;
            }
        };
        if timeout_at(deadline.max(Instant::now() + CLOSE.min(patience)), closed).await.is_err() {
            tracing::warn!("some requests did not end in time");
        }
        let [tidy, probe, release] = self.housekeeping;
        let _ = tokio::join!(tidy, probe, release);
    }

    /// Whether a job runs that would end with this process. The jobs of a front go on without it.
    fn has_jobs_to_end(&self) -> bool {
        let is_alone = self.service.config.cluster.role == Role::All;
        // A table that does not answer is no reason to stop earlier.
        is_alone && jobs::running(&self.service.store).map_or(true, |running| !running.is_empty())
    }
}

/// Starts to hand jobs out to workers.
#[cfg(feature = "cluster")]
async fn start_front(service: &Arc<Service>) -> std::io::Result<std::thread::JoinHandle<()>> {
    let service = Arc::clone(service);
    tokio::task::spawn_blocking(move || crate::cluster::front::start(service))
        .await
        .map_err(std::io::Error::other)?
}

#[cfg(not(feature = "cluster"))]
#[expect(clippy::unused_async, reason = "as with the feature")]
async fn start_front(_: &Arc<Service>) -> std::io::Result<std::thread::JoinHandle<()>> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Listens on an address, unless others could reach it and the configuration does not say that this is meant.
pub(crate) async fn bind(
    who: Listener,
    address: SocketAddr,
    config: &Config,
) -> Result<(TcpListener, SocketAddr), StartError> {
    if !address.ip().is_loopback() && !config.server.insecure_listen {
        return Err(StartError::Exposed(who, address));
    }
    let listener =
        TcpListener::bind(address).await.map_err(|error| StartError::Listen(who, address, error))?;
    let address = listener.local_addr().map_err(StartError::System)?;
    Ok((listener, address))
}

/// Open files kept back for keys, jobs and their table.
const RESERVED_FILES: usize = 128;

/// Lowers the limits on connections and downloads if the system allows this process fewer open files.
fn fit(limits: &mut LimitsSection) {
    if let Some(files) = system::limits::open_files() {
        let (connections, downloads) = fitting(files, limits.max_connections, limits.max_downloads);
        if (connections, downloads) != (limits.max_connections, limits.max_downloads) {
            tracing::warn!(
                connections,
                limits.max_connections,
                downloads,
                limits.max_downloads,
                "the system allows this process too few open files (ulimit -n) for limits.max_connections and limits.max_downloads"
            );
        }
        (limits.max_connections, limits.max_downloads) = (connections, downloads);
    }
}

/// Connections and downloads that `files` open files allow. A connection takes one; a download takes two, because as many files of the demo
/// may be sent at once.
fn fitting(files: usize, connections: usize, downloads: usize) -> (usize, usize) {
    let room = files.saturating_sub(RESERVED_FILES + RESERVED + OPERATORS);
    let downloads = downloads.min(room / 8).max(1);
    (connections.min(room.saturating_sub(2 * downloads)).max(1), downloads)
}

/// Does `work` again after every `pause`, on a thread that may wait, until the server stops.
fn every(
    pause: Duration,
    service: &Arc<Service>,
    stop: &watch::Receiver<bool>,
    work: impl Fn(&Service) + Send + Sync + 'static,
) -> JoinHandle<()> {
    let (service, mut stop, work) = (Arc::clone(service), stop.clone(), Arc::new(work));
    tokio::spawn(async move {
        loop {
            let (service, work) = (Arc::clone(&service), Arc::clone(&work));
            if let Err(error) = tokio::task::spawn_blocking(move || work(&service)).await {
                tracing::error!(%error, "housekeeping failed");
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_be_had_is_named_by_its_setting() {
        let address: SocketAddr = ([0, 0, 0, 0], 9090).into();
        let taken = |who| StartError::Listen(who, address, std::io::ErrorKind::AddrInUse.into()).to_string();
        let exposed = |who| StartError::Exposed(who, address).to_string();
        for message in [taken(Listener::Operators), exposed(Listener::Operators)] {
            assert!(message.contains("server.metrics_listen") && !message.contains("--"), "{message}");
        }
        assert!(taken(Listener::Clients).contains("--listen"));
        assert!(exposed(Listener::Clients).contains("--insecure-listen"));
    }

    #[test]
    fn open_files_are_shared_out() {
        assert_eq!(fitting(8192, 1024, 64), (1024, 64));
        assert_eq!(fitting(1024, 1024, 64), (736, 64));
        assert_eq!(fitting(256, 1024, 64), (72, 12));
        assert_eq!(fitting(64, 1024, 64), (1, 1));
        for files in 170..2048 {
            let (connections, downloads) = fitting(files, usize::MAX, 64);
            assert!(connections + 2 * downloads + RESERVED_FILES + RESERVED + OPERATORS <= files);
        }
    }
}
