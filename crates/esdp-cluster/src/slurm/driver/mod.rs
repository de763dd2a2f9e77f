//! The driver: one turn reads the cluster, tells the core what happened, and carries out what it decides.
//!
//! ```text
//! read jobs and nodes -> follow what was started -> withdraw what waits no more
//!     -> admit in Slurm's order -> decide -> hold, name the nodes, release -> learn from what ended
//! ```
//!
//! A turn goes by what it finds, not by what it remembers: the core's journal has the decisions, Slurm has
//! the jobs, and each turn compares the two. A driver that was killed at any moment finds the same two and
//! goes on. What is kept in memory is how long something has lasted, and starts again with the driver.

mod follow;
mod learn;
mod pace;
mod place;

use super::client::CallError;
use super::cluster::Slurm;
use super::config::Config;
use super::core::CoreClient;
use super::job::{SlurmJob, State};
use super::ledger::{JobLedger, LedgerEvent};
use super::node::SlurmNode;
use super::ports::{self, Ports};
use super::spool::Spool;
use esdp::live::Mode;
use esdp_serve::engine::Client;
use esdp_serve::wire::{ApiError, JobsAnswer};
use pace::Pace;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How long a job that was placed may wait for its start.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long after the end of a job its reports may come.
const GRACE: Duration = Duration::from_secs(3);

/// How a driver works.
#[derive(Debug, Clone)]
pub struct DriverSettings {
    /// The partition.
    pub partition: String,
    /// Who decides.
    pub mode: Mode,
    /// The longest time from turn to turn.
    pub slot: Duration,
    /// A file to which `job_submit.lua` adds a byte for each job that it holds: the next turn begins then.
    pub wake: Option<PathBuf>,
    /// The data directory, where the ledger is.
    pub data: PathBuf,
    /// Where jobs report their speeds.
    pub reports: PathBuf,
    /// Rules and limits.
    pub config: Config,
}

/// Why a turn ended early. Retryable: the next one goes on from what it finds.
#[derive(Debug, Error)]
pub enum DriveError {
    /// Slurm.
    #[error(transparent)]
    Slurm(#[from] CallError),
    /// The core.
    #[error("the core: {0}")]
    CoreClient(#[from] ApiError),
    /// The ledger.
    #[error("the ledger: {0}")]
    JobLedger(#[from] std::io::Error),
}

/// The cluster at one moment, as far as the partition goes.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// The jobs.
    pub jobs: Vec<SlurmJob>,
    /// The nodes.
    pub nodes: Vec<SlurmNode>,
    by_key: HashMap<String, usize>,
}

impl Picture {
    /// A picture of a partition.
    pub fn new(jobs: Vec<SlurmJob>, nodes: Vec<SlurmNode>, partition: &str) -> Self {
        let within = |names: &[String]| names.iter().any(|name| name == partition);
        let jobs: Vec<SlurmJob> = jobs.into_iter().filter(|job| within(&job.partitions)).collect();
        let mut nodes: Vec<SlurmNode> = nodes.into_iter().filter(|node| within(&node.partitions)).collect();
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
        nodes.dedup_by(|a, b| a.name == b.name);
        let by_key = jobs.iter().enumerate().map(|(index, job)| (job.key(), index)).collect();
        Self { jobs, nodes, by_key }
    }

    /// A job by the name under which the core knows it.
    pub fn job(&self, key: &str) -> Option<&SlurmJob> {
        self.by_key.get(key).map(|&index| &self.jobs[index])
    }
}

/// What the driver is waiting for with a job it has placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Released, and to run soon.
    Released(Instant),
    /// Being taken back since it did not.
    Retracting,
}

/// The driver.
#[derive(Debug)]
pub struct SlurmDriver<'a> {
    slurm: Slurm,
    core: CoreClient<'a>,
    settings: DriverSettings,
    ports: Ports,
    ledger: JobLedger,
    spool: Spool,
    phases: HashMap<String, Phase>,
    /// How often a job was taken back.
    retracted: HashMap<String, u32>,
    /// When the end of a job was first seen.
    ended: HashMap<String, Instant>,
    /// Whether jobs wait for nodes to become free.
    queued: bool,
    /// Nodes that take nothing new, and why.
    closed: HashMap<String, String>,
    /// What the log has said and need not say again.
    said: HashSet<String>,
}

