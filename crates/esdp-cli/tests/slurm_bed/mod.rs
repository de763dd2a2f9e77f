//! A real Slurm cluster with a real driver, and what both say.

use esdp_cluster::slurm::lua;
use esdp_cluster::testbed::{LocalCluster, LocalClusterSpec, LocalNode};
use esdp_trace::hostlist;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The owner of jobs: nobody, whose rights are those of any user.
const OWNER: u32 = 65534;
/// How long anything may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(90);

/// A cluster of nodes with 4 CPUs, and a driver.
#[allow(dead_code)] // not every test has a driver
pub struct Bed {
    pub cluster: LocalCluster,
    directory: tempfile::TempDir,
    driver: Option<Child>,
    meddled: bool,
}

/// A line of the ledger or of Slurm's own records: the job's number, how it ended, and where.
#[allow(dead_code)] // not every test compares records
pub type Ended = (u64, String, Vec<String>);

#[allow(dead_code)] // each test uses some of it
impl Bed {
    /// Starts the cluster, without a driver.
    pub fn new(nodes: usize) -> Self {
        let directory = tempfile::Builder::new().prefix("esdp-").tempdir().expect("a directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("permissions");
        let spec = LocalClusterSpec {
            nodes: LocalNode::alike(nodes, 4, 4000, None),
            job_submit_lua: Some(lua::script(&["main".to_owned()], Some(&directory.path().join("wake")))),
            ..LocalClusterSpec::at(&directory.path().join("c"))
        };
        let cluster = LocalCluster::start(&spec).expect("a cluster");
        let bed = Self { cluster, directory, driver: None, meddled: false };
        fs::create_dir(bed.path("bin")).expect("a directory");
        fs::create_dir(bed.path("reports")).expect("a directory");
        fs::set_permissions(bed.path("reports"), fs::Permissions::from_mode(0o1777)).expect("permissions");
        fs::write(bed.path("config.toml"), "patience_seconds = 2\n").expect("a file");
        bed
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Starts a driver; its log goes on where the last one's ended.
    pub fn start_driver(&mut self) {
        let log = File::options().create(true).append(true).open(self.path("log")).expect("a log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_esdp"));
        command
            .args(["slurm", "run", "--slot", "300ms", "--log-level", "debug", "--conf"])
            .arg(self.cluster.conf());
        command.arg("--data").arg(self.path("data")).arg("--reports").arg(self.path("reports"));
        command.arg("--config").arg(self.path("config.toml")).arg("--wake").arg(self.path("wake"));
        match self.cluster.rest() {
            Some(socket) if !self.meddled => command.arg("--rest").arg(socket),
            _ => command.args(["--rest", "off"]),
        };
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.stdout(File::create(self.path("out")).expect("a file")).stderr(log);
        self.driver = Some(command.spawn().expect("the driver"));
    }

    /// Kills the driver at once.
    pub fn kill_driver(&mut self) {
        if let Some(mut driver) = self.driver.take() {
            driver.kill().expect("a driver to kill");
            driver.wait().expect("its end");
        }
    }

    /// Puts a script between the driver and `scontrol`, by which it then places jobs, on every version. It is
    /// run once, before an order that contains a word; in it, `$job` is the job of that order, and `$order`
    /// is the order, which it may change.
    pub fn meddle(&mut self, word: &str, script: &str) {
        let text = format!(
            r#"#!/bin/bash
real=/usr/bin/scontrol
[ $# -gt 0 ] && exec $real "$@"
owner() {{ setpriv --reuid={OWNER} --regid={OWNER} --clear-groups "$@"; }}
while IFS= read -r order; do
  if [[ $order == *'{word}'* && ! -e {done} ]]; then
    touch {done}
    job=$(sed -E 's/^(release|uhold) //; s/.*jobid=([0-9]+).*/\1/' <<< "$order")
    {{ {script}
    }} > /dev/null < /dev/null
  fi
  printf '%s\n' "$order"
done | $real
"#,
            done = self.path("meddled").display(),
        );
        let path = self.path("bin/scontrol");
        fs::write(&path, text).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("permissions");
        self.meddled = true;
    }

    /// Submits a script as the owner; the number of the job.
    pub fn submit(&self, args: &[&str], script: &str) -> u64 {
        let mut command = self.as_owner("sbatch");
        command
            .args(["--parsable", "--output=/dev/null", "--chdir=/tmp"])
            .args(args)
            .arg("--wrap")
            .arg(script);
        said(command).trim().parse().expect("a job's number")
    }

    /// A client program of the cluster, called by the owner of the jobs.
    pub fn as_owner(&self, program: &str) -> Command {
        let mut command = self.cluster.command(program);
        command.uid(OWNER).gid(OWNER).current_dir("/tmp");
        command
    }

    /// The release of Slurm.
    pub fn release(&self) -> (u32, u32) {
        let mut command = self.cluster.command("scontrol");
        command.arg("--version");
        let version = said(command);
        let mut parts = version.split([' ', '.']).filter_map(|part| part.trim().parse().ok());
        (parts.next().expect("a version"), parts.next().expect("a version"))
    }

    /// Calls `scontrol` as an operator.
    pub fn scontrol(&self, args: &[&str]) {
        let mut command = self.cluster.command("scontrol");
        command.args(args);
        said(command);
    }

    /// Waits until the log says all of these.
    pub fn wait_for_log(&self, wanted: &[&str]) {
        self.wait(&format!("the log to say {wanted:?}"), |bed| {
            bed.log().lines().any(|line| wanted.iter().all(|part| line.contains(part)))
        });
    }

    /// Waits until the ledger says this of a job.
    pub fn wait_for(&self, job: u64, event: &str) -> Vec<String> {
        self.wait(&format!("{event} of job {job}"), |bed| bed.nodes_of(job, event).is_some());
        self.nodes_of(job, event).expect("it is there")
    }

    /// Waits until something holds, and fails with the log if it does not.
    pub fn wait(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let since = Instant::now();
        while !holds(self) {
            assert!(
                since.elapsed() < LONGEST,
                "waited in vain for {what}:\n{}\n{}",
                self.log(),
                self.ledger()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub fn ledger(&self) -> String {
        fs::read_to_string(self.path("data/ledger.csv")).unwrap_or_default()
    }

    /// The lines of the ledger about a job: event, nodes, detail.
    pub fn lines_of(&self, job: u64) -> Vec<(String, Vec<String>, String)> {
        let text = self.ledger();
        let fields = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let ours = fields.filter(|fields| fields.len() == 6 && fields[2] == job.to_string());
        let nodes = |list: &str| list.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        ours.map(|fields| (fields[3].clone(), nodes(&fields[4]), fields[5].clone())).collect()
    }

    /// The nodes of the last line that says this of a job.
    pub fn nodes_of(&self, job: u64, event: &str) -> Option<Vec<String>> {
        self.lines_of(job).into_iter().rev().find(|(found, ..)| found == event).map(|(_, nodes, _)| nodes)
    }

    /// Whether all jobs that Slurm has records of have ended in the ledger, each once, in the same way and on
    /// the same nodes; and whether each that ran as decided ran where it was decided last.
    pub fn assert_agreement(&self, jobs: &[u64]) {
        let (mut ours, mut theirs) = (self.ended(), self.recorded());
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "\n{}\n{}", self.log(), self.ledger());
        let numbers: Vec<u64> = ours.iter().map(|ended| ended.0).collect();
        assert_eq!(numbers, jobs, "each job ends once");
        for &job in jobs {
            if let Some(running) = self.nodes_of(job, "running") {
                assert_eq!(Some(running), self.nodes_of(job, "decided"), "job {job}\n{}", self.ledger());
            }
        }
    }

    /// Ends in the ledger.
    fn ended(&self) -> Vec<Ended> {
        let text = self.ledger();
        let fields = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let ended = fields.filter(|fields| fields.len() == 6 && fields[3] == "ended");
        let nodes = |list: &str| list.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        ended
            .map(|fields| (fields[2].parse().expect("a number"), fields[5].clone(), nodes(&fields[4])))
            .collect()
    }

    /// Slurm's own records.
    fn recorded(&self) -> Vec<Ended> {
        let text = fs::read_to_string(self.cluster.dir().join("log/jobcomp")).unwrap_or_default();
        let value = |line: &str, key: &str| {
            let word = line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            word.expect("a record").to_owned()
        };
        let record = |line: &str| {
            let mut nodes = hostlist::names(&value(line, "NodeList"));
            nodes.sort();
            (value(line, "JobId").parse().expect("a number"), value(line, "JobState"), nodes)
        };
        text.lines().map(record).collect()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some(mut driver) = self.driver.take() {
            let _ = driver.kill();
            let _ = driver.wait();
        }
    }
}

/// What a program says; it has to end well.
pub fn said(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
