//! No answer leaves before it is on the disk: read from the system calls of a real service under load.
//!
//! `kill -9` proves nothing about a power cut, since the page cache survives it. What proves it is the order:
//! for each answered slot, the page of the log that holds it was written, then an fsync of the log has
//! *ended*, and only then the watermark was written and the answer went out. A service that does not wait for
//! its fsyncs must be caught by the same check.
//!
//! Needs `strace`; `cargo xtask test` installs it.

use crate::service::{Service, cluster, esdp};
use serde_json::json;
use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

const CONNECTIONS: usize = 16;
const REQUESTS: usize = 40;

/// Runs a service under `strace` and sends it slots from many connections; the trace and the jobs that were
/// answered.
fn traced(data: &Path, synchronous: &str) -> (String, Vec<String>) {
    let trace = data.join("trace");
    let mut command = Command::new("strace");
    command.args([
        "-f",
        "-y",
        "-s",
        "5000",
        "-e",
        "trace=fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg",
        "-o",
    ]);
    command.arg(&trace).arg(esdp().get_program());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log-level", "off", "--synchronous", synchronous]);
    command.arg("--no-token");
    command.arg("--data").arg(data.join("data"));
    let service = Service::spawn(command).expect("strace is installed, and may trace");
    service.client().ok("PUT", "/v1/cluster", &cluster(4).to_string());
    let mut jobs = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|connection| {
                let mut client = service.client();
                scope.spawn(move || {
                    let send = |number: usize| {
                        let job = format!("job-{connection:03}-{number:03}");
                        let request = json!({"key": job, "jobs": [{"id": job, "port": "train"}]});
                        let answer = client.post("/v1/slots", &request);
                        // Each job is told of in its answer, as placed or as held, and goes away again.
                        assert!(answer.to_string().contains(&job));
                        client.ok("DELETE", &format!("/v1/jobs/{job}"), "");
                        job
                    };
                    (0..REQUESTS).map(send).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| jobs.extend(thread.join().expect("it works")));
    });
    // `strace` passes no signal on; what it traces is its child, and it ends with it.
    let id = service.id();
    let traced =
        std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).expect("a child is listed");
    let traced = traced.split_whitespace().next().expect("strace has a child").parse().expect("a process id");
    assert_eq!(service.stop_by(traced), Some(0));
    (std::fs::read_to_string(trace).expect("a trace was written"), jobs)
}

/// How often an answer or the watermark left too early, and for how many jobs an answer was found.
fn early(trace: &str, jobs: &[String]) -> (usize, usize) {
    let known: HashMap<&str, usize> = jobs.iter().enumerate().map(|(at, job)| (job.as_str(), at)).collect();
    let mentioned = |line: &str| -> Vec<usize> {
        let names = line.match_indices("job-").filter_map(|(at, _)| line.get(at..at + 11));
        names.filter_map(|name| known.get(name).copied()).collect()
    };
    // Of each job: whether its page was written, and whether an fsync of the log that began after that has
    // ended.
    let (mut written, mut durable) = (vec![false; jobs.len()], vec![false; jobs.len()]);
    let mut answered = vec![false; jobs.len()];
    // By thread, the jobs that are safe once the fsync which it is in has ended.
    let mut syncing: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut too_early = 0;
    // Whether the log has pages that no fsync has covered, and how often the watermark was written.
    let (mut unsynced, mut marks) = (false, 0);
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let log = call.contains("esdp.db-wal>");
        if call.starts_with("pwrite64") && call.contains("/watermark>") {
            // It says what is on the disk.
            marks += 1;
            too_early += usize::from(unsynced);
        }
        if (call.starts_with("fdatasync") || call.starts_with("fsync")) && log
            || call.contains("sync resumed")
        {
            unsynced = call.contains("unfinished");
        }
        if call.starts_with("pwrite64") && log {
            unsynced = true;
            mentioned(call).into_iter().for_each(|job| written[job] = true);
        } else if (call.starts_with("fdatasync") || call.starts_with("fsync")) && log {
            let safe: Vec<usize> = (0..jobs.len()).filter(|&job| written[job]).collect();
            match call.contains("unfinished") {
                true => drop(syncing.insert(thread, safe)),
                false => safe.into_iter().for_each(|job| durable[job] = true),
            }
        } else if call.contains("sync resumed") {
            syncing.remove(thread).into_iter().flatten().for_each(|job| durable[job] = true);
        } else if call.contains("HTTP/1.1 200") && call.contains("\\\"placements\\\"") {
            for job in mentioned(call) {
                if !std::mem::replace(&mut answered[job], true) {
                    too_early += usize::from(!durable[job]);
                }
            }
        }
    }
    assert!(marks > 0, "the watermark is in the trace");
    (too_early, answered.into_iter().filter(|&found| found).count())
}

#[test]
fn no_answer_leaves_before_its_fsync() {
    let data = tempfile::tempdir().unwrap();
    let (trace, jobs) = traced(data.path(), "FULL");
    let (too_early, answered) = early(&trace, &jobs);
    assert_eq!(answered, CONNECTIONS * REQUESTS, "every answer is in the trace");
    assert_eq!(too_early, 0);
}

/// The check is able to fail: a service that does not wait is caught.
#[test]
fn a_weaker_setting_is_caught() {
    let data = tempfile::tempdir().unwrap();
    let (trace, jobs) = traced(data.path(), "NORMAL");
    let (too_early, answered) = early(&trace, &jobs);
    assert_eq!(answered, CONNECTIONS * REQUESTS);
    assert!(too_early > answered / 2, "only {too_early} of {answered} were caught");
}
