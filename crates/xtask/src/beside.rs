//! What runs beside the tests: what only waits need not be waited for, and what only computes fills the gaps.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use crate::Failure;
use crate::cargo::{run, workspace_root};
use crate::programs::gentle;
use crate::seconds::Summary;

/// Something that runs.
pub(crate) struct Beside {
    name: String,
    /// Where what it says is kept until it is shown.
    said: PathBuf,
    work: JoinHandle<Result<Summary, Failure>>,
}

impl Beside {
    /// Starts work that says what it does in a file, below `target`.
    pub(crate) fn start(
        name: &str,
        work: impl FnOnce(File) -> Result<Summary, Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let folder = workspace_root().join("target").join("beside");
        Self::start_in(&folder, name, work)
    }

    /// Starts steps by their names, as a process of its own that leaves the processor to others.
    pub(crate) fn steps(steps: &[&'static str], niceness: u8) -> Result<Self, Failure> {
        let ourselves = std::env::current_exe();
        let ourselves = ourselves.map_err(|error| Failure::Check(format!("this program: {error}")))?;
        let mut command = Command::new(ourselves);
        command.arg("test").args(steps).current_dir(workspace_root());
        Self::start(&steps.join(" "), move |said| run_into(said, gentle(niceness, command)))
    }

    fn start_in(
        folder: &Path,
        name: &str,
        work: impl FnOnce(File) -> Result<Summary, Failure> + Send + 'static,
    ) -> Result<Self, Failure> {
        let said = folder.join(format!("{}.log", name.replace(' ', "-")));
        let file = std::fs::create_dir_all(folder).and_then(|()| File::create(&said));
        let file = file.map_err(|error| cannot(&said, error))?;
        Ok(Self { name: name.to_owned(), said, work: std::thread::spawn(|| work(file)) })
    }

    /// Waits for the end and shows what was said, but for the last lines, which are returned.
    pub(crate) fn end(self) -> Result<Summary, Failure> {
        let Self { name, said, work } = self;
        let ended = work.join().unwrap_or_else(|_| Err(Failure::Check("this program panicked".to_owned())));
        let text = std::fs::read(&said).map_err(|error| cannot(&said, error))?;
        let text = String::from_utf8_lossy(&text);
        let (shown, last) = Summary::split(&text);
        println!("== beside the tests: {name}\n{shown}\n");
        let mut summary = ended.map_err(|failure| match failure {
            Failure::Check(cause) => Failure::Check(format!("{name}, beside the tests: {cause}")),
            usage @ Failure::Usage(_) => usage,
        })?;
        summary.join(last);
        Ok(summary)
    }
}

fn run_into(said: File, mut command: Command) -> Result<Summary, Failure> {
    let errors = said.try_clone().map_err(|error| Failure::Check(error.to_string()))?;
    command.stdin(Stdio::null()).stdout(said).stderr(errors);
    run(command).map(|()| Summary::default())
}

fn cannot(said: &Path, error: std::io::Error) -> Failure {
    Failure::Check(format!("{}: {error}", said.display()))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ended(script: &str, name: &str) -> Result<Summary, Failure> {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        let ended = Beside::start_in(&folder, name, |said| run_into(said, shell)).unwrap().end();
        std::fs::remove_dir_all(folder).unwrap();
        ended
    }

    #[test]
    fn last_lines_are_handed_on() {
        let summary = ended("printf '== a\\n\\nSeconds:\\n  a   1.5\\nNot checked: b.\\n'", "good").unwrap();
        assert!(summary.rows[0].name == "a" && summary.unchecked == ["b"], "{summary:?}");
    }

    #[test]
    fn a_failure_is_one_here_too() {
        let Err(Failure::Check(said)) = ended("echo error: no >&2; exit 1", "bad") else {
            panic!("it failed");
        };
        assert!(said.starts_with("bad, beside the tests: "), "{said}");
    }
}
