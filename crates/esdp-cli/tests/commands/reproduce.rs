//! `esdp reproduce`, through the real binary, at a tiny size.

use crate::util::{Run, esdp, signal, wait_for};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn reproduce(out: &Path, args: &[&str]) -> Run {
    esdp(&[&["reproduce", "--quick", "--out", out.to_str().unwrap()], args].concat(), b"")
}

fn read(out: &Path, file: &str) -> String {
    std::fs::read_to_string(out.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn parts(out: &Path) -> Vec<PathBuf> {
    let Ok(found) = out.join("parts").read_dir() else { return Vec::new() };
    let mut found: Vec<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    found.sort();
    found
}

#[test]
fn figures_claims_and_report() {
    let dir = tempfile::tempdir().unwrap();
    let table = reproduce(dir.path(), &["rho", "average", "--seeds", "2", "--slots", "40"]).fine();
    assert!(table.starts_with("2 figures, seeds 0 to 1: average, rho\n"), "{table}");
    assert!(table.contains("rho-rises") && table.contains("report.html"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80 || line.contains('/')), "{table}");
    for figure in ["average", "rho"] {
        assert!(read(dir.path(), &format!("{figure}.svg")).starts_with("<"));
        assert!(std::fs::read(dir.path().join(format!("{figure}.png"))).unwrap().starts_with(b"\x89PNG"));
    }
    let csv = read(dir.path(), "rho.csv");
    assert!(csv.starts_with("series,x,y,stderr\noracle,0.1,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 8 * 10, "8 policies at 10 rates");
    assert!(csv.contains("\nhauf-channel,1,") && !csv.contains("-stop"), "{csv}");
    let report = read(dir.path(), "report.html");
    assert!(report.contains("nearly all algorithms") && report.contains("arrivals"), "claims and scenarios");
    let claims: Value = serde_json::from_str(&read(dir.path(), "claims.json")).unwrap();
    let rho = claims.as_array().unwrap().iter().find(|claim| claim["id"] == "rho-rises").unwrap();
    assert!(rho["measured"].as_str().unwrap().contains('±') && rho["stderr"].is_number(), "{rho}");
    // Four kinds of baselines.
    let ahead = claims.as_array().unwrap().iter().find(|claim| claim["id"] == "ahead").unwrap();
    assert_eq!(ahead["readings"].as_array().unwrap().len(), 3, "{ahead}");
    assert_eq!(ahead["readings"][0]["reading"], "HAUF by channel");
    let others = claims.as_array().unwrap().iter().map(|claim| claim["readings"].as_array().unwrap().len());
    let rows = 1 + claims.as_array().unwrap().len() + others.sum::<usize>();
    assert_eq!(read(dir.path(), "claims.csv").lines().count(), rows);
    assert_eq!(read(dir.path(), "readings.csv").lines().count(), 1 + 16);
    // What was simulated can be simulated again.
    let scenario = dir.path().join("scenarios/rho.toml");
    let sweep =
        ["sweep", scenario.to_str().unwrap(), "--out", dir.path().to_str().unwrap(), "--format", "csv"];
    assert!(esdp(&sweep, b"").fine().starts_with("arrivals.rho,policy,slots,seeds,"));
}

#[test]
fn json_and_any_number_of_threads() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let run = |dir: &Path, jobs| {
        let args = ["rho", "--seeds", "2", "--slots", "30", "--jobs", jobs, "--format", "json"];
        let document: Value = serde_json::from_str(&reproduce(dir, &args).fine()).unwrap();
        assert_eq!(document["figures"][0]["files"], serde_json::json!(["rho.svg", "rho.png", "rho.csv"]));
        assert_eq!(document["claims"][0]["figure"], "rho");
        ["rho.csv", "rho.svg", "claims.csv", "claims.json"].map(|file| read(dir, file))
    };
    assert_eq!(run(dirs[0].path(), "1"), run(dirs[1].path(), "2"));
}

#[test]
fn another_reproduction_keeps_the_earlier_one() {
    let dir = tempfile::tempdir().unwrap();
    let (out, kept) = (dir.path().join("paper"), dir.path().join("paper-1"));
    let first = ["rho", "--seeds", "2", "--slots", "20"];
    reproduce(&out, &first).fine();
    reproduce(&out, &first).fine();
    assert!(!kept.exists(), "the same may be replaced");
    let report = read(&out, "report.html");
    let other = reproduce(&out, &["average", "--seeds", "1", "--slots", "20"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert!(other.stderr.contains("held another result: moved to "), "{}", other.stderr);
    assert_eq!(read(&kept, "report.html"), report);
    for file in ["rho.svg", "rho.csv", "claims.csv", "scenarios/rho.toml", "reproduction.json"] {
        assert!(kept.join(file).is_file(), "{file}");
    }
    assert!(!out.join("rho.svg").exists() && out.join("average.svg").is_file());
}

#[test]
fn an_interrupted_reproduction_goes_on() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (through, stopped) = (dirs[0].path(), dirs[1].path());
    let args = ["ports", "--seeds", "3", "--slots", "500"];
    reproduce(through, &args).fine();
    let all = parts(through).len();
    assert_eq!(all, 8 * 3);

    let mut command = Command::new(env!("CARGO_BIN_EXE_esdp"));
    command.args(["reproduce", "--quick", "--jobs", "1", "--out", stopped.to_str().unwrap()]).args(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(|| !parts(stopped).is_empty());
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let (some, said) = (parts(stopped), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.starts_with("interrupted: ") && said.contains("resumes from there"), "{said}");
    assert!(!some.is_empty() && some.len() < all, "{} of {all}", some.len());
    assert!(!stopped.join("report.html").exists());

    let written = |path: &PathBuf| std::fs::metadata(path).unwrap().modified().unwrap();
    let before: Vec<_> = some.iter().map(written).collect();
    reproduce(stopped, &args).fine();
    assert_eq!(some.iter().map(written).collect::<Vec<_>>(), before, "what was done is not done again");
    for file in ["ports.csv", "claims.csv"] {
        assert_eq!(read(stopped, file), read(through, file), "{file}");
    }
}

#[test]
fn what_is_not_a_figure_is_refused() {
    let refused = esdp(&["reproduce", "fig7"], b"").refused();
    let known = "aou, ratio, average, regret, start, overhead, solution-space, delta, g, rho, edges, ports, \
                 servers, horizon, trace, gang, fleet";
    assert_eq!(refused, format!("unknown figure `fig7`, expected one or several of {known}"));
    let refused = esdp(&["reproduce", "rho", "--seeds", "0"], b"").refused();
    assert!(refused.contains("--seeds") && refused.contains("from 1 to"), "{refused}");
    let list = esdp(&["reproduce", "--list"], b"").fine();
    assert_eq!(list.lines().count(), 17);
    assert!(list.starts_with("aou             The AOU vs. time slots\n"), "{list}");
}

#[test]
fn a_trace_of_one_s_own() {
    let dir = tempfile::tempdir().unwrap();
    let [tasks, machines] = ["tasks.csv", "machines.csv"].map(|file| dir.path().join(file));
    let [tasks, machines] = [&tasks, &machines].map(|file| file.to_str().unwrap());
    esdp(&["trace", "generate", "--hours", "0.05", "--seed", "5", "-o", tasks, "--machines", machines], b"")
        .fine();
    let run = |name: &str, files: &[&str]| {
        let out = dir.path().join(name);
        let size = ["trace", "--seeds", "2", "--slots", "20"];
        let table = reproduce(&out, &[&size[..], files].concat()).fine();
        assert!(table.starts_with("1 figure, seeds 0 to 1: trace\n"), "{table}");
        // Two seeds over time, with and without the trace, two at each of five rates.
        assert_eq!(parts(&out).len(), 2 + 2 + 2 * 5);
        assert!(read(&out, "claims.csv").contains("\nahead,trace,aou,"), "judged on the trace too");
        let rates = read(&out, "trace-rho.csv");
        assert_eq!(rates.lines().count(), 1 + 8 * 5, "{rates}");
        assert!(!read(&out, "trace.csv").contains("-stop"));
        assert!(out.join("scenarios/trace-rho0.9-1.toml").exists());
        rates
    };
    let own = run("own", &["--trace", machines, "--trace", tasks]);
    assert_ne!(own, run("built-in", &[]), "files count");
    let missing = dir.path().join("none.csv");
    let refused =
        esdp(&["reproduce", "trace", "--quick", "--trace", missing.to_str().unwrap()], b"").refused();
    assert!(refused.contains("none.csv"), "{refused}");
}
