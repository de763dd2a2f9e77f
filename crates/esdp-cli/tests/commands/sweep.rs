//! `esdp sweep`, through the real binary and the scripts of `docs/cluster.md`.

use crate::util::{self, Run, esdp, untimed_csv, untimed_json};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What every sweep here computes: 2 points times 3 seeds.
const SMALL: [&str; 10] = [
    "--preset",
    "default",
    "--slots",
    "60",
    "--seeds",
    "3",
    "--policies",
    "oracle,esdp,lcf",
    "--vary",
    "arrivals.rho=0.5,1",
];

fn sweep(out: &Path, args: &[&str]) -> Run {
    let out = out.to_str().unwrap();
    esdp(&[&["sweep", "--out", out], args].concat(), b"")
}

fn read(out: &Path, file: &str) -> String {
    std::fs::read_to_string(out.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn parts(out: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> =
        out.join("parts").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    parts.sort();
    parts
}

/// The files of a result, times aside.
fn result(out: &Path) -> [String; 3] {
    let csv = untimed_csv(&read(out, "sweep.csv"));
    [csv, untimed_json(&read(out, "sweep.json")), read(out, "scenario.toml")]
}

#[test]
fn what_no_point_can_mean_is_warned_of_once() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("late.toml");
    let text = "slots = 30\n[speeds]\ndrift = { kind = \"ramp\", factor = 0.5, from = 40 }\n";
    std::fs::write(&scenario, text).unwrap();
    let args = [scenario.to_str().unwrap(), "--seeds", "1", "--policies", "lcf"];
    let vary = ["--vary", "speeds.drift.factor=0.2,0.5"];
    let told = sweep(&dir.path().join("a"), &[&args[..], &vary].concat());
    let warning = "warning: `speeds.drift.from` is 40, but the last slot is 30: the change never comes\n";
    assert!(told.code == 0 && told.stderr.matches(warning).count() == 1, "{}", told.stderr);
    let slots = sweep(&dir.path().join("c"), &[&args[..], &["--vary", "slots=30,50"]].concat());
    assert!(slots.code == 0 && !slots.stderr.contains("warning"), "with 50 slots it comes: {}", slots.stderr);
    let quiet = sweep(&dir.path().join("b"), &[&args[..], &vary, &["--quiet"]].concat());
    assert!(quiet.code == 0 && !quiet.stderr.contains("warning"), "{}", quiet.stderr);
}

#[test]
fn one_row_a_point_and_policy() {
    let dir = tempfile::tempdir().unwrap();
    let table = sweep(dir.path(), &SMALL).fine();
    assert!(table.contains("\nrho ") && table.contains(" ± ") && table.contains("report.html"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{table}");
    let csv = read(dir.path(), "sweep.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 3);
    assert!(csv.starts_with("arrivals.rho,policy,slots,seeds,aou_mean,"), "{csv}");
    assert!(csv.lines().nth(2).unwrap().starts_with("0.5,esdp,60,3,"), "{csv}");
    // Seed by seed, the same numbers.
    let seeds = read(dir.path(), "seeds.csv");
    assert!(seeds.starts_with("arrivals.rho,policy,seed,slots,aou,oracle_aou,"), "{seeds}");
    assert_eq!(seeds.lines().count(), 1 + 2 * 3 * 3);
    let aou = |line: &str| line.split(',').nth(4).unwrap().parse::<f64>().unwrap();
    let own = seeds.lines().filter(|line| line.starts_with("0.5,esdp,")).map(aou).sum::<f64>() / 3.0;
    assert!((own - aou(csv.lines().nth(2).unwrap())).abs() < 1e-9, "{own}: {csv}");
    let document: Value = serde_json::from_str(&read(dir.path(), "sweep.json")).unwrap();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &rows[5]["at"]["arrivals.rho"], &rows[5]["name"]),
        (6, &Value::from(1), &Value::from("lcf"))
    );
    assert_eq!(document["complete"], true);
    assert!(read(dir.path(), "report.html").contains("Oracle ratio"));

    // A point of a sweep is what a run of that scenario gives.
    let out = dir.path().join("run");
    let scenario = dir.path().join("point.toml");
    std::fs::write(
        &scenario,
        "slots = 60\npolicies = [\"esdp\"]\n[seeds]\ncount = 3\n[arrivals]\nrho = 0.5\n",
    )
    .unwrap();
    let args = ["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap(), "--format", "json"];
    let run: Value = serde_json::from_str(&esdp(&args, b"").fine()).unwrap();
    assert_eq!(run["policies"][0]["aou_mean"], rows[1]["aou_mean"]);
}

#[test]
fn combinations_presets_and_categories() {
    let dir = tempfile::tempdir().unwrap();
    let two = ["--vary", "devices.capacity=[1, 2],[4, 8]", "--format", "csv"];
    let csv = sweep(dir.path(), &[&SMALL[..], &two].concat()).fine();
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 3);
    assert!(csv.contains("\n0.5,\"[1, 2]\",esdp,"), "{csv}");
    let preset = ["--preset", "solution-space", "--slots", "20", "--seeds", "1", "--policies", "esdp,hauf"];
    let json = sweep(&dir.path().join("p"), &[&preset[..], &["--format", "json"]].concat()).fine();
    let document: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["rows"].as_array().unwrap().len(), 6 * 2);
    assert_eq!(document["rows"][0]["at"]["devices.capacity"], serde_json::json!([1, 2]));
}

#[test]
fn two_keys_have_a_column_each_and_a_heat_map() {
    let dir = tempfile::tempdir().unwrap();
    let two = ["--vary", "speeds.deviation=0.1,0.2"];
    let table = sweep(dir.path(), &[&SMALL[..], &two].concat()).fine();
    let head = table.lines().find(|line| line.starts_with("rho ")).expect("a heading");
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["rho", "deviation", "esdp", "lcf"]);
    let row = table.lines().find(|line| line.starts_with("0.5 ")).expect("a row");
    assert_eq!(row.split_whitespace().nth(1), Some("0.1"), "{table}");
    assert!(read(dir.path(), "sweep.csv").starts_with("arrivals.rho,speeds.deviation,policy,"));
    let report = read(dir.path(), "report.html");
    assert!(report.contains("<h2>Heat maps</h2>") && report.contains("esdp: oracle ratio"));
    assert!(report.contains("esdp less lcf: oracle ratio, ± standard error seed by seed"));
    assert!(report.contains("style=\"--heat: 50%\"") && report.contains("deviation = 0.2"));
    // Another sweep in the same directory keeps the result of this one, and its parts.
    let before = parts(dir.path());
    let other = sweep(dir.path(), &SMALL);
    let kept = format!("{}-1", dir.path().display());
    let note = format!("held another result (arrivals.rho and speeds.deviation): moved to {kept}\n");
    assert!(other.stderr.ends_with(&note), "{}", other.stderr);
    let after = parts(dir.path());
    assert!(Path::new(&kept).join("sweep.csv").exists() && before.iter().all(|part| after.contains(part)));
    std::fs::remove_dir_all(kept).unwrap();
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = tempfile::tempdir().unwrap();
    let of = |jobs: &str| {
        let out = dir.path().join(jobs);
        sweep(&out, &[&SMALL[..], &["--jobs", jobs]].concat()).fine();
        result(&out)
    };
    assert_eq!(of("1"), of("2"));
}

