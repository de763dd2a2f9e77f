//! `esdp slurm` as an operator runs it: a process beside the cluster.

use super::arm::Arm;
use crate::load::client::{Client, Target};
use anyhow::{Context, anyhow, bail};
use esdp_cluster::slurm::lua;
use esdp_cluster::testbed::LocalCluster;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to begin, to learn from the last jobs, and to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// The process of an arm; none for Slurm alone.
#[derive(Debug, Default)]
pub(super) struct Assistant {
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    url: String,
    log: PathBuf,
}

impl Assistant {
    /// What an arm wants in `job_submit.lua`.
    pub(super) fn job_submit_lua(arm: Arm, dir: &Path) -> Option<String> {
        (arm == Arm::Placement).then(|| lua::script(&["main".to_owned()], Some(&dir.join("wake"))))
    }

    /// Starts the process and waits until it has begun.
    pub(super) fn start(arm: Arm, cluster: &LocalCluster) -> anyhow::Result<Self> {
        let words: &[&str] = match arm {
            Arm::Slurm => return Ok(Self::default()),
            Arm::Weights => &["weights", "--apply", "--every", "5s", "--slot", "1s"],
            Arm::Placement => &["run", "--slot", "1s"],
        };
        let dir = cluster.dir();
        let log = dir.join("log/esdp.log");
        // In a session of its own, as a service is: Ctrl-C is for us, who end it.
        let mut command = Command::new("setsid");
        command.arg(dir.join("esdp")).arg("slurm").args(words).args([
            "--partition",
            "main",
            "--listen",
            "127.0.0.1:0",
        ]);
        command.arg("--data").arg(dir.join("data")).arg("--reports").arg(dir.join("reports"));
        if arm == Arm::Placement {
            command.arg("--wake").arg(dir.join("wake"));
        }
        if let Some(socket) = cluster.rest() {
            command.arg("--rest").arg(socket);
        }
        let create =
            |path: &Path| File::create(path).with_context(|| format!("cannot write {}", path.display()));
        let said = dir.join("log/esdp.out");
        command
            .env("SLURM_CONF", cluster.conf())
            .stdin(Stdio::null())
            .stdout(create(&said)?)
            .stderr(create(&log)?);
        let child = command.spawn().context("esdp slurm does not start")?;
        let mut assistant = Self { running: Some(Running { child, url: String::new(), log }) };
        // It says where its dashboard is once it has begun.
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            assistant.check()?;
            let text = std::fs::read_to_string(&said).unwrap_or_default();
            let line =
                text.lines().find_map(|line| line.find("http://").map(|at| line[at..].trim().to_owned()));
            if let (Some(url), Some(running)) = (line, &mut assistant.running) {
                running.url = url;
                return Ok(assistant);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("esdp slurm does not begin")
    }

    /// An error if it has ended.
    pub(super) fn check(&mut self) -> anyhow::Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        match running.child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(running.failure("has ended early")),
        }
    }

    /// Waits until it has learned from all outcomes, asks what it has learned, and ends it.
    pub(super) fn finish(&mut self, outcomes: usize) -> anyhow::Result<Option<Value>> {
        let Some(mut running) = self.running.take() else { return Ok(None) };
        let mut client = Client::new(&Target::parse(&running.url, None, None)?);
        let deadline = Instant::now() + PATIENCE;
        let learned = loop {
            let answer = client.ask("GET", "/v1/channels?limit=1000", None)?;
            let counts =
                answer["channels"].as_array().into_iter().flatten().filter_map(|row| row["count"].as_f64());
            if counts.sum::<f64>() > outcomes as f64 - 0.5 || Instant::now() > deadline {
                break answer;
            }
            std::thread::sleep(Duration::from_millis(200));
        };
        let pid = i32::try_from(running.child.id())
            .ok()
            .and_then(Pid::from_raw)
            .context("a process has a number")?;
        kill_process(pid, Signal::INT).context("esdp slurm cannot be asked to end")?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = running.child.try_wait()? {
                // Ended by Ctrl-C.
                return match status.code() {
                    Some(0 | 130) => Ok(Some(learned)),
                    _ => Err(running.failure("failed in the end")),
                };
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("esdp slurm does not end")
    }
}

impl Running {
    fn failure(&self, what: &str) -> anyhow::Error {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        anyhow!("esdp slurm {what}: {}", lines[lines.len().saturating_sub(3)..].join(" | "))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
