//! `esdp trace` as users meet it: the real binary, files, and one sentence for every mistake.

use crate::util::esdp;
use serde_json::Value;
use std::path::Path;

const TASKS: &str = "M1,2,j_1,1,Terminated,100,160,50,0.2\nM1,1,j_2,1,Terminated,90,90,100,0.39\n\
                     R2,,j_4,1,Waiting,0,0,,\nM2,1,j_2,1,Terminated,120,130,50,0.2\n";
const MACHINES: &str = "m_1,0,219,17,96,100,USING\nm_2,0,219,18,96,100,USING\nm_1,9,219,17,96,100,USING\n";

fn put(dir: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn describe_tells_rows_reasons_and_statistics() {
    let dir = tempfile::tempdir().expect("a directory");
    let (tasks, machines) = (put(dir.path(), "tasks.csv", TASKS), put(dir.path(), "machines.csv", MACHINES));
    let text = esdp(&["trace", "describe", &machines, &tasks, "--format", "json"], b"").fine();
    let told: Value = serde_json::from_str(&text).expect("one JSON document and nothing else");
    assert_eq!(told["machines"]["count"], 2);
    assert_eq!(told["tasks"]["count"], 3);
    assert_eq!(told["tasks"]["jobs"]["count"], 2);
    assert_eq!(told["tasks"]["requests"][0]["request"], serde_json::json!([0.5, 0.2]));
    assert_eq!(told["speeds"], Value::Null);
    let file = &told["files"][1];
    let counts = ["rows", "clean", "repaired", "skipped"].map(|key| file[key].as_u64().expect("a number"));
    assert_eq!(counts, [4, 2, 1, 1]);
    let reasons: Vec<&str> = file["reasons"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|reason| reason["reason"].as_str())
        .collect();
    assert_eq!(reasons, ["no-request", "no-end", "zero-duration", "no-count", "unsorted"]);
    let table = esdp(&["trace", "describe", &machines, &tasks], b"").fine();
    assert!(table.contains("3 tasks of 2 jobs") && table.contains("line 3, column 23: ``"), "{table}");
}

#[test]
fn describe_writes_a_page_that_loads_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let tasks = put(dir.path(), "tasks<b>.csv", TASKS);
    let out = dir.path().join("out");
    let text = esdp(&["trace", "describe", &tasks, "--out", out.to_str().expect("UTF-8")], b"").fine();
    assert!(text.contains("Report: "), "{text}");
    let page = std::fs::read_to_string(out.join("report.html")).expect("a page");
    assert!(
        page.contains("tasks&lt;b&gt;.csv")
            && page.contains("Request vectors")
            && !page.contains("http-equiv=\"refresh\"")
    );
    for file in ["describe.json", "arrivals.svg", "arrivals.csv", "durations.png", "requests.svg"] {
        assert!(out.join(file).is_file(), "{file}");
    }
}

#[test]
fn strict_and_bad_input_name_file_line_column_and_value() {
    let dir = tempfile::tempdir().expect("a directory");
    let tasks = put(dir.path(), "tasks.csv", TASKS);
    let refused = |args: &[&str]| esdp(&[&["trace", "describe"], args].concat(), b"").refused();
    let error = refused(&[&tasks, "--strict"]);
    assert!(
        error.ends_with(
            "tasks.csv: line 2, column 26: `90`: it ends when it starts, expected an end after the start"
        ),
        "{error}"
    );
    let error = refused(&[&put(dir.path(), "letter.txt", "Dear all,\n")]);
    assert!(error.contains("letter.txt: line 1, column 1: the format is not recognised"), "{error}");
    let error = refused(&[&put(dir.path(), "half.gz", [0x1f, 0x8b, 8, 0])]);
    assert!(error.contains("half.gz: line 1: cannot be read"), "{error}");
    let error = refused(&["/nowhere/at/all.csv"]);
    assert!(error.starts_with("/nowhere/at/all.csv: cannot be read: "), "{error}");
    let error = refused(&[&tasks, "--from", "excel"]);
    assert!(error.contains("unknown format, expected one of alibaba-machines"), "{error}");
}

