//! Jobs, as `squeue --json` tells of them.

use super::json::{self, count, names, number, text, words};
use super::tres;
use esdp::model::Amounts;
use esdp_trace::hostlist;
use serde_json::Value;

/// How an array's tasks are listed at most, so that an array of a million tasks does not fill the memory.
const MOST_TASKS: usize = 1000;

/// A job, or a task of a job array.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SlurmJob {
    /// What `scontrol` calls it: `17`, or `17_3` for a task of an array.
    pub id: String,
    /// The number under which the job itself knows it (`SLURM_JOB_ID`) and under which it is accounted.
    pub number: u64,
    /// Its name, which need not be unique.
    pub name: String,
    /// Its owner.
    pub user: String,
    /// The owner's number, if Slurm says it.
    pub uid: Option<u32>,
    /// Its account.
    pub account: String,
    /// The partitions it may run in.
    pub partitions: Vec<String>,
    /// Where it stands.
    pub state: State,
    /// Why it waits, in Slurm's words.
    pub reason: String,
    /// Slurm's priority; 0 if it is held.
    pub priority: u64,
    /// The administrator's comment, where the hold is marked.
    pub admin_comment: String,
    /// Its owner's comment.
    pub comment: String,
    /// The nodes it runs or ran on.
    pub nodes: Vec<String>,
    /// The nodes it asks for by name.
    pub required: Vec<String>,
    /// The nodes it does not want.
    pub excluded: Vec<String>,
    /// The features it asks for.
    pub features: String,
    /// Its number of nodes.
    pub node_count: u32,
    /// What it requests on each node.
    pub request: Amounts,
    /// Whether it wants its nodes for itself.
    pub exclusive: bool,
    /// Whether it is a part of a heterogeneous job.
    pub heterogeneous: bool,
    /// When it was submitted, in seconds since 1970.
    pub submitted: u64,
    /// When it started.
    pub started: u64,
    /// When it ended or, while it runs, must end; none if it need not.
    pub ends: Option<u64>,
}

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// It waits.
    #[default]
    Pending,
    /// It holds nodes.
    Running,
    /// It is over.
    Ended(End),
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, well.
    Completed,
    /// By itself, with an error.
    Failed,
    /// Its time was over.
    Timeout,
    /// Somebody ended it.
    Cancelled,
    /// A node was lost.
    NodeFail,
    /// Anything else: preempted, out of memory, at its deadline.
    Other,
}

impl End {
    /// Slurm's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "COMPLETED",
            Self::Failed => "FAILED",
            Self::Timeout => "TIMEOUT",
            Self::Cancelled => "CANCELLED",
            Self::NodeFail => "NODE_FAIL",
            Self::Other => "OTHER",
        }
    }

    /// Whether speeds that its nodes have reported are their own doing.
    pub fn teaches(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Timeout)
    }
}

impl State {
    /// From Slurm's words: a base state, and flags beside it.
    pub fn of(words: &[String]) -> Self {
        let has = |word: &str| words.iter().any(|found| found == word);
        // A job that is completing still holds its nodes, whatever it will have been.
        if ["COMPLETING", "RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"]
            .into_iter()
            .any(has)
        {
            return Self::Running;
        }
        if ["PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"].into_iter().any(has) {
            return Self::Pending;
        }
        let ends = [End::Completed, End::Failed, End::Timeout, End::Cancelled, End::NodeFail];
        Self::Ended(ends.into_iter().find(|end| has(end.word())).unwrap_or(End::Other))
    }
}

impl SlurmJob {
    /// The name by which the core knows it. Numbers start again when Slurm's state is lost; times of
    /// submission do not.
    pub fn key(&self) -> String {
        format!("{}@{}", self.id, self.submitted)
    }

    /// Whether it waits and will not be started by Slurm.
    pub fn is_held(&self) -> bool {
        self.state == State::Pending && self.priority == 0
    }

    /// Whether Slurm has started it.
    pub fn has_started(&self) -> bool {
        self.state != State::Pending && !self.nodes.is_empty()
    }
}

/// The jobs in an answer of `squeue --json`; arrays that wait are listed task by task.
///
/// # Errors
/// With what is wrong with the answer.
pub fn read(answer: &str, memory: bool) -> Result<Vec<SlurmJob>, String> {
    let answer = json::answer(answer)?;
    let list = answer.get("jobs").and_then(Value::as_array).ok_or("it has no list `jobs`")?;
    let mut jobs = Vec::with_capacity(list.len());
    for found in list {
        let job = one(found, memory);
        let array = count(&found["array_job_id"]);
        let task = number(&found["array_task_id"]);
        match (array, task, text(&found["array_task_string"])) {
            (0, ..) => jobs.push(job),
            (array, Some(task), "") => jobs.push(SlurmJob { id: format!("{array}_{task}"), ..job }),
            (array, _, waiting) => {
                let task = |task| SlurmJob { id: format!("{array}_{task}"), ..job.clone() };
                jobs.extend(tasks(waiting).into_iter().map(task));
            }
        }
    }
    Ok(jobs)
}

