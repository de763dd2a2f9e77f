//! The project's own chores. `cargo xtask test` is the one test command: what passes here
//! passes everywhere, because `.ci/run` and the hosted workflow call it and nothing else.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks through these two streams"
)]

mod apt;
mod axe;
mod beside;
mod book;
mod cargo;
mod chromium;
mod deny;
mod dist;
mod highspy;
mod links;
mod long;
mod numbers;
mod picture;
mod pip;
mod programs;
mod real;
mod schemathesis;
mod seconds;
mod slurm;
mod strace;
mod test;
mod tool;
mod trixie;
mod upgrade;

use std::process::ExitCode;

const HELP: &str = "\
The project's own chores.

Usage: cargo xtask <COMMAND>

Commands:
  test        Runs every check the project has
  advisories  Looks for known vulnerabilities, and fails where their database cannot be reached
  dist        Makes what a release consists of, in target/dist, and tries it: tarball, deb, crates,
              bill of materials and checksums; `--target TRIPLE` for another target, `--dev` for a
              quick one of the unoptimised binary
  help        Prints this help

Long forms of tests of `esdp serve`, optimised:
  crash    Kills it under load, 1000 times or `--times N`, and checks what is left
  damage   Damages its files after a kill, 300 times or `--times N`: refused, or nothing is missing
  sync     Lets each of its first 200 or `--times N` syncs fail: no answer is untrue after the next start
  hostile  Sends 10000 or `--requests N` broken, oversized and slow requests, and measures a good client
  schema   Sends 500 or `--examples N` requests to each operation of its OpenAPI document by schemathesis
  model    Sends 20000 or `--operations N` requests and holds the answers against a second model of the API
  builds   Kills two builds in turn on the same data, 1000 times or `--kills N`
  soak     Plays against it for 1200 or `--seconds N`, and measures its memory and its database

Other builds of `esdp serve`, from commits of this repository:
  upgrade COMMIT  Builds it, kills it on data of its own 20 times or `--kills N`, goes on with the present
                  build, and back; with `--write` it writes the fixtures of the test command instead

Long forms of tests of what is believed of reports, optimised:
  doubt    False reports and true changes, on 12 or `--seeds N` seeds: what they cost
  judged   The scenarios of the suite with and without the rule, on 12 or `--seeds N` seeds

Fuzzing without a nightly toolchain (see crates/esdp-fuzz), optimised, with overflow checks:
  fuzz     Tries 100000 or `--tries N` mutants of every kind of input that others may write

For the README and the documents:
  numbers  Measures what is cheap to measure, and rewrites these parts of docs/numbers.md; `--check`
           fails if one has moved
  picture  Takes the picture of the dashboard for the README, in Chromium

More of `esdp slurm`, as root:
  slurm-trixie  Its tests, or the named ones, against Slurm 24.11 and REST, in a Debian trixie
                that debootstrap makes
  slurm-scale   Its driver with 1000 or `--jobs N` held jobs and half as many real nodes, optimised

Examples:
  cargo xtask test             everything, before you push
  cargo xtask test fmt clippy  only these two steps
  cargo xtask test --help      what the steps are
";

/// Why a chore ended without success. The two cases differ in their exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line makes no sense: exit code 2.
    Usage(String),
    /// A check failed, or could not run: exit code 1.
    Check(String),
}

impl Failure {
    pub(crate) fn cause(&self) -> &str {
        match self {
            Self::Usage(cause) | Self::Check(cause) => cause,
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Check(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(args: &[String]) -> Result<(), Failure> {
    match args.first().map(String::as_str) {
        Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some("test") => test::main(&args[1..]),
        Some("dist") => dist::main(&args[1..]),
        Some("advisories") => deny::advisories(&args[1..]),
        Some("slurm-trixie") => trixie::main(&args[1..]),
        Some("numbers") => numbers::main(&args[1..]),
        Some("picture") => picture::main(&args[1..]),
        Some("upgrade") => upgrade::main(&args[1..]),
        // No command is an error and not a help page: a script that lost its argument must not
        // look as if all checks had passed.
        None => {
            Err(Failure::Usage("no command given: try `cargo xtask test` or `cargo xtask --help`".to_owned()))
        }
        Some(name) => long::main(name, &args[1..]).unwrap_or_else(|| {
            Err(Failure::Usage(format!("unknown command `{name}`: see `cargo xtask --help`")))
        }),
    }
}