#[test]
fn a_generated_trace_becomes_a_scenario_that_runs() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (tasks, machines, toml) = (path("tasks.csv"), path("machines.csv"), path("real.toml"));
    let generate =
        ["trace", "generate", "--seed", "3", "--hours", "0.05", "-o", &tasks, "--machines", &machines];
    let told = esdp(&generate, b"").fine();
    assert!(told.contains("tasks in 180 s, seed 3") && told.contains("400 machines"), "{told}");
    let first = std::fs::read(&tasks).expect("tasks");
    esdp(&generate, b"").fine();
    assert!(std::fs::read(&tasks).expect("tasks") == first, "the same seed gives the same bytes");
    for edges in ["probability", "fit", "domain"] {
        let scenario = [
            "trace", "scenario", &machines, &tasks, "-o", &toml, "--rho", "0.9", "--edges", edges, "--seed",
            "5",
        ];
        let told = esdp(&scenario, b"").fine();
        assert!(told.contains(" slots of 1 s with ") && told.contains("8 ports"), "{told}");
        let text = std::fs::read_to_string(&toml).expect("a scenario");
        assert!(text.contains("# device 0: cpu, a unit is 0.5 cores"), "{text}");
        esdp(&scenario, b"").fine();
        assert!(
            std::fs::read_to_string(&toml).expect("a scenario") == text,
            "the same seed gives the same bytes"
        );
        let run =
            ["run", &toml, "--seeds", "1", "--policies", "esdp", "--format", "json", "--out", &path(edges)];
        let result: Value = serde_json::from_str(&esdp(&run, b"").fine()).expect("JSON");
        assert!(result["policies"][0]["aou_mean"].as_f64().expect("a number") > 0.0, "{edges}");
    }
    let refused = |args: &[&str]| {
        let args = [&["trace", "scenario", &tasks, "-o", &toml], args].concat();
        esdp(&args, b"").refused()
    };
    assert!(refused(&["--rho", "1.5"]).contains("`rho` is 1.5, expected a number from 0 to 1"));
    assert!(refused(&["--devices", "gpu"]).contains("`devices` is gpu, expected some of cpu, mem-share"));
    assert!(refused(&["--edges", "domain"]).contains("the machine table tells no domain"));
    assert!(refused(&["--units", "cpu"]).contains("expected a device and a number, such as cpu=0.5"));
    let error = esdp(&["trace", "scenario", &machines, "-o", &toml], b"").refused();
    assert!(error.contains("machines.csv: there are no tasks in it"), "{error}");
    let error = esdp(&["trace", "generate", "--hours", "0", "-o", &tasks], b"").refused();
    assert!(error.contains("--hours 0: expected a number above 0"), "{error}");
}

#[test]
fn accounting_becomes_speeds_and_a_scenario_with_jobs_in_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let (week, nodes, speeds) = (path("week.txt"), path("nodes.txt"), path("speeds.csv"));
    let generate = ["trace", "generate", "--accounting", "--hours", "48", "-o", &week, "--machines", &nodes];
    assert!(esdp(&generate, b"").fine().contains("on 40 nodes, seed 0"));
    // A slot of a second would hold next to nothing of two days.
    let told = esdp(&["trace", "scenario", &week, &nodes, "-o", &path("real.toml")], b"").fine();
    assert!(!told.contains("slots of 1 s") && !told.contains("by port: 0.00"), "{told}");
    let told = esdp(&["trace", "speeds", &week, "-o", &speeds], b"").fine();
    assert!(
        told.contains("95 % interval") && told.contains("There are 2 groups of nodes that no job joins"),
        "{told}"
    );
    let table = std::fs::read_to_string(&speeds).expect("a speed table");
    assert_eq!(
        (table.lines().next(), table.lines().count()),
        (Some("job,server,speed,low,high,jobs,keys"), 41)
    );
    let refused = esdp(&["trace", "speeds", &nodes], b"").refused();
    assert!(refused.contains("accounting needs User, JobName and NodeList"), "{refused}");
}

