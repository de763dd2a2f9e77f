//! `cargo xtask test`: the steps, their order, and the choice of some of them.

use std::fs::File;
use std::time::Instant;

use crate::beside::Beside;
use crate::cargo::{cargo, run, succeeds};
use crate::chromium::CHROMIUM;
use crate::programs::{EVERY, Manner, Program};
use crate::seconds::{Row, Summary};
use crate::slurm::{OF_SLURM, SLURM, is_started_by};
use crate::strace::STRACE;
use crate::{Failure, axe, book, deny, dist, highspy, programs, real, schemathesis};

const HELP: &str = "\
Runs every check the project has. The first two come first, and the command ends
if one of them fails. The others run beside each other: `slurm` mostly waits, and
they are built and run meanwhile, `test` before what comes after it.

Usage: cargo xtask test [STEP]...

Steps (all of them when none is named):
  fmt      the code is formatted
  clippy   no lint fires, in any target
  test     unit and integration tests but those of `slurm`; benchmarks are left
           out. Needs Chromium and strace and installs them with apt when run as
           root; needs highspy (HiGHS for Python), schemathesis and axe-core, and
           installs them with pip and npm below target. The library, where the
           arithmetic is, is optimised as in a release, with overflow checks
  slurm    the tests that start clusters of Slurm, which is installed with apt
  doctest  the examples in the documentation
  doc      the documentation of the code builds without a warning
  book     every link between the documents leads somewhere, and their site
           builds, in target/book/site, with mdbook, which is built once
  dist     what a release consists of can be made of the unoptimised binary, and
           works: the tarball unpacked, the Debian package installed below a folder
  deny     licences, sources and duplicates of the dependencies, and known
           vulnerabilities where the database of advisories can be reached

The last lines say how long the steps took, with the programs of tests that took
a second or more, and what could not be checked on this machine: the real
traces, which are not in the repository (ESDP_DATA, or `../shared/data`), and
the advisories (`cargo xtask advisories` fails without them).

Examples:
  cargo xtask test              everything, before you push
  cargo xtask test test         only the unit and integration tests without Slurm
  cargo xtask test fmt clippy   the quick ones

Exit code: 0 all steps passed, 1 a step failed, 2 the command line makes no sense.
";

/// The niceness of what is in nobody's way.
const MAKES_WAY: u8 = 10;

/// One step of the test command. The order of the variants is the order they run in, if they do not run
/// beside each other: the cheap ones and those that fail most often come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Fmt,
    Clippy,
    Test,
    Slurm,
    Doctest,
    Doc,
    Book,
    Dist,
    Deny,
}

impl Step {
    const ALL: [Self; 9] = [
        Self::Fmt,
        Self::Clippy,
        Self::Test,
        Self::Slurm,
        Self::Doctest,
        Self::Doc,
        Self::Book,
        Self::Dist,
        Self::Deny,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Fmt => "fmt",
            Self::Clippy => "clippy",
            Self::Test => "test",
            Self::Slurm => "slurm",
            Self::Doctest => "doctest",
            Self::Doc => "doc",
            Self::Book => "book",
            Self::Dist => "dist",
            Self::Deny => "deny",
        }
    }

    /// What the step needs and this machine may not have.
    fn require(self) -> Result<(), Failure> {
        match self {
            Self::Test => CHROMIUM.require().and_then(|()| STRACE.require()),
            Self::Slurm => SLURM.require(),
            _ => Ok(()),
        }
    }

    fn run(self) -> Result<Done, Failure> {
        self.require()?;
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
            Self::Test => {
                let programs = ordinary(0)?.run(&without_slurm(programs::build(&EVERY, 0)?))?;
                return Ok(Done { programs, unchecked: real::missing() });
            }
            Self::Slurm => {
                let programs = Manner::default().run(&programs::build(&OF_SLURM, 0)?)?;
                return Ok(Done { programs, unchecked: None });
            }
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
            Self::Dist => return Ok(Done { programs: Vec::new(), unchecked: dist::test()? }),
            Self::Deny => return Ok(Done { programs: Vec::new(), unchecked: deny::check()? }),
        }
        Ok(Done::default())
    }
}

/// What a step that passed has to say.
#[derive(Default)]
struct Done {
    /// Its programs of tests.
    programs: Vec<Row>,
    /// What could not be checked on this machine, if anything.
    unchecked: Option<String>,
}