impl<'a> SlurmDriver<'a> {
    /// A driver for a cluster that has answered.
    ///
    /// # Errors
    /// When the core does not answer or the ledger cannot be read.
    pub fn new(slurm: Slurm, client: &'a Client, settings: DriverSettings) -> Result<Self, DriveError> {
        let core = CoreClient::new(client);
        let known = core.view()?.cluster.as_ref().map(|cluster| cluster.describe()).transpose()?;
        let ledger = JobLedger::open(&settings.data.join("ledger.csv"))?;
        let spool = Spool::start(&settings.reports)?;
        let before = core.jobs()?;
        let (started, waiting) = (before.started.len(), before.waiting.len());
        if started + waiting > 0 {
            tracing::info!(started, waiting, "goes on where a driver before it ended");
        }
        Ok(Self {
            slurm,
            core,
            settings,
            ports: known.as_ref().map(Ports::known).unwrap_or_default(),
            ledger,
            spool,
            phases: HashMap::new(),
            retracted: HashMap::new(),
            ended: HashMap::new(),
            queued: false,
            closed: HashMap::new(),
            said: HashSet::new(),
        })
    }

    /// The cluster as it is now.
    ///
    /// # Errors
    /// When Slurm does not answer.
    pub fn picture(&self) -> Result<Picture, CallError> {
        let (jobs, nodes) = self.slurm.look()?;
        Ok(Picture::new(jobs, nodes, &self.settings.partition))
    }

    /// One turn.
    ///
    /// # Errors
    /// When Slurm, the core or the ledger fails; what was done before is done.
    pub fn turn(&mut self) -> Result<Picture, DriveError> {
        let picture = self.picture()?;
        self.turn_on(&picture)?;
        Ok(picture)
    }

    /// One turn on a picture that was just taken.
    ///
    /// # Errors
    /// When Slurm, the core or the ledger fails; what was done before is done.
    pub fn turn_on(&mut self, picture: &Picture) -> Result<(), DriveError> {
        if picture.nodes.is_empty() {
            self.say_once("no nodes", || tracing::warn!("the partition has no nodes that Slurm tells of"));
            return Ok(());
        }
        self.note_nodes(picture);
        let known = self.core.jobs()?;
        self.describe(picture, &known)?;
        let again = self.follow(picture, &known)?;
        self.withdraw(picture, &known)?;
        match self.settings.mode {
            Mode::Place => {
                self.note_released(picture, &known)?;
                self.place(picture, &known, again)?;
            }
            Mode::Advise => self.advise(picture)?,
            Mode::Observe => {}
        }
        // Last: what waits for its nodes shall not also wait for this to be written down.
        self.learn(picture)?;
        self.forget(picture);
        Ok(())
    }

    /// Tells the core of the nodes and job types that are there.
    fn describe(&mut self, picture: &Picture, known: &JobsAnswer) -> Result<(), DriveError> {
        let mut busy: BTreeSet<String> = known.started.iter().map(|start| start.port.clone()).collect();
        busy.extend(known.waiting.iter().map(|(_, port)| port.clone()));
        for job in &picture.jobs {
            let teaches = matches!(job.state, State::Ended(end) if end.teaches()) && !self.is_settled(job);
            if self.is_wanted(job) || teaches {
                let name = ports::name(&self.settings.config, job);
                if busy.insert(name.clone()) || !self.ports.has(&name) {
                    self.ports.add(&name, job, &picture.nodes);
                }
            }
        }
        self.ports.tidy(&busy);
        if self.ports.is_empty() {
            // Before the first job there is nothing to describe.
            return Ok(());
        }
        Ok(self.core.describe(self.ports.describe(&picture.nodes))?)
    }

