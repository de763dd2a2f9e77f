//! What was made is tried as its users would: unpacked or installed below a folder, and run from there.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::deb::CONFFILE;
use super::{Plan, cannot, make_folder, output, read, remove, write};
use crate::Failure;

/// Unpacks the tarball, and runs what is in it.
pub(super) fn tarball(plan: &Plan, tarball: &Path) -> Result<(), Failure> {
    let folder = plan.folder.join("tried");
    make_folder(&folder)?;
    output(Command::new("tar").arg("-xzf").arg(tarball).arg("-C").arg(&folder))?;
    let unpacked = folder.join(plan.name());
    let esdp = unpacked.join(format!("esdp{}", std::env::consts::EXE_SUFFIX));
    is_ours(plan, &esdp)?;
    for name in ["man/man1/esdp-serve.1", "completions/_esdp", "LICENSE-MIT", "deploy/esdp.service"] {
        if read(&unpacked.join(name))?.is_empty() {
            return Err(Failure::Check(format!("{name} is empty in {}", tarball.display())));
        }
    }
    demonstrate(&esdp)?;
    remove(&folder)
}

/// Installs the package by dpkg below a folder, changes its settings, upgrades, runs it and removes it.
pub(super) fn deb(plan: &Plan, deb: &Path) -> Result<(), Failure> {
    let root = plan.folder.join("tried");
    for folder in ["updates", "info"] {
        make_folder(&root.join("var/lib/dpkg").join(folder))?;
    }
    write(&root.join("var/lib/dpkg/status"), "")?;
    let installed = dpkg(&root, &["--install"], deb)?;
    let esdp = root.join("usr/bin/esdp");
    is_ours(plan, &esdp)?;
    let status = read(&root.join("var/lib/dpkg/status"))?;
    for expected in ["Status: install ok installed", &format!("Conffiles:\n {CONFFILE} ")] {
        if !status.contains(expected) {
            return Err(Failure::Check(format!("after {installed}: no `{expected}` in\n{status}")));
        }
    }
    let unit = read(&root.join("usr/lib/systemd/system/esdp.service"))?;
    let started = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap_or_default();
    let missing = started.split(' ').filter(|word| word.starts_with("/usr/") || word.starts_with("/etc/"));
    for path in missing {
        if !below(&root, path).exists() {
            return Err(Failure::Check(format!("the unit names {path}, which is not in the package")));
        }
    }
    // What an administrator changed stays, and the program accepts it.
    let settings = below(&root, CONFFILE);
    let changed = read(&settings)? + "seed = 7\n";
    write(&settings, &changed)?;
    dpkg(&root, &["--install"], deb)?;
    if read(&settings)? != changed {
        return Err(Failure::Check(format!("an upgrade overwrote {CONFFILE}")));
    }
    demonstrate(&esdp)?;
    dpkg(&root, &["--remove"], Path::new("esdp"))?;
    if esdp.exists() || !settings.exists() {
        return Err(Failure::Check("removing the package left the program, or took the settings".to_owned()));
    }
    remove(&root)
}

fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// dpkg without this machine's: its database, its scripts' root and its log are below the folder.
fn dpkg(root: &Path, what: &[&str], subject: &Path) -> Result<String, Failure> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(format!("--root={}", root.display())).arg(format!("--log={}", root.join("log").display()));
    // Libraries are this machine's, and the folder need not be root's.
    dpkg.args(["--force-not-root", "--force-script-chrootless", "--force-depends", "--force-confold"]);
    dpkg.arg("--force-bad-path");
    output(dpkg.args(what).arg(subject).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn is_ours(plan: &Plan, esdp: &Path) -> Result<(), Failure> {
    let told = output(Command::new(esdp).arg("--version"))?;
    let expected = [format!("esdp {}", plan.version), format!("target:  {}", plan.target)];
    match expected.iter().find(|expected| !told.contains(*expected)) {
        None => Ok(()),
        Some(expected) => Err(Failure::Check(format!("{}: no `{expected}` in\n{told}", esdp.display()))),
    }
}

/// Starts the demonstration, asks whether the service can decide, and ends it.
fn demonstrate(esdp: &Path) -> Result<(), Failure> {
    let mut demo = Command::new(esdp);
    demo.args(["demo", "--no-open"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let demo = demo.spawn().map_err(|error| cannot(esdp, error))?;
    let mut demo = Running(demo);
    let mut line = String::new();
    let out = demo.0.stdout.take().expect("it is piped");
    let _ = BufReader::new(out).read_line(&mut line);
    let Some((_, address)) = line.trim().split_once("http://") else {
        return Err(Failure::Check(format!("`esdp demo` says `{}` and no address", line.trim())));
    };
    output(Command::new(esdp).args(["healthcheck", "--target", address]))?;
    // As Ctrl-C, so that it removes its data.
    output(Command::new("kill").args(["-INT", &demo.0.id().to_string()]))?;
    demo.0.wait().map(drop).map_err(|error| cannot(esdp, error))
}

/// A program that does not outlive its use.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
