//! The one thread that owns the live core and the journal.
//!
//! ```text
//! handlers --commands--> queue --batch--> apply each, one frame of events each
//!                                              | one commit (fsync) for the batch
//!                                              | frames --> follower: a second copy, for all who read
//!                                         answers and news
//! ```
//!
//! Nothing is answered before it is on the disk. If the commit fails, nothing of the batch has happened: the
//! state is rebuilt from the journal, callers are told to try again, and no further batch is applied until a
//! probe can be written. If a *sync* fails, nobody knows what has happened: callers are told so, and the
//! service ends, to find out at its next start.

pub(crate) mod answers;
mod aside;
mod audit;
mod barrier;
mod client;
mod command;
pub(crate) mod core;
mod follower;
mod house;
mod limits;
mod manage;
mod observe;
pub(crate) mod recover;
mod slot;
mod trainer;
mod view;
mod why;

pub use aside::{AsideRow, aside_rows};
pub use audit::audit;
pub use client::Client;
pub use command::{Body, Command, Handle, Reply};
pub use core::{Core, PolicyMaker};
pub use follower::{Followed, Follower};
pub use manage::amendment;
pub use recover::{JournalReplayError, Recovered, Verified, recover, replay};
pub use slot::{last_slots, slot_row};
pub use view::{
    ChannelRow, DeviceUse, JobRow, Overview, ServerRow, View, WhichChannels, channel_rows, server_rows,
};

pub(crate) use why::reason_name;

use crate::actor::Actor;
use crate::feed::{Feed, News};
use crate::metrics::{BatchTally, Metrics};
use crate::storage::{Batch, SnapshotRow, Storage, StorageError};
use crate::wire::{ApiError, Code};
use audit::Noted;
use command::Waiting;
use esdp::live::{Mode, Rejection};
use esdp::scheduler::Objective;
use follower::{EngineNote, Lead};
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, mpsc as threads};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The most commands that are committed together.
const LARGEST_BATCH: usize = 512;
/// How many commands may wait.
const QUEUE: usize = 4096;
/// How often the size of the database is looked up at most, and what is left to do is done.
const IDLE: Duration = Duration::from_millis(200);
/// How many rows compaction drops at a time, between batches.
const DROPPED_AT_ONCE: u32 = 500;

/// Who decides, and how: what may change while the service runs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Directions {
    /// Who decides.
    pub mode: Mode,
    /// The largest share of exploration.
    pub most_exploration: Option<f64>,
    /// What a slot maximises.
    pub objective: Objective,
}

/// How the engine works.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineSettings {
    /// Who decides, and how.
    pub directions: Directions,
    /// After how many events a snapshot is written.
    pub snapshot_events: u64,
    /// The answers of how many slots are kept.
    pub kept_slots: u64,
    /// Whether to go on although the journal gives another state than when it was written.
    pub accept_divergence: bool,
}

/// The engine's thread.
pub struct Engine {
    /// Hands over to those who read. First, so that it goes first: the last one to close the database tidies
    /// up, and who only reads cannot.
    lead: Lead,
    core: Core,
    storage: Box<dyn Storage>,
    settings: EngineSettings,
    metrics: Arc<Metrics>,
    feed: Arc<Feed>,
    batch: Batch,
    /// The slots of the batch by key.
    batch_keys: HashMap<String, usize>,
    tally: BatchTally,
    news: Vec<News>,
    /// Why nothing can be written, if so.
    degraded: Option<String>,
    snapshot_at: u64,
    /// Where the snapshot comes from that the follower writes.
    snapshot: Option<threads::Receiver<Result<Option<SnapshotRow>, StorageError>>>,
    compacting: bool,
    told: Instant,
    progress: trainer::Progress,
    /// Who asks for what is being done.
    actor: Actor,
}

/// A thread that has started, with the way to it.
type Started = (Handle, std::thread::JoinHandle<Result<(), JournalReplayError>>);

/// Says of which job types the speeds of a job's tasks add up: a cluster from before there was a pace says
/// nothing of it.
fn tell_paces(core: &Core) {
    let Ok(live) = core.live() else { return };
    let ports = live.described().ports.iter().filter(|port| port.adds_up());
    let ports: Vec<&str> = ports.map(|port| port.name.as_str()).collect();
    if !ports.is_empty() {
        let ports = ports.join(", ");
        tracing::info!(
            ports,
            "the speeds of a job's tasks add up here; with pace `slowest` they wait for each other"
        );
    }
}

