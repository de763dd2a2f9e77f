//! `cargo xtask numbers`: the measured numbers that `docs/numbers.md` writes down, as far as they are cheap.
//!
//! A part of the page between two marks is what a command prints, and is rewritten here. The others were
//! too expensive to measure anew each time; they carry their command and the commit. Tests compare what the
//! README and the documents quote with the page.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::{cargo, command, run, workspace_root};
use crate::{Failure, long};

#[cfg(test)]
mod tests;

const PAGE: &str = "docs/numbers.md";

/// One run whose table is in the page.
struct Measured {
    /// Its mark in the page.
    name: &'static str,
    /// What is run, as a user would type it after `esdp`.
    args: &'static str,
    /// The columns that are kept: times differ from run to run.
    columns: &'static [&'static str],
}

const RATIO: &[&str] = &["policy", "oracle ratio", "AOU", "regret"];
const WAITING: &[&str] = &["policy", "waiting"];

const MEASURED: [Measured; 6] = [
    Measured { name: "default-2000", args: "run", columns: RATIO },
    Measured { name: "default-8000", args: "run --slots 8000", columns: RATIO },
    Measured {
        name: "fleet",
        args: "run --preset fleet-200 --seed 11000 --seeds 12 --policies oracle,esdp,cucb,cts",
        columns: RATIO,
    },
    Measured {
        name: "drift",
        args: "run --preset drift-switch --slots 8000 --seed 11000 --seeds 12 \
               --policies oracle,esdp,cucb,cts",
        columns: RATIO,
    },
    Measured {
        name: "queue-3000",
        args: "run examples/scenarios/n-model.toml --slots 3000",
        columns: WAITING,
    },
    Measured { name: "queue-48000", args: "run examples/scenarios/n-model.toml", columns: WAITING },
];

/// Rewrites the page, or with `--check` fails if a number in it is not what is measured now.
pub(crate) fn main(args: &[String]) -> Result<(), Failure> {
    let check = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--check"] => true,
        _ => return Err(Failure::Usage("usage: cargo xtask numbers [--check]".to_owned())),
    };
    let mut build = cargo();
    build.args(["build", "--locked", "--package", long::CLI]);
    run(build)?;
    let root = workspace_root();
    let esdp = root.join("target/debug/esdp");
    let page = root.join(PAGE);
    let cannot = |error| Failure::Check(format!("{PAGE}: {error}"));
    let before = fs::read_to_string(&page).map_err(cannot)?;
    let mut after = before.clone();
    let place = place()?;
    let mut moved = Vec::new();
    for measured in &MEASURED {
        println!("esdp {}", measured.args);
        let table = measured.table(&measured.run(&esdp, &root)?)?;
        if !before.contains(&table) {
            moved.push(measured.name);
        }
        after = replaced(&after, measured.name, &format!("{table}\n{place}"))?;
    }
    match (check, moved.as_slice()) {
        (true, []) => Ok(()),
        (true, names) => Err(Failure::Check(format!(
            "{PAGE}: not what is measured now: {}; `cargo xtask numbers` writes them anew",
            names.join(", ")
        ))),
        (false, names) => {
            fs::write(&page, after).map_err(cannot)?;
            println!("{PAGE}: {} of {} tables changed", names.len(), MEASURED.len());
            Ok(())
        }
    }
}

impl Measured {
    /// What the command prints.
    fn run(&self, esdp: &Path, root: &Path) -> Result<String, Failure> {
        let out = root.join("target/numbers").join(self.name);
        let mut esdp = command(esdp);
        esdp.args(self.args.split(' ')).arg("--quiet").arg("--out").arg(&out);
        printed(esdp)
    }

    /// The kept columns of the printed table, with a fence around it.
    fn table(&self, printed: &str) -> Result<String, Failure> {
        let mut lines = printed.lines().skip_while(|line| !line.starts_with("policy "));
        let missing =
            || Failure::Check(format!("`esdp {}` prints no table with {:?}", self.args, self.columns));
        let head = cells(lines.next().ok_or_else(missing)?);
        let kept: Option<Vec<usize>> = self
            .columns
            .iter()
            .map(|column| head.iter().position(|cell| cell.trim_end_matches(", slots") == *column))
            .collect();
        let kept = kept.ok_or_else(missing)?;
        let row = |cells: &[&str]| {
            let kept = kept.iter().map(|&position| cells.get(position).copied().unwrap_or_default());
            format!("| {} |\n", kept.collect::<Vec<_>>().join(" | "))
        };
        let mut table = row(&head) + &format!("|{}\n", "---|".repeat(kept.len()));
        let rows = lines.map(cells).take_while(|cells| cells.len() == head.len());
        rows.for_each(|cells| table += &row(&cells));
        Ok(table)
    }
}

/// The cells of a printed row, which at least two blanks keep apart.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

/// The page with another text between the two marks of a part.
fn replaced(page: &str, name: &str, text: &str) -> Result<String, Failure> {
    let (start, end) = marks(name);
    let parts = page.split_once(&start).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) =
        parts.ok_or_else(|| Failure::Check(format!("{PAGE} lacks `{start}` or `{end}`")))?;
    Ok(format!("{before}{start}\n{text}{end}{after}"))
}

fn marks(name: &str) -> (String, String) {
    (format!("<!-- measured: {name} -->"), format!("<!-- end: {name} -->"))
}

/// With what the numbers were measured.
fn place() -> Result<String, Failure> {
    let ask = |program: &str, args: &[&str]| {
        let mut command = command(program);
        command.args(args);
        printed(command)
    };
    // The last commit that could have changed them; one that only writes them down is no other program.
    let commit = ask("git", &["log", "-1", "--format=%h", "--", "crates", "Cargo.lock"])?;
    let rustc = ask("rustc", &["--version"])?;
    let rustc = rustc.split(" (").next().unwrap_or_default();
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processor = processor.map_or("another processor", |(_, name)| name);
    Ok(format!("Commit {}, {}, {processor}.\n", commit.trim(), rustc.trim()))
}

fn printed(mut command: Command) -> Result<String, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| Failure::Check(format!("`{name}`: {error}")))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failure::Check(format!("`{name}` ended with {}: {}", output.status, why.trim())));
    }
    String::from_utf8(output.stdout).map_err(|_| Failure::Check(format!("`{name}` does not print UTF-8")))
}
