//! Threads of their own for connections to other services.

use std::io;
use std::ops::Deref;

use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime that is dropped without waiting: tasks under way are given up.
pub struct OwnRuntime {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl OwnRuntime {
    /// A runtime with `threads` threads, called `name`.
    ///
    /// # Errors
    /// The system has no threads left.
    pub fn new(name: &str, threads: usize) -> io::Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(threads).thread_name(name).enable_all().build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Deref for OwnRuntime {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