impl Engine {
    /// Loads the state and starts the thread.
    ///
    /// # Errors
    /// When the state cannot be loaded.
    pub fn start(
        mut storage: Box<dyn Storage>,
        policy: PolicyMaker,
        settings: EngineSettings,
        metrics: Arc<Metrics>,
        feed: Arc<Feed>,
    ) -> Result<Started, JournalReplayError> {
        let recovered = recover(&mut *storage, &policy, settings.accept_divergence)?;
        recovered.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        tell_paces(&recovered.core);
        metrics.divergences.store(recovered.divergences, Relaxed);
        let snapshot_at = recovered.settle(&mut *storage)?;
        let lead = Lead::start(recovered.core.snapshot()?, policy, storage.reader()?)?;
        let mut engine = Self {
            core: recovered.core,
            storage,
            settings,
            metrics,
            feed,
            batch: Batch::default(),
            batch_keys: HashMap::new(),
            tally: BatchTally::default(),
            news: Vec::new(),
            degraded: None,
            snapshot_at,
            snapshot: None,
            compacting: true,
            lead,
            told: Instant::now(),
            progress: trainer::Progress::default(),
            actor: Actor::driver("service"),
        };
        engine.feed.begin(engine.core.sequence());
        engine.direct()?;
        engine.tell();
        let follower = engine.lead.follower();
        let (sender, receiver) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new().name("engine".to_owned());
        let thread = thread
            .spawn(move || engine.run(receiver))
            .map_err(|error| StorageError::Failed(error.to_string()))?;
        Ok((Handle::new(sender, follower), thread))
    }

    /// Says who decides, if that has changed since the last start.
    fn direct(&mut self) -> Result<(), JournalReplayError> {
        self.core.direct(self.settings.directions);
        self.end_frame(Noted::start());
        let batch = std::mem::take(&mut self.batch);
        self.storage.commit(&batch)?;
        batch.audit.iter().for_each(audit::log);
        self.lead.hand(batch.frames);
        Ok(())
    }

