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

/// The signals that tell the process to end. Once it listens, they no longer end it by themselves, even after this is dropped. A process
/// that was told to outlive its terminal, as by `nohup`, does so; only Linux tells that, and on other systems a hang-up does what it did
/// before.
#[cfg(unix)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on. To be called in a runtime of Tokio.
    ///
    /// # Errors
    /// The system does not let the process wait for signals.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: if may_hang_up() { Some(signal(SignalKind::hangup())?) } else { None },
        })
    }

    /// Waits until the process is told to end, which may have happened since it listens.
    pub async fn told_to_end(&mut self) -> Ending {
        let hung_up = async {
            match &mut self.hang_up {
                Some(hang_up) => hang_up.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Ending::Interrupt,
            _ = self.terminate.recv() => Ending::Terminate,
            _ = hung_up => Ending::HangUp,
        }
    }
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

/// The signals that tell the process to end. While this exists, they do not end it by themselves; but Windows gives a process whose window
/// was closed only seconds.
#[cfg(windows)]
pub struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    stopped: tokio::signal::windows::CtrlBreak,
    closed: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    /// Listens from now on. To be called in a runtime of Tokio.
    ///
    /// # Errors
    /// The system does not let the process wait for signals.
    pub fn listen() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        Ok(Self {
            interrupt: ctrl_c()?,
            stopped: ctrl_break()?,
            closed: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Waits until the process is told to end, which may have happened since it listens.
    pub async fn told_to_end(&mut self) -> Ending {
        tokio::select! {
            _ = self.interrupt.recv() => Ending::Interrupt,
            _ = self.stopped.recv() => Ending::Terminate,
            _ = self.closed.recv() => Ending::Terminate,
            _ = self.shutdown.recv() => Ending::Terminate,
        }
    }
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
                let mut signals = Signals::listen().unwrap();
                for signal in asked() {
                    kill_process(getpid(), signal).unwrap();
                }
                signals.told_to_end().await
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
