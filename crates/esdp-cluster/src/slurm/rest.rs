//! Slurm's REST interface: `slurmrestd` on a Unix socket, with a JSON web token, from 24.11 on.
//!
//! Two questions and one order go this way: all jobs, all nodes, and the placing of a job, which names its
//! nodes and lets it start at once. By `scontrol` that takes three orders and, before them, two programs.

use super::client::{CallError, SlurmClient, says_away};
use super::conversation::SlurmRefusal;
use super::json::text;
use esdp_serve::answer::HttpAnswer;
use serde_json::{Value, json};
use std::io::{self, BufReader, ErrorKind, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Versions of the interface, the one that was tried most first. Releases since 24.11 know at least one of
/// them.
const VERSIONS: [&str; 6] = ["v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45", "v0.0.41", "v0.0.40"];

/// Where Debian's package and others have the socket.
pub const SOCKETS: [&str; 2] = ["/run/slurmrestd.socket", "/run/slurmrestd/slurmrestd.socket"];

/// How long a token is valid, and when it is renewed.
const LIFE: Duration = Duration::from_secs(3600);

/// A `slurmrestd` that has answered.
#[derive(Debug)]
pub(super) struct Rest {
    client: SlurmClient,
    socket: PathBuf,
    version: &'static str,
    token: String,
    since: Instant,
    connection: Option<BufReader<UnixStream>>,
}

/// An answer: its status and its text.
type Answer = (u16, String);

impl Rest {
    /// Asks for a token, and at a socket for a version that it knows.
    ///
    /// # Errors
    /// With the reason why this way is not open.
    pub(super) fn probe(client: &SlurmClient, socket: &Path) -> Result<Self, String> {
        let mut rest = Self {
            client: client.clone(),
            socket: socket.to_owned(),
            version: "",
            token: token(client)?,
            since: Instant::now(),
            connection: None,
        };
        for version in VERSIONS {
            rest.version = version;
            // The list of nodes and not a ping, which is answered whoever asks.
            let (status, answer) = rest.ask("GET", "nodes/", "").map_err(|error| error.to_string())?;
            match status {
                404 => {}
                200 => return super::json::answer(&answer).map(|_| rest),
                status => return Err(format!("it answers with status {status}: {}", complaint(&answer))),
            }
        }
        Err(format!("it knows none of the versions {}", VERSIONS.join(", ")))
    }

    /// How it is asked, for the log.
    pub(super) fn way(&self) -> String {
        format!("REST {} at {}", self.version, self.socket.display())
    }

    /// The text of `jobs/` or `nodes/`.
    pub(super) fn list(&mut self, what: &str) -> Result<String, CallError> {
        match self.ask("GET", what, "")? {
            (200, text) => Ok(text),
            (_, text) => Err(CallError::Failed { program: self.shown(what), said: complaint(&text) }),
        }
    }

    /// Names a job's nodes and lets it start, in one step.
    pub(super) fn place(
        &mut self,
        job: &str,
        nodes: &[String],
    ) -> Result<Result<(), SlurmRefusal>, CallError> {
        let body = json!({ "required_nodes": nodes, "hold": false }).to_string();
        match self.ask("POST", &format!("job/{job}"), &body)? {
            (200, text) if complaint(&text).is_empty() => Ok(Ok(())),
            (_, text) => match complaint(&text) {
                said if says_away(&said) => Err(CallError::Away(said)),
                said => Ok(Err(SlurmRefusal(said))),
            },
        }
    }

    fn shown(&self, what: &str) -> String {
        format!("slurmrestd /slurm/{}/{what}", self.version)
    }

    fn ask(&mut self, method: &str, what: &str, body: &str) -> Result<Answer, CallError> {
        let program = self.shown(what);
        if self.since.elapsed() > LIFE / 2 {
            let renewed = token(&self.client);
            self.token = renewed.map_err(|said| CallError::Failed { program: program.clone(), said })?;
            self.since = Instant::now();
        }
        let request = format!(
            "{method} /slurm/{}/{what} HTTP/1.1\r\nhost: slurmrestd\r\nx-slurm-user-token: {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.version,
            self.token,
            body.len()
        );
        let reused = self.connection.is_some();
        let mut answer = self.exchange(&request);
        // It may have closed a connection that was idle. Whatever is asked may be asked twice.
        if reused && answer.as_ref().is_err_and(|error| !is_late(error)) {
            answer = self.exchange(&request);
        }
        answer.map_err(|error| match is_late(&error) {
            true => CallError::TimeOut { program, seconds: self.client.time_out().as_secs() },
            false => CallError::Failed { program, said: error.to_string() },
        })
    }

    /// One request on the connection, which is opened if there is none, and closed after an error.
    fn exchange(&mut self, request: &str) -> io::Result<Answer> {
        let mut stream = match self.connection.take() {
            Some(open) => open,
            None => {
                let stream = UnixStream::connect(&self.socket)?;
                stream.set_read_timeout(Some(self.client.time_out()))?;
                stream.set_write_timeout(Some(self.client.time_out()))?;
                BufReader::new(stream)
            }
        };
        stream.get_mut().write_all(request.as_bytes())?;
        let HttpAnswer { status, body, is_last } = HttpAnswer::read(&mut stream)?;
        self.connection = (!is_last).then_some(stream);
        // Whatever users have put into the names of their jobs.
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// A token for whoever we are.
fn token(client: &SlurmClient) -> Result<String, String> {
    let lifespan = format!("lifespan={}", LIFE.as_secs());
    let said = client.ask("scontrol", &["token", &lifespan]).map_err(|error| error.to_string())?;
    let token = said.trim().strip_prefix("SLURM_JWT=");
    token.map(str::to_owned).ok_or_else(|| "`scontrol token` gives no token".to_owned())
}

/// What an answer tells against a request; empty if nothing.
fn complaint(answer: &str) -> String {
    let Ok(answer) = serde_json::from_str::<Value>(answer) else { return answer.chars().take(200).collect() };
    let errors = answer["errors"].as_array().into_iter().flatten();
    let said = |error: &Value| format!("{}: {}", text(&error["description"]), text(&error["error"]));
    errors.map(said).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_told() {
        let refused = include_str!("../../tests/fixtures/refused-24.11-rest.json");
        assert_eq!(complaint(refused), "Job update requested failed: Invalid node name specified");
        assert_eq!(complaint(r#"{"errors": []}"#), "");
        assert_eq!(complaint("Unable find requested URL."), "Unable find requested URL.");
    }
}
