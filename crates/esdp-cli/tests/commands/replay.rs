//! `esdp replay` as an engineer meets it: the real binary, with and without files.

use crate::util::esdp;
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

/// A generated week: accounting, nodes, hidden speeds.
fn week(dir: &Path, seed: &str, hours: &str) -> [String; 3] {
    let paths = ["week.txt", "nodes.txt", "hidden.csv"]
        .map(|name| dir.join(name).to_str().expect("UTF-8").to_owned());
    let [week, nodes, hidden] = &paths;
    let args = [
        "--accounting",
        "--seed",
        seed,
        "--hours",
        hours,
        "-o",
        week,
        "--machines",
        nodes,
        "--speeds",
        hidden,
    ];
    esdp(&[&["trace", "generate"][..], &args].concat(), b"").fine();
    paths
}

fn json(args: &[&str], out: &Path) -> Value {
    let rest = ["--format", "json", "--quiet", "--out", out.to_str().expect("UTF-8")];
    serde_json::from_str(&esdp(&[&["replay"][..], args, &rest].concat(), b"").fine())
        .expect("one JSON document")
}

fn number(document: &Value, answer: usize, policy: &str, key: &str) -> f64 {
    let policies = document["answers"][answer]["policies"].as_array().expect("a list");
    let row = policies.iter().find(|row| row["name"] == policy).expect(policy);
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {policy}: {}", row[key]))
}

#[test]
fn jobs_have_the_columns_of_batsim_and_agree_with_the_summary() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, speeds] = files(dir.path());
    let run = |out: &str, jobs: &str| {
        let out = dir.path().join(out);
        let args = [&tasks, &nodes, &speeds, "--slot", "2", "--seeds", "1", "--jobs", jobs, "--policies"];
        let document = json(&[&args[..], &["oracle,esdp,first-fit,easy,conservative"]].concat(), &out);
        let read = |name: &str| std::fs::read_to_string(out.join(name)).expect(name);
        (document, read("jobs.csv"), read("report.html"))
    };
    let (document, jobs, page) = run("one", "1");
    let (again, jobs_again, page_again) = run("two", "2");
    assert_eq!((&document, &jobs, &page), (&again, &jobs_again, &page_again));
    assert!(
        page.contains("Assumed: NOBODY MEASURED YOUR JOBS") && !page.contains("NaN"),
        "{}",
        &page[..3000]
    );
    let header = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,\
                  success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,\
                  stretch,allocated_resources,consumed_energy,metadata,policy,seed,spread";
    assert_eq!(jobs.lines().next(), Some(header));
    for policy in ["oracle", "esdp", "first-fit", "easy", "conservative"] {
        let lines: Vec<Vec<&str>> = jobs
            .lines()
            .map(|line| line.split(',').collect())
            .filter(|line: &Vec<&str>| line.contains(&policy))
            .collect();
        assert_eq!(lines.len(), 300, "{policy}: every job is done");
        let field = |line: &Vec<&str>, at: usize| line[at].parse::<f64>().expect("a number");
        let mean = lines.iter().map(|line| field(line, 12)).sum::<f64>() / 300.0;
        let told = number(&document, 0, policy, "completion_s");
        assert!((mean - told).abs() < 1e-6, "{policy}: {mean} {told}");
        for line in &lines {
            assert!((field(line, 10) - field(line, 3) - field(line, 12)).abs() < 1e-6, "{line:?}");
            assert!((field(line, 11) + field(line, 9) - field(line, 12)).abs() < 1e-6, "{line:?}");
            assert!(line[0].starts_with("j_") && ["a", "b", "c"].contains(&&line[14][..1]), "{line:?}");
        }
    }
    assert_eq!(number(&document, 0, "easy", "gain"), 0.0);
}

