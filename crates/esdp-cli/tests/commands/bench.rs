//! `esdp bench`, as a user meets it.

use crate::util::{esdp, esdp_in, esdp_with};
use serde_json::Value;

#[test]
fn json_has_the_documented_keys() {
    let args = ["bench", "--quick", "--sizes", "8:2,32:6", "--slots", "60", "--format", "json"];
    let report: Value = serde_json::from_str(&esdp(&args, b"").fine()).expect("one JSON document");
    let cases = report["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 4);
    for case in cases {
        let exact = &case["exact"];
        assert!(exact["decisions"].as_u64() > Some(30), "{case}");
        let times = ["p50_us", "p95_us", "p99_us", "max_us"].map(|key| exact[key].as_f64().expect(key));
        assert!(times.is_sorted() && times[0] > 0.0, "{case}");
        assert_eq!(exact["proved_share"].as_f64(), Some(1.0));
        assert_eq!((exact["median_gap"].as_f64(), exact["largest_gap"].as_f64()), (Some(0.0), Some(0.0)));
        let rivals: Vec<&str> = case["rivals"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|rival| rival["name"].as_str())
            .collect();
        assert_eq!(rivals, ["paper", "milp", "highs"]);
        // The MILPs solve the same problems by other means; the paper's DP rounds.
        assert!(case["rivals"][2]["largest_difference"].as_f64() < Some(1e-8), "{case}");
        assert!(case["rivals"][1]["largest_difference"].as_f64() < Some(1e-8), "{case}");
        assert!(case["rivals"][0]["largest_difference"].as_f64() < Some(0.1), "{case}");
        assert!(case["rivals"][0]["ratio_p50"].as_f64() > Some(1.0), "{case}");
    }
}

#[test]
fn gangs_are_measured_beside_the_milp() {
    let args = ["bench", "--quick", "--sizes", "4x10", "--slots", "40", "--format", "json"];
    let report: Value = serde_json::from_str(&esdp(&args, b"").fine()).expect("one JSON document");
    let cases = report["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!((&case["size"], &case["capacity"]), (&"4x10".into(), &Value::Null));
        assert!(case["exact"]["decisions"].as_u64() > Some(20), "{case}");
        assert_eq!(case["exact"]["proved_share"].as_f64(), Some(1.0), "{case}");
        assert_eq!(case["exact"]["mean_gap"].as_f64(), Some(0.0), "{case}");
        // The paper's DP knows no gangs. The MILP sees the same problems, jobs and servers included.
        assert_eq!(case["rivals"][0]["decisions"].as_u64(), Some(0), "{case}");
        assert!(case["rivals"][0]["refused"].as_u64() > Some(0), "{case}");
        assert!(case["rivals"][1]["decisions"].as_u64() > Some(0), "{case}");
        assert!(case["rivals"][1]["largest_difference"].as_f64() < Some(1e-6), "{case}");
        assert!(case["rivals"][2]["largest_difference"].as_f64() < Some(1e-6), "{case}");
    }
}

#[test]
fn families_are_measured_and_written() {
    let dir = tempfile::tempdir().expect("a directory");
    let families = "real-nodes:4x6,or-library:5x20,quotas:3x4,ties:50x2";
    let args = [
        "bench",
        "--families",
        families,
        "--instances",
        "3",
        "--quick",
        "--write",
        "drawn",
        "--format",
        "json",
    ];
    let report: Value =
        serde_json::from_str(&esdp_in(dir.path(), &args, b"").fine()).expect("one JSON document");
    assert_eq!(report["cases"].as_array().map(Vec::len), Some(0));
    let families = report["families"].as_array().expect("a list");
    assert_eq!(families.len(), 8);
    for family in families {
        let names: Vec<&str> = family["rivals"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|rival| rival["name"].as_str())
            .collect();
        assert_eq!(names, ["highs", "milp"]);
        assert_eq!(family["rivals"][0]["decisions"].as_u64(), Some(3), "{family}");
        assert!(family["exact"]["p50_us"].as_f64() > Some(0.0), "{family}");
        assert!(
            family["exact_loss"]["largest"].as_f64() <= family["exact"]["largest_gap"].as_f64(),
            "{family}"
        );
    }
    let file = dir.path().join("drawn/quotas-3x4-optimistic-0-2.json");
    let file = file.to_str().expect("UTF-8");
    assert!(esdp(&["solve", file], b"").fine().contains("value"));
    assert!(dir.path().join("drawn/README.md").exists());
}

#[test]
fn the_live_core_is_measured() {
    let args = ["bench", "--live", "4x6", "--quick"];
    let report: Value = serde_json::from_str(&esdp(&[&args[..], &["--format", "json"]].concat(), b"").fine())
        .expect("one JSON document");
    assert_eq!(report["cases"].as_array().map(Vec::len), Some(0));
    let live = &report["live"];
    assert_eq!(live["channels"].as_u64(), Some(24));
    let policies = live["policies"].as_array().expect("a list");
    let names: Vec<&str> = policies.iter().filter_map(|figures| figures["policy"].as_str()).collect();
    assert_eq!(names, ["hauf", "esdp", "esdp-pooled"]);
    for figures in policies {
        assert!(figures["outcomes"].as_u64() >= Some(2_000), "{figures}");
        assert!(figures["outcome_p50_us"].as_f64() <= figures["outcome_p99_us"].as_f64(), "{figures}");
        assert!(figures["snapshot_bytes"].as_u64() > Some(1_000), "{figures}");
        assert!(
            figures["snapshot_ms"].as_f64() > Some(0.0) && figures["restore_ms"].as_f64() > Some(0.0),
            "{figures}"
        );
    }
    assert!(live["replay"]["events"].as_u64() >= Some(100_000), "{live}");
    assert!(esdp(&args, b"").fine().contains("events"));
    let refused = esdp(&["bench", "--live", "32:6"], b"").refused();
    assert!(refused.contains("expected PORTSxSERVERS"), "{refused}");
}

#[test]
fn without_highs_its_rows_say_what_to_install() {
    let args = ["bench", "--families", "real-nodes:3x4", "--instances", "2", "--rivals", "highs"];
    let table = esdp_with(&[("ESDP_PYTHON", "no-such-python")], &args).fine();
    assert!(table.contains("no-such-python -m pip install highspy"), "{table}");
    let refusal = esdp_with(&[("ESDP_PYTHON", "no-such-python")], &["bench", "--agree", "1"]).refused();
    assert!(refusal.contains("pip install highspy"), "{refusal}");
}

/// A part of `esdp bench --agree 2000`.
#[test]
fn everybody_agrees_with_highs() {
    let args = ["bench", "--agree", "20", "--seed", "12", "--format", "json"];
    let agreement: Value = serde_json::from_str(&esdp(&args, b"").fine()).expect("one JSON document");
    assert_eq!(agreement["instances"].as_u64(), Some(34));
    assert_eq!(agreement["disagreements"].as_array().map(Vec::len), Some(0), "{agreement}");
    assert!(agreement["both_proved"].as_u64() > Some(8), "{agreement}");
}

#[test]
fn tables_fit_a_terminal() {
    let table =
        esdp(&["bench", "--quick", "--sizes", "32:2,128:40,4x10", "--slots", "20", "--quiet"], b"").fine();
    assert!(table.contains("paper refused problems at\n  128:40, 4x10;"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let args = ["bench", "--quick", "--families", "or-library:10x40,many-limits:20x40", "--instances", "2"];
    let table = esdp(&args, b"").fine();
    assert!(table.contains("many-limits:20x40") && table.contains("`highs`"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn bad_flags_are_refused() {
    for args in [
        ["--sizes", "32"],
        ["--sizes", "0:1"],
        ["--sizes", "0x4"],
        ["--slots", "0"],
        ["--slots", "-5"],
        ["--seed", "x"],
        ["--families", "nodes"],
        ["--families", "real-nodes:40"],
        ["--instances", "0"],
        ["--rivals", "gurobi"],
        ["--rival-time", "-1"],
        ["--agree", "0"],
    ] {
        esdp(&["bench", args[0], args[1]], b"").refused();
    }
}