#[test]
fn a_sweep_goes_on_where_it_stopped() {
    let dir = tempfile::tempdir().unwrap();
    sweep(dir.path(), &SMALL).fine();
    let whole =
        [read(dir.path(), "sweep.csv"), read(dir.path(), "sweep.json"), read(dir.path(), "report.html")];
    let all = parts(dir.path());
    assert_eq!(all.len(), 6);
    let stamp = |path: &Path| path.metadata().unwrap().modified().unwrap();
    let kept: Vec<_> = all[3..].iter().map(|path| stamp(path)).collect();
    // One is gone, one is cut short, one is no JSON.
    std::fs::remove_file(&all[0]).unwrap();
    let text = std::fs::read(&all[1]).unwrap();
    std::fs::write(&all[1], &text[..text.len() / 2]).unwrap();
    std::fs::write(&all[2], "rubbish").unwrap();
    std::fs::remove_file(dir.path().join("sweep.csv")).unwrap();
    sweep(dir.path(), &SMALL).fine();
    assert_eq!(parts(dir.path()), all);
    assert_eq!(
        all[3..].iter().map(|path| stamp(path)).collect::<Vec<_>>(),
        kept,
        "whole parts are not computed again"
    );
    assert_eq!(untimed_csv(&whole[0]), untimed_csv(&read(dir.path(), "sweep.csv")));
    // With nothing to do not even a time changes.
    let again =
        [read(dir.path(), "sweep.csv"), read(dir.path(), "sweep.json"), read(dir.path(), "report.html")];
    sweep(dir.path(), &SMALL).fine();
    assert_eq!(
        again,
        [read(dir.path(), "sweep.csv"), read(dir.path(), "sweep.json"), read(dir.path(), "report.html")]
    );
    // More seeds: only these are new.
    sweep(dir.path(), &[&SMALL[..4], &["--seeds", "4"], &SMALL[6..]].concat()).fine();
    assert_eq!(parts(dir.path()).len(), 8);
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_ended_keeps_its_parts() {
    let dir = tempfile::tempdir().unwrap();
    let args =
        ["sweep", "--preset", "default", "--slots", "400", "--seeds", "5000", "--policies", "esdp,lcf"];
    let child = Command::new(env!("CARGO_BIN_EXE_esdp"))
        .args(args)
        .args(["--vary", "arrivals.rho=0.5,1", "--out"])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let count = || {
        dir.path().join("parts").is_dir().then(|| parts(dir.path()).iter().filter(|path| json(path)).count())
    };
    util::wait_for(|| count().is_some_and(|count| count >= 3));
    // A cluster that wants its node back.
    util::signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    let done = parts(dir.path()).len();
    assert!(stderr.starts_with(&format!("interrupted: {done} of 10000 parts are done and kept")), "{stderr}");
    assert!(parts(dir.path()).iter().all(json), "nothing temporary is left");
    let document: Value = serde_json::from_str(&read(dir.path(), "sweep.json")).unwrap();
    assert_eq!(document["complete"], false);
    assert_eq!(document["rows"][0]["seeds"].as_array().unwrap().len(), done);
}

#[test]
fn shards_merge_to_the_bytes_of_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    sweep(&whole, &SMALL).fine();
    let shards: Vec<String> =
        (0..3).map(|index| dir.path().join(index.to_string()).display().to_string()).collect();
    for (index, out) in shards.iter().enumerate() {
        let shard = format!("{index}/3");
        let text = sweep(Path::new(out), &[&SMALL[..], &["--shard", &shard]].concat()).fine();
        assert!(text.starts_with(&format!("Shard {shard}: 2 of 2 parts are done")), "{text}");
        assert!(!Path::new(out).join("sweep.csv").exists(), "a shard is no result");
    }
    let merged = dir.path().join("merged");
    let merge = |shards: &[&str], more: &[&str]| {
        let out = merged.to_str().unwrap();
        esdp(&[&["sweep", "merge", "-o", out], shards, more].concat(), b"")
    };
    let shards: Vec<&str> = shards.iter().map(String::as_str).collect();
    let missing = merge(&shards[..2], &[]).refused();
    assert!(
        missing.starts_with("2 of 6 parts are missing or damaged, the first is arrivals.rho="),
        "{missing}"
    );
    assert!(!merged.exists());
    merge(&shards, &["--expect", "esdp.oracle_ratio_mean>=0.1"]).fine();
    assert_eq!(result(&merged), result(&whole));
    let unmet = merge(&shards, &["--expect", "rho=1:lcf.oracle_ratio_mean>=1"]);
    assert_eq!(unmet.code, 1, "{}", unmet.stderr);

    // Parts of another sweep, and a directory that is none.
    let other = dir.path().join("other");
    sweep(&other, &["--preset", "default", "--slots", "5", "--seeds", "1", "--vary", "arrivals.rho=1"])
        .fine();
    let sentence = merge(&[shards[0], other.to_str().unwrap()], &[]).refused();
    assert!(sentence.contains("hold parts of different sweeps"), "{sentence}");
    assert!(merge(&["nowhere"], &[]).refused().starts_with("nowhere/plan.json: cannot be read"));
}

