//! `esdp run`, through the real binary.

use crate::util::{self, Run, esdp};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `esdp run` with results in a directory.
pub(crate) fn run(out: &Path, args: &[&str]) -> Run {
    let out = out.to_str().unwrap();
    esdp(&[&["run", "--out", out], args].concat(), b"")
}

pub(crate) fn read(out: &Path, file: &str) -> String {
    std::fs::read_to_string(out.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The names of what is in a directory, sorted.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = directory.read_dir().unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The files of every run.
const FILES: [&str; 9] = [
    "cluster.json",
    "curves.csv",
    "estimates.csv",
    "ports.csv",
    "report.html",
    "scenario.toml",
    "seeds.csv",
    "summary.csv",
    "summary.json",
];

pub(crate) const SMALL: [&str; 6] = ["--slots", "120", "--seeds", "3", "--policies", "oracle,esdp,lcf"];

/// What the README promises of its first command: the whole default scenario, not a smaller one.
#[test]
fn without_arguments_the_default_scenario_runs_and_its_table_is_the_one_of_the_readme() {
    let dir = tempfile::tempdir().unwrap();
    let table = util::esdp_in(dir.path(), &[], b"").fine();
    assert!(table.starts_with("default: ") && table.contains("\n2000 slots, 10 seeds (0 to 9)"), "{table}");
    assert!(table.contains("\nReport: out/default/report.html\n"), "{table}");

    let out = dir.path().join("out/default");
    assert_eq!(
        (names(dir.path()), names(out.parent().unwrap())),
        (vec!["out".into()], vec!["default".into()])
    );
    assert_eq!(names(&out), FILES);
    let (report, csv) = (read(&out, "report.html"), read(&out, "summary.csv"));
    assert!(report.starts_with("<!DOCTYPE html>") && report.ends_with("</html>\n"));
    let summary: Value = serde_json::from_str(&read(&out, "summary.json")).unwrap();
    let policies = ["esdp", "oracle", "cts", "cucb", "esdp-paper", "hauf", "lcf", "lwtf", "random"];
    assert_eq!(csv.lines().count(), 1 + policies.len());
    // Name, oracle ratio, AOU and regret, each with `±` and its error; times differ from run to run.
    let untimed =
        |line: &str| line.replace('*', " ").split_whitespace().take(10).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = table.lines().map(untimed).collect();
    for (position, policy) in policies.into_iter().enumerate() {
        assert_eq!(summary["policies"][position]["name"], policy);
        assert_eq!(
            rows.iter().filter(|row| row.starts_with(&format!("{policy} "))).count(),
            1,
            "{policy} in {table}"
        );
        assert!(report.contains(&format!("<th scope=\"row\">{policy}</th>")), "{policy} in the report");
    }
    let readme = include_str!("../../../../README.md");
    let promised = readme
        .lines()
        .skip_while(|line| !line.starts_with("policy  "))
        .skip(1)
        .take_while(|&line| line != "```");
    let promised: Vec<String> = promised.map(untimed).collect();
    assert_eq!(promised.len(), 5);
    for row in promised {
        assert!(rows.contains(&row), "the README has {row}, not one of {rows:#?}");
    }
    let numbers = include_str!("../../../../docs/numbers.md");
    let written = numbers.split("<!-- measured: default-2000 -->").nth(1).expect("the part of this run");
    let written = written.lines().skip(3).take_while(|line| line.starts_with('|'));
    let written: Vec<String> = written.map(|line| untimed(&line.replace('|', " "))).collect();
    assert_eq!(written.len(), policies.len());
    for row in written {
        assert!(rows.contains(&row), "docs/numbers.md has {row}, not one of {rows:#?}");
    }
}

#[test]
fn the_json_document_keeps_its_contract() {
    let dir = tempfile::tempdir().unwrap();
    let text = run(dir.path(), &[&SMALL[..], &["--format", "json"]].concat()).fine();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["slots"], 120);
    assert_eq!(document["seeds"], serde_json::json!([0, 1, 2]));
    assert_eq!(document["scenario"]["name"], "default");
    assert_eq!(document["scenario"]["graph"]["servers"], 40);
    let policies = document["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 3);
    for policy in policies {
        let number = |key: &str| policy[key].as_f64().unwrap_or_else(|| panic!("{key} in {policy}"));
        for key in
            ["aou_stderr", "oracle_ratio_stderr", "regret_stderr", "decision_us_p50", "decision_us_p99"]
        {
            assert!(number(key) >= 0.0, "{key}");
        }
        assert!(number("decision_us_p50") <= number("decision_us_p99"));
        assert!(number("oracle_ratio_mean") <= 1.0);
        let oracle = policies[0]["aou_mean"].as_f64().unwrap();
        assert!((oracle - number("aou_mean") - number("regret_mean")).abs() < 1e-6);
        assert_eq!(policy["utilisation"].as_array().unwrap().len(), 3);
    }
    assert_eq!(
        (&policies[0]["name"], &policies[0]["oracle_ratio_mean"]),
        (&Value::from("oracle"), &Value::from(1.0))
    );
    // The file holds the same document.
    assert_eq!(serde_json::from_str::<Value>(&read(dir.path(), "summary.json")).unwrap(), document);
}

#[test]
fn the_files_are_complete_and_the_scenario_repeats_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let (first, again) = (dir.path().join("a"), dir.path().join("b"));
    let table = run(&first, &SMALL).fine();
    assert_eq!(names(&first), FILES);
    assert!(
        table.contains("report.html")
            && table.lines().all(|line| line.chars().count() <= 80 || line.contains('/'))
    );
    assert!(!table.contains('\x1b'), "no colour outside of a terminal");
    assert!(read(&first, "report.html").ends_with("</html>\n"));

    let scenario = first.join("scenario.toml");
    let made = concat!("esdp ", env!("CARGO_PKG_VERSION"), ", 120 slots, seeds 0 to 2");
    assert!(read(&first, "scenario.toml").contains(made));
    run(&again, &[scenario.to_str().unwrap()]).fine();
    assert_eq!(
        util::untimed_csv(&read(&first, "summary.csv")),
        util::untimed_csv(&read(&again, "summary.csv"))
    );
}

#[test]
fn threads_do_not_change_a_byte() {
    let dir = tempfile::tempdir().unwrap();
    let results: Vec<[String; 4]> = ["1", "2"]
        .iter()
        .map(|jobs| {
            let out = dir.path().join(jobs);
            let args = [&SMALL[..], &["--jobs", jobs, "--per-slot", "csv", "--format", "csv"]].concat();
            let csv = run(&out, &args).fine();
            run(&out, &[&SMALL[..], &["--jobs", jobs, "--per-slot", "jsonl"]].concat()).fine();
            let lines =
                read(&out, "slots.jsonl").lines().map(util::untimed_json).collect::<Vec<_>>().join("\n");
            // `--per-slot jsonl` replaced the CSV, which belonged to another run.
            assert!(!out.join("slots.csv").exists());
            run(&out, &args).fine();
            let json = util::untimed_json(&read(&out, "summary.json"));
            [util::untimed_csv(&csv), json, util::untimed_csv(&read(&out, "slots.csv")), lines]
        })
        .collect();
    assert_eq!(results[0], results[1]);
    let slots = &results[0][2];
    assert_eq!(slots.lines().count(), 1 + 120 * 3 * 3);
    assert!(slots.starts_with(
        "seed,policy,slot,jobs,channels,expected,realised,oracle,exploring,proved\n0,oracle,1,"
    ));
    assert_eq!(results[0][3].lines().count(), 120 * 3 * 3);
}

#[test]
fn thresholds_decide_the_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    let small = [&SMALL[..], &["--quiet"]].concat();
    let with = |expect: &[&str]| {
        let flags: Vec<&str> = expect.iter().flat_map(|expect| ["--expect", *expect]).collect();
        run(dir.path(), &[&small[..], &flags].concat())
    };
    with(&["esdp.oracle_ratio_mean>=0.5", "lcf.regret_mean>0"]).fine();
    let unmet = with(&["esdp.oracle_ratio_mean>=0.5", "lcf.oracle_ratio_mean>=0.99", "esdp.regret_mean<=-1"]);
    assert_eq!(unmet.code, 1);
    assert!(unmet.stderr.starts_with("not met: lcf.oracle_ratio_mean is 0."), "{}", unmet.stderr);
    assert!(unmet.stderr.contains(", expected >= 0.99; esdp.regret_mean is "), "{}", unmet.stderr);
    assert_eq!(unmet.stderr.lines().count(), 1);
    // What cannot be checked is refused before anything runs.
    assert!(with(&["cts.oracle_ratio_mean>=0.5"]).refused().contains("unknown policy `cts`"));
    assert!(with(&["esdp.ratio>=0.5"]).refused().contains("unknown number `ratio`"));
    assert!(with(&["rho=1:esdp.aou_mean>=0.5"]).refused().contains("a point of a sweep"));
    assert!(with(&["esdp"]).refused().contains("expected POLICY.NUMBER>=LIMIT"));
}

