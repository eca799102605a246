//! A front: hands out jobs to the workers that are alive, and notes what came of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::settings;
use crate::dispatch::Dispatch;
use crate::dispatch::nats::{ALIVE, Nats, Standing};
use crate::service::Service;
use crate::service::front::{Front, Policy};
use crate::store::jobs;

/// Longest time between two looks at what there is to do.
const PAUSE: Duration = Duration::from_secs(1);

/// Starts a thread that hands out jobs, and ends after [`Service::stop`]. Jobs that are out go on, and the next process with this data
/// folder notes what came of them.
///
/// # Errors
/// The address of NATS cannot be used, or the system gives no thread.
pub fn start(service: Arc<Service>) -> std::io::Result<JoinHandle<()>> {
    let cluster = &service.config.cluster;
    let lease = Some(cluster.lease_seconds.saturating_mul(1000));
    let bell = Arc::downgrade(&service);
    let nats = Nats::connect(settings(cluster, "front"))?.with_front(move || {
        if let Some(service) = bell.upgrade() {
            service.live.wake();
        }
    });
    Builder::new().name("front".into()).spawn(move || run(&service, &Arc::new(nats), lease))
}

fn run(service: &Arc<Service>, nats: &Arc<Nats>, lease: Option<u64>) {
    let dispatch = Arc::clone(nats) as Arc<dyn Dispatch>;
    let mut front = Front::new(Arc::clone(service), dispatch, Policy { lease, hand_out: Policy::HAND_OUT });
    let mut told = None;
    let mut clock = Clock { now: Duration::ZERO, last: Instant::now(), connected: None };
    while !service.is_stopping() {
        let now = clock.tick(nats.is_connected());
        let turned = catch_unwind(AssertUnwindSafe(|| front.turn(now.as_millis() as u64)));
        match turned {
            Ok(Ok(())) => {}
            // The store has logged why it fails.
            Ok(Err(error)) => tracing::debug!(%error, "the front is stuck for the moment"),
            Err(_) => service.metrics.panicked(),
        }
        if told.is_none_or(|at: Instant| at.elapsed() >= ALIVE) {
            told = Some(Instant::now());
            tell(service, nats);
        }
        service.live.wait(PAUSE);
    }
}

/// Tells operators the state of the front.
fn tell(service: &Service, nats: &Nats) {
    if let Ok(queued) = jobs::queued(&service.store) {
        nats.tell(&Standing {
            front: service.config.cluster.front.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            queued: queued as u64,
            out: service.crew.out(),
            sets: service.engines.infos().map(|set| set.fingerprint.clone()).collect(),
        });
    }
}

/// Time in which signs can be heard. It stands still while NATS is away, and until workers have had time to give a sign again: otherwise a
/// job would count as one that kills its workers when they only could not be heard.
struct Clock {
    now: Duration,
    last: Instant,
    connected: Option<Instant>,
}

impl Clock {
    fn tick(&mut self, connected: bool) -> Duration {
        let passed = self.last.elapsed();
        self.last = Instant::now();
        self.connected = connected.then(|| self.connected.unwrap_or(self.last));
        if self.connected.is_some_and(|since| since.elapsed() > 2 * ALIVE) {
            // A front that stood still itself has heard nothing meanwhile.
            self.now += passed.min(ALIVE);
        }
        self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_where_signs_can_be_heard() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let (Some(last), Some(long)) = (ago(5), ago(60)) else { return };
        let clock = |connected| Clock { now: Duration::ZERO, last, connected };
        assert_eq!(clock(Some(long)).tick(true), ALIVE, "no more than that at once");
        assert_eq!(clock(Some(long)).tick(false), Duration::ZERO);
        assert_eq!(clock(None).tick(true), Duration::ZERO);
        assert_eq!(clock(Some(last)).tick(true), Duration::ZERO, "not long enough");
    }
}