/// The numbers in `0-3,7%2`, or in `0-9:3`.
fn tasks(list: &str) -> Vec<u64> {
    let list = list.split('%').next().unwrap_or_default();
    let mut tasks = Vec::new();
    for part in list.split(',') {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last), Ok(step)) =
            (first.parse::<u64>(), last.parse::<u64>(), step.parse::<usize>())
        {
            tasks.extend((first..=last).step_by(step.max(1)).take(MOST_TASKS - tasks.len().min(MOST_TASKS)));
        }
    }
    tasks
}

fn one(found: &Value, memory: bool) -> SlurmJob {
    let list = |key: &str| hostlist::names(text(&found[key]));
    let job_number = count(&found["job_id"]);
    let node_count = count(&found["node_count"]).max(1);
    let end = count(&found["end_time"]);
    SlurmJob {
        id: job_number.to_string(),
        number: job_number,
        name: text(&found["name"]).to_owned(),
        user: text(&found["user_name"]).to_owned(),
        uid: number(&found["user_id"])
            .filter(|uid| (0.0..=f64::from(u32::MAX)).contains(uid))
            .map(|uid| uid as u32),
        account: text(&found["account"]).to_owned(),
        partitions: names(&found["partition"]),
        state: State::of(&words(&found["job_state"])),
        reason: text(&found["state_reason"]).to_owned(),
        priority: count(&found["priority"]),
        admin_comment: text(&found["admin_comment"]).to_owned(),
        comment: comment(&found["comment"]),
        nodes: list("nodes"),
        required: list("required_nodes"),
        excluded: list("excluded_nodes"),
        features: text(&found["features"]).to_owned(),
        node_count: u32::try_from(node_count).unwrap_or(u32::MAX),
        request: request(found, node_count, memory),
        exclusive: words(&found["shared"]).iter().any(|word| word == "NONE" || word == "EXCLUSIVE"),
        heterogeneous: count(&found["het_job_id"]) > 0,
        submitted: count(&found["submit_time"]),
        started: count(&found["start_time"]),
        ends: Some(end).filter(|&end| end > 0),
    }
}

/// A comment, which later versions tell together with others.
fn comment(found: &Value) -> String {
    match found {
        Value::Object(fields) => text(fields.get("job").unwrap_or(&Value::Null)).to_owned(),
        plain => text(plain).to_owned(),
    }
}

/// What a job requests on each of its nodes; where it is not the same on all, as much as on the fullest.
fn request(found: &Value, nodes: u64, memory: bool) -> Amounts {
    let total = text(&found["tres_req_str"]);
    let cpus = tres::tres(total, "cpu").map_or_else(|| count(&found["cpus"]), |cpus| cpus as u64).max(1);
    let per_node = cpus.div_ceil(nodes).max(count(&found["minimum_cpus_per_node"]));
    let mut request = Amounts::from([("cpu".to_owned(), per_node)]);
    if memory {
        let megabytes =
            tres::tres(total, "mem").map_or_else(|| count(&found["memory_per_node"]) * nodes, |mb| mb as u64);
        request.insert("mem".to_owned(), rounded(megabytes.div_ceil(nodes)));
    }
    let tasks = count(&found["tasks"]).max(1).div_ceil(nodes);
    for (key, times, share) in
        [("tres_per_node", 1, 1), ("tres_per_task", tasks, 1), ("tres_per_job", 1, nodes)]
    {
        // Later versions count CPUs per task among them, which are in the sum already.
        let gres = tres::gres(text(&found[key]))
            .into_iter()
            .filter(|(device, _)| device != "cpu" && device != "mem");
        for (device, amount) in gres {
            *request.entry(device).or_default() += (amount * times).div_ceil(share);
        }
    }
    request.retain(|_, amount| *amount > 0);
    request
}

/// Memory above 1 GiB in whole GiB: jobs that are nearly alike should be of one type.
fn rounded(megabytes: u64) -> u64 {
    if megabytes <= 1024 { megabytes } else { megabytes.next_multiple_of(1024) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_listed_by_task() {
        assert_eq!(tasks("0-3,7%2"), [0, 1, 2, 3, 7]);
        assert_eq!(tasks("1-9:4"), [1, 5, 9]);
        assert_eq!(tasks("0-4000000000").len(), MOST_TASKS);
    }

    #[test]
    fn states_are_read_with_their_flags() {
        let state =
            |words: &[&str]| State::of(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(state(&["PENDING"]), State::Pending);
        assert_eq!(state(&["COMPLETED", "COMPLETING"]), State::Running);
        assert_eq!(state(&["COMPLETED"]), State::Ended(End::Completed));
        assert_eq!(state(&["NODE_FAIL"]), State::Ended(End::NodeFail));
        assert_eq!(state(&["PREEMPTED"]), State::Ended(End::Other));
    }
}