/// Runs `cargo xtask test` with the arguments that follow the word `test`.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        print!("{HELP}");
        return Ok(());
    }
    let steps = chosen(args)?;
    let start = Instant::now();
    let mut summary = Summary::default();
    if steps.contains(&Step::Test) {
        let (first, others) =
            steps.split_at(steps.iter().position(|step| *step == Step::Test).expect("it is"));
        one_by_one(first, &mut summary)?;
        beside_each_other(others, &mut summary)?;
    } else {
        one_by_one(&steps, &mut summary)?;
    }
    let names: Vec<_> = steps.iter().map(|step| step.name()).collect();
    print!("All steps passed in {:.1} s: {}.\n{summary}", start.elapsed().as_secs_f64(), names.join(", "));
    Ok(())
}

fn one_by_one(steps: &[Step], summary: &mut Summary) -> Result<(), Failure> {
    for step in steps {
        let name = step.name();
        let start = Instant::now();
        println!("== {name}");
        let done = step.run().map_err(|failure| match failure {
            Failure::Check(cause) => Failure::Check(format!(
                "step {name} failed after {:.1} s: {cause}; \
                 run it alone with `cargo xtask test {name}`",
                start.elapsed().as_secs_f64()
            )),
            usage @ Failure::Usage(_) => usage,
        })?;
        let seconds = start.elapsed().as_secs_f64();
        summary.step(name, seconds, done.programs);
        summary.unchecked.extend(done.unchecked);
        println!("== {name} passed in {seconds:.1} s\n");
    }
    Ok(())
}

/// How the ordinary tests are run.
fn ordinary(niceness: u8) -> Result<Manner, Failure> {
    let variables = vec![
        (highspy::VARIABLE, highspy::require()?),
        (axe::VARIABLE, axe::require()?),
        (schemathesis::VARIABLE, schemathesis::require()?),
    ];
    Ok(Manner { niceness, said: None, variables })
}

/// The programs but those that start clusters of Slurm.
fn without_slurm(mut programs: Vec<Program>) -> Vec<Program> {
    programs.retain(|program| !is_started_by(&program.name));
    programs
}

/// The tests, with all steps that follow beside them. All that was started ends, whatever fails.
fn beside_each_other(steps: &[Step], summary: &mut Summary) -> Result<(), Failure> {
    steps.iter().try_for_each(|step| step.require())?;
    let manner = ordinary(MAKES_WAY)?;
    println!("== build");
    let start = Instant::now();
    let mut running = Vec::new();
    // First what mostly waits. It gives up on what is not answered in time, so all others make way for it.
    if steps.contains(&Step::Slurm) {
        let slurm = programs::build(&OF_SLURM, 0)?;
        running.push(Beside::start(Step::Slurm.name(), move |said| run_slurm(said, &slurm))?);
    }
    let mut causes = Vec::new();
    let mut note =
        |ended: Result<(), Failure>| causes.extend(ended.err().map(|failure| failure.cause().to_owned()));
    match programs::build(&EVERY, MAKES_WAY) {
        Err(failure) => note(Err(failure)),
        Ok(programs) => {
            summary.step("build", start.elapsed().as_secs_f64(), Vec::new());
            // Not before, since Cargo builds for one at a time.
            let others = steps[1..].iter().filter(|step| **step != Step::Slurm);
            let others: Vec<_> = others.map(|step| step.name()).collect();
            if !others.is_empty() {
                note(Beside::steps(&others, 19).map(|beside| running.push(beside)));
            }
            note(run_ordinary(&manner, programs, summary));
        }
    }
    for beside in running {
        note(beside.end().map(|last| summary.join(last)));
    }
    if causes.is_empty() { Ok(()) } else { Err(Failure::Check(causes.join("; "))) }
}

fn run_ordinary(manner: &Manner, programs: Vec<Program>, summary: &mut Summary) -> Result<(), Failure> {
    println!("== test");
    let start = Instant::now();
    let ended = manner.run(&without_slurm(programs));
    let seconds = start.elapsed().as_secs_f64();
    println!("== test ended after {seconds:.1} s\n");
    summary.step(Step::Test.name(), seconds, ended?);
    summary.unchecked.extend(real::missing());
    Ok(())
}

fn run_slurm(said: File, programs: &[Program]) -> Result<Summary, Failure> {
    let start = Instant::now();
    let programs = Manner { said: Some(said), ..Manner::default() }.run(programs)?;
    let mut summary = Summary::default();
    summary.step(Step::Slurm.name(), start.elapsed().as_secs_f64(), programs);
    Ok(summary)
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
