//! What the system allows a process.

/// Files that this process may have open at once, where the system bounds and tells it: on Unix.
pub fn open_files() -> Option<usize> {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current?;
        Some(usize::try_from(limit).unwrap_or(usize::MAX))
    }
    #[cfg(not(unix))]
    None
}
