//! `esdp solve` as other programs meet it: the real binary, files and pipes.

use crate::util::esdp;
use serde_json::{Value, json};
use std::io::Write;

const GOOD: &str = r#"{"capacity": [6, 5, 8],
 "channels": [{"request": [1, 2, 1], "mean": 0.41, "width": 0.20},
              {"request": [2, 1, 1], "mean": 0.37, "width": 0.0}]}"#;

fn solved(problem: &str, args: &[&str]) -> Value {
    let args = [&["solve", "-", "--format", "json"], args].concat();
    let text = esdp(&args, problem.as_bytes()).fine();
    serde_json::from_str(&text).expect("one JSON document and nothing else")
}

fn refusal(problem: &str) -> String {
    esdp(&["solve", "-"], problem.as_bytes()).refused()
}

fn one(channel: &str) -> String {
    format!(r#"{{"capacity": [1], "channels": [{channel}]}}"#)
}

#[test]
fn the_answer_has_the_keys_of_the_contract_in_their_order() {
    let text = esdp(&["solve", "--format", "json", "-"], GOOD.as_bytes()).fine();
    let keys = [
        "{\"chosen\":[0,1],",
        "\"value\":1.22",
        "\"bound\":1.22",
        "\"guarantee\":\"optimal\"",
        "\"solver\":\"",
        "\"micros\":",
        "\"stopped\":\"proved\"",
    ];
    let places: Vec<usize> =
        keys.iter().map(|key| text.find(key).unwrap_or_else(|| panic!("{key} in {text}"))).collect();
    assert!(places.is_sorted(), "{text}");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value.as_object().expect("an object").len(), keys.len());
}

#[test]
fn every_solver_and_budget_answers() {
    for solver in ["auto", "exact", "paper", "exhaustive", "greedy"] {
        for budget in [&[][..], &["--budget-us", "0"], &["--budget-us", "18446744073709551615"]] {
            let answer = solved(GOOD, &[&["--solver", solver], budget].concat());
            assert_eq!(answer["chosen"], json!([0, 1]), "{solver}");
            assert!(answer["bound"].as_f64() >= answer["value"].as_f64(), "{solver}");
        }
    }
}

#[test]
fn files_and_pipes_give_the_same() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(GOOD.as_bytes()).expect("written");
    let path = file.path().to_str().expect("UTF-8");
    let table = esdp(&["solve", path, "--quiet"], b"").fine();
    assert!(table.contains("chosen     2 of 2 channels\n 0 1\n"), "{table}");
    assert!(table.contains("0          3         6  50.0 %"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let answer: Value =
        serde_json::from_str(&esdp(&["solve", path, "--format", "json"], b"").fine()).expect("JSON");
    assert_eq!(answer["value"], solved(GOOD, &[])["value"]);
}

#[test]
fn a_file_that_is_none_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("none.json");
    let path = path.to_str().expect("UTF-8");
    let sentence = esdp(&["solve", path], b"").refused();
    assert!(sentence.starts_with(&format!("{path}: cannot be read: ")), "{sentence}");
    esdp(&["solve", directory.path().to_str().expect("UTF-8")], b"").refused();
}

