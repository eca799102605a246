//! Termination signals.

use std::io;

/// How somebody told the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// From the keyboard: ctrl-C.
    Interrupt,
    /// By another process or the system: SIGTERM; on Windows ctrl-break, a closed window or, in a service, the
    /// shutdown of the system.
    Terminate,
    /// By the end of its terminal: SIGHUP, on Unix.
    HangUp,
}

impl Ending {
    /// The exit code by which a shell knows it: 128 and the number of the signal.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            Self::HangUp => 129,
        }
    }
}

/// Waits until the process is told to end. From the first poll on, being told so no longer ends it by itself. A process that was told to
/// outlive its terminal, as by `nohup`, does so; only Linux tells that, and on other systems a hang-up does what it did before.
///
/// # Errors
/// The system does not let the process wait for signals.
#[cfg(unix)]
pub async fn told_to_end() -> io::Result<Ending> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = if may_hang_up() { Some(signal(SignalKind::hangup())?) } else { None };
    let hung_up = async {
        match &mut hang_up {
            Some(hang_up) => hang_up.recv().await,
            None => std::future::pending().await,
        }
    };
    Ok(tokio::select! {
        _ = interrupt.recv() => Ending::Interrupt,
        _ = terminate.recv() => Ending::Terminate,
        _ = hung_up => Ending::HangUp,
    })
}

/// Whether SIGHUP is known not to be ignored. To wait for a signal would end that it is ignored.
#[cfg(unix)]
fn may_hang_up() -> bool {
    let bit = 1 << (rustix::process::Signal::HUP.as_raw() - 1);
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    ignored.is_some_and(|mask| mask & bit == 0)
}

/// Waits until the process is told to end. From the first poll on, being told so no longer ends it by itself; but Windows gives a process
/// whose window was closed only seconds.
///
/// # Errors
/// The system does not let the process wait for signals.
#[cfg(windows)]
pub async fn told_to_end() -> io::Result<Ending> {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
    let (mut interrupt, mut stopped) = (ctrl_c()?, ctrl_break()?);
    let (mut closed, mut shutdown) = (ctrl_close()?, ctrl_shutdown()?);
    Ok(tokio::select! {
        _ = interrupt.recv() => Ending::Interrupt,
        _ = stopped.recv() => Ending::Terminate,
        _ = closed.recv() => Ending::Terminate,
        _ = shutdown.recv() => Ending::Terminate,
    })
}

/// Makes a write that reaches the limit on file sizes fail with an error, instead of ending the process. Other systems than Unix have no
/// such limit.
///
/// # Errors
/// The system does not let the process wait for signals.
pub fn survive_file_size_limit() -> io::Result<()> {
    #[cfg(unix)]
    {
        // Once there is a listener, the signal no longer ends the process.
        let signal = rustix::process::Signal::XFSZ.as_raw();
        drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(signal))?);
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, ExitStatus, Stdio};

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    /// In a process of its own, because a signal concerns the whole process.
    #[test]
    fn signals_are_told_apart() {
        if std::env::var_os("REFLOAT_TEST_WAITS").is_some() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let ending = runtime.block_on(async {
                let waiting = tokio::spawn(told_to_end());
                // Once polled, it listens.
                tokio::task::yield_now().await;
                for signal in asked() {
                    kill_process(getpid(), signal).unwrap();
                }
                waiting.await.unwrap().unwrap()
            });
            std::process::exit(ending.exit_code());
        }
        for (name, code) in [("INT", 130), ("TERM", 143)] {
            assert_eq!(told(name, "").code(), Some(code), "{name}");
        }
        // Not where the tests themselves are to outlive their terminal.
        if may_hang_up() {
            assert_eq!(told("HUP", "").code(), Some(129));
            // With the signal ignored, as by nohup, it goes on, and another ends it.
            assert_eq!(told("HUP TERM", "trap '' HUP; ").code(), Some(143));
        }
    }

    /// How this test ends in a process of its own that is sent signals; `first` is a shell's preparation of it.
    fn told(signals: &str, first: &str) -> ExitStatus {
        let mut child = Command::new("sh");
        child.args(["-c", &format!("{first}exec \"$@\""), "sh"]).arg(std::env::current_exe().unwrap());
        child.args(["--exact", "system::signals::tests::signals_are_told_apart"]).stdout(Stdio::null());
        child.env("REFLOAT_TEST_WAITS", signals).status().unwrap()
    }

    fn asked() -> Vec<Signal> {
        let known = |name: &str| match name {
            "INT" => Signal::INT,
            "HUP" => Signal::HUP,
            _ => Signal::TERM,
        };
        std::env::var("REFLOAT_TEST_WAITS").unwrap().split(' ').map(known).collect()
    }
}