#[test]
fn bad_scenarios_get_one_sentence_and_write_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("bad.toml");
    let out = dir.path().join("out");
    let cases: [(&str, &[&str]); 16] = [
        ("slotts = 5", &["line 1", "unknown key `slotts`"]),
        ("slots = \"many\"", &["`slots`", "whole number"]),
        ("slots = 0", &["`slots` is 0", "from 1 to"]),
        ("slots = -5", &["`slots`"]),
        ("slots = 9000000000000", &["`slots` is 9000000000000", "to 1000000000"]),
        ("[arrivals]\nrho = 1.5", &["line 2", "`arrivals.rho` is 1.5", "from 0 to 1"]),
        ("[arrivals]\nrho = nan", &["`arrivals.rho`"]),
        ("[graph]\nports = 0", &["`graph.ports` is 0"]),
        ("[graph]\nports = 2\nservers = 2\nchannels = []", &["`graph.channels` is empty"]),
        (
            "[graph]\nports = 2\nservers = 2\nchannels = [{ port = 0, server = 1 }]",
            &["port 1 has no channel"],
        ),
        ("[graph]\nports = 90000\nservers = 900000", &["`graph`", "pairs"]),
        ("[devices]\ncapacity = [0, 0]", &["`devices.capacity` is [0, 0]"]),
        ("[devices]\nrequest = [3, 1]", &["`devices.request` is [3, 1]", "ascending"]),
        ("policies = [\"exp3\"]", &["`policies[0]`", "unknown policy `exp3`"]),
        ("policies = []", &["`policies` is empty"]),
        ("slots = [", &["bad.toml: line 1"]),
    ];
    for (text, expected) in cases {
        std::fs::write(&file, text).unwrap();
        let sentence = run(&out, &[file.to_str().unwrap()]).refused();
        assert!(sentence.contains("bad.toml: "), "{sentence}");
        for part in expected {
            assert!(sentence.contains(part), "{text}: {sentence}, which lacks {part}");
        }
        assert!(!out.exists(), "{text}");
    }
}

