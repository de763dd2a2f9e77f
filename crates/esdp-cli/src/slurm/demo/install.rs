//! Slurm and munge for the demo, from Debian's packages.

use anyhow::{Context, bail};
use esdp_cluster::testbed::LocalClusterError;
use std::path::Path;
use std::process::{Command, Stdio};

/// Installs what is missing, if that is possible here; says what to install if not.
pub(super) fn require() -> anyhow::Result<()> {
    let Err(missing) = esdp_cluster::testbed::installed() else { return Ok(()) };
    let apt = Path::new("/usr/bin/apt-get");
    if !matches!(missing, LocalClusterError::Missing(_))
        || !rustix::process::geteuid().is_root()
        || !apt.exists()
    {
        return Err(missing.into());
    }
    crate::output::note("installing Slurm and munge with apt");
    // The lists of packages may be old or, in a container, missing. If they cannot be fetched, the
    // installation says so.
    let _ = run(apt, &["update", "--quiet=2"]);
    run(apt, &["install", "--yes", "--quiet=2", "--no-install-recommends", "slurm-wlm", "munge"])?;
    Ok(esdp_cluster::testbed::installed()?)
}

fn run(apt: &Path, args: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new(apt);
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    let answer = command.output().context("apt-get does not run")?;
    if !answer.status.success() {
        bail!("apt-get {}: {}", args.join(" "), String::from_utf8_lossy(&answer.stderr).trim());
    }
    Ok(())
}
