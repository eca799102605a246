//! A front: hands out jobs to the workers that are alive, and notes what came of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::settings;
use crate::dispatch::Dispatch;
use crate::dispatch::nats::Nats;
use crate::service::Service;
use crate::service::front::{Front, Policy};

/// Longest time between two looks at what there is to do.
const PAUSE: Duration = Duration::from_secs(1);

/// Starts to hand out jobs. It ends after [`Service::stop`]; jobs that are out go on, and the next process with this data folder notes
/// what came of them.
///
/// # Errors
/// The address of NATS cannot be used, or the system gives no thread.
pub fn start(service: Arc<Service>) -> std::io::Result<JoinHandle<()>> {
    let cluster = &service.config.cluster;
    let lease = Some(cluster.lease_seconds.saturating_mul(1000));
    let bell = Arc::downgrade(&service);
    let nats = Nats::connect(settings(cluster))?.with_front(move || {
        if let Some(service) = bell.upgrade() {
            service.live.wake();
        }
    });
    Builder::new().name("front".into()).spawn(move || run(&service, &Arc::new(nats), lease))
}

fn run(service: &Arc<Service>, nats: &Arc<Nats>, lease: Option<u64>) {
    let dispatch = Arc::clone(nats) as Arc<dyn Dispatch>;
    let mut front = Front::new(Arc::clone(service), dispatch, Policy { most: 0, lease });
    let began = Instant::now();
    while !service.is_stopping() {
        front.set_most(nats.hands());
        let turned = catch_unwind(AssertUnwindSafe(|| front.turn(began.elapsed().as_millis() as u64)));
        match turned {
            Ok(Ok(())) => {}
            // The store has logged why it fails.
            Ok(Err(error)) => tracing::debug!(%error, "the front is stuck for the moment"),
            Err(_) => service.metrics.panicked(),
        }
        service.live.wait(PAUSE);
    }
}
