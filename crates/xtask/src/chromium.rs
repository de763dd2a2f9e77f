//! The browser in which the report and the dashboard are tested (`report.rs` and `dashboard/` in
//! `crates/esdp-cli/tests/`).
//!
//! The tests fail where there is none, since a test that is skipped is no test. So the `test`
//! step sees to it beforehand: it installs Chromium where it may, and says how where it may not.

use crate::apt::Needed;
use crate::cargo::answers;

/// The names the tests look for, in this order.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub(crate) const CHROMIUM: Needed = Needed {
    package: "chromium",
    test: "the tests of the report and the dashboard",
    is_installed,
    ask: "the tests of the report and the dashboard need Chromium: install it with `sudo apt install \
          chromium` \
          (Debian), `sudo dnf install chromium` (Fedora), or put a program named `chromium` on the search \
          path",
};

fn is_installed() -> bool {
    NAMES.into_iter().any(answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(CHROMIUM.ask.contains("apt install chromium"));
    }
}
