//! HiGHS, whose answers the tests compare with (`crates/esdp-milp/src/highs`).
//!
//! The tests fail where its Python package `highspy` is missing, since a test that is skipped is no
//! test. So the `test` step sees to it beforehand: it installs the package into an environment of its
//! own below `target`, and says what to install where it cannot.

use std::ffi::OsString;
use std::process::Command;

use crate::cargo::{succeeds, workspace_root};
use crate::{Failure, pip};

/// The variable by which `esdp` and the tests find another Python than `python3`.
pub(crate) const VARIABLE: &str = "ESDP_PYTHON";

/// A Python that has the package.
pub(crate) fn require() -> Result<OsString, Failure> {
    let usual = std::env::var_os(VARIABLE).unwrap_or_else(|| OsString::from("python3"));
    if has_package(&usual) {
        return Ok(usual);
    }
    // Below `target`, so that nothing outside the checkout changes and `cargo clean` removes it.
    let home = workspace_root().join("target").join("tools").join("highspy");
    let python = home.join("bin").join("python3").into_os_string();
    if has_package(&python) {
        return Ok(python);
    }
    println!(
        "highspy is not installed: installing it with pip, in target/tools, to compare answers with HiGHS"
    );
    pip::install(&home, "highspy").map_err(|_| Failure::Check(ask()))?;
    if has_package(&python) { Ok(python) } else { Err(Failure::Check(ask())) }
}

fn has_package(python: &OsString) -> bool {
    let mut probe = Command::new(python);
    probe.args(["-c", "import highspy"]);
    succeeds(probe)
}

fn ask() -> String {
    format!(
        "the tests compare answers with HiGHS: install Python 3 and run `python3 -m pip install highspy` \
         (in a virtual environment: `sudo apt install python3-venv` on Debian), or name a Python that has \
         it in {VARIABLE}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(ask().contains("pip install highspy") && ask().contains(VARIABLE));
    }

    #[test]
    fn no_python_has_no_package() {
        assert!(!has_package(&OsString::from("no-such-python")));
    }
}
