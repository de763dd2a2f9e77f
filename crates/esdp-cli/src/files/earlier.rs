//! An earlier result in the way of a new one: it is kept, beside it.
//!
//! The same input gives the same numbers, so its result may be replaced. A result of other input is moved to
//! a directory of its own, `out/default-1` for `out/default`, or the next number that is free. Only files
//! that results have are moved: a directory may hold other things.

use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of runs and sweeps. The parts of a sweep stay: each is named by what it was computed from.
const FILES: [&str; 15] = [
    "summary.json",
    "summary.csv",
    "seeds.csv",
    "curves.csv",
    "cluster.json",
    "estimates.csv",
    "slots.csv",
    "slots.jsonl",
    "sweep.csv",
    "sweep.json",
    "plan.json",
    "suite.csv",
    "suite.json",
    "scenario.toml",
    "report.html",
];

/// Moves the result files of a directory to one of its own, and says which.
///
/// # Errors
/// With the directory or file and what the system says.
pub(crate) fn keep_earlier(out: &Path) -> anyhow::Result<PathBuf> {
    let failed = || format!("{}: the earlier result cannot be moved out of the way", out.display());
    // A directory such as `.` has no name of its own.
    let named = if out.file_name().is_some() {
        out.to_owned()
    } else {
        fs::canonicalize(out).with_context(failed)?
    };
    let place = free_beside(&named).with_context(failed)?;
    for file in FILES {
        let from = out.join(file);
        if fs::symlink_metadata(&from).is_ok_and(|found| found.is_file()) {
            fs::rename(&from, place.join(file)).with_context(failed)?;
        }
    }
    Ok(place)
}

/// A new directory with the name of another and a number.
fn free_beside(directory: &Path) -> std::io::Result<PathBuf> {
    let mut number = 1_u64;
    loop {
        let mut name = directory.as_os_str().to_owned();
        name.push(format!("-{number}"));
        match fs::create_dir(&name) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            made => return made.map(|()| name.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_are_moved_and_nothing_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("default");
        fs::create_dir_all(out.join("parts")).unwrap();
        for (round, text) in ["first", "second"].into_iter().enumerate() {
            fs::write(out.join("summary.json"), text).unwrap();
            fs::write(out.join("mine.txt"), "mine").unwrap();
            let place = keep_earlier(&out).unwrap();
            assert_eq!(place, dir.path().join(format!("default-{}", round + 1)));
            assert_eq!(fs::read_to_string(place.join("summary.json")).unwrap(), text);
        }
        assert!(out.join("mine.txt").exists() && out.join("parts").exists());
        assert!(!out.join("summary.json").exists());
    }
}
