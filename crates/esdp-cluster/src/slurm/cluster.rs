//! A Slurm cluster: what it is asked, and what it is told.
//!
//! | | 22.05 | 23.02 and later | 24.11 and later, where `slurmrestd` answers |
//! |---|---|---|---|
//! | jobs | `squeue --json`, which lists those that have just ended | `squeue --json -t all` | REST |
//! | nodes | `sinfo --json` | `scontrol show nodes --json` | REST |
//! | placing | one `scontrol`, told line by line | the same | REST: one request per job |
//! | all else | the same `scontrol` | the same | the same |

use super::MARK;
use super::client::{CallError, SlurmClient};
use super::conversation::{Conversation, SlurmRefusal};
use super::job::{self, SlurmJob};
use super::node::{self, SlurmNode};
use super::rest::{Rest, SOCKETS};
use esdp_trace::hostlist;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The first release whose REST interface places jobs.
const REST_SINCE: (u32, u32) = (24, 11);

/// Whether the REST interface is used.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RestChoice {
    /// If there is one, at one of the usual places.
    #[default]
    Auto,
    /// No.
    Off,
    /// The one at this socket.
    At(PathBuf),
}

/// A Slurm cluster that has answered.
#[derive(Debug)]
pub struct Slurm {
    client: SlurmClient,
    /// Its version, such as `22.05.8`.
    pub version: String,
    /// Its configuration, as `scontrol show config` tells it.
    config: Vec<(String, String)>,
    modern: bool,
    /// Whether memory is given out like CPUs are.
    memory: bool,
    rest: Option<RefCell<Rest>>,
    /// Why there is no REST, if there could be.
    without_rest: Option<String>,
    conversation: RefCell<Option<Conversation>>,
    /// How long Slurm was waited for.
    waited: Cell<Duration>,
}

impl Slurm {
    /// Asks a cluster what it is, and by which ways it can be asked.
    ///
    /// # Errors
    /// When it does not answer, or not at the socket that was chosen.
    pub fn probe(client: SlurmClient, rest: &RestChoice) -> Result<Self, CallError> {
        let said = client.ask("scontrol", &["--version"])?;
        let version = said.split_whitespace().last().unwrap_or_default().to_owned();
        let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
        let release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let shown = client.ask("scontrol", &["show", "config"])?;
        let pair = |line: &str| {
            line.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
        };
        let config: Vec<_> = shown.lines().filter_map(pair).collect();
        let (rest, without_rest) = match choose_rest(&client, release, rest)? {
            Ok(rest) => (Some(RefCell::new(rest)), None),
            Err(why) => (None, why),
        };
        let mut slurm = Self {
            client,
            version,
            config,
            modern: release >= (23, 2),
            memory: false,
            rest,
            without_rest,
            conversation: RefCell::new(None),
            waited: Cell::default(),
        };
        slurm.memory = slurm.setting("SelectTypeParameters").to_uppercase().contains("MEMORY");
        Ok(slurm)
    }

    /// A value of its configuration; empty if it has none.
    pub fn setting(&self, key: &str) -> &str {
        let found = self.config.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map_or("", |(_, value)| value.as_str())
    }

    /// How it is read and told, for the log.
    pub fn ways(&self) -> String {
        match (&self.rest, self.modern) {
            (Some(rest), _) => format!("{}, scontrol", rest.borrow().way()),
            (None, true) => "squeue --json -t all, scontrol show nodes --json, scontrol".to_owned(),
            (None, false) => "squeue --json, sinfo --json, scontrol".to_owned(),
        }
    }

    /// Why REST is not used by a version that has it.
    pub fn without_rest(&self) -> Option<&str> {
        self.without_rest.as_deref()
    }

    /// Whether REST is used.
    pub fn has_rest(&self) -> bool {
        self.rest.is_some()
    }

    /// How long Slurm was waited for since this was asked last.
    pub fn take_waited(&self) -> Duration {
        self.waited.take()
    }

    /// All jobs, those that have just ended included.
    ///
    /// # Errors
    /// When it does not answer, or not in a form that can be read.
    pub fn jobs(&self) -> Result<Vec<SlurmJob>, CallError> {
        let (program, args) = self.jobs_question();
        let text = self.timed(|| match &self.rest {
            Some(rest) => rest.borrow_mut().list("jobs/"),
            None => self.client.ask(program, args),
        })?;
        self.read_jobs(&text)
    }

    /// All nodes.
    ///
    /// # Errors
    /// When it does not answer, or not in a form that can be read.
    pub fn nodes(&self) -> Result<Vec<SlurmNode>, CallError> {
        let (program, args) = self.nodes_question();
        let text = self.timed(|| match &self.rest {
            Some(rest) => rest.borrow_mut().list("nodes/"),
            None => self.client.ask(program, args),
        })?;
        read_nodes(&text)
    }