#[test]
fn a_policy_that_cannot_decide_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (file, out) = (dir.path().join("big.toml"), dir.path().join("out"));
    let policy = "policies = [{ name = \"esdp-paper\", solver = \"paper\" }]";
    std::fs::write(&file, format!("{policy}\nslots = 50\n[devices]\ncapacity = [3000, 4000]\n")).unwrap();
    let sentence = run(&out, &[file.to_str().unwrap()]).refused();
    assert!(sentence.starts_with("seed 0: policy `esdp-paper`, slot "), "{sentence}");
    assert!(!out.exists());
}

#[test]
fn bad_flags_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let cases: [(&[&str], &str); 9] = [
        (&["none.toml"], "none.toml: cannot be read"),
        (&["--preset", "nope"], "--preset nope: unknown, expected one of default"),
        (&["--slots", "0"], "--slots 0: `slots` is 0"),
        (&["--slots", "1.5"], "invalid value '1.5' for '--slots <T>': expected a whole number"),
        (&["--seeds", "-1"], "invalid value '-1' for '--seeds <N>': expected a whole number"),
        (&["--seeds", "0"], "`seeds.count` is 0"),
        (&["--policies", "esdp,esdp"], "`esdp` is in the list already"),
        (&["--jobs", "0"], "expected a whole number from 1 to 1024"),
        (&["a.toml", "--preset", "default"], "cannot be used with"),
    ];
    for (args, expected) in cases {
        let sentence = run(&out, args).refused();
        assert!(sentence.contains(expected), "{sentence}");
        assert!(!out.exists());
    }
    // A file where the directory should be.
    std::fs::write(&out, "").unwrap();
    assert!(run(&out, &["--slots", "5"]).refused().contains("out: the directory cannot be made"));
}

