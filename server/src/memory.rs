//! Memory for evaluation keys and polynomials: large pages, and when it goes back to the system.
//!
//! Key switching reads many rows of half a megabyte side by side, each from pages of its own. With pages of 4 KiB the
//! processor spends a fifth of a bootstrap of `n16` on finding them.

use std::path::Path;

use refloat::Error;

use crate::cgroup;

/// Bytes that a run takes with any set: the program itself, and pieces of keys that are being read.
pub const BESIDE: u64 = 128 << 20;

/// The error for a set that takes more memory than is available.
pub fn too_little(set: &str, needed: u64, available: u64) -> Error {
    Error::Limit(format!(
        "{set} takes {} of memory with its evaluation keys, {} are available; free some, or take a smaller set",
        bytes(needed),
        bytes(available)
    ))
}

/// Bytes in the unit people read.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.*} {}", usize::from(value < 9.995) + usize::from(value < 99.95), UNITS[unit])
}

/// Settings of the allocator, unless the environment has others (`MIMALLOC_…`): large pages where the system has them, and memory that was
/// used once is kept for the next evaluation until [`give_back`] (or until a day has passed).
#[cfg(target_os = "linux")]
mod settings {
    use core::ffi::c_long;

    use libmimalloc_sys::{
        mi_option_large_os_pages, mi_option_set_default, mi_option_t, mi_option_use_numa_nodes,
    };

    /// `mi_option_purge_delay`, in milliseconds. The bindings do not name it; it comes right before `mi_option_use_numa_nodes`.
    const PURGE_DELAY: mi_option_t = mi_option_use_numa_nodes - 1;

    pub(super) const ALL: [(mi_option_t, c_long); 2] =
        [(mi_option_large_os_pages, 1), (PURGE_DELAY, 24 * 60 * 60 * 1000)];

    /// Called before `main` and before anything is allocated: the first thing that the allocator does is to reserve memory.
    #[used]
    #[allow(unsafe_code)]
    // SAFETY: the section is a list of functions of this type, which the C library calls one by one (with arguments that this one
    // does not look at).
    #[unsafe(link_section = ".init_array")]
    static BEFORE_MAIN: extern "C" fn() = set;

    #[allow(unsafe_code)]
    extern "C" fn set() {
        for (option, value) in ALL {
            // SAFETY: writes a number of the allocator's; there is only one thread yet.
            unsafe { mi_option_set_default(option, value) };
        }
    }
}

/// Runs `release`, which drops what the threads of `pool` allocated (or of the global pool, without one), and then gives free memory back
/// to the system.
pub fn give_back(pool: Option<&rayon::ThreadPool>, release: impl FnOnce()) {
    release();
    // Memory that another thread freed first goes back to the thread that allocated it.
    match pool {
        Some(pool) => pool.broadcast(|_| collect()),
        None => rayon::broadcast(|_| collect()),
    };
    collect();
}

#[allow(unsafe_code)]
fn collect() {
    // SAFETY: mi_collect takes no pointers and may be called by any thread at any time; it touches only memory that is free.
    unsafe { libmimalloc_sys::mi_collect(true) }
}

/// Bytes of memory of the machine, or of the container, where the system tells.
pub fn total() -> Option<u64> {
    least(of_machine("MemTotal:"), cgroup::memory(Path::new("/")).map(|group| group.total))
}

/// Bytes of memory that processes can still take on the machine, or in the container, where the system tells.
pub fn available() -> Option<u64> {
    least(of_machine("MemAvailable:"), cgroup::memory(Path::new("/")).map(|group| group.available))
}

fn of_machine(name: &str) -> Option<u64> {
    field(&std::fs::read_to_string("/proc/meminfo").ok()?, name)
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Bytes of memory that this process has, where the system tells.
pub fn resident() -> Option<u64> {
    field(&std::fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

/// Bytes of a field of the files below `/proc`, which give them in kibibytes.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the settings in force, also in a process of its own whose environment has one of them.
    #[test]
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    fn settings_are_made_before_main_and_the_environment_comes_first() {
        use libmimalloc_sys::mi_option_get;

        // SAFETY: reads a number.
        let found = settings::ALL.map(|(option, _)| unsafe { mi_option_get(option) });
        let [large, delay] = settings::ALL.map(|(_, value)| value);
        if std::env::var_os("MIMALLOC_PURGE_DELAY").is_some() {
            return assert_eq!(found, [large, 7]);
        }
        assert_eq!(found, [large, delay]);
        let this = std::env::current_exe().unwrap();
        let name = "memory::tests::settings_are_made_before_main_and_the_environment_comes_first";
        let mut child = std::process::Command::new(this);
        let output = child.args(["--exact", name]).env("MIMALLOC_PURGE_DELAY", "7").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    fn memory_is_read_in_bytes() {
        let text = "MemTotal:       24652892 kB\nMemFree:         1234 kB\nMemAvailable:   20971520 kB\n";
        assert_eq!(field(text, "MemAvailable:"), Some(20 << 30));
        assert_eq!(field("MemTotal: 1 kB\n", "MemAvailable:"), None);
        assert_eq!(
            (least(Some(2), Some(1)), least(None, Some(1)), least(Some(1), None)),
            (Some(1), Some(1), Some(1))
        );
        assert_eq!(field("VmPeak:\t 9 kB\nVmHWM:\t    2048 kB\n", "VmHWM:"), Some(2 << 20));
    }
}