    /// All jobs and all nodes; programs are asked at the same time.
    ///
    /// # Errors
    /// When it does not answer, or not in a form that can be read.
    pub fn look(&self) -> Result<(Vec<SlurmJob>, Vec<SlurmNode>), CallError> {
        if self.rest.is_some() {
            return Ok((self.jobs()?, self.nodes()?));
        }
        let (client, jobs, nodes) = (&self.client, self.jobs_question(), self.nodes_question());
        let (jobs, nodes) = self.timed(|| {
            std::thread::scope(|scope| {
                let jobs = scope.spawn(move || client.ask(jobs.0, jobs.1));
                let nodes = client.ask(nodes.0, nodes.1);
                (jobs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), nodes)
            })
        });
        Ok((self.read_jobs(&jobs?)?, read_nodes(&nodes?)?))
    }

    /// Names a job's nodes and lets it start.
    ///
    /// By `scontrol`, the hold comes first: a job with bad constraints would start by itself the moment its
    /// nodes are right. It is a user's hold, so that the owner may still release the job.
    ///
    /// # Errors
    /// When it does not answer; what it says against the order is in the answer.
    pub fn place(&self, job: &str, nodes: &[String]) -> Result<Result<(), SlurmRefusal>, CallError> {
        match &self.rest {
            Some(rest) => self.timed(|| rest.borrow_mut().place(job, nodes)),
            None => self.say_all(&[
                format!("uhold {job}"),
                format!("update jobid={job} nodelist={}", hostlist::compress(nodes)),
                format!("release {job}"),
            ]),
        }
    }

    /// Holds a job that did not start and takes its nodes back.
    ///
    /// # Errors
    /// When it does not answer; what it says against the order is in the answer.
    pub fn take_back(&self, job: &str) -> Result<Result<(), SlurmRefusal>, CallError> {
        self.say_all(&[format!("uhold {job}"), format!("update jobid={job} nodelist=")])
    }

    /// Lets a job start wherever Slurm sees fit.
    ///
    /// # Errors
    /// When it does not answer; what it says against the order is in the answer.
    pub fn release(&self, job: &str) -> Result<Result<(), SlurmRefusal>, CallError> {
        self.say_all(&[format!("release {job}")])
    }

    /// Takes our mark off a job: it is not ours any more, for good.
    ///
    /// # Errors
    /// When it does not answer; what it says against the order is in the answer.
    pub fn unmark(&self, job: &str) -> Result<Result<(), SlurmRefusal>, CallError> {
        self.say_all(&[format!("update jobid={job} admincomment={MARK}-left")])
    }

    /// Gives orders to `scontrol`, all of them; what it says against any of them comes back.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn command(&self, orders: &[String]) -> Result<String, CallError> {
        let mut said = Vec::new();
        for order in orders {
            said.extend(self.say(order)?.err().map(|SlurmRefusal(said)| said));
        }
        Ok(said.join(" "))
    }

    /// Gives orders up to the first that is refused.
    fn say_all(&self, orders: &[String]) -> Result<Result<(), SlurmRefusal>, CallError> {
        for order in orders {
            if let Err(refusal) = self.say(order)? {
                return Ok(Err(refusal));
            }
        }
        Ok(Ok(()))
    }

    fn say(&self, order: &str) -> Result<Result<(), SlurmRefusal>, CallError> {
        self.timed(|| {
            let mut conversation = self.conversation.borrow_mut();
            if conversation.is_none() {
                *conversation = Some(Conversation::open(&self.client)?);
            }
            let open = conversation.as_mut().expect("it was opened");
            open.say(order).inspect_err(|_| *conversation = None)
        })
    }

    fn timed<T>(&self, call: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = call();
        self.waited.set(self.waited.get() + began.elapsed());
        answer
    }

    fn jobs_question(&self) -> (&'static str, &'static [&'static str]) {
        ("squeue", if self.modern { &["--json", "-t", "all"] } else { &["--json"] })
    }

    fn nodes_question(&self) -> (&'static str, &'static [&'static str]) {
        if self.modern { ("scontrol", &["show", "nodes", "--json"]) } else { ("sinfo", &["--json"]) }
    }

    fn read_jobs(&self, text: &str) -> Result<Vec<SlurmJob>, CallError> {
        job::read(text, self.memory)
            .map_err(|cause| CallError::Answer { what: "list of jobs".to_owned(), cause })
    }
}

fn read_nodes(text: &str) -> Result<Vec<SlurmNode>, CallError> {
    node::read(text).map_err(|cause| CallError::Answer { what: "list of nodes".to_owned(), cause })
}

/// REST, or why not: nothing to tell if it is not wanted or the version has none that places jobs.
fn choose_rest(
    client: &SlurmClient,
    release: (u32, u32),
    choice: &RestChoice,
) -> Result<Result<Rest, Option<String>>, CallError> {
    match choice {
        RestChoice::Off => Ok(Err(None)),
        RestChoice::At(socket) => Rest::probe(client, socket).map(Ok).map_err(|said| CallError::Failed {
            program: format!("slurmrestd at {}", socket.display()),
            said,
        }),
        RestChoice::Auto if release < REST_SINCE => Ok(Err(None)),
        RestChoice::Auto => {
            let socket = SOCKETS.into_iter().map(Path::new).find(|socket| socket.exists());
            let Some(socket) = socket else {
                return Ok(Err(Some(format!("there is no socket at {}", SOCKETS.join(" or ")))));
            };
            Ok(Rest::probe(client, socket).map_err(|why| Some(format!("{}: {why}", socket.display()))))
        }
    }
}
