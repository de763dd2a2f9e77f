//! `strace`, with which the order of writes of `esdp serve` is checked (`crates/esdp-cli/tests/serve_order.rs`).

use std::path::Path;
use std::process::Command;

use crate::Failure;
use crate::cargo::{run, succeeds};
use crate::chromium::{apt, is_root};

/// Makes sure that there is one.
pub(crate) fn require() -> Result<(), Failure> {
    if installed() {
        return Ok(());
    }
    if !(is_root() && Path::new("/usr/bin/apt-get").exists()) {
        return Err(Failure::Check(ask()));
    }
    println!("strace is not installed: installing it with apt, for the test of the order of writes");
    // The lists of packages may be old or, in a container, missing.
    let _ = run(apt(&["update", "--quiet=2"]));
    run(apt(&["install", "--yes", "--quiet=2", "--no-install-recommends", "strace"]))?;
    if installed() { Ok(()) } else { Err(Failure::Check(ask())) }
}

fn ask() -> String {
    "the test of the order of writes needs strace: install it with `sudo apt install strace` (Debian) or \
     `sudo dnf install strace` (Fedora)"
        .to_owned()
}

fn installed() -> bool {
    let mut probe = Command::new("strace");
    probe.arg("--version");
    succeeds(probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(ask().contains("apt install strace"));
    }
}