/// The same job twice, on two nodes: there is an estimate, and nobody knows how good it is.
#[test]
fn where_the_data_cannot_tell_there_are_no_intervals() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let row = |id: u32, time: &str| format!("{id}|u|a|2024-01-01T00:00:00|{time}|n{id}|COMPLETED|cpu=1\n");
    let rows = row(1, "00:10:00") + &row(2, "00:20:00");
    let two = format!("JobID|User|JobName|Submit|Elapsed|NodeList|State|ReqTRES\n{rows}");
    std::fs::write(path("two.txt"), two).expect("written");
    let told = esdp(&["trace", "speeds", &path("two.txt"), "-o", &path("speeds.csv")], b"").fine();
    assert!(told.contains("The data do not suffice") && !told.contains(" to 1."), "{told}");
    let table = std::fs::read_to_string(path("speeds.csv")).expect("a speed table");
    assert!(table.lines().skip(1).count() == 2 && table.lines().skip(1).all(|line| line.ends_with(",,,1,1")));
    let json = esdp(&["trace", "speeds", "--format", "json", &path("two.txt")], b"").fine();
    let told: Value = serde_json::from_str(&json).expect("one JSON document");
    assert_eq!((&told["told"], &told["nodes"][0]["low"]), (&Value::Bool(false), &Value::Null));
}

/// What a path stands for is written, not replaced: standard output, a device behind a link, a file behind a
/// link.
#[test]
fn outputs_go_where_the_path_leads() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let generate = |output: &str| esdp(&["trace", "generate", "--hours", "0.01", "-o", output], b"");
    let file = path("tasks.csv");
    generate(&file).fine();
    let expected = std::fs::read_to_string(&file).expect("tasks");
    for stdout in ["-", "/dev/stdout"] {
        let run = generate(stdout);
        assert_eq!((run.code, &run.stdout), (0, &expected), "{stdout}");
        assert!(
            run.stderr.contains(" tasks in 36 s, seed 0") && run.stderr.lines().count() == 1,
            "{}",
            run.stderr
        );
    }
    symlink(&file, path("link")).expect("a link");
    std::fs::write(&file, "old").expect("written");
    generate(&path("link")).fine();
    assert!(Path::new(&path("link")).is_symlink());
    assert_eq!(std::fs::read_to_string(&file).expect("tasks"), expected);
    symlink("/dev/null", path("null")).expect("a link");
    generate(&path("null")).fine();
    let scenario = esdp(&["trace", "scenario", &file, "-o", &path("null"), "--slots", "20"], b"");
    assert_eq!(scenario.code, 0, "{}", scenario.stderr);
    let device = std::fs::metadata("/dev/null").expect("it is still there").file_type();
    assert!(device.is_char_device() && Path::new(&path("null")).is_symlink());
    let scenario = esdp(&["trace", "scenario", &file, "-o", "-", "--slots", "20"], b"");
    assert!(
        scenario.stdout.contains("name = \"trace\"") && scenario.stderr.contains("Run it: "),
        "{}",
        scenario.stdout
    );
    assert_eq!(std::fs::read_dir(dir.path()).expect("a directory").count(), 3, "nothing is left beside them");
}

/// What a file holds does not steer the terminal, and an error says its cause once.
#[test]
fn foreign_text_is_shown_and_not_obeyed() {
    let dir = tempfile::tempdir().expect("a directory");
    let toml = put(dir.path(), "evil.toml", "policies = [\"\\u001b]0;title\\u0007\"]");
    let error = esdp(&["run", &toml], b"").refused();
    assert!(error.contains("unknown policy `␛]0;title␇`") && !error.contains('\x1b'), "{error}");
    let toml = put(
        dir.path(),
        "label.toml",
        "slots = 3\nname = \"a\\u001b[2Jb\"\npolicies = [{ name = \"lcf\", label = \"\\u009bx\" }]",
    );
    let out = dir.path().join("out");
    let table = esdp(&["run", &toml, "--seeds", "1", "--out", out.to_str().expect("UTF-8")], b"").fine();
    assert!(table.contains("a␛[2Jb") && !table.contains(['\x1b', '\u{9b}']), "{table}");
    let half = put(dir.path(), "half.gz", [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]);
    let error = esdp(&["trace", "describe", &half], b"").refused();
    let cause = error.rsplit(": ").next().expect("a cause");
    assert_eq!(error.matches(cause).count(), 1, "{error}");
}

#[test]
fn help_has_examples() {
    for command in [&["trace"][..], &["trace", "describe"], &["trace", "scenario"], &["trace", "generate"]] {
        let text = esdp(&[command, &["--help"]].concat(), b"").fine();
        assert!(text.contains("Examples:"), "{command:?}");
    }
}
