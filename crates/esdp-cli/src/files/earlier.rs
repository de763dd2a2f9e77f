//! An earlier result in the way of a new one: it is kept, beside it.
//!
//! The same input gives the same numbers, so its result may be replaced. A result of other input is moved to
//! a directory of its own, `out/default-1` for `out/default`, or the next number that is free. Only files
//! that results have are moved: a directory may hold other things.

use crate::output;
use anyhow::Context;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of runs, sweeps, replays and reproductions. Parts stay: each is named by what it was computed
/// from.
const FILES: [&str; 20] = [
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
    "jobs.csv",
    "claims.csv",
    "claims.json",
    "readings.csv",
    "reproduction.json",
    "suite.csv",
    "suite.json",
    "scenario.toml",
    "report.html",
];

/// Keeps the result in a directory unless it is the same: unless its `file` says the same as `text`. `also`
/// are files of the result that are not always there, such as figures.
///
/// # Errors
/// With the directory or file and what the system says.
pub(crate) fn keep_unless_same(
    out: &Path,
    (file, text): (&str, &str),
    also: &[String],
    quiet: bool,
) -> anyhow::Result<()> {
    let is_other = |path: PathBuf| fs::read_to_string(path).is_ok_and(|earlier| earlier != text);
    if !is_other(out.join(file)) {
        return Ok(());
    }
    let place = keep_earlier(out, also)?;
    if !quiet {
        output::note(&format!("{} held another result: moved to {}", out.display(), place.display()));
    }
    Ok(())
}

/// Moves the result files of a directory, and others of these names, to one of its own, and says which.
///
/// # Errors
/// With the directory or file and what the system says.
pub(crate) fn keep_earlier(out: &Path, also: &[String]) -> anyhow::Result<PathBuf> {
    let failed = || format!("{}: the earlier result cannot be moved out of the way", out.display());
    // A directory such as `.` has no name of its own.
    let named = if out.file_name().is_some() {
        out.to_owned()
    } else {
        fs::canonicalize(out).with_context(failed)?
    };
    let place = free_beside(&named).with_context(failed)?;
    for file in FILES.into_iter().chain(also.iter().map(String::as_str)) {
        let (from, to) = (out.join(file), place.join(file));
        if fs::symlink_metadata(&from).is_ok_and(|found| found.is_file()) {
            // Some are in a directory of their own.
            to.parent().map_or(Ok(()), fs::create_dir_all).with_context(failed)?;
            fs::rename(&from, to).with_context(failed)?;
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
            let place = keep_earlier(&out, &[]).unwrap();
            assert_eq!(place, dir.path().join(format!("default-{}", round + 1)));
            assert_eq!(fs::read_to_string(place.join("summary.json")).unwrap(), text);
        }
        assert!(out.join("mine.txt").exists() && out.join("parts").exists());
        assert!(!out.join("summary.json").exists());
    }

    #[test]
    fn the_same_result_stays_and_another_moves_with_its_figures() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("replay");
        fs::create_dir_all(out.join("scenarios")).unwrap();
        let also = ["waits.svg".to_owned(), "scenarios/a.toml".to_owned()];
        for file in also.iter().map(String::as_str).chain(["summary.json"]) {
            fs::write(out.join(file), "first").unwrap();
        }
        keep_unless_same(&out, ("summary.json", "first"), &also, true).unwrap();
        assert!(out.join("waits.svg").exists() && !dir.path().join("replay-1").exists());
        keep_unless_same(&out, ("summary.json", "second"), &also, true).unwrap();
        for file in also.iter().map(String::as_str).chain(["summary.json"]) {
            assert!(!out.join(file).exists(), "{file}");
            assert_eq!(fs::read_to_string(dir.path().join("replay-1").join(file)).unwrap(), "first");
        }
        // Nothing is there: nothing to keep.
        keep_unless_same(&out, ("summary.json", "third"), &also, true).unwrap();
        assert!(!dir.path().join("replay-2").exists());
    }
}
