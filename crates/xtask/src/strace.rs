//! `strace`, with which the order of writes of `esdp serve` is checked (`crates/esdp-cli/tests/serve_order.rs`).

use std::process::Command;

use crate::apt::Needed;
use crate::cargo::succeeds;

pub(crate) const STRACE: Needed = Needed {
    package: "strace",
    test: "the test of the order of writes",
    is_installed,
    ask: "the test of the order of writes needs strace: install it with `sudo apt install strace` (Debian) or \
          `sudo dnf install strace` (Fedora)",
};

fn is_installed() -> bool {
    let mut probe = Command::new("strace");
    probe.arg("--version");
    succeeds(probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(STRACE.ask.contains("apt install strace"));
    }
}