#[test]
fn thresholds_at_every_point_or_at_one() {
    let dir = tempfile::tempdir().unwrap();
    let with = |expect: &str| sweep(dir.path(), &[&SMALL[..], &["--expect", expect]].concat());
    with("esdp.oracle_ratio_mean>=0.1").fine();
    with("rho=0.5:esdp.oracle_ratio_mean>=0.1").fine();
    let unmet = with("lcf.oracle_ratio_mean>=0.999");
    assert_eq!(unmet.code, 1);
    assert!(
        unmet.stderr.starts_with("not met: arrivals.rho=0.5:lcf.oracle_ratio_mean is 0."),
        "{}",
        unmet.stderr
    );
    assert!(unmet.stderr.contains("; arrivals.rho=1:lcf.oracle_ratio_mean is "), "{}", unmet.stderr);
    let one = with("arrivals.rho=1.0:lcf.oracle_ratio_mean>=0.999");
    assert!(one.code == 1 && !one.stderr.contains("rho=0.5"), "{}", one.stderr);
    assert!(
        with("rho=0.7:esdp.aou_mean>=1")
            .refused()
            .contains("no such point, expected one like arrivals.rho=0.5")
    );
}

#[test]
fn bad_sweeps_get_one_sentence_and_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let cases: [(&[&str], &str); 8] = [
        (&[], "nothing to vary"),
        (&["--preset", "default"], "nothing to vary"),
        (&["--preset", "default", "--vary", "rho"], "expected KEY=VALUE"),
        (
            &["--preset", "default", "--vary", "arrivals.rho=0.5,2"],
            "--vary arrivals.rho=2: `arrivals.rho` is 2",
        ),
        (&["--preset", "default", "--vary", "arrivals.roh=1"], "unknown key `arrivals.roh`"),
        (&["--preset", "default", "--vary", "policies.exp3.x=1"], "the list has no entry `exp3`"),
        (&["--preset", "rho", "--shard", "4/4"], "expected I/N"),
        (
            &["--preset", "rho", "--shard", "0/4", "--expect", "esdp.aou_mean>=1"],
            "give thresholds to `esdp sweep merge`",
        ),
    ];
    for (args, expected) in cases {
        let sentence = sweep(&out, args).refused();
        assert!(sentence.contains(expected), "{sentence}");
        assert!(!out.exists());
    }
}

