//! A Slurm cluster: what it is asked, and what it is told.
//!
//! | | 22.05 | 23.02 and later |
//! |---|---|---|
//! | jobs | `squeue --json`, which lists those that have just ended | `squeue --json -t all` |
//! | nodes | `sinfo --json` | `scontrol show nodes --json` |
//! | placing | one `scontrol`, fed through its standard input | the same |

use super::client::{CallError, Client, one_line};
use super::job::{self, SlurmJob};
use super::node::{self, SlurmNode};
use super::{MARK, hostlist};

/// A Slurm cluster that has answered.
#[derive(Debug, Clone)]
pub struct Slurm {
    client: Client,
    /// Its version, such as `22.05.8`.
    pub version: String,
    /// Its configuration, as `scontrol show config` tells it.
    config: Vec<(String, String)>,
    modern: bool,
    /// Whether memory is given out like CPUs are.
    memory: bool,
}

impl Slurm {
    /// Asks a cluster what it is.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn probe(client: Client) -> Result<Self, CallError> {
        let said = client.ask("scontrol", &["--version"])?;
        let version = said.split_whitespace().last().unwrap_or_default().to_owned();
        let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
        let release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let shown = client.ask("scontrol", &["show", "config"])?;
        let pair =
            |line: &str| line.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        let config: Vec<_> = shown.lines().filter_map(pair).collect();
        let mut slurm = Self { client, version, config, modern: release >= (23, 2), memory: false };
        slurm.memory = slurm.setting("SelectTypeParameters").to_uppercase().contains("MEMORY");
        Ok(slurm)
    }

    /// A value of its configuration; empty if it has none.
    pub fn setting(&self, key: &str) -> &str {
        let found = self.config.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map_or("", |(_, value)| value.as_str())
    }

    /// How it is read and told, for the log.
    pub fn ways(&self) -> &'static str {
        match self.modern {
            true => "squeue --json -t all, scontrol show nodes --json, scontrol",
            false => "squeue --json, sinfo --json, scontrol",
        }
    }

    /// The way to call its programs.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// All jobs, those that have just ended included.
    ///
    /// # Errors
    /// When it does not answer, or not in a form that can be read.
    pub fn jobs(&self) -> Result<Vec<SlurmJob>, CallError> {
        let args: &[&str] = if self.modern { &["--json", "-t", "all"] } else { &["--json"] };
        let answer = self.client.ask("squeue", args)?;
        job::read(&answer, self.memory)
            .map_err(|cause| CallError::Answer { program: "squeue --json".to_owned(), cause })
    }

    /// All nodes.
    ///
    /// # Errors
    /// When it does not answer, or not in a form that can be read.
    pub fn nodes(&self) -> Result<Vec<SlurmNode>, CallError> {
        let (program, args): (_, &[&str]) = match self.modern {
            true => ("scontrol", &["show", "nodes", "--json"]),
            false => ("sinfo", &["--json"]),
        };
        let answer = self.client.ask(program, args)?;
        node::read(&answer).map_err(|cause| CallError::Answer { program: program.to_owned(), cause })
    }

    /// Gives lines to one `scontrol`; what it says against any of them comes back.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn command(&self, lines: &[String]) -> Result<String, CallError> {
        if lines.is_empty() {
            return Ok(String::new());
        }
        let said = self.client.tell("scontrol", &[], &(lines.join("\n") + "\n"))?;
        Ok(one_line(&said.err))
    }
}

/// Holds a job and names its nodes. The hold comes first: a job with bad constraints would start by itself the moment its
/// nodes are right. It is a user's hold, so that the owner may still release the job.
pub(super) fn pin(job: &str, nodes: &[String]) -> [String; 2] {
    [format!("uhold {job}"), format!("update jobid={job} nodelist={}", hostlist::compress(nodes))]
}

/// Holds a job that did not start and takes its nodes back.
pub(super) fn unpin(job: &str) -> [String; 2] {
    [format!("uhold {job}"), format!("update jobid={job} nodelist=")]
}

pub(super) fn release(job: &str) -> String {
    format!("release {job}")
}

/// A job that is not ours any more, for good.
pub(super) fn unmark(job: &str) -> String {
    format!("update jobid={job} admincomment={MARK}-left")
}
