//! `cargo xtask picture`: the picture of the dashboard in the README, of the page as it is.
//!
//! The test of the dashboard starts `esdp demo`, waits in Chromium until the page names the slow server, and
//! leaves pictures in the target folder. This runs that test and keeps one of them.

use std::fs;

use crate::cargo::{cargo, run, workspace_root};
use crate::chromium::CHROMIUM;
use crate::{Failure, axe, long};

/// Where the README shows it.
const PICTURE: &str = "docs/figures/dashboard.png";
/// A first page must load fast.
const MOST_BYTES: usize = 150_000;

pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    if !args.is_empty() {
        return Err(Failure::Usage("usage: cargo xtask picture".to_owned()));
    }
    CHROMIUM.require()?;
    let mut test = cargo();
    test.args(["test", "--locked", "--package", long::CLI, "--test", "dashboard"]);
    test.args(["--", "--exact", "an_operator_sees_a_service_at_work"]);
    test.env(axe::VARIABLE, axe::require()?);
    run(test)?;
    let root = workspace_root();
    let taken = root.join("target/tmp/dashboard-readme.png");
    let cannot = |error| Failure::Check(format!("{}: {error}", taken.display()));
    let bytes = fs::read(&taken).map_err(cannot)?;
    if bytes.len() > MOST_BYTES {
        return Err(Failure::Check(format!(
            "{}: {} bytes, expected at most {MOST_BYTES}",
            taken.display(),
            bytes.len()
        )));
    }
    fs::write(root.join(PICTURE), &bytes).map_err(cannot)?;
    println!("{PICTURE}: {} bytes", bytes.len());
    Ok(())
}
