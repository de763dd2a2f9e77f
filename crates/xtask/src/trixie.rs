//! `cargo xtask slurm-trixie`: the tests of `esdp slurm` against Slurm 24.11 and its REST interface.
//!
//! Debian trixie goes to `target/trixie` by debootstrap, from the mirror that this machine's apt has. The
//! tests are built here and run there, in a mount namespace of their own, so that nothing stays mounted.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::apt::{Needed, is_root};
use crate::cargo::{cargo, run, workspace_root};
use crate::programs;

/// The tests, by package: what needs a Slurm.
const TESTS: [(&str, &str); 4] = [
    ("esdp-cluster", "testbed"),
    ("esdp", "slurm_commands"),
    ("esdp", "slurm_faults"),
    ("esdp", "slurm_arms"),
];

/// What they need there; the plugin is for the tokens of the REST interface.
const PACKAGES: &str = "slurm-wlm,slurmrestd,slurm-wlm-jwt-plugin,munge,procps";

const DEBOOTSTRAP: Needed = Needed {
    package: "debootstrap",
    test: "the tests of esdp slurm with Slurm 24.11",
    is_installed: || Path::new("/usr/sbin/debootstrap").is_file(),
    ask: "cargo xtask slurm-trixie makes a Debian trixie: install debootstrap with `sudo apt install \
          debootstrap`, and run \
          it as root",
};

/// Runs all of the tests, or those that are named.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    let known = |name: &String| TESTS.iter().any(|(_, test)| test == name);
    if let Some(name) = args.iter().find(|name| !known(name)) {
        let names = TESTS.map(|(_, test)| test).join(", ");
        return Err(Failure::Usage(format!("unknown test `{name}`: the tests are {names}")));
    }
    if !is_root() {
        return Err(Failure::Check(
            "cargo xtask slurm-trixie needs root, for debootstrap and chroot".to_owned(),
        ));
    }
    let here = workspace_root();
    let root = here.join("target/trixie");
    install(&root)?;
    for (package, test) in
        TESTS.into_iter().filter(|(_, test)| args.is_empty() || args.iter().any(|arg| arg == test))
    {
        let binary = build(package, test)?;
        println!("== {test} on trixie");
        run(within(&here, &root, &here.join("crates").join(package), &binary))?;
    }
    Ok(())
}

fn install(root: &Path) -> Result<(), Failure> {
    // The last package to be configured leaves this behind.
    if root.join("usr/sbin/slurmrestd").is_file() && root.join("var/lib/dpkg/info/slurmrestd.list").is_file()
    {
        return Ok(());
    }
    DEBOOTSTRAP.require()?;
    let mirror = mirror()?;
    let _ = std::fs::remove_dir_all(root);
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", &format!("--include={PACKAGES}"), "trixie"]).arg(root).arg(mirror);
    run(command)
}

/// Where this machine's packages come from.
fn mirror() -> Result<String, Failure> {
    let mut command = Command::new("apt-get");
    command.args(["indextargets", "--format", "$(SUITE) $(REPO_URI)", "Created-By: Packages"]);
    let answer = command.output().map_err(|error| Failure::Check(format!("apt-get: {error}")))?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    chosen(&text)
        .ok_or_else(|| Failure::Check("apt has no mirror of Debian: run `apt-get update` first".to_owned()))
}

/// The first that has a whole release: updates and security are elsewhere, perhaps.
fn chosen(targets: &str) -> Option<String> {
    let mut pairs = targets.lines().filter_map(|line| line.split_once(' '));
    pairs.find(|(suite, _)| !suite.contains('-')).map(|(_, place)| place.to_owned())
}

/// Builds a test; where it is.
fn build(package: &str, test: &str) -> Result<PathBuf, Failure> {
    let mut command = cargo();
    // Both packages, so that all of these tests share what they are built from.
    command.args([
        "test",
        "--locked",
        "--package",
        "esdp-cluster",
        "--package",
        "esdp",
        "--test",
        test,
        "--no-run",
    ]);
    command.arg("--message-format=json-render-diagnostics");
    let output = command.output().map_err(|error| Failure::Check(format!("cargo: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let failed = || {
        Failure::Check(format!(
            "{package}: {test} was not built: {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    };
    let built = programs::listed(&text).into_iter().find(|program| program.name == test);
    built.map(|program| program.executable).ok_or_else(failed)
}

/// A test in the other Debian, which sees this repository where it is.
fn within(here: &Path, root: &Path, directory: &Path, binary: &Path) -> Command {
    let script = r#"set -e
mkdir -p "$2$1"
mount --bind "$1" "$2$1"
mount --bind /dev "$2/dev"
mount -t proc proc "$2/proc"
# Without it, names are looked up in the network, for seconds.
echo "127.0.0.1 localhost $(uname -n)" > "$2/etc/hosts"
exec chroot "$2" env -C "$3" PATH=/usr/sbin:/usr/bin:/sbin:/bin "$4" --test-threads 2 --nocapture
"#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation=private", "sh", "-c", script, "sh"]);
    command.args([here, root, directory, binary]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_with_a_whole_release_is_chosen() {
        let targets = "bookworm-security http://a/\nbookworm http://b/debian/\nbookworm http://c/\n";
        assert_eq!(chosen(targets).as_deref(), Some("http://b/debian/"));
        assert_eq!(chosen(""), None);
    }
}
