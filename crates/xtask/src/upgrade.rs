//! Another build of the service, from a commit: its data is continued by the present build, and the way back.

use crate::Failure;
use crate::cargo::{cargo, command, run, workspace_root};
use crate::long::CLI;
use std::path::Path;

const USAGE: &str = "usage: cargo xtask upgrade COMMIT [--kills N | --write]";

/// What is done with the build.
#[derive(Debug, PartialEq, Eq)]
enum Task {
    Follow { kills: u64 },
    Write,
}

/// Runs the command with the arguments that follow its name.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    let (commit, task) = read(args)?;
    let name = name_of(commit)?;
    let place = workspace_root().join("target/upgrade");
    let binary = place.join(format!("esdp-{name}"));
    if !binary.exists() {
        build(&name, &place, &binary)?;
    }
    let (test, variable, value) = match task {
        Task::Follow { kills } => ("another_build_is_followed", "ESDP_UPGRADE_KILLS", kills.to_string()),
        Task::Write => ("fixtures_are_written", "ESDP_UPGRADE_NAME", name),
    };
    let mut tests = cargo();
    tests.args(["test", "--locked", "--release", "--package", CLI, "--test", "serve", "--"]);
    tests.args(["--exact", &format!("upgrade::{test}"), "--ignored", "--nocapture"]);
    tests.env("ESDP_UPGRADE_FROM", &binary).env(variable, value);
    run(tests)
}

fn read(args: &[String]) -> Result<(&str, Task), Failure> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let wrong = || Failure::Usage(USAGE.to_owned());
    let task = match words[..] {
        [_] => Task::Follow { kills: 20 },
        [_, "--write"] => Task::Write,
        [_, "--kills", kills] => Task::Follow { kills: kills.parse().map_err(|_| wrong())? },
        _ => return Err(wrong()),
    };
    if words[0].starts_with('-') { Err(wrong()) } else { Ok((words[0], task)) }
}

/// The short hash of a commit.
fn name_of(commit: &str) -> Result<String, Failure> {
    let mut git = command("git");
    git.args(["rev-parse", "--verify", "--short=7", &format!("{commit}^{{commit}}")]);
    let found = git.output().map_err(|error| Failure::Check(format!("`git` did not start: {error}")))?;
    match found.status.success() {
        true => Ok(String::from_utf8_lossy(&found.stdout).trim().to_owned()),
        false => Err(Failure::Check(format!("`{commit}` is not a commit of this repository"))),
    }
}

/// Builds the binary of a commit in a work tree of its own, which is removed again.
fn build(name: &str, place: &Path, binary: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Check(format!("{}: {error}", place.display()));
    std::fs::create_dir_all(place).map_err(failed)?;
    let (tree, target) = (place.join(format!("tree-{name}")), place.join("target"));
    let mut add = command("git");
    add.args(["worktree", "add", "--force", "--detach"]).arg(&tree).arg(name);
    run(add)?;
    let mut build = cargo();
    build.current_dir(&tree).env("CARGO_TARGET_DIR", &target);
    build.args(["build", "--locked", "--release", "--bin", "esdp"]);
    let built = run(build).and_then(|()| {
        let made = target.join("release").join(format!("esdp{}", std::env::consts::EXE_SUFFIX));
        std::fs::copy(made, binary).map(drop).map_err(failed)
    });
    let mut remove = command("git");
    remove.args(["worktree", "remove", "--force"]).arg(&tree);
    built.and(run(remove))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read() {
        let read = |words: &[&str]| {
            let args: Vec<String> = words.iter().map(ToString::to_string).collect();
            read(&args).map(|(commit, task)| (commit.to_owned(), task)).ok()
        };
        assert_eq!(read(&["abc"]), Some(("abc".to_owned(), Task::Follow { kills: 20 })));
        assert_eq!(read(&["abc", "--kills", "7"]), Some(("abc".to_owned(), Task::Follow { kills: 7 })));
        assert_eq!(read(&["abc", "--write"]), Some(("abc".to_owned(), Task::Write)));
        for wrong in [&[][..], &["--write"], &["abc", "--kills"], &["abc", "--kills", "x"], &["abc", "def"]] {
            assert_eq!(read(wrong), None);
        }
    }

    #[test]
    fn what_is_no_commit_is_named() {
        let failure = name_of("no-such-commit").unwrap_err();
        assert!(failure.cause().contains("`no-such-commit`"), "{}", failure.cause());
    }
}
