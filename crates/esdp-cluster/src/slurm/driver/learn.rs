//! What jobs that have ended teach.

use super::{DriveError, Picture, SlurmDriver};
use crate::slurm::job::{SlurmJob, State};
use crate::slurm::ledger::LedgerEvent;
use crate::slurm::ports::{self, GROUP};
use crate::slurm::reports::NodeReport;
use crate::slurm::spool::Found;
use esdp::live::Mode;
use esdp_serve::wire::ObservationWire;
use std::time::{Duration, Instant};

/// How long a report is waited for that could not be looked at.
const UNREAD: Duration = Duration::from_secs(60);

impl SlurmDriver<'_> {
    /// Learns from jobs that have ended since, ours and those of others.
    pub(super) fn learn(&mut self, picture: &Picture) -> Result<(), DriveError> {
        let teaches = |job: &&SlurmJob| match job.state {
            State::Ended(end) => end.teaches() && !self.ledger.says(LedgerEvent::Learned, &job.key()),
            _ => false,
        };
        self.spool.read(picture.jobs.iter().filter(teaches));
        for job in &picture.jobs {
            let State::Ended(end) = job.state else { continue };
            self.ledger.write(job, LedgerEvent::Ended, &job.nodes, end.word())?;
            if self.is_settled(job) {
                continue;
            }
            let key = job.key();
            let told: Vec<Option<NodeReport>> = match end.teaches() {
                true => job.nodes.iter().map(|node| self.report(job, node)).collect(),
                false => vec![None; job.nodes.len()],
            };
            let since = *self.ended.entry(key.clone()).or_insert_with(Instant::now);
            // A network's file system may show a report late. Where speeds come from durations, nothing is
            // waited for.
            let late = end.teaches() && told.iter().any(Option::is_none) && self.reference(job).is_none();
            if late && since.elapsed() < self.grace() {
                continue;
            }
            // What nobody has looked at yet may be there: so many files of others must not crowd it out.
            if end.teaches() && since.elapsed() < UNREAD && job.nodes.iter().any(|n| self.is_unread(job, n)) {
                continue;
            }
            let ours = self.ledger.says(LedgerEvent::Running, &key);
            let list = match told.iter().all(Option::is_none) && end == crate::slurm::job::End::Completed {
                true => self.by_duration(job, ours)?,
                false => Vec::new(),
            };
            let list = if list.is_empty() { self.by_node(job, &told, ours) } else { list };
            let learned = self.core.observe(list)?;
            if ours {
                // Whatever is still open has told nothing.
                self.core.lose(&key)?;
            }
            self.ledger.write(
                job,
                LedgerEvent::Learned,
                &job.nodes,
                &format!("{learned} of {}", job.nodes.len()),
            )?;
            for node in &job.nodes {
                if let Found::Refused(why) = self.spool.found(job, node) {
                    tracing::info!(job = job.id, node, user = job.user, why, "a report was not read");
                }
            }
            self.spool.remove(job);
            tracing::debug!(job = job.id, learned, of = job.nodes.len(), "learned");
        }
        Ok(())
    }

    fn report(&self, job: &SlurmJob, node: &str) -> Option<NodeReport> {
        match self.spool.found(job, node) {
            Found::Report(report) => Some(report),
            Found::Refused(_) | Found::Unread | Found::Nothing => None,
        }
    }

    fn is_unread(&self, job: &SlurmJob, node: &str) -> bool {
        self.spool.found(job, node) == Found::Unread
    }

    /// How long a job takes at speed 1, by its rule; its owner may say so only where the rule allows it.
    fn reference(&self, job: &SlurmJob) -> Option<f64> {
        let rule = ports::rule(&self.settings.config, job)?;
        let said = || {
            let (least, most) = rule.comment_seconds?;
            let mut words = job.comment.split_whitespace();
            let said = words.find_map(|word| word.strip_prefix("esdp-seconds=")?.parse::<f64>().ok());
            said.filter(|seconds| (least..=most).contains(seconds))
        };
        said().or(rule.reference_seconds)
    }

    /// An outcome of a job, to be filled: by its name if it is ours, by its port and an id if not.
    fn outcome(&self, job: &SlurmJob, server: Option<&String>, ours: bool) -> ObservationWire {
        let key = job.key();
        let server = server.cloned();
        // Whoever owns the job can make it say anything.
        let source = Some(format!("slurm:{}", job.user)).filter(|_| !job.user.is_empty());
        if ours {
            return ObservationWire { job: Some(key), server, source, ..ObservationWire::default() };
        }
        let id = server.as_ref().map(|server| format!("{key}@{server}"));
        // In advice, the job's name leads to what was advised.
        let named = (self.settings.mode == Mode::Advise).then_some(key);
        let port = Some(ports::name(&self.settings.config, job));
        ObservationWire {
            job: named,
            id,
            port,
            group: Some(GROUP.to_owned()),
            server,
            source,
            ..ObservationWire::default()
        }
    }

    fn by_node(&self, job: &SlurmJob, told: &[Option<NodeReport>], ours: bool) -> Vec<ObservationWire> {
        let known = job.nodes.iter().zip(told).filter_map(|(node, told)| Some((node, (*told)?)));
        let one = |(node, NodeReport { seconds, work, .. })| ObservationWire {
            work: Some(work),
            seconds: Some(seconds),
            ..self.outcome(job, Some(node), ours)
        };
        known.map(one).collect()
    }

    /// The speed of a whole job, from how long it took. Its nodes wait for each other, so it is the speed of
    /// the slowest.
    fn by_duration(&self, job: &SlurmJob, ours: bool) -> Result<Vec<ObservationWire>, DriveError> {
        let seconds = job.ends.unwrap_or(0).saturating_sub(job.started) as f64;
        let Some(work) = self.reference(job).filter(|_| seconds > 0.0) else { return Ok(Vec::new()) };
        let server = match (ours, &job.nodes[..]) {
            // The core knows its own estimates best.
            (true, _) => None,
            (false, [only]) => Some(only.clone()),
            (false, nodes) => {
                let view = self.core.view()?;
                let factor = |node: &&String| {
                    let row = view.servers.iter().find(|row| row.name == **node);
                    row.and_then(|row| row.factor).unwrap_or(1.0)
                };
                nodes.iter().min_by(|a, b| factor(a).total_cmp(&factor(b))).cloned()
            }
        };
        let outcome = self.outcome(job, server.as_ref(), ours);
        Ok(vec![ObservationWire { work: Some(work), seconds: Some(seconds), ..outcome }])
    }
}
