//! `cargo xtask test`: the steps, their order, and the choice of some of them.

use std::time::Instant;

use crate::cargo::{cargo, run, succeeds};
use crate::chromium::CHROMIUM;
use crate::slurm::SLURM;
use crate::strace::STRACE;
use crate::{Failure, axe, book, deny, highspy, real, schemathesis};

/// The profile of a release build that checks for overflow.
pub(crate) const CHECKED: &str = "checked";

const HELP: &str = "\
Runs every check the project has, in this order, stopping at the first failure.

Usage: cargo xtask test [STEP]...

Steps (all of them when none is named):
  fmt      the code is formatted
  clippy   no lint fires, in any target
  test     unit and integration tests; benchmarks are left out. Needs Chromium,
           strace and Slurm and installs them with apt when run as root; needs
           highspy (HiGHS for Python), schemathesis and axe-core, and installs
           them with pip and npm below target
  checked  the tests of the arithmetic again, optimised as in a release, with
           overflow checks
  doctest  the examples in the documentation
  doc      the documentation of the code builds without a warning
  book     every link between the documents leads somewhere, and their site
           builds, in target/book/site, with mdbook, which is built once
  deny     licences, sources and duplicates of the dependencies, and known
           vulnerabilities where the database of advisories can be reached

What could not be checked on this machine is said in the last lines: the real
traces, which are not in the repository (ESDP_DATA, or `../shared/data`), and
the advisories (`cargo xtask advisories` fails without them).

Examples:
  cargo xtask test              everything, before you push
  cargo xtask test test         only the unit and integration tests
  cargo xtask test fmt clippy   the quick ones

Exit code: 0 all steps passed, 1 a step failed, 2 the command line makes no sense.
";

/// One step of the test command. The order of the variants is the order they run in: the cheap
/// ones and those that fail most often come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Fmt,
    Clippy,
    Test,
    Checked,
    Doctest,
    Doc,
    Book,
    Deny,
}

impl Step {
    const ALL: [Self; 8] = [
        Self::Fmt,
        Self::Clippy,
        Self::Test,
        Self::Checked,
        Self::Doctest,
        Self::Doc,
        Self::Book,
        Self::Deny,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Test => "test",
            Self::Checked => "checked",
            Self::Doctest => "doctest",
            Self::Doc => "doc",
            Self::Book => "book",
            Self::Deny => "deny",
        }
    }

    /// What could not be checked on this machine, if anything.
    fn run(self) -> Result<Option<String>, Failure> {
        match self {
            Self::Fmt => {
                require_component("fmt", "rustfmt", "rustfmt")?;
                // The one step without `--locked`: rustfmt resolves no dependencies.
                cargo_with(&["fmt", "--all", "--check"])?;
            }
            Self::Clippy => {
                require_component("clippy", "clippy", "rust-clippy")?;
                cargo_with(&["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
            }
            // Not `--all-targets`: that would run the benchmarks as well. Clippy above has
            // already made sure that they compile.
            Self::Test => {
                CHROMIUM.require()?;
                STRACE.require()?;
                SLURM.require()?;
                let mut command = cargo();
                // All failures at once: whoever reads them is not there to start it again.
                command.args(["test", "--locked", "--no-fail-fast", "--workspace"]);
                command.args(["--lib", "--bins", "--tests", "--examples"]);
                command.env(highspy::VARIABLE, highspy::require()?).env(axe::VARIABLE, axe::require()?);
                command.env(schemathesis::VARIABLE, schemathesis::require()?);
                run(command)?;
                return Ok(real::missing());
            }
            // The library's solvers and statistics, where the arithmetic is; the whole workspace would take
            // minutes.
            Self::Checked => cargo_with(&[
                "test",
                "--locked",
                "--profile",
                CHECKED,
                "--package",
                "esdp",
                "--test",
                "solver",
                "--test",
                "scheduler",
                "--",
                "solvers::",
                "gang_solver::",
                "group_minima::",
                "conformance::",
            ])?,
            Self::Doctest => cargo_with(&["test", "--locked", "--workspace", "--doc"])?,
            Self::Doc => {
                let mut command = cargo();
                // `--lib`: the binary `esdp` shares its name with the library, and its pages
                // would overwrite the library's.
                command.args(["doc", "--locked", "--workspace", "--no-deps", "--lib"]);
                command.env("RUSTDOCFLAGS", "-D warnings");
                run(command)?;
            }
            Self::Book => book::build()?,
            Self::Deny => return deny::check(),
        }
        Ok(None)
    }
}

/// Runs `cargo xtask test` with the arguments that follow the word `test`.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    let steps = chosen(args)?;
    let start = Instant::now();
    let mut unchecked = Vec::new();
    for step in &steps {
        let name = step.name();
        let step_start = Instant::now();
        println!("== {name}");
        let left = step.run().map_err(|failure| match failure {
            Failure::Check(cause) => Failure::Check(format!(
                "step {name} failed after {:.1} s: {cause}; \
                 run it alone with `cargo xtask test {name}`",
                step_start.elapsed().as_secs_f64()
            )),
            usage @ Failure::Usage(_) => usage,
        })?;
        unchecked.extend(left);
        println!("== {name} passed in {:.1} s\n", step_start.elapsed().as_secs_f64());
    }
    let names: Vec<_> = steps.iter().map(|step| step.name()).collect();
    println!("All steps passed in {:.1} s: {}.", start.elapsed().as_secs_f64(), names.join(", "));
    for what in unchecked {
        println!("Not checked: {what}.");
    }
    Ok(())
}

/// The steps that were named, each once and in their usual order; all of them for no name.
fn chosen(args: &[String]) -> Result<Vec<Step>, Failure> {
    for arg in args {
        if !Step::ALL.iter().any(|step| step.name() == arg) {
            let names = Step::ALL.map(Step::name).join(", ");
            return Err(Failure::Usage(format!("unknown step `{arg}`: the steps are {names}")));
        }
    }
    Ok(Step::ALL
        .into_iter()
        .filter(|step| args.is_empty() || args.iter().any(|arg| arg == step.name()))
        .collect())
}

fn cargo_with(args: &[&str]) -> Result<(), Failure> {
    let mut command = cargo();
    command.args(args);
    run(command)
}

/// Cargo's own words for a missing component differ with how Rust was installed, and some do
/// not say what to do; so ask first and say it here.
fn require_component(subcommand: &str, component: &str, debian: &str) -> Result<(), Failure> {
    let mut probe = cargo();
    probe.args([subcommand, "--version"]);
    if succeeds(probe) {
        return Ok(());
    }
    Err(Failure::Check(format!(
        "{component} is not installed: run `rustup component add {component}` \
         (or `apt install {debian}` where Rust comes from Debian)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(args: &[&str]) -> Result<Vec<Step>, Failure> {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        chosen(&args)
    }

    #[test]
    fn no_name_means_every_step() {
        assert_eq!(choose(&[]).unwrap(), Step::ALL);
    }

    #[test]
    fn named_steps_run_once_and_in_the_usual_order() {
        let steps = choose(&["deny", "fmt", "deny"]).unwrap();
        assert_eq!(steps, [Step::Fmt, Step::Deny]);
    }

    #[test]
    fn an_unknown_step_is_named_beside_those_that_exist() {
        let Err(Failure::Usage(message)) = choose(&["fmt", "lint"]) else {
            panic!("`lint` is no step");
        };
        assert!(message.contains("`lint`") && message.contains("fmt, clippy, test"));
    }

    #[test]
    fn the_help_names_every_step() {
        for step in Step::ALL {
            assert!(HELP.contains(&format!("\n  {} ", step.name())));
        }
    }
}
