//! The long forms of tests that `cargo xtask test` runs in short: optimised, with more of everything.

use std::process::Command;

use crate::cargo::{cargo, run};
use crate::{Failure, schemathesis};

/// A test that can be run for longer.
struct Long {
    name: &'static str,
    /// The crate.
    package: &'static str,
    /// The program of tests in it.
    test: &'static str,
    /// Its module, if not all of it.
    module: &'static str,
    /// What is counted, as its flag has it.
    flag: &'static str,
    /// The variable that says how many.
    variable: &'static str,
    default: u64,
}

/// The profile of a release build that checks for overflow.
const CHECKED: &str = "checked";

pub(crate) const CLI: &str = "esdp";
const SERVE: &str = "serve";

const CORE: &str = "esdp-core";
const SCHEDULER: &str = "scheduler";

const LONG: [Long; 12] = [
    Long {
        name: "crash",
        package: CLI,
        test: SERVE,
        module: "crash::",
        flag: "--times",
        variable: "ESDP_CRASHES",
        default: 1000,
    },
    Long {
        name: "damage",
        package: CLI,
        test: SERVE,
        module: "damage::",
        flag: "--times",
        variable: "ESDP_DAMAGES",
        default: 300,
    },
    Long {
        name: "sync",
        package: CLI,
        test: SERVE,
        module: "sync::",
        flag: "--times",
        variable: "ESDP_SYNCS",
        default: 200,
    },
    Long {
        name: "hostile",
        package: CLI,
        test: SERVE,
        module: "hostile::",
        flag: "--requests",
        variable: "ESDP_HOSTILE",
        default: 10_000,
    },
    Long {
        name: "schema",
        package: CLI,
        test: SERVE,
        module: "schema::",
        flag: "--examples",
        variable: "ESDP_EXAMPLES",
        default: 500,
    },
    Long {
        name: "model",
        package: CLI,
        test: SERVE,
        module: "model::",
        flag: "--operations",
        variable: "ESDP_OPERATIONS",
        default: 20_000,
    },
    Long {
        name: "builds",
        package: CLI,
        test: SERVE,
        module: "builds::",
        flag: "--kills",
        variable: "ESDP_KILLS",
        default: 1000,
    },
    Long {
        name: "soak",
        package: CLI,
        test: SERVE,
        module: "soak::",
        flag: "--seconds",
        variable: "ESDP_SOAK",
        default: 1200,
    },
    Long {
        name: "fuzz",
        package: "esdp-fuzz",
        test: "corpus",
        module: "",
        flag: "--tries",
        variable: "ESDP_FUZZ",
        default: 100_000,
    },
    Long {
        name: "doubt",
        package: CORE,
        test: SCHEDULER,
        module: "doubt::",
        flag: "--seeds",
        variable: "ESDP_DOUBT",
        default: 12,
    },
    Long {
        name: "judged",
        package: CORE,
        test: SCHEDULER,
        module: "judged::",
        flag: "--seeds",
        variable: "ESDP_JUDGED",
        default: 12,
    },
    Long {
        name: "slurm-scale",
        package: CLI,
        test: "slurm_scale",
        module: "",
        flag: "--jobs",
        variable: "ESDP_SCALE",
        default: 1000,
    },
];

/// Runs one of them, if it is one, with the arguments that follow its name.
pub(crate) fn main(name: &str, args: &[String]) -> Option<Result<(), Failure>> {
    let long = LONG.iter().find(|long| long.name == name)?;
    Some(long.count(args).and_then(|count| run(long.command(count)?)))
}

impl Long {
    fn command(&self, count: u64) -> Result<Command, Failure> {
        let mut command = cargo();
        // Fuzzing looks for overflow too; a service is measured as it is shipped.
        let profile = if self.package == CLI { "release" } else { CHECKED };
        command.args([
            "test",
            "--locked",
            "--profile",
            profile,
            "--package",
            self.package,
            "--test",
            self.test,
        ]);
        command.args(["--", "--nocapture", "--test-threads", "1", self.module]);
        command.env(self.variable, count.to_string());
        if self.name == "schema" {
            command.env(schemathesis::VARIABLE, schemathesis::require()?);
        }
        Ok(command)
    }

    fn count(&self, args: &[String]) -> Result<u64, Failure> {
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let Self { name, flag, .. } = self;
        match words[..] {
            [] => Ok(self.default),
            [given, count] if given == *flag => {
                let wrong = |_| Failure::Usage(format!("`{flag} {count}`: expected a whole number"));
                count.parse().map_err(wrong)
            }
            _ => Err(Failure::Usage(format!("usage: cargo xtask {name} [{flag} N]"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read() {
        let read = |args: &[&str]| LONG[0].count(&args.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(read(&[]).unwrap(), 1000);
        assert_eq!(read(&["--times", "7"]).unwrap(), 7);
        assert!(
            read(&["--times", "x"]).is_err() && read(&["7"]).is_err() && read(&["--requests", "7"]).is_err()
        );
        assert!(main("test", &[]).is_none());
    }
}
