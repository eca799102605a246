//! What happens when the process is told to end: incomplete files are removed, and a user who is waiting for a job on a server is
//! told how to get its result later.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use crate::system::signals::Signals;

/// Prints a message.
type Words = Box<dyn Fn() + Send>;

/// Temporary files of this process, removed when a signal ends it.
static TEMPORARIES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Prints the last message of the process.
static LAST_WORDS: Mutex<Option<Words>> = Mutex::new(None);

/// The files to remove. While the guard is held, a signal cannot end the process.
pub fn temporaries() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    watch();
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A message that is printed if the process is told to end before this is dropped.
pub struct LastWords;

impl LastWords {
    /// Registers `say`, which prints the message.
    pub fn new(say: impl Fn() + Send + 'static) -> Self {
        watch();
        *last_words() = Some(Box::new(say));
        Self
    }
}

impl Drop for LastWords {
    fn drop(&mut self) {
        *last_words() = None;
    }
}

fn last_words() -> MutexGuard<'static, Option<Words>> {
    LAST_WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for signals from now on.
fn watch() {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        let (listens, listening) = channel();
        let thread = std::thread::Builder::new().name("signals".to_owned());
        // Without the thread, a signal leaves a temporary file behind and does no other harm.
        drop(thread.spawn(|| end_by_signal(listens)));
        let _ = listening.recv();
    });
}

/// Says when it listens, waits for a signal, clears up, and ends the process.
fn end_by_signal(listens: Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let Ok(mut signals) = runtime.block_on(async { Signals::listen() }) else { return };
    drop(listens);
    let ending = runtime.block_on(signals.told_to_end());
    // Held until the process has ended, so that no new file is made.
    let all = temporaries();
    for path in all.iter() {
        let _ = fs::remove_file(path);
    }
    if let Some(say) = last_words().as_ref() {
        say();
    }
    std::process::exit(ending.exit_code());
}
