//! What machine figures were measured on.

use serde::Serialize;

/// The machine and what runs on it.
#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    /// Processor, as it calls itself.
    pub cpu: String,
    /// Processors this process may use.
    pub threads: usize,
    /// Operating system and architecture.
    pub system: String,
    /// Arithmetic back-end in use.
    pub backend: String,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self {
            cpu: cpu_name().unwrap_or_else(|| "unknown processor".to_owned()),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            backend: refloat::about().backend_u32.to_owned(),
        }
    }

    /// One line.
    pub fn line(&self) -> String {
        format!("{}, {} threads, {}, back-end {}", self.cpu, self.threads, self.system, self.backend)
    }
}

fn cpu_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
