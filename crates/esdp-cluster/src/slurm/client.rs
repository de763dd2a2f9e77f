//! Calls of Slurm's own programs, each with a time-out: a client whose controller is gone would wait for ever.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
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
    /// Its answer is not what we can read.
    #[error("the answer of `{program}` cannot be read: {cause}")]
    Answer {
        /// The program.
        program: String,
        /// What is wrong with it.
        cause: String,
    },
}

/// The way to a Slurm cluster.
#[derive(Debug, Clone, Default)]
pub struct Client {
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

impl Client {
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
        let start = |error: std::io::Error| CallError::Start { program: program.to_owned(), cause: error.to_string() };
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(conf) = &self.conf {
            command.env("SLURM_CONF", conf);
        }
        let mut child = command.spawn().map_err(start)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let time_out = self.time_out.unwrap_or(TIME_OUT);
        std::thread::scope(|scope| {
            // A program that does not read to the end says why on standard error.
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
            let out = scope.spawn(move || text(stdout));
            let err = scope.spawn(move || text(stderr));
            let ended = wait(&mut child, time_out).map_err(start)?;
            let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
            match ended {
                Some(ok) => Ok(Said { out, err, ok }),
                None => Err(CallError::TimeOut { program: shown(program, args), seconds: time_out.as_secs() }),
            }
        })
    }
}

/// Whether the child ended well; none if it had to be ended.
fn wait(child: &mut Child, time_out: Duration) -> std::io::Result<Option<bool>> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if started.elapsed() >= time_out {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(2));
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
        let said = Client::default().tell("cat", &[], "update\n").unwrap();
        assert_eq!((said.out.as_str(), said.ok), ("update\n", true));
        let failed = Client::default().ask("sh", &["-c", "echo no such job >&2; exit 1"]).unwrap_err();
        assert!(failed.to_string().ends_with("failed: no such job"), "{failed}");
        let missing = Client::default().ask("no-such-program-of-slurm", &[]).unwrap_err();
        assert!(missing.to_string().contains("cannot be started"), "{missing}");
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let client = Client { time_out: Some(Duration::from_millis(50)), ..Client::default() };
        let error = client.ask("sleep", &["60"]).unwrap_err();
        assert!(matches!(error, CallError::TimeOut { .. }), "{error}");
    }
}