#[test]
fn another_replay_keeps_the_earlier_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, speeds] = files(dir.path());
    let (out, kept) = (dir.path().join("replay"), dir.path().join("replay-1"));
    let run = |policies: &str| {
        let place = out.to_str().expect("UTF-8");
        let args = ["replay", &tasks, &nodes, &speeds, "--slot", "2", "--seeds", "1", "--out", place];
        esdp(&[&args[..], &["--policies", policies]].concat(), b"")
    };
    assert_eq!(run("first-fit,easy").code, 0);
    let (summary, jobs) = (out.join("summary.json"), out.join("jobs.csv"));
    let first = std::fs::read(&summary).expect("a file");
    assert_eq!(run("first-fit,easy").code, 0);
    assert!(!kept.exists(), "the same may be replaced");
    let other = run("lwtf,easy");
    assert!(other.stderr.contains("held another result: moved to "), "{}", other.stderr);
    assert_eq!(std::fs::read(kept.join("summary.json")).expect("a file"), first);
    let files = |place: &Path| {
        let names =
            std::fs::read_dir(place).expect("a directory").map(|file| file.expect("a file").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    assert_eq!(files(&kept), files(&out), "figures go with their result");
    assert!(jobs.is_file() && std::fs::read(&summary).expect("a file") != first);
}

#[test]
fn a_week_of_accounting_is_answered_with_default_flags() {
    let dir = tempfile::tempdir().expect("a directory");
    let [week, nodes, _] = week(dir.path(), "1", "24");
    let out = dir.path().join("out");
    let args = ["replay", &week, &nodes, "--seeds", "1", "--quiet", "--out", out.to_str().expect("UTF-8")];
    let text = esdp(&args, b"").fine();
    for expected in [
        "40 servers: 4 x a100, 4 x v100, 32 x CPU",
        "Assumed\n",
        "Node speeds are estimated from",
        "Today, by the log,",
        "The log played again,",
        "The speeds tried on",
        "against easy",
        "Gained\n- esdp: mean completion",
        "The log played again is off by",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(!text.contains("NaN") && !text.contains("AOU") && !text.contains("regret"), "{text}");
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).expect("a summary"))
            .expect("JSON");
    // The log gives back its own completion times.
    let error = &document["model_error"];
    assert!(error["mean_off_percent"].as_f64().expect("a number").abs() < 3.0, "{error}");
    assert!(error["median_job_off_percent"].as_f64().expect("a number") < 5.0, "{error}");
    // Without a machine table the nodes of the log are the machines, and it is said.
    let text =
        esdp(&["replay", &week, "--seeds", "1", "--quiet", "--policies", "esdp,easy", "--out", args[7]], b"")
            .fine();
    assert!(text.contains("40 servers: "), "{text}");
    assert!(
        text.contains("There is no machine table: the servers are the nodes that accounting names"),
        "{text}"
    );
}

#[test]
fn the_predicted_gain_is_that_of_the_true_speeds() {
    let dir = tempfile::tempdir().expect("a directory");
    for seed in ["3", "4", "5"] {
        let [week, nodes, hidden] = week(dir.path(), seed, "72");
        let gain = |files: &[&str]| {
            let rest = ["--policies", "esdp,easy", "--seeds", "3"];
            number(&json(&[files, &rest].concat(), &dir.path().join("out")), 0, "esdp", "gain")
        };
        let (predicted, real) = (gain(&[&week, &nodes]), gain(&[&week, &nodes, &hidden]));
        assert!((predicted - real).abs() < 3.0, "seed {seed}: {predicted} against {real}");
    }
}

#[test]
fn where_nobody_knows_speeds_the_answer_is_a_range() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, _] = files(dir.path());
    let rest = ["--slot", "2", "--seeds", "2", "--policies", "esdp,easy"];
    let document = json(&[&[tasks.as_str(), &nodes][..], &rest].concat(), &dir.path().join("out"));
    assert!(
        document["assumed"][0].as_str().expect("words").starts_with("NOBODY KNOWS HOW FAST YOUR SERVERS ARE")
    );
    let names: Vec<&str> = document["answers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|answer| answer["speeds"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["x1.0", "x1.2", "x1.5", "x2.0"]);
    assert_eq!(document["gained"].as_array().expect("a list").len(), 1);
}

