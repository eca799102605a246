//! The machine that figures were measured on.

use serde::Serialize;

use super::failure::Failure;
use crate::memory;
use crate::system::processor;

/// The machine, and the software on it.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Version of refloat, so that figures can be attributed to a build.
    pub version: &'static str,
    /// The processor's model name.
    pub cpu: String,
    /// Processors this process may use.
    pub threads: usize,
    /// Operating system and architecture.
    pub system: String,
    /// Arithmetic backend in use.
    pub backend: String,
    /// Load average over the last minute, where the system tells: above 1 per thread, the machine was busy
    /// with other things.
    pub load: Option<f64>,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let about = refloat::about();
        Self {
            version: about.version,
            cpu: processor::name().unwrap_or_else(|| "unknown processor".to_owned()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            backend: about.backend_u32.to_owned(),
            load: load_average(),
        }
    }

    /// The machine on one line.
    pub fn line(&self) -> String {
        let line = format!(
            "{}, {} threads, {}, backend {}, refloat {}",
            self.cpu, self.threads, self.system, self.backend, self.version
        );
        match self.load.filter(|load| *load > self.threads as f64) {
            Some(load) => format!("{line}, busy with other work (load average {load:.1})"),
            None => line,
        }
    }
}

/// A request to the user after a measurement on an architecture for which the project has only figures from an emulator.
pub fn request() -> Option<&'static str> {
    cfg!(target_arch = "aarch64").then_some(
        "The project has no timings from 64-bit ARM: if you can, send it the output above, and the same with --json and for other sets of \
         `refloat params`.",
    )
}

fn load_average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

/// Bytes of memory that the next evaluation can take, where the system tells: what processes can still take plus what this
/// one has, because its allocator keeps what an earlier evaluation freed. Call this while nothing large is in use.
pub fn available_memory() -> Option<u64> {
    Some(memory::available()? + memory::resident()?)
}

/// Checks that the `needed` bytes of a set fit the budget or, without one, the available memory if the system tells it.
///
/// # Errors
/// A failure that names both amounts.
pub fn check_memory(set: &str, needed: u64, budget: Option<u64>) -> Result<(), Failure> {
    match budget.or_else(available_memory) {
        Some(available) if available < needed => Err(Failure::memory(set, needed, available)),
        _ => Ok(()),
    }
}

/// The most bytes of memory that this process has had at once, where the system tells.
pub fn peak_memory() -> Option<u64> {
    memory::field(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}
