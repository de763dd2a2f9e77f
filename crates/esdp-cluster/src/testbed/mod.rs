//! A real Slurm cluster of many nodes on this machine, for tests and for `esdp slurm demo`.
//!
//! It runs its own munged, its own slurmctld, and one slurmd per node, all on loopback ports of its own, so
//! several clusters can run at once, also beside one that the machine belongs to. Files stay in one
//! directory. Dropping the [`LocalCluster`] ends all processes, those of running jobs included; should the
//! owner be killed before it can do so, a guardian process ends the daemons.
//!
//! ```no_run
//! use esdp_cluster::testbed::{LocalCluster, LocalClusterSpec, LocalNode};
//!
//! let dir = tempfile::tempdir()?;
//! let nodes = LocalNode::alike(8, 8, 4000, Some(("a100", 2)));
//! let spec = LocalClusterSpec { nodes, ..LocalClusterSpec::at(dir.path()) };
//! let cluster = LocalCluster::start(&spec)?;
//! let listed = cluster.command("sinfo").output()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It needs root, for device files and for submitting jobs as several users, and Debian's packages
//! `slurm-wlm` and `munge`.

mod config;
mod daemon;
mod processes;

use daemon::{Daemon, Guardian};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How long a cluster may take to become ready. It takes about a second on an idle machine.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// The cluster to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalClusterSpec {
    /// Where all of its files go; created if missing. Jobs of other users must be able to reach it, and its
    /// path must be short, since it holds Unix sockets.
    pub dir: PathBuf,
    /// Its nodes, all in the partition `main`.
    pub nodes: Vec<LocalNode>,
    /// The text of a `job_submit.lua`, if jobs shall pass through one.
    pub job_submit_lua: Option<String>,
}

impl LocalClusterSpec {
    /// A cluster without nodes, whose files go to `dir`.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), nodes: Vec::new(), job_submit_lua: None }
    }
}

/// A node. Its devices are what Slurm believes; the machine need not have them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalNode {
    /// Its name: letters, digits and `-`.
    pub name: String,
    /// CPUs, one core each.
    pub cpus: u32,
    /// Memory in MB.
    pub memory_mb: u64,
    /// The type and number of its GPUs.
    pub gpus: Option<(String, u32)>,
}

impl LocalNode {
    /// Nodes `n0`, `n1`, ... with the same devices.
    pub fn alike(count: usize, cpus: u32, memory_mb: u64, gpus: Option<(&str, u32)>) -> Vec<Self> {
        let gpus = gpus.map(|(kind, number)| (kind.to_owned(), number));
        (0..count)
            .map(|node| Self { name: format!("n{node}"), cpus, memory_mb, gpus: gpus.clone() })
            .collect()
    }
}

/// Why there is no cluster, or why it does not obey.
#[derive(Debug, thiserror::Error)]
pub enum LocalClusterError {
    /// A program is not installed.
    #[error(
        "the program `{0}` was not found; a Slurm cluster on this machine needs Slurm and munge: \
         install them with `sudo apt install slurm-wlm munge` (Debian, Ubuntu)"
    )]
    Missing(String),
    /// Not root.
    #[error(
        "a Slurm cluster on this machine needs root, for its device files and for jobs of several users: \
         use sudo"
    )]
    NotRoot,
    /// A specification that cannot be started.
    #[error("{0}")]
    Spec(String),
    /// A file or a process.
    #[error("{what}: {cause}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        cause: std::io::Error,
    },
    /// A daemon has ended that nobody asked to. Slurm's own daemons crash now and then; another try may do.
    #[error("{} has ended: {status}; the log ends with:\n{log}", .program.display())]
    Ended {
        /// Which one.
        program: PathBuf,
        /// How.
        status: std::process::ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// Something did not happen in time.
    #[error("{what}; the log ends with:\n{log}")]
    Failed {
        /// What went wrong.
        what: String,
        /// The last lines of the daemon's log.
        log: String,
    },
}

impl LocalClusterError {
    fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |cause| Self::Io { what, cause }
    }
}

