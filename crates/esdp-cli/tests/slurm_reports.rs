//! What a user without rights may do to the directory of reports of a Slurm cluster, where all users may
//! write: nothing stops a turn of the driver, and nothing that others have taught is lost. Scripts play
//! Slurm's own commands, so that jobs can belong to anybody.
//!
//! The tests need two user ids. Unless root runs them they are skipped, and say so.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

mod service;

use serde_json::{Value, json};
use service::{Client, Service, esdp};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

const ALICE: u32 = 60_001;
const MALLORY: u32 = 65_534;
/// How long anything may take on a busy machine.
const LONGEST: Duration = Duration::from_secs(60);

/// Slurm's commands, by one script.
const SLURM: &str = r#"#!/bin/sh
case "$1 $2" in
  --version*) echo slurm 24.11.1 ;;
  'show config') echo 'ClusterName = x' ;;
  'show nodes') cat BED/nodes.json ;;
  token*) exit 1 ;;
  *) case $0 in
    */squeue) cat BED/jobs.json ;;
    *) cat > /dev/null ;;
  esac ;;
esac
"#;

/// Faked commands, a directory of reports, and jobs that have ended.
struct Bed {
    directory: tempfile::TempDir,
    template: Value,
    jobs: Vec<Value>,
    now: u64,
}

fn fixture(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../esdp-cluster/tests/fixtures").join(name);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: u64) -> Value {
    json!({"set": true, "infinite": false, "number": value})
}

impl Bed {
    fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("esdp-").tempdir().unwrap();
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        open(directory.path(), 0o755);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let bed = Self { directory, template: fixture("squeue-24.11.json"), jobs: Vec::new(), now };
        ["bin", "reports"].iter().for_each(|name| fs::create_dir(bed.path(name)).unwrap());
        open(&bed.path("reports"), 0o1777);
        let mut nodes = fixture("nodes-24.11.json");
        let one = nodes["nodes"][0].clone();
        let node = |at: usize| {
            let mut node = one.clone();
            for (key, value) in [
                ("name", json!(format!("n{at}"))),
                ("state", json!(["IDLE"])),
                ("alloc_cpus", json!(0)),
                ("gres", json!("")),
                ("gres_used", json!("")),
            ] {
                node[key] = value;
            }
            node
        };
        nodes["nodes"] = (0..4).map(node).collect();
        fs::write(bed.path("nodes.json"), nodes.to_string()).unwrap();
        let script = SLURM.replace("BED", &bed.directory.path().display().to_string());
        for program in ["squeue", "sinfo", "scontrol"] {
            let path = bed.path("bin").join(program);
            fs::write(&path, &script).unwrap();
            open(&path, 0o755);
        }
        bed.publish();
        bed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(&self, job: u64, node: &str) -> PathBuf {
        self.path("reports").join(format!("{job}.{node}.report"))
    }

    /// A job that has run for 10 s on a node.
    fn ended(&mut self, id: u64, node: &str, (user, uid): (&str, u32), comment: &str) {
        let mut job = self.template["jobs"][0].clone();
        let tres = "cpu=1,mem=100M,node=1,billing=1";
        for (key, value) in [
            ("job_id", json!(id)),
            ("name", json!("w")),
            ("job_state", json!(["COMPLETED"])),
            ("nodes", json!(node)),
            ("comment", json!(comment)),
            ("user_name", json!(user)),
            ("user_id", json!(uid)),
            ("admin_comment", json!("")),
            ("tres_req_str", json!(tres)),
            ("tres_alloc_str", json!(tres)),
            ("required_nodes", json!("")),
            ("excluded_nodes", json!("")),
            ("features", json!("")),
            ("shared", json!(["none"])),
            ("partition", json!("main")),
            ("cpus", number(1)),
            ("node_count", number(1)),
            ("submit_time", number(self.now - 100)),
            ("start_time", number(self.now - 50)),
            ("end_time", number(self.now - 40)),
        ] {
            job[key] = value;
        }
        self.jobs.push(job);
    }

