//! `esdp replay` as users meet it: the real binary, with and without files.

use crate::util::{esdp, untimed_json};
use serde_json::Value;
use std::path::Path;

fn put(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// Some hundred tasks of two kinds, three machines of two kinds, and their speeds.
fn files(dir: &Path) -> [String; 3] {
    let task = |at: u32| {
        let (start, cpu) = (100 + at / 3, if at.is_multiple_of(3) { 200 } else { 50 });
        format!("M1,{},j_{at},1,Terminated,{start},{},{cpu},0.2\n", 1 + at % 2, start + 5 + at % 7)
    };
    let tasks: String = (0..300).map(task).collect();
    let nodes = "sn,cpu_milli,memory_mib,gpu,model\na,8000,9,2,V100\nb,8000,9,2,K80\nc,8000,9,4,V100\n";
    let speeds = "worker,job,sf,thr\nk80,A,1,1.0\nv100,A,1,4.0\nk80,B,1,2.0\nv100,B,1,3.0\n";
    [put(dir, "tasks.csv", &tasks), put(dir, "nodes.csv", nodes), put(dir, "speeds.csv", speeds)]
}

#[test]
fn jobs_and_schedule_have_the_columns_of_batsim_and_agree_with_the_summary() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, speeds] = files(dir.path());
    let run = |out: &str, jobs: &str| {
        let out = dir.path().join(out);
        let shape = ["--servers", "3", "--ports", "2", "--slot", "2", "--slots", "80", "--seeds", "2", "--jobs", jobs];
        let rest =
            ["--policies", "oracle,esdp-pooled,first-fit", "--format", "json", "--out", out.to_str().expect("UTF-8")];
        let args: Vec<&str> = ["replay", &tasks, &nodes, &speeds].into_iter().chain(shape).chain(rest).collect();
        let text = esdp(&args, b"").fine();
        let read = |name: &str| std::fs::read_to_string(out.join(name)).expect(name);
        (text, read("jobs.csv"), read("schedule.json"), read("report.html"))
    };
    let (text, jobs, schedule, page) = run("one", "1");
    let (again, jobs_again, schedule_again, _) = run("two", "2");
    assert_eq!((untimed_json(&text), &jobs, &schedule), (untimed_json(&again), &jobs_again, &schedule_again));

    let told: Value = serde_json::from_str(&text).expect("one JSON document and nothing else");
    let schedule: Value = serde_json::from_str(&schedule).expect("JSON");
    assert_eq!(schedule.as_array().expect("a list").len(), 6);
    assert!(page.contains("against the best baseline (first-fit)"));
    let header = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
                  final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,\
                  allocated_resources,consumed_energy,metadata,policy,seed";
    assert_eq!(jobs.lines().next(), Some(header));
    for policy in told["policies"].as_array().expect("a list") {
        let name = policy["name"].as_str().expect("a name");
        let of_policy = |line: &&str| line.split(',').nth(17) == Some(name);
        let lines: Vec<&str> = jobs.lines().filter(of_policy).collect();
        let number =
            |line: &str, at: usize| line.split(',').nth(at).expect("a field").parse::<f64>().expect("a number");
        // Each seed weighs the same in the summary, each job in the file: so by seed.
        let mean = |seed: &str| {
            let of_seed: Vec<f64> =
                lines.iter().filter(|line| line.ends_with(&format!(",{seed}"))).map(|line| number(line, 12)).collect();
            of_seed.iter().sum::<f64>() / of_seed.len() as f64
        };
        let mean = (mean("0") + mean("1")) / 2.0 / 2.0;
        assert!((mean - policy["jct_mean"].as_f64().expect("a number")).abs() < 1e-9, "{name}: {mean}");
        for line in &lines {
            assert!((number(line, 10) - number(line, 3) - number(line, 12)).abs() < 1e-9, "{line}");
            assert!((number(line, 11) + number(line, 9) - number(line, 12)).abs() < 1e-9, "{line}");
        }
    }
}

#[test]
fn without_files_the_generated_trace_is_played() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let shape = ["--servers", "4", "--slots", "40", "--seeds", "1", "--policies", "esdp-pooled,first-fit", "--out"];
    let args: Vec<&str> = ["replay"].into_iter().chain(shape).chain([out.to_str().expect("UTF-8")]).collect();
    let text = esdp(&args, b"").fine();
    assert!(text.contains("preset fleet-real") && text.contains("JCT, slots"), "{text}");
}

#[test]
fn dirty_rows_are_noted_unless_it_shall_be_quiet() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, speeds] = files(dir.path());
    let dirty = std::fs::read_to_string(&tasks).expect("tasks") + "M1,1,j_x,1,Terminated,100,120,fifty,0.2\n";
    let (tasks, out) = (put(dir.path(), "dirty.csv", &dirty), dir.path().join("out"));
    let shape = ["--servers", "3", "--slots", "20", "--seeds", "1", "--policies", "lcf", "--out"];
    let args = [&["replay", &tasks, &nodes, &speeds][..], &shape, &[out.to_str().expect("UTF-8")]].concat();
    let run = esdp(&args, b"");
    assert!(run.code == 0 && run.stderr.contains("of 301 rows 1 were skipped"), "{}", run.stderr);
    esdp(&[&args[..], &["--quiet"]].concat(), b"").fine();
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let dir = tempfile::tempdir().expect("a directory");
    let [_, nodes, _] = files(dir.path());
    assert!(esdp(&["replay", "no-such-file"], b"").refused().contains("no-such-file: cannot be read"));
    let empty = put(dir.path(), "empty", "");
    assert!(esdp(&["replay", &empty], b"").refused().contains("empty"));
    assert!(esdp(&["replay", "--slots", "5", "--load", "0"], b"").refused().contains("`load` is 0"));
    assert!(esdp(&["replay", "--slots", "5", "--policies", "magic"], b"").refused().contains("unknown policy `magic`"));
    let expect = ["replay", "--slots", "5", "--seeds", "1", "--expect", "esdp.nope>=1"];
    assert!(esdp(&expect, b"").refused().contains("unknown number `nope`"));
    let torn =
        put(dir.path(), "torn.csv", "M1,1,j_1,1,Terminated,100,120,fifty,0.2\nM1,1,j_2,1,Terminated,100,120,50,0.2\n");
    let refused = esdp(&["replay", &torn, &nodes, "--strict"], b"").refused();
    assert!(refused.contains("line 1") && refused.contains("fifty"), "{refused}");
}
