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

/// What `docs/results.md` and `esdp run --help` say of jobs that wait.
#[test]
fn queues_have_a_verdict_an_objective_and_a_load() {
    let dir = tempfile::tempdir().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scenarios/n-model.toml");
    let args = [file, "--slots", "6000", "--seeds", "3", "--policies", "oracle,lwtf,easy,maxweight-ucb"];
    let run = run(dir.path(), &[&args[..], &["--format", "json"]].concat());
    assert!(run.code == 0 && run.stderr.starts_with("note: `oracle` is unstable"), "{}", run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let load = &document["load"];
    assert!((load["load_mean"].as_f64().unwrap() - 0.886).abs() < 0.03, "{load}");
    assert!(load["least_jct_mean"].as_f64().unwrap() > 3.0, "{load}");
    let policies = document["policies"].as_array().unwrap();
    for policy in policies {
        for key in ["oracle_ratio_mean", "oracle_ratio_stderr", "regret_mean", "regret_stderr"] {
            assert!(policy[key].is_null() && policy.get(key).is_some(), "{key} in {policy}");
        }
        assert!(policy["wait_mean"].is_number() && policy["objective"].is_string(), "{policy}");
        let unstable = match policy["queue"].as_str().unwrap() {
            "stable" => Value::Bool(false),
            "growing" => Value::Bool(true),
            _ => Value::Null,
        };
        assert_eq!(policy["unstable"], unstable);
        let ports = policy["ports"].as_array().unwrap();
        assert_eq!((&ports[0]["port"], &ports[1]["port"]), (&Value::from("a"), &Value::from("b")));
        let completion = policy["jct_mean"].as_f64().unwrap();
        assert!(completion >= load["least_jct_mean"].as_f64().unwrap());
        assert!(completion <= policy["jct_worst_seed"].as_f64().unwrap());
    }
    let of = |name: &str| policies.iter().find(|policy| policy["name"] == name).unwrap();
    assert_eq!(
        (&of("lwtf")["unstable"], &of("easy")["objective"]),
        (&Value::Bool(false), &Value::from("none"))
    );
    assert_eq!(of("oracle")["jct_to_oracle_mean"], 0.0);
    // The first that is not the oracle is `lwtf`.
    assert_eq!(of("lwtf")["jct_to_first_mean"], 0.0);
    let [low, mean, high] =
        ["low", "mean", "high"].map(|end| of("easy")[format!("jct_to_first_{end}")].as_f64());
    assert!(low < mean && mean < high, "{low:?} {mean:?} {high:?}");
    let queue = of("lwtf")["queue_length"].as_array().unwrap();
    assert!((15..=20).contains(&queue.len()) && queue.last().unwrap()["slot"] == 6000, "{queue:?}");
    // The same numbers by port and seed.
    let ports = read(dir.path(), "ports.csv");
    let head = "policy,seed,port,arrived,started,done,jct,wait,never_started,oldest_waiting\n";
    assert!(ports.starts_with(head) && ports.lines().count() == 1 + 4 * 3 * 2, "{ports}");
    let mean = |policy: &str, port: &str| {
        let rows = ports.lines().map(|row| row.split(',').collect::<Vec<_>>());
        let mine = rows.filter(|row| row[0] == policy && row[2] == port);
        mine.map(|row| row[7].parse::<f64>().unwrap()).sum::<f64>() / 3.0
    };
    assert!((mean("lwtf", "b") - of("lwtf")["ports"][1]["wait_mean"].as_f64().unwrap()).abs() < 1e-9);
    let curves = read(dir.path(), "curves.csv");
    assert!(curves.lines().next().unwrap().ends_with(",waiting_mean,waiting_stderr"), "{curves}");
    let report = read(dir.path(), "report.html");
    assert!(
        report.contains("Queue length")
            && report.contains("Mean wait by port")
            && !report.contains("Oracle ratio")
    );
}

#[test]
fn a_rule_for_queues_needs_one() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &["--policies", "esdp,easy"]).refused();
    assert!(
        refused.contains("`policies[1]`: policy `easy`") && refused.contains("`jobs.held = true`"),
        "{refused}"
    );
}
