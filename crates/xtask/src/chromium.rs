//! The browser in which the report is tested (`crates/esdp-cli/tests/report.rs`).
//!
//! The test fails where there is none, since a test that is skipped is no test. So the `test`
//! step sees to it beforehand: it installs Chromium where it may, and says how where it may not.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::cargo::{run, succeeds};

/// The names the test looks for, in this order.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Makes sure that there is a browser.
pub(crate) fn require() -> Result<(), Failure> {
    if installed() {
        return Ok(());
    }
    if !(is_root() && Path::new("/usr/bin/apt-get").exists()) {
        return Err(Failure::Check(ask()));
    }
    println!("Chromium is not installed: installing it with apt, for the test of the report");
    // The lists of packages may be old or, in a container, missing. If they cannot be had, the
    // installation below says so.
    let _ = run(apt(&["update", "--quiet=2"]));
    run(apt(&["install", "--yes", "--quiet=2", "--no-install-recommends", "chromium"]))?;
    if installed() { Ok(()) } else { Err(Failure::Check(ask())) }
}

fn ask() -> String {
    "the test of the report needs Chromium: install it with `sudo apt install chromium` (Debian), \
     `sudo dnf install chromium` (Fedora), or put a program named `chromium` on the search path"
        .to_owned()
}

fn installed() -> bool {
    NAMES.iter().any(|name| {
        let mut probe = Command::new(name);
        probe.arg("--version");
        succeeds(probe)
    })
}

pub(crate) fn is_root() -> bool {
    let answer = Command::new("id").arg("-u").output();
    answer.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

pub(crate) fn apt(args: &[&str]) -> Command {
    let mut command = Command::new("apt-get");
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(ask().contains("apt install chromium"));
    }
}