/// The fenced blocks of `docs/cluster.md` in a language.
fn documented(language: &str) -> Vec<String> {
    let text = include_str!("../../../../docs/cluster.md");
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).map(str::to_owned).collect()
}

/// Runs a script as a cluster would, with `esdp` on the path.
fn script(shell: &str, args: &[&str], directory: &Path, variables: &[(&str, &str)]) {
    let binary = Path::new(env!("CARGO_BIN_EXE_esdp")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let status = Command::new(shell)
        .args(args)
        .current_dir(directory)
        .env("PATH", path)
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{shell} {args:?}");
}

#[cfg(unix)]
#[test]
fn the_slurm_script_works_task_by_task() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("sweep.sbatch"), &documented("bash")[0]).unwrap();
    for task in ["0", "1", "2", "3"] {
        let variables = [("SLURM_ARRAY_TASK_ID", task), ("SLURM_CPUS_PER_TASK", "2")];
        script("bash", &[&["sweep.sbatch"], &SMALL[..]].concat(), dir.path(), &variables);
    }
    // What `sbatch --wrap` gets.
    let submit = documented("sh").remove(0);
    let merge = submit.split('\'').nth(1).unwrap();
    script("bash", &["-c", merge], dir.path(), &[]);
    let whole = dir.path().join("whole");
    sweep(&whole, &SMALL).fine();
    assert_eq!(result(&dir.path().join("out/sweep")), result(&whole));
}

#[cfg(unix)]
#[test]
fn the_kubernetes_command_works_index_by_index() {
    let dir = tempfile::tempdir().unwrap();
    let job = documented("yaml").remove(0);
    let command = job.lines().find_map(|line| line.trim().strip_prefix("- exec ")).unwrap();
    let arguments = SMALL.join(" ");
    for index in ["0", "1", "2", "3"] {
        let variables = [
            ("SWEEP", arguments.as_str()),
            ("SHARDS", "4"),
            ("OUT", "results"),
            ("JOB_COMPLETION_INDEX", index),
        ];
        script("/bin/sh", &["-c", &format!("exec {command}")], dir.path(), &variables);
    }
    let merge = documented("sh").pop().unwrap().replace("/results", "results");
    script("/bin/sh", &["-c", &merge], dir.path(), &[]);
    let whole = dir.path().join("whole");
    sweep(&whole, &SMALL).fine();
    assert_eq!(result(&dir.path().join("results")), result(&whole));
}

#[test]
fn help_has_examples() {
    let help = esdp(&["sweep", "--help"], b"").fine();
    assert!(help.contains("Examples:\n") && help.contains("esdp sweep merge out/edges-0"), "{help}");
    assert!(esdp(&["sweep", "merge", "--help"], b"").fine().contains("Merges the shards"));
}
