//! Programs that tests need and Debian has.

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::cargo::run;

/// A program that a test needs.
pub(crate) struct Needed {
    pub package: &'static str,
    /// The test, as in "for the test of the report".
    pub test: &'static str,
    pub is_installed: fn() -> bool,
    /// What to do where it cannot be installed here.
    pub ask: &'static str,
}

impl Needed {
    /// Installs it where it is missing and that is possible.
    pub(crate) fn require(&self) -> Result<(), Failure> {
        if (self.is_installed)() {
            return Ok(());
        }
        let missing = || Failure::Check(self.ask.to_owned());
        if !(is_root() && Path::new("/usr/bin/apt-get").exists()) {
            return Err(missing());
        }
        println!("{} is not installed: installing it with apt, for {}", self.package, self.test);
        // The lists of packages may be old or, in a container, missing. If they cannot be fetched, the
        // installation below says so.
        let _ = run(apt(&["update", "--quiet=2"]));
        run(apt(&["install", "--yes", "--quiet=2", "--no-install-recommends", self.package]))?;
        if (self.is_installed)() { Ok(()) } else { Err(missing()) }
    }
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