/// A running cluster; see the [module](self).
#[derive(Debug)]
pub struct LocalCluster {
    dir: PathBuf,
    conf: PathBuf,
    munged: Daemon,
    controller: Daemon,
    /// Slurm's REST interface, where the release has one.
    rest: Option<Daemon>,
    /// One slurmd per node, in the order of the specification.
    nodes: Vec<(String, Daemon)>,
    guardian: Guardian,
}

impl LocalCluster {
    /// Starts the cluster and waits until every node is idle.
    pub fn start(spec: &LocalClusterSpec) -> Result<Self, LocalClusterError> {
        if !rustix::process::geteuid().is_root() {
            return Err(LocalClusterError::NotRoot);
        }
        installed()?;
        let release = release()?;
        let dir = config::write(spec, release)?;
        let conf = dir.join("slurm.conf");
        let guardian = Guardian::start()?;
        let munged = Daemon::new("munged", &config::munged_arguments(&dir), &dir.join("log/munged.log"))?;
        let controller = Daemon::new(
            "slurmctld",
            &["-D".into(), "-f".into(), conf.clone().into()],
            &dir.join("log/slurmctld.log"),
        )?;
        let rest = release
            .rest
            .then(|| Daemon::new("env", &config::rest_arguments(&dir), &dir.join("log/slurmrestd.log")));
        let rest = rest.transpose()?;
        let node = |name: &str| {
            let arguments = ["-D".into(), "-f".into(), conf.clone().into(), "-N".into(), name.into()];
            Ok((name.to_owned(), Daemon::new("slurmd", &arguments, &log_of(&dir, name))?))
        };
        let nodes = spec.nodes.iter().map(|described| node(&described.name)).collect::<Result<_, _>>()?;
        // From here on, an error on the way ends what was started, by dropping it.
        let mut cluster = Self { dir, conf, munged, controller, rest, nodes, guardian };
        cluster.begin()?;
        Ok(cluster)
    }

    fn begin(&mut self) -> Result<(), LocalClusterError> {
        let deadline = Instant::now() + READY_WITHIN;
        self.munged.start()?;
        self.tell_guardian();
        let socket = self.dir.join("run/munge.sock");
        while !socket.exists() {
            self.munged.check()?;
            self.pause(deadline, "munged did not open its socket in time")?;
        }
        self.controller.start()?;
        for (_, daemon) in &mut self.nodes {
            daemon.start()?;
        }
        self.tell_guardian();
        while !self.all_idle() {
            self.check()?;
            self.pause(deadline, "the nodes did not become idle in time")?;
        }
        if let Some(rest) = &mut self.rest {
            rest.start()?;
        }
        self.tell_guardian();
        while !self.rest().is_none_or(|socket| socket.exists()) {
            self.rest.iter_mut().try_for_each(Daemon::check)?;
            self.pause(deadline, "slurmrestd did not open its socket in time")?;
        }
        Ok(())
    }

    /// An error if a daemon has ended that should run.
    pub fn check(&mut self) -> Result<(), LocalClusterError> {
        let nodes = self.nodes.iter_mut().map(|(_, daemon)| daemon);
        let mut all = [&mut self.munged, &mut self.controller].into_iter().chain(&mut self.rest).chain(nodes);
        all.try_for_each(Daemon::check)
    }

    /// The socket of `slurmrestd`, if the installed Slurm has one that places jobs.
    pub fn rest(&self) -> Option<PathBuf> {
        self.rest.as_ref().map(|_| config::rest_socket(&self.dir))
    }

    /// The configuration, as an absolute path: what `SLURM_CONF` has to be.
    pub fn conf(&self) -> &Path {
        &self.conf
    }

