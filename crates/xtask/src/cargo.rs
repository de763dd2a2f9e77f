//! Starting other programs: where cargo and the workspace are, and what a failed start means.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::Failure;

/// The root of the workspace; every command runs there, wherever the user stands.
pub(crate) fn workspace_root() -> PathBuf {
    // Cargo sets the variable for whatever it runs. Asking at run time keeps a binary that was
    // built in another checkout (a shared target folder) from testing that other checkout.
    let xtask = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    xtask.ancestors().nth(2).map_or_else(|| xtask.clone(), PathBuf::from)
}

/// A command for the very cargo that started this program, so that `cargo +1.88 xtask test`
/// tests with 1.88 throughout.
pub(crate) fn cargo() -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")));
    // What cargo told this program about itself makes build scripts that look at it run again, and all that
    // depends on them.
    let ours = |name: &OsString| {
        ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start))
    };
    for name in std::env::vars_os().map(|(name, _)| name).filter(ours) {
        command.env_remove(name);
    }
    command
}

/// A command that will run in the workspace root.
pub(crate) fn command(program: impl Into<OsString>) -> Command {
    let mut command = Command::new(program.into());
    command.current_dir(workspace_root());
    command
}

/// Runs the command to its end with its output on the terminal.
pub(crate) fn run(mut command: Command) -> Result<(), Failure> {
    let shown = display(&command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failure::Check(format!("`{shown}` ended with {status}"))),
        Err(error) => Err(Failure::Check(format!("`{shown}` did not start: {error}"))),
    }
}

/// Whether the command succeeds, whatever it prints. For questions such as "is it installed?".
pub(crate) fn succeeds(mut command: Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program is on the search path and tells its version.
pub(crate) fn answers(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version");
    succeeds(probe)
}

/// The command as one would type it: program name without its folder, then the arguments.
fn display(command: &Command) -> String {
    let program = PathBuf::from(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        let manifest = std::fs::read_to_string(workspace_root().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn commands_are_shown_without_their_folder() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command.args(["test", "--doc"]);
        assert_eq!(display(&command), "cargo test --doc");
    }

    #[test]
    fn a_program_that_does_not_exist_is_a_failure_and_no_panic() {
        let missing = || Command::new("no-such-program-anywhere");
        assert!(!succeeds(missing()));
        assert!(matches!(run(missing()), Err(Failure::Check(_))));
    }
}
