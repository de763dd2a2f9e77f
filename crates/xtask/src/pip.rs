//! Python packages that tests need, in environments of their own below `target`.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::apt::{apt, is_root};
use crate::cargo::run;

/// Makes an environment and installs a package into it.
pub(crate) fn install(home: &Path, package: &str) -> Result<(), Failure> {
    if run(environment(home)).is_err() && is_root() && Path::new("/usr/bin/apt-get").exists() {
        // Debian's Python comes without what makes environments. If the lists of packages cannot be
        // had, the installation says so.
        let _ = run(apt(&["update", "--quiet=2"]));
        run(apt(&["install", "--yes", "--quiet=2", "--no-install-recommends", "python3-venv"]))?;
        run(environment(home))?;
    }
    let mut install = Command::new(home.join("bin").join("python3"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]);
    run(install)
}

fn environment(home: &Path) -> Command {
    let mut command = Command::new("python3");
    command.args(["-m", "venv", "--clear"]).arg(home);
    command
}