    fn run(mut self, mut receiver: mpsc::Receiver<Waiting>) -> Result<(), JournalReplayError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.map_err(|error| StorageError::Failed(error.to_string()))?;
        let mut commands = Vec::with_capacity(LARGEST_BATCH);
        loop {
            let wait = if self.compacting { Duration::from_millis(5) } else { IDLE };
            let many = receiver.recv_many(&mut commands, LARGEST_BATCH);
            match runtime.block_on(async { tokio::time::timeout(wait, many).await }) {
                Ok(0) => break,
                Ok(_) => self.take(&mut commands)?,
                Err(_) => {}
            }
            self.metrics.queue.store(receiver.len() as u64, Relaxed);
            self.keep_house()?;
        }
        // All who could ask are gone: a snapshot makes the next start a short one.
        match self.save_snapshot() {
            Err(error) if !error.is_retryable() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Applies a batch, makes it durable, and answers.
    ///
    /// # Errors
    /// When nobody knows whether the batch was kept: what is in memory may be wrong then, and so may be what
    /// is read back, so the service ends and finds out at its next start. Also when the state cannot be
    /// brought back to what is on the disk.
    fn take(&mut self, commands: &mut Vec<Waiting>) -> Result<(), JournalReplayError> {
        let oldest = commands.iter().map(|waiting| waiting.since).min();
        let probed = self.check_degraded(commands);
        let mut answers = Vec::with_capacity(commands.len());
        for Waiting { command, actor, reply, .. } in commands.drain(..) {
            let wrote = self.batch.frames.len();
            self.actor = actor;
            let noted = Noted::of(&command, &self.core);
            let answer = match &self.degraded {
                Some(cause) if command.writes() => Err(unavailable(cause)),
                _ => self.carry_out(command),
            };
            self.end_frame(noted);
            answers.push((reply, answer, self.batch.frames.len() > wrote));
        }
        let committed = probed.and_then(|()| self.commit());
        if let Err(StorageError::Unsynced(cause)) = &committed {
            tracing::error!(cause, "it is not known whether the batch was kept; stopping");
            for (reply, answer, wrote) in answers {
                let _ = reply.send(match answer {
                    Err(error) if !wrote => Err(error),
                    _ => Err(unknown(cause)),
                });
            }
            return committed.map_err(JournalReplayError::from);
        }
        let mut rebuilt = Ok(());
        if let Err(error) = committed {
            tracing::error!(%error, "the journal cannot be written; the batch is taken back");
            rebuilt = self.rebuild(&error);
            for (_, answer, wrote) in &mut answers {
                // An answer that wrote nothing may rest on what has been taken back, so it goes the same way.
                if *wrote || answer.is_ok() {
                    *answer = Err(unavailable(&error.to_string()));
                }
            }
        }
        for (reply, answer, _) in answers {
            // Who has hung up does not want to know.
            let _ = reply.send(answer);
        }
        if let Some(oldest) = oldest {
            self.metrics.lag.observe(oldest.elapsed().as_secs_f64());
        }
        rebuilt
    }

    fn carry_out(&mut self, command: Command) -> Reply {
        self.check_ports(&command)?;
        match command {
            Command::Cluster(described) => self.put_cluster(described),
            Command::ClusterIf(described, holds) => self.put_cluster_if(described, &holds),
            Command::Slots(requests) => self.decide(&requests),
            Command::Starts(starts) => self.answer_starts(&starts),
            Command::Observe(observations) => self.observe(&observations),
            Command::Trainer { job, status } => self.trainer(&job, &status),
            Command::AmendJob(job, patch, holds) => self.amend(&job, &patch, &holds),
            Command::EndJob(job) => self.end_job(&job),
            Command::Merge { state, share } => self.merge(state, share),
            Command::Reset { port, server } => self.reset(port, server),
            Command::Settle { id, accept } => self.settle(id, accept),
            Command::ForgetSource(source) => self.forget_source(source),
            Command::Drain { server, drained } => self.drain(&server, drained),
            Command::Forget(server) => self.forget(&server),
            Command::Direct(directions) => {
                self.settings.directions = directions;
                self.core.direct(directions);
                Ok(Body { status: 200, text: "{}".to_owned() })
            }
            Command::Jobs => self.jobs(),
            Command::Ready => self.ready(),
        }
    }

    /// Closes the frame of a command.
    fn end_frame(&mut self, noted: Noted) {
        if let Some(frame) = self.core.take_frame() {
            self.batch.audit.push(noted.row(&self.actor, &frame, self.core.live().ok()));
            self.batch.frames.push(frame);
        }
    }

    fn commit(&mut self) -> Result<(), StorageError> {
        if self.batch.frames.is_empty() && self.batch.slots.is_empty() {
            return Ok(());
        }
        let started = Instant::now();
        self.storage.commit(&self.batch)?;
        self.metrics.commit.observe(started.elapsed().as_secs_f64());
        self.metrics.add(&std::mem::take(&mut self.tally));
        self.feed.send(self.news.drain(..));
        // Before any answer: who is told that something is done finds it done.
        self.lead.hand(std::mem::take(&mut self.batch.frames));
        self.batch.audit.drain(..).for_each(|row| audit::log(&row));
        self.batch.slots.clear();
        self.batch_keys.clear();
        Ok(())
    }

    /// Goes back to what is on the disk.
    ///
    /// # Errors
    /// When that cannot be read: the state in memory is ahead of the disk then, and nothing may be answered
    /// from it any more.
    fn rebuild(&mut self, error: &StorageError) -> Result<(), JournalReplayError> {
        self.batch = Batch::default();
        self.batch_keys.clear();
        self.tally = BatchTally::default();
        self.news.clear();
        self.degraded = Some(error.to_string());
        self.metrics.degraded.store(1, Relaxed);
        self.tell();
        self.core = recover::reload(&mut *self.storage, &self.core.policy_maker()).inspect_err(
            |error| tracing::error!(%error, "the state cannot be rebuilt from the journal; stopping"),
        )?;
        Ok(())
    }

    /// Where writing has failed, tries whether it works again.
    ///
    /// # Errors
    /// When a sync fails.
    fn check_degraded(&mut self, commands: &[Waiting]) -> Result<(), StorageError> {
        if self.degraded.is_some() && commands.iter().any(|waiting| waiting.command.writes()) {
            match self.storage.probe() {
                Ok(()) => {
                    tracing::info!("the journal can be written again");
                    self.degraded = None;
                    self.metrics.degraded.store(0, Relaxed);
                }
                Err(error @ StorageError::Unsynced(_)) => return Err(error),
                Err(error) => self.degraded = Some(error.to_string()),
            }
            self.tell();
        }
        Ok(())
    }

    /// Leaves what is not in the journal where readers find it.
    fn tell(&mut self) {
        self.lead.tell(EngineNote {
            snapshot: self.snapshot_at,
            degraded: self.degraded.clone(),
            database_bytes: self.storage.size().unwrap_or(0),
        });
        self.told = Instant::now();
    }

    /// The answer to the same request, if one is kept or will be with this batch.
    fn kept_answer(&mut self, key: &str, request: u64) -> Result<Option<String>, ApiError> {
        let kept = match self.batch_keys.get(key) {
            Some(&place) => Some(self.batch.slots[place].clone()),
            None => self.storage.slot_by_key(key).map_err(|error| unreadable(&error))?,
        };
        match kept {
            Some(row) if ![0, request].contains(&row.request) => Err(key_reused(key)),
            kept => Ok(kept.map(|row| row.answer)),
        }
    }
}

/// An event that the core refused, as callers are told.
fn rejected(why: &str, cause: Rejection) -> ApiError {
    let code = match cause {
        Rejection::Unknown => Code::NotFound,
        Rejection::Conflict => Code::Conflict,
    };
    ApiError::new(code, why)
}

/// What is kept cannot be read: trying again will not help, but for a disk that comes back.
fn unreadable(error: &StorageError) -> ApiError {
    match error.is_retryable() {
        true => unavailable(&error.to_string()),
        false => ApiError::new(Code::Internal, error.to_string()),
    }
}

fn key_reused(key: &str) -> ApiError {
    ApiError {
        field: Some("key".to_owned()),
        accepted: Some("a key of its own for every request".to_owned()),
        ..ApiError::new(Code::KeyReused, format!("key `{key}` was used for another request"))
    }
}

fn unknown(cause: &str) -> ApiError {
    let message = format!("{cause}; whether it was kept is not known, sending the same again is safe");
    ApiError::new(Code::Unavailable, message)
}

fn unavailable(cause: &str) -> ApiError {
    ApiError::new(Code::Unavailable, format!("{cause}; nothing was changed, try again"))
}
