//! The Python process, and what goes to it and comes back: one line of JSON each.

use super::{HighsError, PYTHON_VARIABLE};
use esdp::solver::Problem;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const SCRIPT: &str = include_str!("worker.py");
/// How long the process may take to start: a cold import of its packages from a slow disk.
const START: Duration = Duration::from_secs(120);
/// How long it may take beyond the time limit: HiGHS asks the clock between steps only.
const GRACE: Duration = Duration::from_secs(120);

/// A problem as it goes to Python.
#[derive(Debug, Serialize)]
pub(super) struct Question<'a> {
    capacity: &'a [u64],
    requests: Vec<u64>,
    mean: &'a [f64],
    width: &'a [f64],
    server: &'a [u32],
    server_capacity: &'a [u64],
    group: &'a [u32],
    /// Job and number of tasks.
    groups: Vec<(u32, u32, u32)>,
    /// Minimum and copies.
    jobs: Vec<(u32, u32)>,
    /// In seconds.
    limit: f64,
    tolerance: f64,
}

impl<'a> Question<'a> {
    pub(super) fn new(problem: &Problem<'a>, limit: Duration, tolerance: f64) -> Self {
        let (servers, gangs) = (problem.servers(), problem.gangs());
        Self {
            capacity: problem.capacity(),
            requests: (0..problem.len())
                .flat_map(|channel| problem.request(channel).iter().copied())
                .collect(),
            mean: problem.mean(),
            width: problem.width(),
            server: servers.map_or(&[], |servers| servers.of),
            server_capacity: servers.map_or(&[], |servers| servers.capacity),
            group: gangs.map_or(&[], |gangs| gangs.group),
            groups: gangs
                .map_or(&[][..], |gangs| gangs.groups)
                .iter()
                .map(|g| (g.job, g.count, g.minimum))
                .collect(),
            jobs: gangs.map_or(&[][..], |gangs| gangs.jobs).iter().map(|j| (j.minimum, j.copies)).collect(),
            limit: limit.as_secs_f64(),
            tolerance,
        }
    }
}

/// What Python says of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Answer {
    /// Channel and number of uses.
    pub(super) uses: Vec<(u32, u32)>,
    pub(super) bound: Option<f64>,
    pub(super) seconds: f64,
    pub(super) proved: bool,
    /// Whether its time limit ended it.
    pub(super) late: bool,
    pub(super) error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Hello {
    version: String,
}

/// A running process. It ends with this value.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    version: String,
}

impl Worker {
    pub(super) fn start() -> Result<Self, HighsError> {
        let python = std::env::var(PYTHON_VARIABLE).unwrap_or_else(|_| "python3".to_owned());
        let missing = |cause: String| HighsError::Missing { python: python.clone(), cause };
        let mut command = Command::new(&python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| missing(format!("`{python}`: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(missing("no pipe to its process".to_owned()));
        };
        // A thread of its own, since a read cannot be given up and a wait for a line can.
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.map(|line| sender.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        let mut worker = Self { child, input, lines, version: String::new() };
        match worker.lines.recv_timeout(START).ok().and_then(|line| serde_json::from_str::<Hello>(&line).ok())
        {
            Some(hello) => worker.version = hello.version,
            None => return Err(missing(worker.last_words())),
        }
        Ok(worker)
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn ask(&mut self, question: &Question<'_>, limit: Duration) -> Result<Answer, HighsError> {
        let failed = |cause: String| HighsError::NoAnswer { cause };
        let mut line = serde_json::to_vec(question).map_err(|error| failed(error.to_string()))?;
        line.push(b'\n');
        if self.input.write_all(&line).and_then(|()| self.input.flush()).is_err() {
            return Err(failed(self.last_words()));
        }
        match self.lines.recv_timeout(limit.saturating_add(GRACE)) {
            Ok(line) => serde_json::from_str(&line).map_err(|error| failed(error.to_string())),
            Err(_) => Err(failed(self.last_words())),
        }
    }

    /// The last line of its standard error, after ending it.
    fn last_words(&mut self) -> String {
        self.end();
        let mut text = String::new();
        if let Some(mut stream) = self.child.stderr.take() {
            // Words that are not text are not a cause to show.
            let _ = stream.read_to_string(&mut text);
        }
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.unwrap_or("its process ended or did not answer in time").to_owned()
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}