#[test]
fn without_files_the_generated_trace_is_played_and_it_is_said() {
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("out");
    let shape =
        ["--servers", "4", "--slots", "40", "--seeds", "1", "--policies", "esdp,first-fit,easy", "--out"];
    let args: Vec<&str> = ["replay"].into_iter().chain(shape).chain([out.to_str().expect("UTF-8")]).collect();
    let text = esdp(&args, b"").fine();
    assert!(
        text.contains("nothing here is about your cluster") && text.contains("THE MACHINES ARE MADE UP"),
        "{text}"
    );
}

/// What varies from run to run is the jobs' luck, which nobody can follow.
#[test]
fn there_is_nothing_to_gain_where_all_servers_are_alike() {
    let dir = tempfile::tempdir().expect("a directory");
    let shape = ["--servers", "10", "--slots", "200", "--load", "0.5", "--seeds", "1", "--policies"];
    let document = json(&[&shape[..], &["esdp,easy,oracle"]].concat(), &dir.path().join("out"));
    for policy in ["esdp", "oracle"] {
        let gain = number(&document, 0, policy, "gain");
        assert!(gain.abs() < 1.0, "{policy} gains {gain} %");
    }
    assert!(number(&document, 3, "esdp", "gain") > 5.0, "{document}");
}

#[test]
fn dirty_rows_are_noted_unless_it_shall_be_quiet() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, speeds] = files(dir.path());
    let dirty = std::fs::read_to_string(&tasks).expect("tasks") + "M1,1,j_x,1,Terminated,100,120,fifty,0.2\n";
    let (tasks, out) = (put(dir.path(), "dirty.csv", &dirty), dir.path().join("out"));
    let shape = ["--slots", "20", "--seeds", "1", "--policies", "lcf", "--out"];
    let args = [&["replay", &tasks, &nodes, &speeds][..], &shape, &[out.to_str().expect("UTF-8")]].concat();
    let run = esdp(&args, b"");
    assert!(run.code == 0 && run.stderr.contains("of 301 rows 1 were skipped"), "{}", run.stderr);
    esdp(&[&args[..], &["--quiet"]].concat(), b"").fine();
}

#[test]
fn mistakes_are_told_in_a_sentence() {
    let dir = tempfile::tempdir().expect("a directory");
    let [tasks, nodes, _] = files(dir.path());
    assert!(esdp(&["replay", "no-such-file"], b"").refused().contains("no-such-file: cannot be read"));
    let empty = put(dir.path(), "empty", "");
    assert!(esdp(&["replay", &empty], b"").refused().contains("empty"));
    assert!(esdp(&["replay", "--slots", "5", "--load", "0"], b"").refused().contains("`load` is 0"));
    assert!(
        esdp(&["replay", "--slots", "5", "--policies", "magic"], b"")
            .refused()
            .contains("unknown policy `magic`")
    );
    let expect = ["replay", "--slots", "5", "--seeds", "1", "--expect", "esdp.nope>=1"];
    assert!(esdp(&expect, b"").refused().contains("unknown number `nope`"));
    assert!(esdp(&["replay", &tasks], b"").refused().contains("do not say which machines there are"));
    let late = esdp(&["replay", &tasks, &nodes, "--start", "99999"], b"").refused();
    assert!(late.contains("try --start"), "{late}");
    let torn = put(
        dir.path(),
        "torn.csv",
        "M1,1,j_1,1,Terminated,100,120,fifty,0.2\nM1,1,j_2,1,Terminated,100,120,50,0.2\n",
    );
    let refused = esdp(&["replay", &torn, &nodes, "--strict"], b"").refused();
    assert!(refused.contains("line 1") && refused.contains("fifty"), "{refused}");
}
