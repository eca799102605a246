//! Termination signals.

use std::io;

/// How somebody told the process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// From the keyboard: ctrl-C.
    Interrupt,
    /// By another process or the system: SIGTERM; on Windows ctrl-break, a closed window, or the end of the session.
    Terminate,
}

impl Ending {
    /// The exit code by which a shell knows it: 128 and the number of the signal.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Waits until the process is told to end. From the first poll on, being told so no longer ends it by itself.
///
/// # Errors
/// The system does not let the process wait for signals.
#[cfg(unix)]
pub async fn told_to_end() -> io::Result<Ending> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::select! {
        _ = interrupt.recv() => Ending::Interrupt,
        _ = terminate.recv() => Ending::Terminate,
    })
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
    use std::process::{Command, Stdio};

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
                rustix::process::kill_process(rustix::process::getpid(), asked()).unwrap();
                waiting.await.unwrap().unwrap()
            });
            std::process::exit(ending.exit_code());
        }
        for (name, code) in [("INT", 130), ("TERM", 143)] {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "system::signals::tests::signals_are_told_apart"]).stdout(Stdio::null());
            let status = child.env("REFLOAT_TEST_WAITS", name).status().unwrap();
            assert_eq!(status.code(), Some(code), "{name}");
        }
    }

    fn asked() -> rustix::process::Signal {
        let interrupt = std::env::var("REFLOAT_TEST_WAITS").unwrap() == "INT";
        if interrupt { rustix::process::Signal::INT } else { rustix::process::Signal::TERM }
    }
}
