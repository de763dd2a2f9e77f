//! Problems at the edge of what `esdp solve` accepts: few bytes that ask for much, and numbers that rounding
//! swallows.

use crate::util::esdp;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

fn solved(problem: &Value, solver: &str) -> Value {
    let text =
        esdp(&["solve", "-", "--format", "json", "--solver", solver], problem.to_string().as_bytes()).fine();
    serde_json::from_str(&text).expect("one JSON document and nothing else")
}

fn number(answer: &Value, key: &str) -> f64 {
    answer[key].as_f64().unwrap_or_else(|| panic!("{key} in {answer}"))
}

/// A job of 2^26 tasks that request nothing, on two servers.
fn vast_job() -> Value {
    let channel = |server: u32| json!({"server": server, "mean": 1e-3, "width": 1e-3});
    let tasks = json!({"count": 1 << 26, "request": [0], "channels": [channel(0), channel(1)]});
    json!({"servers": [{"capacity": [0]}, {"capacity": [0]}], "jobs": [{"min": 1 << 26, "tasks": [tasks]}]})
}

#[test]
fn millions_of_tasks_are_counted_and_not_listed() {
    let tasks = f64::from(1 << 26);
    let optimum = tasks * 1e-3 + (tasks * 1e-3).sqrt();
    for solver in ["auto", "greedy"] {
        let answer = solved(&vast_job(), solver);
        let placements = answer["placements"].as_array().expect("a list");
        assert!(placements.len() <= 2, "{answer}");
        let counts = placements.iter().map(|placed| placed["count"].as_u64()).sum::<Option<u64>>();
        assert_eq!(counts, Some(1 << 26), "{solver}");
        // Products, not sums: nothing drifts.
        assert!((number(&answer, "value") - optimum).abs() <= 4e-16 * optimum, "{solver}: {answer}");
        assert!(number(&answer, "bound") >= optimum * (1.0 - 1e-15), "{solver}: {answer}");
    }
    assert_eq!(solved(&vast_job(), "auto")["guarantee"], "optimal");
}

#[test]
fn many_copies_of_a_job_are_counted_as_well() {
    let job = |copies: u32| {
        json!({"min": 2, "copies": copies, "tasks": [
        {"count": 2, "request": [1], "channels": [{"server": 0, "mean": 0.25}]}]})
    };
    let problem = json!({"servers": [{"capacity": [1_u64 << 40]}], "jobs": [job(1 << 20), job(1 << 20)]});
    for solver in ["auto", "greedy"] {
        let answer = solved(&problem, solver);
        assert_eq!(number(&answer, "value"), f64::from(1 << 20), "{solver}");
        assert_eq!(answer["placements"].as_array().map(Vec::len), Some(2), "{solver}");
    }
}

/// The shell limits the address space: what needs more is killed, and the test fails.
#[cfg(target_os = "linux")]
#[test]
fn a_vast_job_needs_no_vast_memory() {
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v 500000 && exec \"$0\" solve - --format json", env!("CARGO_BIN_EXE_esdp")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the shell starts");
    let mut input = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut input, vast_job().to_string().as_bytes()).expect("written");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_hundred_thousand_channels_without_a_job_are_no_depth() {
    let channels = vec![json!({"server": 0, "mean": 0.1}); 100_000];
    let problem = json!({"servers": [{"capacity": [1]}],
        "jobs": [{"min": 1, "copies": 0, "tasks": [{"count": 1, "request": [1], "channels": channels}]}]});
    for solver in ["exhaustive", "auto", "greedy"] {
        let answer = solved(&problem, solver);
        assert_eq!((&answer["placements"], &answer["value"]), (&json!([]), &json!(0.0)), "{solver}");
    }
}

#[test]
fn what_is_called_optimal_is_so_within_the_documented_rounding() {
    // The optimum takes the vast mean, two tasks of 10 and three of 1: 15 + 15 + 3 * 33 <= 156.
    let problem = json!({"servers": [{"capacity": [0, 156]}], "jobs": [
        {"min": 1, "copies": 2, "tasks": [
            {"count": 2, "request": [0, 33], "channels": [{"server": 0, "mean": 1}]}]},
        {"min": 1, "tasks": [{"count": 1, "request": [0, 0], "channels": [{"server": 0, "mean": 2e12}]},
                             {"count": 2, "request": [0, 15], "channels": [{"server": 0, "mean": 10}]}]}]});
    let optimum = 2e12 + 23.0;
    assert_eq!(number(&solved(&problem, "exhaustive"), "value"), optimum);
    for solver in ["auto", "greedy"] {
        let answer = solved(&problem, solver);
        let rounding = 1e-11 * optimum;
        assert!(number(&answer, "bound") >= optimum - rounding, "{answer}");
        if answer["guarantee"] == "optimal" {
            assert!(number(&answer, "value") >= optimum - rounding, "{answer}");
        }
    }
}

#[test]
fn doing_nothing_is_always_a_candidate() {
    // The first job cannot run, but its mean sets the scale in which the second one looks like nothing.
    let problem = json!({"servers": [{"capacity": [0]}], "jobs": [
        {"min": 2, "tasks": [{"count": 1, "request": [0], "channels": [{"server": 0, "mean": 6e300}]},
                             {"count": 1, "request": [0], "channels": []}]},
        {"min": 2, "tasks": [
            {"count": 2, "request": [0], "channels": [{"server": 0, "mean": -1, "width": 1}]}]}]});
    for solver in ["auto", "greedy", "exhaustive"] {
        let answer = solved(&problem, solver);
        assert_eq!(
            (number(&answer, "value"), &answer["placements"]),
            (0.0, &json!([])),
            "{solver}: {answer}"
        );
    }
}

#[test]
fn servers_need_no_device_types() {
    let task =
        |server: u32| json!([{"count": 2, "request": [], "channels": [{"server": server, "mean": 0.5}]}]);
    let problem = json!({"servers": [{"capacity": []}, {"capacity": []}],
        "jobs": [{"min": 1, "tasks": task(0)}, {"min": 2, "tasks": task(1)}]});
    for solver in ["auto", "greedy", "exhaustive"] {
        let answer = solved(&problem, solver);
        assert_eq!(number(&answer, "value"), 2.0, "{solver}: {answer}");
        assert_eq!(
            answer["placements"][1],
            json!({"job": 1, "task": 0, "server": 1, "count": 2}),
            "{solver}"
        );
    }
    let unknown = json!({"servers": [{"capacity": []}], "jobs": [{"min": 1, "tasks": task(1)}]}).to_string();
    let sentence = esdp(&["solve", "-"], unknown.as_bytes()).refused();
    assert!(
        sentence.contains("channels[0].server: 1, expected a position in `servers`, of length 1"),
        "{sentence}"
    );
}
