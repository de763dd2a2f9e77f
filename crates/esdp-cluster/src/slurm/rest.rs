//! Slurm's REST interface: `slurmrestd` on a Unix socket, with a JSON web token, from 24.11 on.
//!
//! Two questions and one order go this way: all jobs, all nodes, and the placing of a job, which names its nodes and lets it
//! start at once. By `scontrol` that takes three orders and, before them, two programs.

use super::client::{CallError, Client};
use super::conversation::{Refusal, is_away};
use super::json::text;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

/// Versions of the interface, the one that was tried most first. Releases since 24.11 know at least one of them.
const VERSIONS: [&str; 6] = ["v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45", "v0.0.41", "v0.0.40"];

/// Where Debian's package and others have the socket.
pub const SOCKETS: [&str; 2] = ["/run/slurmrestd.socket", "/run/slurmrestd/slurmrestd.socket"];

/// How long a token is valid, and when it is renewed.
const LIFE: Duration = Duration::from_secs(3600);

/// A `slurmrestd` that has answered.
#[derive(Debug)]
pub(super) struct Rest {
    client: Client,
    socket: PathBuf,
    version: &'static str,
    token: String,
    since: Instant,
    runtime: Runtime,
    connection: Option<SendRequest<Full<Bytes>>>,
}

/// An answer: its status and its text.
type Answer = (u16, String);

impl Rest {
    /// Asks for a token, and at a socket for a version that it knows.
    ///
    /// # Errors
    /// With the reason why this way is not open.
    pub(super) fn probe(client: &Client, socket: &Path) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let mut rest = Self {
            client: client.clone(),
            socket: socket.to_owned(),
            version: "",
            token: token(client)?,
            since: Instant::now(),
            runtime: runtime.map_err(|error| error.to_string())?,
            connection: None,
        };
        for version in VERSIONS {
            rest.version = version;
            // The list of nodes and not a ping, which is answered whoever asks.
            let (status, answer) = rest.ask(Method::GET, "nodes/", None).map_err(|error| error.to_string())?;
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
        match self.ask(Method::GET, what, None)? {
            (200, text) => Ok(text),
            (_, text) => Err(CallError::Failed { program: self.shown(what), said: complaint(&text) }),
        }
    }

    /// Names a job's nodes and lets it start, in one step.
    pub(super) fn place(&mut self, job: &str, nodes: &[String]) -> Result<Result<(), Refusal>, CallError> {
        let body = json!({ "required_nodes": nodes, "hold": false }).to_string();
        match self.ask(Method::POST, &format!("job/{job}"), Some(body))? {
            (200, text) if complaint(&text).is_empty() => Ok(Ok(())),
            (_, text) => match complaint(&text) {
                said if is_away(&said) => Err(CallError::Away(said)),
                said => Ok(Err(Refusal(said))),
            },
        }
    }

    fn shown(&self, what: &str) -> String {
        format!("slurmrestd /slurm/{}/{what}", self.version)
    }

    fn ask(&mut self, method: Method, what: &str, body: Option<String>) -> Result<Answer, CallError> {
        let failed = |said: String| CallError::Failed { program: format!("slurmrestd {what}"), said };
        if self.since.elapsed() > LIFE / 2 {
            self.token = token(&self.client).map_err(failed)?;
            self.since = Instant::now();
        }
        let time_out = self.client.time_out();
        let path = format!("/slurm/{}/{what}", self.version);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "slurmrestd")
            .header("x-slurm-user-token", &self.token)
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| failed(error.to_string()))?;
        let (socket, connection) = (&self.socket, &mut self.connection);
        let exchanged = self.runtime.block_on(async {
            tokio::time::timeout(time_out, exchange(socket, connection, request)).await
        });
        match exchanged {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(cause)) => {
                self.connection = None;
                Err(failed(cause.to_string()))
            }
            Err(_) => {
                self.connection = None;
                Err(CallError::TimeOut { program: self.shown(what), seconds: time_out.as_secs() })
            }
        }
    }
}

/// One request on the connection, which is opened if there is none or it was closed.
async fn exchange(
    socket: &Path,
    connection: &mut Option<SendRequest<Full<Bytes>>>,
    request: Request<Full<Bytes>>,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    if let Some(open) = connection {
        // A connection that slurmrestd has closed says so only when it is looked at.
        if open.ready().await.is_err() {
            *connection = None;
        }
    }
    if connection.is_none() {
        let (open, driver) = handshake(TokioIo::new(UnixStream::connect(socket).await?)).await?;
        tokio::spawn(driver);
        *connection = Some(open);
    }
    let open = connection.as_mut().ok_or("there is no connection")?;
    let response = open.send_request(request).await?;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}

/// A token for whoever we are.
fn token(client: &Client) -> Result<String, String> {
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
