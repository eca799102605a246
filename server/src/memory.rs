//! Large pages for evaluation keys and polynomials.
//!
//! Key switching reads many rows of half a megabyte side by side, each from pages of its own. With pages of 4 KiB the
//! processor spends a fifth of a bootstrap of `n16` on finding them.

/// What the allocator reads when the process starts: large pages where the system has them, and what was once used is kept
/// for the next evaluation.
#[cfg(target_os = "linux")]
const SETTINGS: [(&str, &str); 2] = [("MIMALLOC_ALLOW_LARGE_OS_PAGES", "1"), ("MIMALLOC_PURGE_DELAY", "-1")];

/// Starts the program again with the allocator's settings in its environment, in the same process, unless they are there:
/// the allocator reads them before `main`. A system that refuses keeps its small pages.
pub fn ask_for_large_pages() {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt;
        if SETTINGS.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
            return;
        }
        let mut arguments = std::env::args_os();
        if let (Ok(program), Some(name)) = (std::env::current_exe(), arguments.next()) {
            // Returns only if it fails, and then nothing is lost.
            let _ = std::process::Command::new(program).arg0(name).args(arguments).envs(SETTINGS).exec();
        }
    }
}
