//! `strace`, with which the order of writes of `esdp serve` is checked
//! (`crates/esdp-cli/tests/serve/order.rs`).

use crate::apt::Needed;
use crate::cargo::answers;

pub(crate) const STRACE: Needed = Needed {
    package: "strace",
    test: "the test of the order of writes",
    is_installed: || answers("strace"),
    ask: "the test of the order of writes needs strace: install it with `sudo apt install strace` (Debian) \
          or \
          `sudo dnf install strace` (Fedora)",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(STRACE.ask.contains("apt install strace"));
    }
}