    /// The directory of all files.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A client program of Slurm, such as `sbatch`, for this cluster. It is ended after 20 seconds, because
    /// clients hang when their controller does not answer.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1", "20", program]).env("SLURM_CONF", &self.conf);
        command
    }

    /// Kills a node as a power failure would: slurmd, the steps of jobs on it, and their processes.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn kill_node(&mut self, name: &str) {
        let log = log_of(&self.dir, name);
        self.node(name).kill();
        processes::kill_steps(|path| path == log);
        self.tell_guardian();
    }

    /// Starts a node that was killed. It is idle about a second later.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn start_node(&mut self, name: &str) -> Result<(), LocalClusterError> {
        self.node(name).start()?;
        self.tell_guardian();
        Ok(())
    }

    /// Stops the controller, starts it again, and waits until it answers.
    pub fn restart_controller(&mut self) -> Result<(), LocalClusterError> {
        self.stop_controller();
        self.start_controller()
    }

    /// Stops the controller. Jobs go on. Its state is saved: one that is killed forgets the last seconds, and
    /// jobs that have started in them are pending again.
    pub fn stop_controller(&mut self) {
        self.controller.stop();
        self.tell_guardian();
    }

    /// Starts the controller after [`stop_controller`](Self::stop_controller) and waits until it answers.
    pub fn start_controller(&mut self) -> Result<(), LocalClusterError> {
        let deadline = Instant::now() + READY_WITHIN;
        self.controller.start()?;
        self.tell_guardian();
        while self.states().is_none() {
            self.controller.check()?;
            self.pause(deadline, "the controller did not answer in time")?;
        }
        Ok(())
    }

    /// Waits until every node is idle, for at most `limit`; says whether it came to that.
    pub fn wait_until_idle(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.all_idle() {
            if Instant::now() > deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        true
    }

    fn all_idle(&self) -> bool {
        self.states().is_some_and(|states| {
            states.lines().count() == self.nodes.len() && states.lines().all(|state| state.trim() == "idle")
        })
    }

    /// The state of every node, one per line.
    fn states(&self) -> Option<String> {
        let answer = self.command("sinfo").args(["--noheader", "--Node", "--format=%t"]).output().ok()?;
        answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).into_owned())
    }

    fn node(&mut self, name: &str) -> &mut Daemon {
        let found = self.nodes.iter_mut().find(|(known, _)| known == name);
        &mut found.unwrap_or_else(|| panic!("the cluster has no node `{name}`")).1
    }

    fn pause(&self, deadline: Instant, late: &str) -> Result<(), LocalClusterError> {
        if Instant::now() > deadline {
            return Err(LocalClusterError::Failed {
                what: late.to_owned(),
                log: self.controller.last_lines(),
            });
        }
        std::thread::sleep(Duration::from_millis(50));
        Ok(())
    }

    fn tell_guardian(&mut self) {
        let daemons = [&self.munged, &self.controller]
            .into_iter()
            .chain(&self.rest)
            .chain(self.nodes.iter().map(|(_, daemon)| daemon));
        self.guardian.watch(daemons.filter_map(Daemon::pid));
    }
}

/// Whether all programs are there that a cluster needs; an error says which is not, and what to install.
pub fn installed() -> Result<(), LocalClusterError> {
    let programs = [
        "munged",
        "slurmctld",
        "slurmd",
        "sinfo",
        "sbatch",
        "srun",
        "scontrol",
        "mknod",
        "setsid",
        "timeout",
    ];
    programs.iter().try_for_each(|program| daemon::find(program).map(drop))
}

/// Which Slurm is installed, and whether its REST interface is there too.
fn release() -> Result<config::Release, LocalClusterError> {
    let asked = Command::new(daemon::find("slurmctld")?).arg("-V").output();
    let said = asked.map_err(LocalClusterError::io("cannot ask slurmctld for its version"))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut parts =
        said.split_whitespace().last().unwrap_or_default().split('.').map_while(|part| part.parse().ok());
    let number = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    Ok(config::Release { number, rest: number >= (24, 11) && daemon::find("slurmrestd").is_ok() })
}

fn log_of(dir: &Path, node: &str) -> PathBuf {
    dir.join(format!("log/{node}.log"))
}

impl Drop for LocalCluster {
    fn drop(&mut self) {
        // First, so that it does not act on the numbers of processes that are gone.
        self.guardian.dismiss();
        for (_, daemon) in &mut self.nodes {
            daemon.kill();
        }
        let logs = self.dir.join("log");
        processes::kill_steps(|path| path.parent() == Some(&logs));
        self.rest.iter_mut().for_each(Daemon::kill);
        self.controller.kill();
        self.munged.kill();
    }
}