#[test]
fn bad_documents_are_refused_with_the_place() {
    let cases = [
        ("", "the input is empty"),
        ("  \n", "the input is empty"),
        ("{", "EOF while parsing an object (line 1, column 1)"),
        ("[]", "expected an object with `capacity` and `channels`"),
        ("[[1], []]", "expected an object with `capacity` and `channels`"),
        ("nonsense", "`nonsense` is not a JSON value"),
        ("{}", "missing field `capacity`"),
        (r#"{"capacity": [1]}"#, "missing field `channels`"),
        (r#"{"capacity": [1], "capacity": [2], "channels": []}"#, "duplicate field `capacity`"),
        (r#"{"capacity": [1], "channels": [], "slot": 3}"#, "unknown field `slot`"),
        (r#"{"capacity": [1], "channels": []} {}"#, "trailing characters"),
        (r#"{"capacity": 1, "channels": []}"#, "capacity: invalid type: integer `1`"),
        (
            r#"{"capacity": [-1], "channels": []}"#,
            "capacity[0]: invalid value: integer `-1`, expected a whole number",
        ),
        (
            r#"{"capacity": [1.5], "channels": []}"#,
            "capacity[0]: invalid type: floating point `1.5`, expected a whole number",
        ),
        (
            r#"{"capacity": [18446744073709551616], "channels": []}"#,
            "capacity[0]: invalid type: floating point",
        ),
        (
            r#"{"capacity": ["4"], "channels": []}"#,
            "capacity[0]: invalid type: string \"4\", expected a whole number",
        ),
    ];
    for (problem, part) in cases {
        let sentence = refusal(problem);
        assert!(sentence.starts_with("standard input: ") && sentence.contains(part), "{problem}: {sentence}");
    }
}

#[test]
fn bad_channels_are_refused_with_the_key() {
    let cases = [
        (r#"[[1], 1]"#, "channels[0]: invalid type: sequence, expected an object"),
        (r#"{"request": [1]}"#, "channels[0]: missing field `mean`"),
        (
            r#"{"request": [1], "mean": NaN}"#,
            "channels[0].mean: `NaN` is not a JSON value, expected a finite number (line 1, column",
        ),
        (r#"{"request": [1], "mean": -Infinity}"#, "channels[0].mean: `-Infinity` is not a JSON value"),
        (
            r#"{"request": [1], "mean": 1e400}"#,
            "channels[0].mean: 1e400 is out of range, expected a finite number",
        ),
        (
            r#"{"request": [1], "mean": null}"#,
            "channels[0].mean: invalid type: null, expected a finite number",
        ),
        (r#"{"request": [1], "mean": 1, "width": -0.5}"#, "channels[0].width: -0.5 is negative"),
        (
            r#"{"request": [1], "mean": 1, "widht": 0.5}"#,
            "channels[0].widht: unknown field `widht`, expected one of",
        ),
        (r#"{"request": [1], "mean": 1, "mean": 2}"#, "channels[0]: duplicate field `mean`"),
        (r#"{"request": [1, 2], "mean": 1}"#, "channels[0].request: length 2, expected 1"),
        (r#"{"request": [], "mean": 1}"#, "channels[0].request: length 0, expected 1"),
        (r#"{"request": [-2], "mean": 1}"#, "channels[0].request[0]: invalid value: integer `-2`"),
        (r#"{"request": [0.5], "mean": 1}"#, "channels[0].request[0]: invalid type: floating point `0.5`"),
    ];
    for (channel, part) in cases {
        let sentence = refusal(&one(channel));
        assert!(sentence.contains(part), "{channel}: {sentence}");
    }
}

#[test]
fn bytes_and_depths_that_are_no_json_are_refused() {
    for bytes in [&b"\xff\xfe{\0}"[..], b"\0", b"\xef\xbb\xbf{}"] {
        esdp(&["solve", "-"], bytes).refused();
    }
    refusal(&"[".repeat(100_000));
    refusal(&format!(r#"{{"capacity": {}"#, "[".repeat(100_000)));
    let sentence = refusal(&one(&format!(r#"{{"request": [1], "mean": "{}"}}"#, "x".repeat(1 << 20))));
    assert!(sentence.len() < 1000, "a long value is not repeated in full");
}

#[test]
fn bad_flags_are_refused_in_one_sentence() {
    let cases: [&[&str]; 7] = [
        &["solve"],
        &["solve", "-", "--solver", "simplex"],
        &["solve", "-", "--budget-us", "-1"],
        &["solve", "-", "--budget-us", "soon"],
        &["solve", "-", "--format", "xml"],
        &["solve", "-", "--fast"],
        &["dissolve"],
    ];
    for args in cases {
        esdp(args, GOOD.as_bytes()).refused();
    }
    let sentence = esdp(cases[1], b"").refused();
    assert!(sentence.contains("simplex") && sentence.contains("exhaustive"), "{sentence}");
}

#[test]
fn help_has_examples_and_no_colour_in_a_pipe() {
    for args in [&["--help"][..], &["solve", "--help"], &["bench", "--help"]] {
        let help = esdp(args, b"").fine();
        assert!(help.contains("Examples:") && !help.contains('\x1b'), "{help}");
    }
}

#[test]
fn nothing_to_choose_is_an_answer() {
    let empty = solved(r#"{"capacity": [3], "channels": []}"#, &[]);
    assert_eq!((empty["value"].as_f64(), empty["bound"].as_f64()), (Some(0.0), Some(0.0)));
    assert_eq!(empty["guarantee"], "optimal");
    // No device limits anything; a negative mean is left alone unless its width makes up for it.
    let free = r#"{"capacity": [], "channels": [{"request": [], "mean": 1}, {"request": [], "mean": -1}]}"#;
    assert_eq!(solved(free, &[])["chosen"], json!([0]));
    assert_eq!(solved(&one(r#"{"request": [1], "mean": -1, "width": 4}"#), &[])["value"].as_f64(), Some(1.0));
    assert_eq!(solved(&one(r#"{"request": [2], "mean": 1}"#), &[])["chosen"], json!([]));
}

#[test]
fn numbers_near_overflow_are_solved_or_refused() {
    let max = u64::MAX;
    let pair = |mean: &str| {
        let channel = format!(r#"{{"request": [{max}], "mean": {mean}}}"#);
        format!(r#"{{"capacity": [{max}], "channels": [{channel}, {channel}]}}"#)
    };
    for solver in ["exact", "exhaustive", "greedy"] {
        let answer = solved(&pair("1"), &["--solver", solver]);
        assert_eq!(
            (answer["chosen"].as_array().map(Vec::len), answer["value"].as_f64()),
            (Some(1), Some(1.0)),
            "{solver}"
        );
    }
    let sentence = refusal(&pair("1e308"));
    assert!(sentence.contains("the sum of `mean` over all channels is not a finite number"), "{sentence}");
    for mean in ["8e307", "-8e307", "5e-324", "1e-300"] {
        let answer = solved(&pair(mean), &[]);
        let (value, bound) =
            (answer["value"].as_f64().expect("finite"), answer["bound"].as_f64().expect("finite"));
        assert!(value >= 0.0 && bound >= value, "{mean}: {answer}");
    }
    let wide = solved(&one(r#"{"request": [1], "mean": 0, "width": 1.7e308}"#), &[]);
    assert_eq!(wide["chosen"], json!([0]));
    // The paper's table would not fit any machine: refused before anything is allocated.
    let sentence = esdp(&["solve", "-", "--solver", "paper"], pair("1").as_bytes()).refused();
    assert!(sentence.contains("paper") && sentence.contains("limit"), "{sentence}");
}

#[test]
fn a_problem_too_large_for_a_solver_is_refused() {
    let channels = vec![r#"{"request": [1], "mean": 1}"#; 40].join(",");
    let problem = format!(r#"{{"capacity": [40], "channels": [{channels}]}}"#);
    let sentence = esdp(&["solve", "-", "--solver", "exhaustive"], problem.as_bytes()).refused();
    assert!(sentence.contains("1099511627776 sets, its limit is 16777216"), "{sentence}");
    assert_eq!(solved(&problem, &[])["value"].as_f64(), Some(40.0));
}

#[test]
fn a_million_channels_are_solved() {
    let mut file = std::io::BufWriter::new(tempfile::NamedTempFile::new().expect("a file"));
    write!(file, r#"{{"capacity": [200000, 200000, 200000], "channels": ["#).expect("written");
    let mut state = 1u64;
    let mut draw = |limit: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % limit
    };
    for channel in 0..1_000_000 {
        let comma = if channel > 0 { "," } else { "" };
        let request = [1 + draw(2), 1 + draw(2), 1 + draw(2)];
        let (mean, width) = (draw(1000) as f64 / 1000.0, draw(1000) as f64 / 1e6);
        write!(file, r#"{comma}{{"request":{request:?},"mean":{mean},"width":{width}}}"#).expect("written");
    }
    write!(file, "]}}").expect("written");
    let file = file.into_inner().expect("flushed");
    let path = file.path().to_str().expect("UTF-8");
    let answer: Value =
        serde_json::from_str(&esdp(&["solve", path, "--format", "json"], b"").fine()).expect("JSON");
    let (value, bound) =
        (answer["value"].as_f64().expect("a number"), answer["bound"].as_f64().expect("a number"));
    assert!(answer["chosen"].as_array().expect("a list").len() > 100_000);
    assert!(value <= bound && bound - value < 1e-3 * value, "{value} {bound}");
    let table = esdp(&["solve", path], b"").fine();
    assert!(table.lines().count() < 100 && table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_is_no_failure_and_a_full_disk_is_one() {
    use std::process::{Command, Stdio};
    let run = |stdout: Stdio| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_esdp"))
            .args(["solve", "--help"])
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the binary ends");
        (output.status.code(), output.stderr.len())
    };
    assert_eq!(run(Stdio::piped()), (Some(0), 0));
    if let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") {
        let (code, message) = run(full.into());
        assert!(code == Some(2) && message > 0);
    }
}

const GANGS: &str = r#"{"servers": [{"capacity": [8, 4]}, {"capacity": [4, 4]}],
 "jobs": [{"min": 3, "tasks": [{"count": 4, "request": [1, 1],
           "channels": [{"server": 0, "mean": 0.4, "width": 0.0},
                        {"server": 1, "mean": 0.3, "width": 0.1}]}]}]}"#;

#[test]
fn gangs_are_placed_by_job_task_and_server() {
    let text = esdp(&["solve", "--format", "json", "-"], GANGS.as_bytes()).fine();
    assert!(text.starts_with("{\"placements\":[{\"job\":0,\"task\":0,\"server\":"), "{text}");
    for solver in ["auto", "exact", "exhaustive", "greedy"] {
        let answer = solved(GANGS, &["--solver", solver]);
        let keys: Vec<&String> = answer.as_object().expect("an object").keys().collect();
        assert_eq!(
            keys,
            ["bound", "guarantee", "micros", "placements", "solver", "stopped", "value"],
            "{solver}"
        );
        let counts =
            answer["placements"].as_array().expect("a list").iter().map(|placed| placed["count"].as_u64());
        assert_eq!(counts.sum::<Option<u64>>(), Some(4), "{solver}: {answer}");
        assert!(answer["bound"].as_f64() >= answer["value"].as_f64(), "{solver}");
    }
    let exact = solved(GANGS, &[]);
    assert_eq!(
        (&exact["guarantee"], &exact["value"]),
        (&json!("optimal"), &solved(GANGS, &["--solver", "exhaustive"])["value"])
    );
    let table = esdp(&["solve", "-"], GANGS.as_bytes()).fine();
    assert!(table.contains("placed     4 tasks of 1 jobs"), "{table}");
    let refused = esdp(&["solve", "-", "--solver", "paper"], GANGS.as_bytes()).refused();
    assert!(refused.contains("does not support per-server capacities"), "{refused}");
}

#[test]
fn copies_and_a_capacity_of_the_cluster_count() {
    let twice = GANGS.replace(r#""min": 3"#, r#""copies": 2, "min": 4"#);
    let tasks = |problem: &str| {
        let answer = solved(problem, &[]);
        answer["placements"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|placed| placed["count"].as_u64())
            .sum::<Option<u64>>()
    };
    assert_eq!(tasks(&twice), Some(8));
    assert_eq!(tasks(&twice.replace(r#"{"servers""#, r#"{"capacity": [7, 99], "servers""#)), Some(4));
    assert_eq!(tasks(&twice.replace(r#"{"servers""#, r#"{"capacity": [3, 99], "servers""#)), Some(0));
}

#[test]
fn bad_gangs_are_refused_with_the_key() {
    let change = |from: &str, to: &str| {
        assert!(GANGS.contains(from));
        refusal(&GANGS.replacen(from, to, 1))
    };
    for (from, to, said) in [
        (r#""min": 3"#, r#""min": 5"#, "jobs[0].min: 5, expected a whole number from 1 to 4"),
        (r#""min": 3"#, r#""min": 0"#, "jobs[0].min: 0, expected a whole number from 1 to 4"),
        (r#""min": 3"#, r#""min": -1"#, "jobs[0].min: invalid value"),
        (r#""min": 3"#, r#""max": 3"#, "unknown field `max`"),
        (r#""count": 4"#, r#""count": 0"#, "jobs[0].tasks[0].count: 0, expected"),
        (
            r#""count": 4"#,
            r#""count": 4, "min": 5"#,
            "jobs[0].tasks[0].min: 5, expected a whole number from 0 to 4",
        ),
        (r#""count": 4"#, r#""count": 99999999999"#, "jobs[0].tasks[0].count: 99999999999, expected"),
        (r#""request": [1, 1]"#, r#""request": [1]"#, "jobs[0].tasks[0].request: length 1, expected 2"),
        (r#""capacity": [4, 4]"#, r#""capacity": [4]"#, "servers[1].capacity: length 1, expected 2"),
        (r#""server": 1"#, r#""server": 2"#, "jobs[0].tasks[0].channels[1].server: 2, expected"),
        (r#""width": 0.1"#, r#""width": -0.1"#, "jobs[0].tasks[0].channels[1].width: -0.1 is negative"),
        (r#""mean": 0.3"#, r#""mean": NaN"#, "jobs[0].tasks[0].channels[1].mean"),
        (r#""mean": 0.3"#, r#""mean": 1e999"#, "out of range"),
        (r#"{"servers""#, r#"{"channels": [], "servers""#, "unknown field `channels`"),
        (r#"{"servers""#, r#"{"jobs": [], "servers""#, "duplicate field `jobs`"),
        (r#""min": 3"#, r#""copies": 99999999, "min": 3"#, "jobs[0].copies: 99999999, expected"),
        (r#""min": 3"#, r#""copies": 60000000, "min": 3"#, "240000000 tasks in all"),
    ] {
        let sentence = change(from, to);
        assert!(sentence.contains(said), "{to}: {sentence}");
    }
    assert!(refusal(r#"{"servers": []}"#).contains("missing field `jobs`"));
    assert!(
        refusal(r#"{"servers": [], "jobs": [{"min": 1, "tasks": []}]}"#)
            .contains("jobs[0].tasks: an empty list")
    );
    assert_eq!(solved(r#"{"servers": [], "jobs": []}"#, &[])["value"], json!(0.0));
}