/// A run of hours, interrupted when its first seeds are done.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_complete_files_of_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "run",
        "--slots",
        "3000",
        "--seeds",
        "20000",
        "--policies",
        "esdp,lcf",
        "--per-slot",
        "csv",
        "--out",
    ];
    let child = Command::new(env!("CARGO_BIN_EXE_esdp"))
        .args(args)
        .arg(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The record of a finished (seed, policy) pair is on disk; of the third seed, so that two are done.
    let third = |entry: &std::path::PathBuf| entry.join("3-0").exists();
    util::wait_for(|| {
        dir.path().read_dir().is_ok_and(|entries| entries.flatten().any(|entry| third(&entry.path())))
    });
    util::signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.starts_with("interrupted: ") && stderr.contains(" of 20000 seeds are done"), "{stderr}");

    let document: Value = serde_json::from_str(&read(dir.path(), "summary.json")).unwrap();
    let done = document["seeds"].as_array().unwrap().len();
    assert!((1..20_000).contains(&done));
    assert_eq!(
        (&document["complete"], document["seeds_asked"].as_array().unwrap().len()),
        (&Value::from(false), 20_000)
    );
    assert!(String::from_utf8(output.stdout).unwrap().contains(&format!("{done} of 20000 seeds")));
    // Whole seeds, whole lines, and nothing temporary.
    assert_eq!(read(dir.path(), "slots.csv").lines().count(), 1 + done * 2 * 3000);
    assert!(read(dir.path(), "report.html").contains("interrupted"));
    let mut expected = [&FILES[..], &["slots.csv"]].concat();
    expected.sort();
    assert_eq!(names(dir.path()), expected);
    // What is done is what an undisturbed run would have.
    let seeds = document["seeds"].as_array().unwrap();
    if seeds.iter().enumerate().all(|(at, seed)| *seed == at) {
        let out = dir.path().join("whole");
        let count = done.to_string();
        run(&out, &["--slots", "3000", "--seeds", &count, "--policies", "esdp,lcf"]).fine();
        assert_eq!(
            util::untimed_csv(&read(dir.path(), "summary.csv")),
            util::untimed_csv(&read(&out, "summary.csv"))
        );
    }
}

/// In a policy's slots, and in the pass of the oracle before them: each of these would take more than half an
/// hour.
#[cfg(unix)]
#[test]
fn ctrl_c_before_anything_is_done_writes_nothing() {
    interrupted_at_once(&["--slots", "90000000", "--policies", "hauf"]);
    interrupted_at_once(&["--preset", "gang-large", "--slots", "100000", "--policies", "lcf"]);
}

#[cfg(unix)]
fn interrupted_at_once(args: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let child = Command::new(env!("CARGO_BIN_EXE_esdp"))
        .arg("run")
        .args(args)
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is there before the directory's first use by a worker; a moment more is enough.
    util::wait_for(|| out.exists());
    std::thread::sleep(std::time::Duration::from_millis(500));
    util::signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]), "{stderr}");
    assert_eq!(stderr, "interrupted: no seed was complete, so nothing was written\n");
    assert!(!out.exists());
}

#[test]
fn help_has_examples() {
    let help = esdp(&["run", "--help"], b"").fine();
    assert!(
        help.contains("Examples:\n") && help.contains("--expect 'esdp-drift.oracle_ratio_mean>=0.94'"),
        "{help}"
    );
}
