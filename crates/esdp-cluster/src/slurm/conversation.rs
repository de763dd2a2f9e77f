//! One `scontrol` that is told one line at a time, and heard before the next.
//!
//! A program that is started for each order takes longer to start than Slurm takes to obey. `scontrol`
//! without arguments reads orders from its standard input for as long as it is open. It says nothing of an
//! order that was obeyed, so each is followed by a word that it does not know: once it complains of that
//! word, all it had to say before was said.

use super::client::{CallError, SlurmClient, one_line, says_away};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The word that it does not know.
const UNKNOWN: &str = "esdp-was-heard";

/// What Slurm says against an order that it did not obey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmRefusal(pub String);

/// A `scontrol` that waits for orders.
#[derive(Debug)]
pub(super) struct Conversation {
    child: Child,
    input: ChildStdin,
    complaints: Receiver<String>,
    time_out: Duration,
}

impl Conversation {
    pub(super) fn open(client: &SlurmClient) -> Result<Self, CallError> {
        Self::with(client, "scontrol")
    }

    fn with(client: &SlurmClient, program: &str) -> Result<Self, CallError> {
        let mut command = client.program(program);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let failed = |cause: String| CallError::Start { program: program.to_owned(), cause };
        let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(input), Some(errors)) = (child.stdin.take(), child.stderr.take()) else {
            return Err(failed("it has no standard input".to_owned()));
        };
        let (sender, complaints) = channel();
        // Ends with the program, whose end of the pipe is then closed.
        std::thread::spawn(move || {
            BufReader::new(errors).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Ok(Self { child, input, complaints, time_out: client.time_out() })
    }

    /// Gives an order and waits until it was obeyed or refused. After an error, the conversation is over.
    pub(super) fn say(&mut self, order: &str) -> Result<Result<(), SlurmRefusal>, CallError> {
        let shown = || format!("scontrol {order}");
        let broken = |cause: &str| CallError::Failed { program: shown(), said: cause.to_owned() };
        let text = format!("{}\n{UNKNOWN}\n", one_line(order));
        self.input.write_all(text.as_bytes()).map_err(|error| broken(&error.to_string()))?;
        let due = Instant::now() + self.time_out;
        let mut said: Vec<String> = Vec::new();
        loop {
            match self.complaints.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(UNKNOWN) => break,
                Ok(line) => said.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(CallError::TimeOut { program: shown(), seconds: self.time_out.as_secs() });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(broken(&format!("it has ended: {}", said.join(" "))));
                }
            }
        }
        match one_line(&said.join(" ")) {
            said if said.is_empty() => Ok(Ok(())),
            said if says_away(&said) => Err(CallError::Away(said)),
            said => Ok(Err(SlurmRefusal(said))),
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that answers as `scontrol` does: nothing to what it obeys.
    fn conversation(script: &str) -> (tempfile::TempDir, Conversation) {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("scontrol");
        let otherwise = "*) echo \"invalid keyword: $line\" >&2;;";
        let text =
            format!("#!/bin/sh\nwhile read -r line; do case $line in\n{script}\n{otherwise} esac; done\n");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let client = SlurmClient { time_out: Some(Duration::from_millis(500)), ..SlurmClient::default() };
        let opened = Conversation::with(&client, path.to_str().unwrap()).unwrap();
        (directory, opened)
    }

    #[test]
    fn every_order_gets_its_own_answer() {
        let script = "release*) ;;\nupdate*) echo Invalid node name specified >&2;;\nquit) exit;;\nhang) \
                      sleep 60;;\n\
                      show*) echo 'Unable to contact slurm controller (connect failure)' >&2;;";
        let (_directory, mut opened) = conversation(script);
        assert_eq!(opened.say("release 17"), Ok(Ok(())));
        assert_eq!(
            opened.say("update jobid=17 nodelist=x"),
            Ok(Err(SlurmRefusal("Invalid node name specified".to_owned())))
        );
        assert_eq!(opened.say("release 18"), Ok(Ok(())));
        assert!(matches!(opened.say("show config"), Err(CallError::Away(_))));
        assert!(matches!(opened.say("quit"), Err(CallError::Failed { .. })));
        let (_directory, mut opened) = conversation(script);
        assert!(matches!(opened.say("hang"), Err(CallError::TimeOut { .. })));
    }
}
