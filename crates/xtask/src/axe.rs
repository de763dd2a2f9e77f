//! axe-core, which says whether people with a keyboard or a screen reader can use the dashboard
//! (`crates/esdp-cli/tests/dashboard/main.rs`).
//!
//! The test fails where it is missing, since a test that is skipped is no test. So the `test` step sees to it
//! beforehand: it installs one version with npm below `target`, and says what to install where it cannot.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::apt::{apt, is_root};
use crate::cargo::{run, succeeds, workspace_root};

/// The variable by which the test finds the script.
pub(crate) const VARIABLE: &str = "ESDP_AXE";
/// Another version may find other things.
const VERSION: &str = "4.14.0";

/// The script, `axe.min.js`.
pub(crate) fn require() -> Result<OsString, Failure> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return if Path::new(&named).is_file() { Ok(named) } else { Err(Failure::Check(ask())) };
    }
    // Below `target`, so that nothing outside the checkout changes and `cargo clean` removes it.
    let home = workspace_root().join("target").join("tools").join(format!("axe-{VERSION}"));
    let script = home.join("node_modules").join("axe-core").join("axe.min.js");
    if script.is_file() {
        return Ok(script.into_os_string());
    }
    println!(
        "axe-core is not installed: installing it with npm, in target/tools, for the test of the dashboard"
    );
    if !has_npm() && is_root() && Path::new("/usr/bin/apt-get").exists() {
        // The lists of packages may be old or, in a container, missing.
        let _ = run(apt(&["update", "--quiet=2"]));
        run(apt(&["install", "--yes", "--quiet=2", "--no-install-recommends", "npm"]))?;
    }
    run(install(&home)).map_err(|_| Failure::Check(ask()))?;
    if script.is_file() { Ok(script.into_os_string()) } else { Err(Failure::Check(ask())) }
}

fn install(home: &Path) -> Command {
    let mut command = Command::new("npm");
    command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--prefix"]);
    command.arg(home).arg(format!("axe-core@{VERSION}"));
    command
}

fn has_npm() -> bool {
    let mut probe = Command::new("npm");
    probe.arg("--version");
    succeeds(probe)
}

fn ask() -> String {
    format!(
        "the test of the dashboard needs axe-core: install npm (`sudo apt install npm` on Debian), or run \
         `npm install axe-core@{VERSION}` elsewhere and name its axe.min.js in {VARIABLE}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(ask().contains("apt install npm") && ask().contains(VARIABLE));
    }

    #[test]
    fn one_version_is_installed_below_its_folder() {
        let command = format!("{:?}", install(Path::new("there")));
        assert!(command.contains(&format!("axe-core@{VERSION}")) && command.contains("there"), "{command}");
    }
}
