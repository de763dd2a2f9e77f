//! What became of jobs that were started, and of those that wait.

use super::{DriveError, Phase, Picture, SlurmDriver};
use crate::slurm::conversation::SlurmRefusal;
use crate::slurm::is_marked;
use crate::slurm::job::{SlurmJob, State};
use crate::slurm::ledger::LedgerEvent;
use esdp_serve::wire::{JobsAnswer, StartedWire};
use std::collections::HashSet;
use std::time::Instant;

/// After how many times a job is left to Slurm, which then says why it does not run.
const MOST_RETRACTIONS: u32 = 3;

/// A job that was decided on, to be carried out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Decided {
    pub(super) job: SlurmJob,
    pub(super) ticket: String,
    pub(super) nodes: Vec<String>,
}

/// Whether two lists have the same nodes.
pub(super) fn same(a: &[String], b: &[String]) -> bool {
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    sorted(a) == sorted(b)
}

impl SlurmDriver<'_> {
    /// Compares what the core has started with what Slurm shows. What was decided and never released is
    /// returned.
    pub(super) fn follow(
        &mut self,
        picture: &Picture,
        known: &JobsAnswer,
    ) -> Result<Vec<Decided>, DriveError> {
        let mut again = Vec::new();
        for start in &known.started {
            let Some(job) = picture.job(&start.job) else {
                self.gone(start)?;
                continue;
            };
            match job.state {
                State::Pending => self.follow_pending(job, start, &mut again)?,
                _ if job.nodes.iter().any(|node| !start.servers.contains(node)) => {
                    let nodes = job.nodes.join(",");
                    let decided = start.servers.join(",");
                    tracing::warn!(
                        job = job.id,
                        nodes,
                        decided,
                        "runs on other nodes than decided; it is left alone"
                    );
                    self.leave(job, &format!("runs elsewhere than decided on {decided}"))?;
                }
                // While a lost node is taken off, the job shows those that are left.
                State::Running if job.nodes.len() < start.servers.len() => {}
                State::Running => self.confirm(job)?,
                State::Ended(end) => {
                    if same(&job.nodes, &start.servers) {
                        self.confirm(job)?;
                    }
                    // Its nodes' outcomes are learned, or given up, with those of all other jobs.
                    self.core.end(&start.job)?;
                    self.phases.remove(&start.job);
                    let nodes = job.nodes.join(",");
                    tracing::info!(job = job.id, nodes, state = end.word(), "ended");
                    if !job.has_started() {
                        self.core.lose(&start.job)?;
                    }
                }
            }
        }
        Ok(again)
    }

    fn confirm(&mut self, job: &SlurmJob) -> Result<(), DriveError> {
        if self.ledger.write(job, LedgerEvent::Running, &job.nodes, "")? {
            let nodes = job.nodes.join(",");
            tracing::info!(job = job.id, nodes, "runs on the nodes decided");
        }
        self.phases.remove(&job.key());
        Ok(())
    }

    fn follow_pending(
        &mut self,
        job: &SlurmJob,
        start: &StartedWire,
        again: &mut Vec<Decided>,
    ) -> Result<(), DriveError> {
        let ours = same(&job.required, &start.servers);
        match (self.phases.get(&start.job).copied(), job.is_held()) {
            // Decided by a driver that was killed before it released the job.
            (None, true) if ours || job.required.is_empty() => again.push(Decided {
                job: job.clone(),
                ticket: start.ticket.clone(),
                nodes: start.servers.clone(),
            }),
            (None, false) if ours => {
                self.phases.insert(start.job.clone(), Phase::Released(Instant::now()));
            }
            (Some(Phase::Retracting), true) if job.required.is_empty() => {
                self.core.refuse(&start.ticket, &job.reason)?;
                self.phases.remove(&start.job);
                self.retracted(job, &start.servers, &job.reason)?;
            }
            // Somebody was faster, or the controller did not hear us: once more.
            (Some(Phase::Retracting), _) if ours => self.take_back(job)?,
            // Slurm cannot run it there. It counts as held, but would start the moment its nodes are right.
            (Some(Phase::Released(_)), true) if job.reason == "BadConstraints" => {
                tracing::warn!(job = job.id, "Slurm calls its constraints bad; it is taken back");
                self.take_back(job)?;
            }
            (Some(Phase::Released(_)), true) => self.leave(job, "it was held again by others")?,
            (Some(Phase::Released(since)), false) if ours => {
                if since.elapsed() >= self.patience() {
                    tracing::warn!(
                        job = job.id,
                        reason = job.reason,
                        "did not start in time; it is taken back"
                    );
                    self.take_back(job)?;
                }
            }
            (None, false) => self.leave(job, "its owner has released it")?,
            _ => {
                let nodes = job.required.join(",");
                self.leave(job, &format!("its owner wants other nodes: {nodes}"))?;
                if job.is_held() {
                    self.obey("releasing it", job, self.slurm.release(&job.id)?);
                }
            }
        }
        Ok(())
    }

    /// A job that was taken back waits again, or is left to Slurm if that happens too often.
    pub(super) fn retracted(
        &mut self,
        job: &SlurmJob,
        nodes: &[String],
        why: &str,
    ) -> Result<(), DriveError> {
        self.ledger.write(job, LedgerEvent::Retracted, nodes, why)?;
        let times = self.retracted.entry(job.key()).or_default();
        *times += 1;
        if *times >= MOST_RETRACTIONS {
            self.give(job, &format!("it was taken back {MOST_RETRACTIONS} times: {why}"))?;
        }
        Ok(())
    }

    /// Leaves a held job to Slurm itself.
    pub(super) fn give(&mut self, job: &SlurmJob, why: &str) -> Result<(), DriveError> {
        self.leave(job, why)?;
        self.obey("releasing it", job, self.slurm.release(&job.id)?);
        Ok(())
    }

    /// Takes a job's nodes back; the next turn sees whether it came to that.
    fn take_back(&mut self, job: &SlurmJob) -> Result<(), DriveError> {
        self.phases.insert(job.key(), Phase::Retracting);
        self.obey("taking it back", job, self.slurm.take_back(&job.id)?);
        Ok(())
    }

    /// Tells what Slurm says against an order. What a job really is, the next turn sees.
    fn obey(&self, order: &str, job: &SlurmJob, answer: Result<(), SlurmRefusal>) {
        if let Err(SlurmRefusal(said)) = answer {
            tracing::warn!(job = job.id, order, said, "Slurm refuses an order");
        }
    }

    /// A job is not ours any more.
    pub(super) fn leave(&mut self, job: &SlurmJob, why: &str) -> Result<(), DriveError> {
        let key = job.key();
        self.core.lose(&key)?;
        self.phases.remove(&key);
        if self.ledger.write(job, LedgerEvent::Left, &job.nodes, why)? {
            tracing::info!(job = job.id, why, "left to Slurm and its owner");
        }
        if job.state == State::Pending {
            self.obey("taking its mark off", job, self.slurm.unmark(&job.id)?);
        }
        Ok(())
    }

    /// Slurm has forgotten a job whose end nobody has seen.
    fn gone(&mut self, start: &StartedWire) -> Result<(), DriveError> {
        self.core.lose(&start.job)?;
        self.phases.remove(&start.job);
        let id = start.job.split('@').next().unwrap_or_default().to_owned();
        let number = id.parse().unwrap_or(0);
        let submitted = start.job.split('@').next_back().and_then(|time| time.parse().ok()).unwrap_or(0);
        let job = SlurmJob { id, number, submitted, ..SlurmJob::default() };
        self.ledger.write(&job, LedgerEvent::Gone, &start.servers, "Slurm does not know it any more")?;
        tracing::warn!(job = start.job, "Slurm does not know it any more; what it did is not learned");
        Ok(())
    }

    /// Takes out of the queue what waits no more: cancelled, released by its owner, or gone.
    pub(super) fn withdraw(&mut self, picture: &Picture, known: &JobsAnswer) -> Result<(), DriveError> {
        for (key, _) in &known.waiting {
            match picture.job(key) {
                Some(job) if self.is_wanted(job) => {}
                Some(job) => {
                    self.core.end(key)?;
                    let advising = self.settings.mode == esdp::live::Mode::Advise;
                    match job.state {
                        State::Ended(end) => {
                            tracing::info!(job = job.id, state = end.word(), "ended before it was placed")
                        }
                        _ if advising => tracing::debug!(job = job.id, "Slurm has started it"),
                        _ => {}
                    }
                }
                None => {
                    self.core.end(key)?;
                    tracing::info!(job = key, "Slurm does not know it any more");
                }
            }
        }
        Ok(())
    }

    /// Notes jobs that were held for us and that their owners have released before they were decided on.
    pub(super) fn note_released(&mut self, picture: &Picture, known: &JobsAnswer) -> Result<(), DriveError> {
        let started: HashSet<&str> = known.started.iter().map(|start| start.job.as_str()).collect();
        for job in &picture.jobs {
            let alive = !matches!(job.state, State::Ended(_)) && !job.is_held();
            if alive && is_marked(job) && !started.contains(job.key().as_str()) {
                let ours = self.ledger.says(LedgerEvent::Running, &job.key());
                if !ours
                    && self.ledger.write(job, LedgerEvent::Left, &job.nodes, "its owner has released it")?
                {
                    tracing::info!(job = job.id, "its owner has released it; it is left to Slurm");
                }
            }
        }
        Ok(())
    }
}
