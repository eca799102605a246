//! One server on many machines: fronts have the table of jobs, workers run them, NATS carries messages between them, and keys and
//! ciphertexts are in a folder or an object store that all of them reach.

mod counts;
pub mod front;
pub mod health;
pub mod model;
mod slots;
pub mod worker;

pub use slots::{Slots, fitting};

use std::time::Duration;

use crate::config::ClusterSection;
use crate::dispatch::nats::Settings;

/// How NATS is reached by a process of a cluster.
fn settings(cluster: &ClusterSection, role: &'static str) -> Settings {
    let lease = Duration::from_secs(cluster.lease_seconds);
    Settings {
        url: cluster.nats.clone(),
        credentials: Some(cluster.credentials.clone()).filter(|file| !file.as_os_str().is_empty()),
        front: cluster.front.clone(),
        role,
        lease,
        patience: lease,
        hung: Duration::from_secs(cluster.hung_seconds),
        wait: Duration::from_secs(2),
    }
}
