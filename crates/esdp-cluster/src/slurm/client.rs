//! Calls of Slurm's own programs, each with a time-out: a client whose controller is gone would wait for
//! ever.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a call may take.
pub const TIME_OUT: Duration = Duration::from_secs(15);

/// Why Slurm did not answer. Retryable: the next slot asks again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The program cannot be started.
    #[error("`{program}` cannot be started: {cause}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        cause: String,
    },
    /// It took too long and was ended.
    #[error("`{program}` did not answer within {seconds} s")]
    TimeOut {
        /// The program.
        program: String,
        /// The limit.
        seconds: u64,
    },
    /// It says that something is wrong.
    #[error("`{program}` failed: {said}")]
    Failed {
        /// The program.
        program: String,
        /// What it said.
        said: String,
    },
    /// The controller is away.
    #[error("slurmctld does not answer: {0}")]
    Away(String),
    /// Its answer is not what we can read.
    #[error("Slurm's {what} cannot be read: {cause}")]
    Answer {
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        cause: String,
    },
}

impl CallError {
    /// Whether the controller does not answer, which may pass.
    pub fn is_away(&self) -> bool {
        match self {
            Self::Away(_) | Self::TimeOut { .. } => true,
            Self::Failed { said, .. } => says_away(said),
            Self::Start { .. } | Self::Answer { .. } => false,
        }
    }
}

/// Whether a complaint is not about what was asked, but about a controller that does not answer.
pub(super) fn says_away(said: &str) -> bool {
    [
        "Unable to contact slurm controller",
        "Socket timed out",
        "Connection refused",
        "Zero Bytes were transmitted",
    ]
    .into_iter()
    .any(|known| said.contains(known))
}

/// The way to a Slurm cluster.
#[derive(Debug, Clone, Default)]
pub struct SlurmClient {
    /// `slurm.conf`, if it is not where Slurm looks for it.
    pub conf: Option<PathBuf>,
    /// How long a call may take, if not [`TIME_OUT`].
    pub time_out: Option<Duration>,
}

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
    /// Whether it ended well.
    pub ok: bool,
}

impl SlurmClient {
    /// Calls a program that has to end well.
    ///
    /// # Errors
    /// When it does not start, takes too long or fails.
    pub fn ask(&self, program: &str, args: &[&str]) -> Result<String, CallError> {
        let said = self.tell(program, args, "")?;
        match said.ok {
            true => Ok(said.out),
            false => Err(CallError::Failed { program: shown(program, args), said: one_line(&said.err) }),
        }
    }

    /// Calls a program with a text on its standard input, however it ends.
    ///
    /// # Errors
    /// When it does not start or takes too long.
    pub fn tell(&self, program: &str, args: &[&str], input: &str) -> Result<Said, CallError> {
        let start = |error: std::io::Error| CallError::Start {
            program: program.to_owned(),
            cause: error.to_string(),
        };
        let mut command = self.program(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(start)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let time_out = self.time_out();
        let due = Instant::now() + time_out;
        std::thread::scope(|scope| {
            let (sender, heard) = mpsc::channel();
            let told = sender.clone();
            // A program that does not read to the end says why on standard error.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            scope.spawn(move || told.send((text(stdout), true)));
            scope.spawn(move || sender.send((text(stderr), false)));
            let mut said = Said::default();
            for _ in 0..2 {
                match heard.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok((out, true)) => said.out = out,
                    Ok((err, false)) => said.err = err,
                    Err(_) => break,
                }
            }
            // Both streams have ended, so it has too, or will in a moment; or its time is over.
            match wait(&mut child, due).map_err(start)? {
                Some(ok) => Ok(Said { ok, ..said }),
                None => {
                    Err(CallError::TimeOut { program: shown(program, args), seconds: time_out.as_secs() })
                }
            }
        })
    }

    /// How long a call may take.
    pub(super) fn time_out(&self) -> Duration {
        self.time_out.unwrap_or(TIME_OUT)
    }

    /// A program of Slurm, for this cluster.
    pub(super) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(conf) = &self.conf {
            command.env("SLURM_CONF", conf);
        }
        command
    }
}

/// Whether the child ended well; none if it had to be ended.
fn wait(child: &mut Child, due: Instant) -> std::io::Result<Option<bool>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if Instant::now() >= due {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn text(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is still worth showing.
    let _ = from.map(|mut from| from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn shown(program: &str, args: &[&str]) -> String {
    std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// A text as one line, for logs.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_heard_and_fed() {
        let said = SlurmClient::default().tell("cat", &[], "update\n").unwrap();
        assert_eq!((said.out.as_str(), said.ok), ("update\n", true));
        let failed = SlurmClient::default().ask("sh", &["-c", "echo no such job >&2; exit 1"]).unwrap_err();
        assert!(failed.to_string().ends_with("failed: no such job"), "{failed}");
        let missing = SlurmClient::default().ask("no-such-program-of-slurm", &[]).unwrap_err();
        assert!(missing.to_string().contains("cannot be started"), "{missing}");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let client = SlurmClient { time_out: Some(Duration::from_millis(50)), ..SlurmClient::default() };
        let error = client.ask("sleep", &["60"]).unwrap_err();
        assert!(matches!(error, CallError::TimeOut { .. }), "{error}");
    }
}
