//! The daemons of a cluster: child processes in the foreground, known by their process ids.

use super::LocalClusterError;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that runs, or did.
#[derive(Debug)]
pub(super) struct Daemon {
    program: PathBuf,
    arguments: Vec<OsString>,
    log: PathBuf,
    child: Option<Child>,
}

impl Daemon {
    /// Not started yet. `log` is where the program writes what it does, by itself or on its output.
    pub(super) fn new(program: &str, arguments: &[OsString], log: &Path) -> Result<Self, LocalClusterError> {
        Ok(Self { program: find(program)?, arguments: arguments.to_vec(), log: log.to_owned(), child: None })
    }

    /// Starts it; one that runs is left alone.
    pub(super) fn start(&mut self) -> Result<(), LocalClusterError> {
        if self.child.is_some() {
            return Ok(());
        }
        let output = self.log.with_extension("out");
        let output = File::create(&output)
            .map_err(LocalClusterError::io(format!("cannot write {}", output.display())))?;
        let errors = output.try_clone().map_err(LocalClusterError::io("cannot share a file"))?;
        // In a session of its own, as daemons are: Ctrl-C is for us, who end them in our own order, and Linux
        // shares the CPUs between sessions, of which every job has one.
        let mut command = Command::new("setsid");
        command.arg(&self.program).args(&self.arguments).stdin(Stdio::null()).stdout(output).stderr(errors);
        let started = command.spawn();
        self.child =
            Some(started.map_err(LocalClusterError::io(format!("cannot start {}", self.program.display())))?);
        Ok(())
    }

    /// An error if it has ended.
    pub(super) fn check(&mut self) -> Result<(), LocalClusterError> {
        let ended = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        let Some(status) = ended else { return Ok(()) };
        self.child = None;
        Err(LocalClusterError::Ended { program: self.program.clone(), status, log: self.last_lines() })
    }

    /// Kills it, if it runs, and waits for its end. SIGKILL: a slurmd that never saw its controller ignores
    /// SIGTERM.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may be gone already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks it to end, which lets it save its state; kills it if it does not.
    pub(super) fn stop(&mut self) {
        if let Some(child) = &mut self.child {
            let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
            let deadline = Instant::now() + Duration::from_secs(10);
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        self.kill();
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// The end of what it wrote.
    pub(super) fn last_lines(&self) -> String {
        let read = |path: &Path| std::fs::read(path).unwrap_or_default();
        let mut bytes = read(&self.log);
        if bytes.is_empty() {
            bytes = read(&self.log.with_extension("out"));
        }
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(12)..].join("\n")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A shell that outlives us, if we are killed, for as long as it takes to end the daemons.
#[derive(Debug)]
pub(super) struct Guardian(Child);

impl Guardian {
    /// The last line of its input holds the processes to end. The input ends when we do, however that
    /// happens.
    const SCRIPT: &str = r#"while read -r line; do pids=$line; done; [ -z "$pids" ] || kill -9 $pids"#;

    pub(super) fn start() -> Result<Self, LocalClusterError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", Self::SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.process_group(0);
        Ok(Self(command.spawn().map_err(LocalClusterError::io("cannot start /bin/sh"))?))
    }

    pub(super) fn watch(&mut self, pids: impl Iterator<Item = u32>) {
        let line: Vec<String> = pids.map(|pid| pid.to_string()).collect();
        if let Some(input) = &mut self.0.stdin {
            // If the guardian was killed, the cluster works without.
            let _ = writeln!(input, "{}", line.join(" "));
        }
    }

    pub(super) fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        self.dismiss();
    }
}

/// A program on the search path, or where daemons are kept, which is not always on it.
pub(super) fn find(program: &str) -> Result<PathBuf, LocalClusterError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places =
        std::env::split_paths(&path).chain(["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let mut found = places.map(|place| place.join(program)).filter(|file| file.is_file());
    found.next().ok_or_else(|| LocalClusterError::Missing(program.to_owned()))
}