    /// Lets Slurm tell of the jobs.
    fn publish(&self) {
        let mut answer = self.template.clone();
        answer["jobs"] = json!(self.jobs);
        fs::write(self.path("jobs.part"), answer.to_string()).unwrap();
        fs::rename(self.path("jobs.part"), self.path("jobs.json")).unwrap();
    }

    /// An honest job of Alice's, with its report.
    fn honest(&mut self, id: u64) {
        let node = format!("n{}", id % 4);
        let seconds = [5.0, 6.0, 10.0, 20.0][(id % 4) as usize];
        let start = self.now as f64 - 50.0;
        let text = format!("start {start}\nend {} 100\n", start + seconds);
        fs::write(self.file(id, &node), text).unwrap();
        chown(self.file(id, &node), Some(ALICE), Some(ALICE)).unwrap();
        self.ended(id, &node, ("alice", ALICE), "");
    }

    fn start(&self) -> Service {
        let mut command = Command::new("sh");
        let path = std::env::var("PATH").unwrap_or_default();
        command.args(["-c", "log=$1; shift; exec \"$0\" \"$@\" 2>\"$log\""]).arg(esdp().get_program());
        command.arg(self.path("log"));
        command.args(["slurm", "watch", "--slot", "200ms", "--rest", "off", "--listen", "127.0.0.1:0"]);
        command.arg("--data").arg(self.path("data")).arg("--reports").arg(self.path("reports"));
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        Service::spawn(command).unwrap_or_else(|error| panic!("the driver does not start: {error}"))
    }

    /// Runs a script as a user without rights.
    fn by(&self, uid: u32, script: &str) -> Output {
        self.script(uid, script).output().unwrap()
    }

    fn script(&self, uid: u32, script: &str) -> Command {
        let mut command = Command::new("setpriv");
        command.args([
            &format!("--reuid={uid}"),
            &format!("--regid={uid}"),
            "--clear-groups",
            "sh",
            "-c",
            script,
        ]);
        command.current_dir(self.path("reports"));
        let path = std::env::var("PATH").unwrap_or_default();
        let binary = Path::new(env!("CARGO_BIN_EXE_esdp")).parent().unwrap().display().to_string();
        command.env("PATH", format!("{binary}:{path}"));
        command
    }
}

