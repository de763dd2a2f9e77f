//! The programs that Cargo makes of tests: all are built at once, and run one after the other.
//!
//! Not by `cargo test`, which cannot leave some of them out without a list of all others, and does not say
//! how long each took.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Failure;
use crate::cargo::{cargo, run};
use crate::seconds::Row;

/// One program of tests.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Program {
    /// The folder of its package, where it runs.
    directory: PathBuf,
    /// Its target: `lib`, `bin`, `test` or `example`, and a name.
    kind: String,
    pub name: String,
    pub executable: PathBuf,
}

/// All tests of the workspace, as Cargo is told of them. Not `--all-targets`: that would build the benchmarks
/// as well, and clippy has already made sure that they compile.
pub(crate) const EVERY: [&str; 4] = ["--lib", "--bins", "--tests", "--examples"];

/// Builds tests of the workspace.
pub(crate) fn build(which: &[&str], niceness: u8) -> Result<Vec<Program>, Failure> {
    let mut command = cargo();
    // The whole workspace each time, so that all are built of the same.
    command.args(["test", "--locked", "--workspace"]).args(which);
    command.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let output = gentle(niceness, command)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::Check(format!("cargo: {error}")))?;
    if !output.status.success() {
        return Err(Failure::Check("the tests do not compile".to_owned()));
    }
    let mut all = listed(&String::from_utf8_lossy(&output.stdout));
    all.sort();
    if all.is_empty() {
        return Err(Failure::Check("Cargo names no program of tests".to_owned()));
    }
    Ok(all)
}

/// How programs are run.
#[derive(Default)]
pub(crate) struct Manner {
    pub niceness: u8,
    /// Where what they say goes, if not to the terminal.
    pub said: Option<File>,
    /// Variables that they need.
    pub variables: Vec<(&'static str, OsString)>,
}

impl Manner {
    /// Runs them all, also after a failure: whoever reads the failures is not there to start it again. How
    /// long each took.
    pub(crate) fn run(&self, programs: &[Program]) -> Result<Vec<Row>, Failure> {
        let mut rows = Vec::new();
        let mut failed = Vec::new();
        for program in programs {
            let start = Instant::now();
            let title = program.title();
            if self.one(program).is_err() {
                failed.push(title.clone());
            }
            rows.push(Row { name: title, seconds: start.elapsed().as_secs_f64() });
        }
        match failed.as_slice() {
            [] => Ok(rows),
            all => Err(Failure::Check(format!("tests failed in {}", all.join(", ")))),
        }
    }

    /// As Cargo runs it: in the folder of its package.
    fn one(&self, program: &Program) -> Result<(), Failure> {
        let Program { directory, executable, .. } = program;
        let running = format!("     Running {} ({})", program.title(), executable.display());
        let mut command = Command::new(executable);
        command.current_dir(directory).env("CARGO_MANIFEST_DIR", directory);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let mut command = gentle(self.niceness, command);
        match &self.said {
            None => println!("{running}"),
            Some(file) => {
                let mut file = file;
                let cannot = |error| Failure::Check(format!("what tests say cannot be written: {error}"));
                writeln!(file, "{running}").map_err(cannot)?;
                command.stdout(file.try_clone().map_err(cannot)?).stderr(file.try_clone().map_err(cannot)?);
            }
        }
        run(command)
    }
}

impl Program {
    /// As in `esdp-cli: test report`.
    fn title(&self) -> String {
        let package = self.directory.file_name().unwrap_or_default().to_string_lossy();
        format!("{package}: {} {}", self.kind, self.name)
    }
}

/// The command, but leaving the processor to others, more so the higher the number (at most 19).
pub(crate) fn gentle(by: u8, command: Command) -> Command {
    if by == 0 || !cfg!(unix) {
        return command;
    }
    let mut nice = Command::new("nice");
    nice.arg("-n").arg(by.to_string()).arg(command.get_program()).args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        nice.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

/// The programs in Cargo's messages, which are JSON, one per line.
pub(crate) fn listed(messages: &str) -> Vec<Program> {
    messages.lines().filter_map(program).collect()
}

fn program(line: &str) -> Option<Program> {
    // A binary that tests only start is no program of tests.
    let (target, rest) = line.split_once("\"profile\":{")?;
    rest.split_once('}')?.0.contains("\"test\":true").then_some(())?;
    let (_, target) = target.split_once("\"target\":{")?;
    Some(Program {
        directory: PathBuf::from(text(line, "\"manifest_path\":\"")?).parent()?.to_owned(),
        kind: text(target, "\"kind\":[\"")?.to_owned(),
        name: text(target, "\"name\":\"")?.to_owned(),
        executable: PathBuf::from(text(rest, "\"executable\":\"")?),
    })
}

/// What stands between a beginning and the next quotation mark.
fn text<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    Some(line.split_once(start)?.1.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const MESSAGES: &str = concat!(
        r#"{"reason":"compiler-artifact","package_id":"p","manifest_path":"/w/crates/a/Cargo.toml","#,
        r#""target":{"kind":["bin"],"name":"a","src_path":"/w/crates/a/src/main.rs","test":true},"#,
        r#""profile":{"opt_level":"1","test":false},"filenames":["/t/a"],"executable":"/t/a","fresh":true}"#,
        "\n",
        r#"{"reason":"compiler-artifact","package_id":"p","manifest_path":"/w/crates/a/Cargo.toml","#,
        r#""target":{"kind":["test"],"name":"b","src_path":"/w/crates/a/tests/b.rs","test":true},"#,
        r#""profile":{"opt_level":"1","test":true},"filenames":["/t/b-0f"],"#,
        r#""executable":"/t/b-0f","fresh":true}"#,
        "\n",
        r#"{"reason":"build-finished","success":true}"#,
    );

    #[test]
    fn programs_of_tests_are_found_in_cargos_messages() {
        let [found] = &listed(MESSAGES)[..] else { panic!("one program of tests") };
        assert_eq!(found.title(), "a: test b");
        assert_eq!(found.directory, Path::new("/w/crates/a"));
        assert_eq!(found.executable, Path::new("/t/b-0f"));
    }

    #[cfg(unix)]
    #[test]
    fn all_run_and_the_failed_ones_are_named() {
        let program = |name: &str| Program {
            directory: std::env::temp_dir(),
            kind: "test".to_owned(),
            name: name.to_owned(),
            executable: PathBuf::from(name),
        };
        let rows = Manner::default().run(&[program("true")]).unwrap();
        assert!(rows.len() == 1 && rows[0].name.ends_with("test true"));
        let manner = Manner { niceness: 1, ..Manner::default() };
        let Err(Failure::Check(said)) = manner.run(&["true", "false", "true"].map(program)) else {
            panic!("one of them fails");
        };
        assert!(said.ends_with("test false"), "{said}");
    }
}
