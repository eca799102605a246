//! A worker: runs jobs that fronts hand out, with keys and inputs from a folder that it shares with them.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use rayon::ThreadPool;

use super::settings;
use crate::blobs::{Blobs, FileBlobs};
use crate::config::Config;
use crate::dispatch::nats::Nats;
use crate::dispatch::{Dispatch, News, Sign};
use crate::engines::Engines;
use crate::service::cache::{self, KeyCache};
use crate::service::journal::{Desk, Journal};
use crate::service::live::Stop;
use crate::service::runner::Runner;
use crate::service::worker::{pool, release_idle, turn};
use crate::store::StoreError;
use crate::work::Work;

/// Pause after NATS has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// A worker that takes jobs until it is stopped.
pub struct Worker {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    patience: Duration,
}

struct Shared {
    config: Config,
    engines: Engines,
    cache: KeyCache,
    pool: Arc<ThreadPool>,
    blobs: Arc<dyn Blobs>,
    nats: Nats,
    ending: AtomicU8,
}

/// How far the end of a worker has come.
mod ending {
    pub const NO: u8 = 0;
    /// It takes no more jobs.
    pub const NO_MORE: u8 = 1;
    /// The one it has is given back.
    pub const NOW: u8 = 2;
}

impl Worker {
    /// Starts to take jobs. Not to be called where asynchronous code runs.
    ///
    /// # Errors
    /// The configuration makes no sense, the folder is no front's, the address of NATS cannot be used, or the system gives no threads.
    pub fn start(config: Config, engines: Engines) -> io::Result<Self> {
        config.check().map_err(io::Error::other)?;
        check_folder(&config.storage.data)?;
        let shared = Arc::new(Shared {
            cache: KeyCache::new(cache::budget(config.compute.key_cache_bytes)),
            pool: pool(&config)?,
            blobs: Arc::new(FileBlobs::new(&config.storage.data)),
            nats: Nats::connect(settings(&config.cluster, "worker"))?.with_worker(),
            ending: AtomicU8::new(ending::NO),
            config,
            engines,
        });
        let patience = Duration::from_secs(shared.config.server.shutdown_seconds);
        let run = Arc::clone(&shared);
        let thread = Builder::new().name("worker".into()).spawn(move || run.run())?;
        Ok(Self { shared, thread, patience })
    }

    /// Takes no more jobs, lets the one that runs end for the configured time, and then gives it back.
    pub fn stop(self) {
        self.shared.ending.store(ending::NO_MORE, Ordering::Relaxed);
        self.shared.nats.leave();
        let deadline = Instant::now() + self.patience;
        while !self.thread.is_finished() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.shared.ending.store(ending::NOW, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

impl Shared {
    fn run(&self) {
        let runner =
            Runner { engines: &self.engines, cache: &self.cache, pool: &self.pool, blobs: &self.blobs };
        while self.ending.load(Ordering::Relaxed) == ending::NO {
            let taken =
                turn(&runner, &self.nats, |work| Journal::new(Away { shared: self, work: work.clone() }));
            match taken {
                Ok(_) => release_idle(&self.cache, &self.config.compute, &self.pool),
                Err(error) => {
                    tracing::warn!(%error, "no jobs for the moment");
                    std::thread::sleep(PAUSE);
                }
            }
        }
        // What came of the last one is worth another try or two: else it is run again.
        while self.nats.report_unsaid().is_err() && self.ending.load(Ordering::Relaxed) != ending::NOW {
            std::thread::sleep(PAUSE);
        }
    }
}

/// A folder without these was never a front's, or its disk is not there.
fn check_folder(folder: &Path) -> io::Result<()> {
    let missing = ["keys", "jobs", "incoming"].into_iter().find(|name| !folder.join(name).is_dir());
    missing.map_or(Ok(()), |name| {
        Err(io::Error::other(format!(
            "storage.data = {}: there is no folder {name:?} in it, so it is no data folder of a front; start the front first, and give \
             its workers the same folder",
            folder.display()
        )))
    })
}

/// The desk of a run whose job table is elsewhere.
struct Away<'a> {
    shared: &'a Shared,
    work: Work,
}

impl Desk for Away<'_> {
    fn tell(&mut self, news: News) -> Result<(), StoreError> {
        let sign = Sign { job: self.work.job, attempt: self.work.attempt, news: Some(news) };
        if let Err(error) = self.shared.nats.sign(&sign) {
            // The job goes on: only its end has to be heard.
            tracing::debug!(%error, "a sign was not heard");
        }
        Ok(())
    }

    fn stopped(&self) -> Option<Stop> {
        if self.shared.nats.is_cancelled(self.work.job) {
            Some(Stop::Cancelled)
        } else {
            (self.shared.ending.load(Ordering::Relaxed) == ending::NOW).then_some(Stop::ShuttingDown)
        }
    }

    fn failed(&mut self, error: io::Error) -> StoreError {
        tracing::error!(%error, "the folder of the front fails");
        StoreError::Io(error)
    }
}