/// What is believed of the nodes, and from how many outcomes.
fn believed(client: &mut Client) -> Vec<(String, f64, f64)> {
    let channels = client.get("/v1/channels");
    let row = |row: &Value| {
        let number = |key: &str| row[key].as_f64().unwrap();
        (row["server"].as_str().unwrap().to_owned(), number("mean"), number("count"))
    };
    let mut rows: Vec<_> = channels["channels"].as_array().unwrap().iter().map(row).collect();
    rows.retain(|(_, _, count)| *count > 0.0);
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

fn outcomes(client: &mut Client) -> f64 {
    believed(client).iter().map(|(_, _, count)| count).sum()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let due = Instant::now() + LONGEST;
    while !holds() {
        assert!(Instant::now() < due, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn memory_megabytes(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() / 1024
}

fn is_root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        eprintln!("SKIPPED: hostile acts on report files need two user ids, so only root can try them");
    }
    root
}

/// The shell command that writes a report of a job that took a second, with so much work; a name follows.
fn report(start: f64, work: &str) -> String {
    format!("printf 'start {start}\\nend {} {work}\\n' >", start + 1.0)
}

/// What a user may do in the directory, by the job of hers whose report it is.
fn acts(start: f64) -> Vec<(u64, String)> {
    let report = |work: &str, name: &str| format!("{} {name}", report(start, work));
    let plain = |script: &str| script.to_owned();
    let odd = r"touch ./-rf.report '. .report' ' ;id;.report' .report";
    let odder = r#"touch "$(printf 'a\nb').report" "$(printf '\377').report" "$(printf '\033[2J').report""#;
    vec![
        (900, plain("mkfifo 900.n3.report")),
        (901, plain("ln -s /etc/passwd 901.n3.report")),
        (902, plain("ln -s /dev/zero 902.n3.report")),
        (903, plain("truncate -s 6G 903.n3.report")),
        (904, plain("mkdir 904.n3.report")),
        (905, report("1e300", "905.n3.report")),
        (906, report("NaN", "906.n3.report")),
        (907, report("-5", "907.n3.report")),
        (908, report("1e999", "908.n3.report")),
        (909, plain("head -c 4096 /dev/urandom > 909.n3.report")),
        (910, plain("yes start 1 | head -c 100000 > 910.n3.report")),
        (911, plain("printf 'start 5\\nend 6 1e9\\n' > 911.n3.report")),
        (912, plain("printf 'end 9 1e9' > 912.n3.report")),
        (913, report("1e30", "913.n0.report")),
        (914, plain("for i in $(seq 20000); do echo junk$i.n3.report; done | xargs touch")),
        (915, format!("{} && ln 915.n3.report 916.n3.report", report("1e30", "915.n3.report"))),
        (916, plain("touch -d 2099-01-01 junk.n3.report")),
        (917, plain(odd)),
        (918, plain(odder)),
        (919, plain("touch $(head -c 248 /dev/zero | tr '\\0' x).report")),
        (920, format!("{} && chmod 0 920.n3.report", report("1e30", "920.n3.report"))),
        (921, plain("ln -s 921.n3.report 921.n3.report")),
        // A link to a report of Alice's, as if it were her own.
        (922, plain("ln -s 201.n1.report 922.n3.report")),
    ]
}

/// What the system or the service keeps her from.
fn refused(service: &Service) -> Vec<String> {
    let path = |path: &str, args: &str| {
        format!("curl -sf -H 'content-type: application/json' http://{}{path} {args}", service.address)
    };
    let report = r#"{"port":"main","server":"n3","rate":1e300,"id":"x"}"#;
    let mut all: Vec<String> = [
        "rm -f 200.n0.report",
        "mv -f 201.n1.report gone",
        "echo end >> 202.n2.report",
        "printf x > other && mv -f other 203.n3.report",
        "mv ../reports ../gone",
        "mknod 923.n3.report c 1 3",
        "chown root 905.n3.report",
        "ls ../data",
        "cat ../data/ledger.csv",
        "cat ../data/esdp.db",
        "touch ../data/wake",
    ]
    .map(str::to_owned)
    .into();
    all.extend([
        format!("kill -STOP {}", service.id()),
        path("/v1/observations", &format!("-d '{report}'")),
        path("/v1/servers/n0/drain", "-X POST"),
        path("/v1/servers/n0/reset", "-X POST"),
        path("/v1/jobs/200", "-X DELETE"),
        path("/v1/cluster", "-X PUT -d '{}'"),
    ]);
    all
}

#[test]
fn no_file_and_no_comment_of_a_user_harms_others() {
    if !is_root() {
        return;
    }
    let mut bed = Bed::new();
    let service = bed.start();
    let mut client = service.client();
    (100..120).for_each(|id| bed.honest(id));
    bed.publish();
    wait_for("the honest jobs are learned", || outcomes(&mut client) >= 20.0);
    let before = believed(&mut client);
    assert!(!bed.file(100, "n0").exists(), "a report that was read is removed");

    (200..220).for_each(|id| bed.honest(id));
    let mallory = ("mallory", MALLORY);
    // Whatever she does, she does to a file of a job of her own, on the slowest node, or on the fastest.
    let start = bed.now as f64 - 50.0;
    let acts = acts(start);
    for (job, script) in &acts {
        let done = bed.by(MALLORY, script);
        assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
        bed.ended(*job, if *job == 913 { "n0" } else { "n3" }, mallory, "");
    }
    // A comment says how long the job would take at speed 1, and no rule allows that.
    bed.ended(950, "n3", mallory, "esdp-seconds=1e30");
    // A file for a job of Alice's, and one that changes while it is read.
    assert!(bed.by(MALLORY, &format!("{} 930.n0.report", report(start, "1e30"))).status.success());
    bed.ended(930, "n0", ("alice", ALICE), "");
    let changes = format!(
        "while :; do {0} part; mv part 940.n3.report; rm -f 940.n3.report; mkfifo 940.n3.report; \
         rm -f 940.n3.report; ln -s /etc/passwd 940.n3.report; rm -f 940.n3.report; done",
        report(start, "1e30")
    );
    let mut changing = bed.script(MALLORY, &changes).stderr(Stdio::null()).spawn().unwrap();
    bed.ended(940, "n3", mallory, "");
    let refused = refused(&service);
    for script in &refused {
        let done = bed.by(MALLORY, script);
        assert!(!done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stdout));
    }
    assert!(acts.len() + refused.len() + 3 >= 35, "so many are tried here");
    bed.publish();
    wait_for("honest jobs are learned after it", || outcomes(&mut client) >= 40.0);
    assert_eq!(client.get("/readyz")["status"], "ready");

    // What is doubted has her name on it.
    wait_for("her speed is set aside", || {
        let aside = client.get("/v1/outcomes/aside");
        aside["outcomes"].as_array().unwrap().iter().any(|one| one["source"] == "slurm:mallory")
    });
    let after = believed(&mut client);
    assert_eq!(before.len(), 4);
    for ((server, was, _), (_, is, count)) in before.iter().zip(&after) {
        assert!((is / was - 1.0).abs() < 0.02, "{server}: {was} became {is}");
        assert!((*count - 10.0).abs() < 1e-9, "{server} has {count} outcomes, 10 of them honest");
    }
    wait_for("what she has left is removed", || {
        let left = |job: u64| bed.path(&format!("reports/{job}.n3.report")).symlink_metadata().is_ok();
        !(900..923).filter(|job| *job != 913).any(left)
    });
    changing.kill().unwrap();
    changing.wait().unwrap();
    assert!(fs::metadata("/etc/passwd").is_ok(), "a link is removed and not what it leads to");
    let memory = memory_megabytes(service.id());
    assert!(memory < 300, "{memory} MB");
    let stopped = Instant::now();
    assert_eq!(service.stop(), Some(0));
    assert!(stopped.elapsed() < LONGEST);
    let log = fs::read_to_string(bed.path("log")).unwrap();
    let named = |line: &&str| line.contains("belongs to uid 65534") && line.contains("alice");
    assert_eq!(log.lines().filter(named).count(), 1, "{log}");
}

#[test]
fn what_a_user_has_prepared_does_not_stop_the_work_of_another() {
    if !is_root() {
        return;
    }
    let bed = Bed::new();
    for (job, act) in [
        (1, "mkfifo 1.n0.report"),
        (2, "ln -s /tmp/esdp-not-there 2.n0.report"),
        (3, ": > 3.n0.report; chmod 666 3.n0.report"),
        (4, "mkdir 4.n0.report"),
        (5, "true"),
    ] {
        assert!(bed.by(MALLORY, act).status.success());
        let line = "esdp report start && echo worked >&2 && esdp report end --work 1000";
        let environment = format!("export ESDP_REPORTS=. SLURM_JOB_ID={job} SLURMD_NODENAME=n0");
        let began = Instant::now();
        let done = bed.by(ALICE, &format!("{environment}; {line}"));
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success() && said.contains("worked"), "{act}: {said}");
        assert!(began.elapsed() < LONGEST);
        assert_eq!(said.contains("is not reported"), job != 5, "{act}: {said}");
    }
    assert!(!Path::new("/tmp/esdp-not-there").exists());
    assert_eq!(fs::read_to_string(bed.file(3, "n0")).unwrap(), "", "a file of somebody else is left alone");
    assert!(fs::read_to_string(bed.file(5, "n0")).unwrap().contains(" 1000\n"));
}
