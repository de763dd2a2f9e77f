//! The files a cluster starts from.

use super::{LocalClusterError, LocalClusterSpec};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The longest path of a Unix socket is 107 bytes; that of a job's step needs up to 48 below the directory.
const LONGEST_DIR: usize = 107 - 48;

/// The user that has no rights.
const NOBODY: u32 = 65534;

/// Which Slurm is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Release {
    pub(super) number: (u32, u32),
    /// Whether it has a REST interface that places jobs.
    pub(super) rest: bool,
}

/// Below the ephemeral ports of Linux, so that no outgoing connection takes one of ours.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// Writes all files, for a release of Slurm; gives back the directory's absolute path.
pub(super) fn write(spec: &LocalClusterSpec, release: Release) -> Result<PathBuf, LocalClusterError> {
    check(spec)?;
    let dir = &spec.dir;
    for part in ["spool", "state", "log", "run", "dev"] {
        let part = dir.join(part);
        fs::create_dir_all(&part)
            .map_err(LocalClusterError::io(format!("cannot create {}", part.display())))?;
    }
    let dir =
        dir.canonicalize().map_err(LocalClusterError::io(format!("cannot resolve {}", dir.display())))?;
    if dir.as_os_str().len() > LONGEST_DIR {
        return Err(LocalClusterError::Spec(format!(
            "the directory {} is too long for Unix sockets: at most {LONGEST_DIR} bytes",
            dir.display()
        )));
    }
    // A temporary directory is its creator's alone; jobs of other users read the configuration.
    allow(&dir, 0o755)?;
    let key: [u8; 64] = random()?;
    save(&dir.join("munge.key"), &key)?;
    allow(&dir.join("munge.key"), 0o600)?;
    let count = spec.nodes.iter().filter_map(|node| node.gpus.as_ref().map(|gpus| gpus.1)).max().unwrap_or(0);
    for gpu in 0..count {
        device(&dir.join(format!("dev/gpu{gpu}")))?;
    }
    if release.rest {
        save(&dir.join("jwt.key"), &random::<64>()?)?;
        allow(&dir.join("jwt.key"), 0o600)?;
        let place = dir.join("run/rest");
        fs::create_dir_all(&place)
            .map_err(LocalClusterError::io(format!("cannot create {}", place.display())))?;
        chown(&place, Some(NOBODY), Some(NOBODY))
            .map_err(LocalClusterError::io(format!("cannot give {} away", place.display())))?;
    }
    if release.number >= (24, 5) {
        save(&dir.join("cgroup.conf"), b"CgroupPlugin=disabled\n")?;
    }
    let ports = free_ports(spec.nodes.len() + 1)?;
    save(&dir.join("slurm.conf"), slurm_conf(spec, &dir, &ports, release).as_bytes())?;
    save(&dir.join("gres.conf"), gres_conf(spec, &dir).as_bytes())?;
    if let Some(lua) = &spec.job_submit_lua {
        save(&dir.join("job_submit.lua"), lua.as_bytes())?;
    }
    Ok(dir)
}

fn check(spec: &LocalClusterSpec) -> Result<(), LocalClusterError> {
    let fail = |text: String| Err(LocalClusterError::Spec(text));
    if spec.nodes.is_empty() {
        return fail("a cluster needs at least one node".to_owned());
    }
    for (position, node) in spec.nodes.iter().enumerate() {
        let plain =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !plain(&node.name) || node.name.len() > 20 {
            return fail(format!("node name `{}`: expected 1 to 20 letters, digits and `-`", node.name));
        }
        if spec.nodes[..position].iter().any(|other| other.name == node.name) {
            return fail(format!("node name `{}` is used twice", node.name));
        }
        if node.cpus == 0 || node.memory_mb == 0 {
            return fail(format!("node `{}`: expected at least one CPU and some memory", node.name));
        }
        if let Some((kind, count)) = &node.gpus
            && (!plain(kind) || *count == 0)
        {
            return fail(format!(
                "node `{}`: expected a GPU type of letters, digits and `-`, and a count",
                node.name
            ));
        }
    }
    Ok(())
}

/// Ports in a row that nobody listens on: one for the controller, then one per node.
///
/// Somebody may take one before the daemon does; the position is random so that clusters that start at the
/// same moment hardly ever try the same.
fn free_ports(count: usize) -> Result<Vec<u16>, LocalClusterError> {
    let room = PORTS.len() - count;
    for _ in 0..1000 {
        let start = PORTS.start + (usize::from(u16::from_le_bytes(random()?)) % room) as u16;
        let ports: Vec<u16> = (0..count as u16).map(|offset| start + offset).collect();
        let held: Result<Vec<_>, _> =
            ports.iter().map(|port| TcpListener::bind(("0.0.0.0", *port))).collect();
        if held.is_ok() {
            return Ok(ports);
        }
    }
    Err(LocalClusterError::Spec(format!(
        "no {count} free ports in a row between {} and {}",
        PORTS.start, PORTS.end
    )))
}

