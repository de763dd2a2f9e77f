//! Tools that cargo builds: found on the search path, or built once below `target`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::cargo::{cargo, run, workspace_root};

/// A tool from the registry.
pub(crate) struct Tool {
    /// Its crate, which is its program too.
    pub name: &'static str,
    /// The version this project builds. Raise it on purpose, together with the tool's configuration.
    pub version: &'static str,
    /// What else `cargo install` is told.
    pub flags: &'static [&'static str],
}

impl Tool {
    /// The program to run: one on the search path if it reads our configuration, else our own.
    pub(crate) fn find_or_build(&self) -> Result<PathBuf, Failure> {
        let installed = PathBuf::from(self.name);
        if version_of(&installed).is_some_and(|version| self.is_of_our_series(&version)) {
            return Ok(installed);
        }
        // Below `target`, so that nothing outside the checkout changes and `cargo clean` removes it;
        // the version in the name makes a raised version build anew.
        let (name, version) = (self.name, self.version);
        let tools = workspace_root().join("target").join("tools");
        let root = tools.join(format!("{name}-{version}"));
        let program = root.join("bin").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        if version_of(&program).is_none() {
            println!(
                "{name} {version} is not installed: building it once, in target/tools; this takes a minute \
                 or two"
            );
            let build = tools.join(format!("{name}-build"));
            let mut install = cargo();
            install.args(["install", "--quiet", name, "--version", version, "--locked"]).args(self.flags);
            // It runs for a second, so compile time is all that counts: neither optimisation nor
            // debug information, where its release profile may ask for full link-time optimisation.
            install.arg("--debug").env("CARGO_PROFILE_DEV_DEBUG", "0");
            install.arg("--root").arg(&root);
            install.arg("--target-dir").arg(&build);
            run(install)?;
            // Several hundred megabytes that nobody reads again. Failing to remove them harms nothing.
            let _ = std::fs::remove_dir_all(build);
        }
        Ok(program)
    }

    /// Whether a program of this version understands our configuration as ours does: before 1.0, only
    /// releases with the same first two numbers promise that.
    fn is_of_our_series(&self, version: &str) -> bool {
        let series = |text: &str| {
            let mut parts = text.split('.').map(str::to_owned);
            (parts.next(), parts.next())
        };
        series(version) == series(self.version)
    }
}

/// What `PROGRAM --version` reports, such as `0.20.2`; nothing if it cannot be run.
fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().nth(1).map(|version| version.trim_start_matches('v').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_series_reads_our_config() {
        let tool = Tool { name: "a-tool", version: "0.20.2", flags: &[] };
        assert!(tool.is_of_our_series("0.20.2"));
        assert!(tool.is_of_our_series("0.20.99"));
        assert!(!tool.is_of_our_series("0.14.2"));
        assert!(!tool.is_of_our_series("1.20.2"));
        assert!(!tool.is_of_our_series(""));
    }
}
