//! Signals: some say something, and none that another process sends ends the service without a line in the
//! log, except SIGKILL, which nobody hears, and those of faults (SIGSEGV, SIGBUS, SIGILL, SIGFPE), after
//! which there is nobody to write one. The next start tells of these.

use std::io;

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// Stop.
    Stop(&'static str),
    /// Read settings, tokens and the certificate anew.
    Reload,
    /// Nothing.
    Other(&'static str),
}

#[cfg(unix)]
pub(super) use unix::Signals;

#[cfg(unix)]
mod unix {
    use super::{Signal, io};
    use rustix::process::Signal as System;
    use tokio::signal::unix::{SignalKind, signal};
    use tokio::sync::mpsc;

    /// The real-time signals that the C library leaves to programs; each ends one that does not listen.
    #[cfg(target_os = "linux")]
    const REAL_TIME: std::ops::RangeInclusive<i32> =
        if cfg!(target_env = "musl") { 35..=64 } else { 34..=64 };

    /// All signals that can be heard and would end a process.
    #[derive(Debug)]
    pub(in super::super) struct Signals(mpsc::Receiver<Signal>);

    impl Signals {
        /// Listens from now on.
        ///
        /// # Errors
        /// When the system does not allow it.
        pub(in super::super) fn listen() -> io::Result<Self> {
            let heard = [
                (System::TERM, Signal::Stop("SIGTERM")),
                (System::INT, Signal::Stop("SIGINT")),
                (System::QUIT, Signal::Stop("SIGQUIT")),
                (System::HUP, Signal::Reload),
                (System::USR1, Signal::Other("SIGUSR1")),
                (System::USR2, Signal::Other("SIGUSR2")),
                (System::ALARM, Signal::Other("SIGALRM")),
                (System::VTALARM, Signal::Other("SIGVTALRM")),
                (System::PROF, Signal::Other("SIGPROF")),
                (System::XCPU, Signal::Stop("SIGXCPU")),
                (System::XFSZ, Signal::Other("SIGXFSZ")),
                (System::IO, Signal::Other("SIGIO")),
                (System::TRAP, Signal::Other("SIGTRAP")),
                (System::SYS, Signal::Other("SIGSYS")),
                // What has aborted by itself ends all the same.
                (System::ABORT, Signal::Stop("SIGABRT")),
                #[cfg(target_os = "linux")]
                (System::POWER, Signal::Stop("SIGPWR")),
                #[cfg(target_os = "linux")]
                (System::STKFLT, Signal::Other("SIGSTKFLT")),
            ];
            let mut heard = heard.map(|(number, means)| (number.as_raw(), means)).to_vec();
            #[cfg(target_os = "linux")]
            heard.extend(REAL_TIME.map(|number| (number, Signal::Other("a real-time signal"))));
            let (sender, receiver) = mpsc::channel(heard.len());
            for (number, means) in heard {
                let mut stream = signal(SignalKind::from_raw(number))?;
                let sender = sender.clone();
                tokio::spawn(async move {
                    while stream.recv().await.is_some() {
                        if sender.send(means).await.is_err() {
                            break;
                        }
                    }
                });
            }
            Ok(Self(receiver))
        }

        /// The next one.
        pub(in super::super) async fn next(&mut self) -> Signal {
            match self.0.recv().await {
                Some(signal) => signal,
                None => std::future::pending().await,
            }
        }
    }
}

/// Ctrl-C.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Signal {
        drop(tokio::signal::ctrl_c().await);
        Signal::Stop("Ctrl-C")
    }
}
