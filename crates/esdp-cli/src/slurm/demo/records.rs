//! What became of each job, from two witnesses: the job's own records, one per node, and Slurm's accounting.
//! They must agree: every job has ended once, well, on as many nodes as it asked for.

use super::workload::{PlannedJob, TYPES, USERS};
use anyhow::{Context, bail, ensure};
use esdp_trace::hostlist;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Start and end on each node of a job.
type Tasks = BTreeMap<String, (f64, f64)>;

/// A job that has ended. Times are in seconds since the arm began.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobRecord {
    pub id: u32,
    pub planned: PlannedJob,
    pub nodes: Vec<String>,
    /// When its first node began.
    pub started: f64,
    /// When its last node was done.
    pub ended: f64,
}

impl JobRecord {
    /// From when it was due. A submission that was late is part of it: otherwise a machine that stalls would
    /// look fast.
    pub(super) fn completion(&self) -> f64 {
        self.ended - self.planned.due
    }

    pub(super) fn waiting(&self) -> f64 {
        self.started - self.planned.due
    }
}

/// The number of jobs that have ended, after Slurm's accounting.
pub(super) fn ended(dir: &Path) -> anyhow::Result<usize> {
    Ok(accounting(dir)?.bytes().filter(|&byte| byte == b'\n').count())
}

fn accounting(dir: &Path) -> anyhow::Result<String> {
    let path = dir.join("log/jobcomp");
    match fs::read_to_string(&path) {
        // There is none before the first job has ended.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        other => other.with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Reads and compares the records of all jobs.
pub(super) fn read(
    dir: &Path,
    planned: &[PlannedJob],
    ids: &[u32],
    epoch: f64,
) -> anyhow::Result<Vec<JobRecord>> {
    let mut accounts = accounts(&accounting(dir)?)?;
    let mut tasks = tasks(&dir.join("records"))?;
    let mut jobs = Vec::with_capacity(ids.len());
    for (&id, &planned) in ids.iter().zip(planned) {
        let (state, accounted) =
            accounts.remove(&id).with_context(|| format!("Slurm has no record of job {id}"))?;
        ensure!(state == "COMPLETED", "job {id} has ended as {state}");
        let own = tasks.remove(&id).with_context(|| format!("job {id} has left no record"))?;
        let nodes: BTreeSet<String> = own.keys().cloned().collect();
        ensure!(nodes == accounted, "job {id} ran on {nodes:?}, but Slurm's record says {accounted:?}");
        let expected = TYPES[planned.kind].nodes;
        ensure!(nodes.len() == expected, "job {id} ran on {} nodes instead of {expected}", nodes.len());
        let started = own.values().map(|times| times.0).fold(f64::INFINITY, f64::min) - epoch;
        let ended = own.values().map(|times| times.1).fold(0.0, f64::max) - epoch;
        jobs.push(JobRecord { id, planned, nodes: nodes.into_iter().collect(), started, ended });
    }
    ensure!(accounts.is_empty() && tasks.is_empty(), "there are records of jobs that were not submitted");
    Ok(jobs)
}

/// State and nodes of each job in Slurm's accounting.
fn accounts(text: &str) -> anyhow::Result<BTreeMap<u32, (String, BTreeSet<String>)>> {
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let fields: BTreeMap<&str, &str> =
            line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let field = |name: &str| fields.get(name).copied().with_context(|| format!("no {name} in `{line}`"));
        let id: u32 = field("JobId")?.parse().with_context(|| format!("no job number in `{line}`"))?;
        let nodes = hostlist::names(field("NodeList")?).into_iter().collect();
        if found.insert(id, (field("JobState")?.to_owned(), nodes)).is_some() {
            bail!("job {id} has ended twice");
        }
    }
    Ok(found)
}

/// Start and end of each job on each of its nodes, from the files that jobs have written.
fn tasks(directory: &Path) -> anyhow::Result<BTreeMap<u32, Tasks>> {
    let mut found: BTreeMap<u32, Tasks> = BTreeMap::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let text = fs::read_to_string(&path)?;
        let task = || {
            let (id, node) = name.split_once('.')?;
            let (began, ended) = text.strip_suffix('\n')?.split_once(' ')?;
            Some((id.parse().ok()?, node.to_owned(), (began.parse().ok()?, ended.parse().ok()?)))
        };
        let (id, node, times) =
            task().with_context(|| format!("record {name}: expected one line, found `{text}`"))?;
        found.entry(id).or_default().insert(node, times);
    }
    Ok(found)
}

/// As CSV, with the names of types and users.
pub(super) fn csv(jobs: &[JobRecord]) -> String {
    let mut text = "job,type,user,due,work,nodes,started,ended\n".to_owned();
    for job in jobs {
        let (kind, user) = (TYPES[job.planned.kind].name, USERS[job.planned.user]);
        let PlannedJob { due, work, .. } = job.planned;
        let nodes = job.nodes.join("+");
        text += &format!(
            "{},{kind},{user},{due:.3},{work:.3},{nodes},{:.3},{:.3}\n",
            job.id, job.started, job.ended
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "JobId=7 UserId=bin(2) JobState=COMPLETED NodeList=n[0-1] NodeCnt=2\n";

    fn directory(accounting: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("log")).unwrap();
        fs::create_dir_all(dir.path().join("records")).unwrap();
        fs::write(dir.path().join("log/jobcomp"), accounting).unwrap();
        files.iter().for_each(|(name, text)| fs::write(dir.path().join("records").join(name), text).unwrap());
        dir
    }

    fn outcome(accounting: &str, files: &[(&str, &str)]) -> Result<Vec<JobRecord>, String> {
        let planned = PlannedJob { due: 1.0, kind: 0, user: 1, work: 2.0 };
        read(directory(accounting, files).path(), &[planned], &[7], 100.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_job_starts_with_its_first_node_and_ends_with_its_last() {
        let jobs = outcome(LINE, &[("7.n0", "102.5 105\n"), ("7.n1", "102 104\n")]).unwrap();
        assert_eq!((jobs[0].waiting(), jobs[0].completion()), (1.0, 4.0));
        assert_eq!(csv(&jobs).lines().nth(1), Some("7,train,bin,1.000,2.000,n0+n1,2.000,5.000"));
    }

    #[test]
    fn witnesses_that_disagree_are_an_error() {
        let both = [("7.n0", "102.5 105\n"), ("7.n1", "102 104\n")];
        for (accounting, files, said) in [
            ("", &both[..], "no record of job 7"),
            (&LINE.repeat(2), &both[..], "ended twice"),
            (&LINE.replace("COMPLETED", "FAILED"), &both[..], "ended as FAILED"),
            (LINE, &both[..1], "but Slurm's record says"),
            (LINE, &[("7.n0", "1 2\n3 4\n"), both[1]][..], "expected one line"),
            (LINE, &[both[0], both[1], ("8.n1", "1 2\n")][..], "not submitted"),
        ] {
            let error = outcome(accounting, files).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