fn slurm_conf(spec: &LocalClusterSpec, dir: &Path, ports: &[u16], release: Release) -> String {
    let dir = dir.display();
    let mut text = format!(
        "\
# Written anew each time the cluster is started.
ClusterName=local
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/run/munge.sock
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
# Nodes may claim more than the machine has.
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,default_queue_depth=1000,sched_interval=1,bf_interval=1
JobCompType=jobcomp/filetxt
JobCompLoc={dir}/log/jobcomp
AccountingStorageType=accounting_storage/none
ReturnToService=2
JobRequeue=0
SlurmdTimeout=10
MessageTimeout=5
",
        ports[0]
    );
    let mut line =
        |line: std::fmt::Arguments<'_>| writeln!(text, "{line}").expect("a string takes everything");
    if spec.nodes.iter().any(|node| node.gpus.is_some()) {
        line(format_args!("GresTypes=gpu"));
    }
    if release.rest {
        line(format_args!("AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key={dir}/jwt.key"));
    }
    if spec.job_submit_lua.is_some() {
        line(format_args!("JobSubmitPlugins=lua"));
    }
    for (node, port) in spec.nodes.iter().zip(&ports[1..]) {
        let gres =
            node.gpus.as_ref().map(|(kind, count)| format!(" Gres=gpu:{kind}:{count}")).unwrap_or_default();
        line(format_args!(
            "NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={} RealMemory={}{gres}",
            node.name, node.cpus, node.memory_mb
        ));
    }
    line(format_args!("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE"));
    text
}

fn gres_conf(spec: &LocalClusterSpec, dir: &Path) -> String {
    let mut text = "AutoDetect=off\n".to_owned();
    for node in &spec.nodes {
        if let Some((kind, count)) = &node.gpus {
            let last = count - 1;
            let dir = dir.display();
            writeln!(text, "NodeName={} Name=gpu Type={kind} File={dir}/dev/gpu[0-{last}]", node.name)
                .expect("a string takes everything");
        }
    }
    text
}

/// `slurmrestd` refuses to run as root or as SlurmUser. `env` and `setpriv` become what they start.
pub(super) fn rest_arguments(dir: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = [
        "SLURM_JWT=daemon",
        "setpriv",
        "--clear-groups",
        "slurmrestd",
        "-a",
        "rest_auth/jwt",
        "-s",
        "slurmctld",
        "-f",
    ]
    .map(OsString::from)
    .to_vec();
    words.insert(2, format!("--reuid={NOBODY}").into());
    words.insert(3, format!("--regid={NOBODY}").into());
    words.push(dir.join("slurm.conf").into());
    let mut socket = OsString::from("unix:");
    socket.push(rest_socket(dir));
    words.push(socket);
    words
}

pub(super) fn rest_socket(dir: &Path) -> PathBuf {
    dir.join("run/rest/socket")
}

pub(super) fn munged_arguments(dir: &Path) -> Vec<OsString> {
    let option = |name: &str, path: &str| {
        let mut option = OsString::from(format!("--{name}="));
        option.push(dir.join(path));
        option
    };
    vec![
        "--foreground".into(),
        // It warns of directories that others may write to, such as /tmp, and goes on.
        "--force".into(),
        option("key-file", "munge.key"),
        option("socket", "run/munge.sock"),
        option("pid-file", "run/munged.pid"),
        option("seed-file", "run/munge.seed"),
    ]
}

/// A device that stands for a GPU: Slurm takes no regular file, so it is another /dev/null.
fn device(path: &Path) -> Result<(), LocalClusterError> {
    if path.exists() {
        return Ok(());
    }
    let what = || format!("cannot make the device file {}", path.display());
    let made = Command::new("mknod")
        .arg(path)
        .args(["c", "1", "3"])
        .output()
        .map_err(LocalClusterError::io(what()))?;
    if made.status.success() {
        return Ok(());
    }
    Err(LocalClusterError::Spec(format!("{}: {}", what(), String::from_utf8_lossy(&made.stderr).trim())))
}

fn random<const N: usize>() -> Result<[u8; N], LocalClusterError> {
    use std::io::Read as _;
    let mut bytes = [0; N];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(LocalClusterError::io("cannot read /dev/urandom"))?;
    Ok(bytes)
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), LocalClusterError> {
    fs::write(path, bytes).map_err(LocalClusterError::io(format!("cannot write {}", path.display())))
}

fn allow(path: &Path, mode: u32) -> Result<(), LocalClusterError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(LocalClusterError::io(format!("cannot change the permissions of {}", path.display())))
}
