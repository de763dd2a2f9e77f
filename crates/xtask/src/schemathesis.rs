//! schemathesis, which reads the OpenAPI document of `esdp serve` and looks for requests that it does not
//! answer as promised (`crates/esdp-cli/tests/serve/schema.rs`).
//!
//! The test fails where it is missing, since a test that is skipped is no test. So the `test` step sees to it
//! beforehand: it installs one version with pip below `target`, and says what to install where it cannot.

use std::ffi::OsString;
use std::path::Path;

use crate::cargo::workspace_root;
use crate::{Failure, pip};

/// The variable by which the test finds the program.
pub(crate) const VARIABLE: &str = "ESDP_SCHEMATHESIS";
/// Another version may find other things.
const VERSION: &str = "4.32.5";

/// The program.
pub(crate) fn require() -> Result<OsString, Failure> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return if Path::new(&named).is_file() { Ok(named) } else { Err(Failure::Check(ask())) };
    }
    let home = workspace_root().join("target").join("tools").join(format!("schemathesis-{VERSION}"));
    let program = home.join("bin").join("schemathesis");
    if !program.is_file() {
        println!(
            "schemathesis is not installed: installing it with pip, in target/tools, for the test of the \
             service"
        );
        pip::install(&home, &format!("schemathesis=={VERSION}")).map_err(|_| Failure::Check(ask()))?;
    }
    if program.is_file() { Ok(program.into_os_string()) } else { Err(Failure::Check(ask())) }
}

fn ask() -> String {
    format!(
        "the test of the service needs schemathesis: install Python 3 with venv (`sudo apt install \
         python3-venv` on \
         Debian), or run `pip install schemathesis=={VERSION}` elsewhere and name the program in {VARIABLE}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_says_what_to_install() {
        assert!(ask().contains("pip install schemathesis") && ask().contains(VARIABLE));
    }
}