    /// Tells of nodes that take nothing new, and of those that do again.
    fn note_nodes(&mut self, picture: &Picture) {
        for node in &picture.nodes {
            let was = self.closed.get(&node.name).cloned();
            match (&node.closed, was) {
                (Some(state), was) if was.as_ref() != Some(state) => {
                    tracing::info!(node = node.name, state, "takes nothing new");
                    self.closed.insert(node.name.clone(), state.clone());
                }
                (None, Some(state)) => {
                    tracing::info!(node = node.name, was = state, "takes jobs again");
                    self.closed.remove(&node.name);
                }
                _ => {}
            }
        }
    }

    /// Whether the core is to decide on a job.
    fn is_wanted(&self, job: &SlurmJob) -> bool {
        match self.settings.mode {
            Mode::Place => job.is_held() && super::is_marked(job),
            Mode::Advise => job.state == State::Pending && !job.is_held(),
            Mode::Observe => false,
        }
    }

    fn is_settled(&self, job: &SlurmJob) -> bool {
        self.ledger.says(LedgerEvent::Learned, &job.key())
    }

    /// Drops what is remembered of jobs that Slurm has forgotten.
    fn forget(&mut self, picture: &Picture) {
        self.phases.retain(|key, _| picture.job(key).is_some());
        self.retracted.retain(|key, _| picture.job(key).is_some());
        self.ended.retain(|key, _| picture.job(key).is_some());
    }

    fn say_once(&mut self, what: &str, say: impl FnOnce()) {
        if self.said.insert(what.to_owned()) {
            say();
        }
    }

    fn patience(&self) -> Duration {
        self.settings.config.patience_seconds.map_or(PATIENCE, Duration::from_secs_f64)
    }

    fn grace(&self) -> Duration {
        self.settings.config.grace_seconds.map_or(GRACE, Duration::from_secs_f64)
    }

    /// What is believed, for tables and weights.
    ///
    /// # Errors
    /// When the core does not answer.
    pub fn core(&self) -> &CoreClient<'a> {
        &self.core
    }

    /// The cluster.
    pub fn slurm(&self) -> &Slurm {
        &self.slurm
    }
}

/// Turns until the service is told to stop. A turn that fails is told and tried again; after one that did
/// not, `after` is called with what it saw, and says whether to go on.
///
/// # Errors
/// When the driver cannot begin, or `after` fails.
pub fn drive(
    slurm: Slurm,
    client: &Client,
    settings: DriverSettings,
    mut after: impl FnMut(&SlurmDriver<'_>, &Picture) -> Result<bool, String>,
) -> Result<(), String> {
    tracing::info!(version = slurm.version, ways = slurm.ways(), "Slurm answers");
    if let Some(why) = slurm.without_rest() {
        tracing::info!(why, "REST is not used");
    }
    let owner = slurm.setting("SlurmUser").split(['(', ')']).nth(1).and_then(|id| id.parse().ok());
    let pace = Pace::new(settings.slot, settings.wake.as_deref(), owner);
    let shown = || settings.wake.as_deref().unwrap_or(Path::new("")).display().to_string();
    let mut pace = pace.map_err(|error| format!("{}: {error}", shown()))?;
    let mut driver = SlurmDriver::new(slurm, client, settings).map_err(|error| error.to_string())?;
    while !client.is_stopped() {
        pace.begin();
        client.beat();
        let began = Instant::now();
        driver.slurm.take_waited();
        match driver.turn() {
            Ok(picture) => {
                pace.saw(picture.jobs.iter().map(|job| job.number).max().unwrap_or(0));
                if !after(&driver, &picture)? {
                    return Ok(());
                }
            }
            Err(error) => tracing::warn!(%error, "this turn ended early; the next one goes on"),
        }
        let (all, waited) = (began.elapsed(), driver.slurm.take_waited());
        let own = all.saturating_sub(waited);
        tracing::debug!(millis = all.as_millis() as u64, own = own.as_millis() as u64, "turn");
        pace.wait(client, driver.queued);
    }
    Ok(())
}
