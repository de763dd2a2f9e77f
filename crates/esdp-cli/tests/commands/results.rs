//! The files of `esdp run`: which there are, what they hold, and what becomes of earlier ones.

use crate::run::{SMALL, names, read, run};
use crate::util;
use serde_json::Value;

#[test]
fn all_files_are_named_and_the_report_says_which_command_made_it() {
    let dir = tempfile::tempdir().unwrap();
    let table = run(dir.path(), &[&SMALL[..], &["--per-slot", "csv"]].concat()).fine();
    let told = table.split("\nAlso written: ").nth(1).expect("a list").replace('\n', " ");
    let mut told: Vec<&str> = told.split([' ', ',']).filter(|name| !name.is_empty()).collect();
    told.push("report.html");
    told.sort();
    assert_eq!(names(dir.path()), told);
    let command = format!("esdp run --out {} --slots 120 --seeds 3", dir.path().display());
    assert!(read(dir.path(), "report.html").contains(&format!("<dt>Command</dt><dd>{command}")));
}

#[test]
fn another_result_is_kept_and_the_same_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let here = |args: &[&str]| util::esdp_in(dir.path(), &[&["run"], &SMALL[..], args].concat(), b"");
    here(&["--per-slot", "csv"]).fine();
    // The same scenario, seeds, slots and policies: the same numbers.
    here(&[]).fine();
    assert_eq!(names(&dir.path().join("out")), ["default"]);
    let first = read(&dir.path().join("out/default"), "summary.csv");
    let shorter = ["run", "--slots", "20", "--seeds", "2", "--policies", "lcf"];
    let other = util::esdp_in(dir.path(), &shorter, b"");
    let note = "note: out/default held another result (default, 120 slots, seeds 0 to 2): moved to \
                out/default-1\n";
    assert_eq!((other.code, other.stderr.as_str()), (0, note));
    assert_eq!(names(&dir.path().join("out")), ["default", "default-1"]);
    assert_eq!(read(&dir.path().join("out/default-1"), "summary.csv"), first);
    assert!(read(&dir.path().join("out/default"), "summary.csv").contains("\nlcf,20,2,"));
    // A sweep into the directory of a run, and back; `--quiet` moves too and says nothing.
    let sweep = ["sweep", "--preset", "default", "--slots", "5", "--seeds", "1", "--policies", "lcf"];
    let sweep = [&sweep[..], &["--vary", "arrivals.rho=0.5,1", "--out", "out/default"]].concat();
    let swept = util::esdp_in(dir.path(), &sweep, b"");
    assert!(
        swept.stderr.ends_with("another result (of a run): moved to out/default-2\n"),
        "{}",
        swept.stderr
    );
    here(&["--quiet"]).fine();
    assert_eq!(names(&dir.path().join("out")), ["default", "default-1", "default-2", "default-3"]);
    assert!(dir.path().join("out/default-3/sweep.csv").exists());
}

#[test]
fn what_does_not_apply_is_null() {
    let dir = tempfile::tempdir().unwrap();
    let drained = dir.path().join("drained.toml");
    let text =
        "slots = 40\npolicies = [\"esdp\", \"lcf\"]\n[seeds]\ncount = 1\n[jobs]\nheld = true\ndrain = true\n";
    std::fs::write(&drained, text).unwrap();
    let json = run(&dir.path().join("out"), &[drained.to_str().unwrap(), "--format", "json"]).fine();
    let document: Value = serde_json::from_str(&json).unwrap();
    let [esdp, lcf] = [0, 1].map(|at| &document["policies"][at]);
    for key in [
        "oracle_ratio_mean",
        "oracle_ratio_stderr",
        "regret_mean",
        "regret_stderr",
        "aou_stderr",
        "jct_stderr",
    ] {
        assert!(esdp[key].is_null() && esdp.get(key).is_some(), "{key} in {esdp}");
    }
    assert!(esdp["exploration_share"].is_number() && lcf["exploration_share"].is_null());
    assert!(esdp["proved_share"].is_number() && lcf["proved_share"].is_null());
    assert!(esdp["jct_mean"].is_number() && lcf["aou_mean"].is_number());
}
