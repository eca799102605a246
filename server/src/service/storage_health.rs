//! Whether a worker can read and store what its jobs need: one that cannot takes none.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::blobs::Blobs;

/// What a worker knows about the storage of keys, inputs and results. Runs report results that were refused, and the storage is checked
/// before each job is taken.
#[derive(Default)]
pub struct StorageHealth {
    /// Bytes of the largest result that was refused and for which there may be no room yet; 0: none was.
    refused: AtomicU64,
    /// Whether the storage was out of reach when it was last checked.
    is_gone: AtomicBool,
}

impl StorageHealth {
    /// How long a run tries to store its result before its job goes to another worker.
    pub const PATIENCE: Duration = Duration::from_secs(30);

    /// Notes that a result of `bytes` bytes has been refused for `time`; returns whether its job is to go to another worker.
    pub fn refused(&self, bytes: u64, time: Duration) -> bool {
        self.refused.fetch_max(bytes, Ordering::Relaxed);
        time >= Self::PATIENCE
    }

    /// Checks that the storage is there, and has room for a result as large as one that was refused.
    ///
    /// # Errors
    /// It is not, or has not.
    pub fn check(&self, blobs: &dyn Blobs) -> io::Result<()> {
        let there = blobs.check();
        self.is_gone.store(there.is_err(), Ordering::Relaxed);
        there?;
        if let Some(refused) = self.refused_bytes() {
            blobs.try_room(refused)?;
            // Unless a larger one was refused meanwhile.
            let _ = self.refused.compare_exchange(refused, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The size of a result that was refused, while there may be no room for it.
    pub fn refused_bytes(&self) -> Option<u64> {
        Some(self.refused.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// Whether the storage failed when it was last used.
    pub fn fails(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed) || self.refused_bytes().is_some()
    }
}
