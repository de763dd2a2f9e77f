//! Deciding on held jobs, and carrying it out.

use super::follow::{Decided, same};
use super::{DriveError, Phase, Picture, SlurmDriver};
use crate::slurm::admission::{self, NodeRequests, Wanted};
use crate::slurm::conversation::SlurmRefusal;
use crate::slurm::core::SlotDecision;
use crate::slurm::job::SlurmJob;
use crate::slurm::ledger::LedgerEvent;
use crate::slurm::marked_priority;
use crate::slurm::ports::{self, SEAT};
use esdp::model::Amounts;
use esdp_serve::wire::{JobWire, JobsAnswer};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::time::Instant;

/// How often a turn decides at most: each decision gives a node one task of a multi-node job.
const MOST_ROUNDS: usize = 4;

/// The most work of a decision, in visits of the solver: some tenths of a second at 500 nodes.
const WORK: u64 = 300_000;

/// Jobs that may be decided on, and what they may use.
#[derive(Debug, Default)]
struct Admission {
    jobs: Vec<JobWire>,
    free: BTreeMap<String, Amounts>,
    closed: Vec<String>,
}

impl SlurmDriver<'_> {
    /// Decides on held jobs and places them; `again` was decided before.
    pub(super) fn place(
        &mut self,
        picture: &Picture,
        known: &JobsAnswer,
        again: Vec<Decided>,
    ) -> Result<(), DriveError> {
        let taken: HashSet<String> = known.started.iter().map(|start| start.job.clone()).collect();
        let held: Vec<&SlurmJob> =
            picture.jobs.iter().filter(|job| self.is_wanted(job) && !taken.contains(&job.key())).collect();
        let mut waiting = Vec::with_capacity(held.len());
        for job in held {
            match self.unplaceable(job, picture) {
                Some(why) => self.give(job, &why)?,
                None => waiting.push(job),
            }
        }
        waiting.sort_by_key(|job| (std::cmp::Reverse(marked_priority(job)), job.submitted, job.number));
        let mut decided = again;
        let begun = Instant::now();
        for _ in 0..MOST_ROUNDS {
            // What is left of a large queue waits for the next turn; what was decided shall not.
            if waiting.is_empty() || begun.elapsed() > self.settings.slot / 2 {
                break;
            }
            let admission = self.admit(picture, &waiting, &decided);
            if admission.jobs.is_empty() {
                break;
            }
            let sent = admission.jobs.len();
            let (free, closed) = (admission.free, admission.closed);
            let since = Instant::now();
            let answer = self.core.decide(admission.jobs, (free, closed), self.work())?;
            tracing::debug!(sent, millis = since.elapsed().as_millis() as u64, "decision");
            for ignored in &answer.ignored {
                // The core has seen its end once: it was requeued, perhaps, or taken back by others.
                if let Some(job) = picture.job(&ignored.job) {
                    self.give(job, "it is over for the core")?;
                    waiting.retain(|waits| waits.key() != ignored.job);
                }
            }
            let round = starts(&answer, picture);
            let placed: HashSet<String> = round.iter().map(|decided| decided.job.key()).collect();
            waiting.retain(|job| !placed.contains(&job.key()));
            let (few, all) = (round.is_empty(), round.len() >= sent);
            decided.extend(round);
            if few || all {
                break;
            }
        }
        self.queued = !waiting.is_empty();
        self.carry_out(decided)
    }

    fn work(&self) -> Option<u64> {
        Some(self.settings.config.work.unwrap_or(WORK))
    }

    /// Says what it would do.
    pub(super) fn advise(&mut self, picture: &Picture) -> Result<(), DriveError> {
        let waiting: Vec<&SlurmJob> = picture
            .jobs
            .iter()
            .filter(|job| self.is_wanted(job) && self.unplaceable(job, picture).is_none())
            .collect();
        let Admission { jobs, free, closed } = self.admit(picture, &waiting, &[]);
        if jobs.is_empty() {
            return Ok(());
        }
        let answer = self.core.decide(jobs, (free, closed), self.work())?;
        for Decided { job, nodes, .. } in starts(&answer, picture) {
            let nodes = nodes.join(",");
            self.say_once(&format!("advice {} {nodes}", job.key()), || {
                tracing::info!(job = job.id, nodes, "would be placed here");
            });
        }
        Ok(())
    }

    /// Why a job is none that can be placed, if so.
    fn unplaceable(&self, job: &SlurmJob, picture: &Picture) -> Option<String> {
        if job.heterogeneous {
            return Some("it is a heterogeneous job".to_owned());
        }
        if !job.required.is_empty() && !self.retracted.contains_key(&job.key()) {
            return Some(format!("it asks for nodes itself: {}", job.required.join(",")));
        }
        if !job.excluded.is_empty() {
            return Some(format!("it excludes nodes itself: {}", job.excluded.join(",")));
        }
        if job.features.contains(['|', '[', '(', '*']) {
            return Some(format!("its features are more than a list: {}", job.features));
        }
        let eligible = ports::eligible(job, &picture.nodes).len();
        if eligible < job.node_count as usize {
            return Some(format!("it needs {} nodes, and {eligible} could ever hold it", job.node_count));
        }
        None
    }

    /// The jobs that may be decided on now, and what is free for them. `decided` uses some of it already.
    fn admit(&self, picture: &Picture, waiting: &[&SlurmJob], decided: &[Decided]) -> Admission {
        let mut devices: Vec<&str> =
            picture.nodes.iter().flat_map(|node| node.capacity.keys()).map(String::as_str).collect();
        devices.sort_unstable();
        devices.dedup();
        let row = |amounts: &Amounts| -> Vec<u64> {
            devices.iter().map(|device| amounts.get(*device).copied().unwrap_or(0)).collect()
        };
        let at: HashMap<&str, usize> =
            picture.nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
        let mut free: Vec<Vec<u64>> = picture.nodes.iter().map(|node| row(&node.free)).collect();
        for (index, _) in picture.nodes.iter().enumerate().filter(|(_, node)| node.closed.is_some()) {
            free[index].fill(0);
        }
        for Decided { job, nodes, .. } in decided {
            for index in nodes.iter().filter_map(|node| at.get(node.as_str())) {
                let request = row(&ports::request(job, &picture.nodes[*index]));
                free[*index]
                    .iter_mut()
                    .zip(request)
                    .for_each(|(free, used)| *free = free.saturating_sub(used));
            }
        }
        let mut names: HashMap<String, (usize, NodeRequests)> = HashMap::new();
        let mut wanted = Vec::with_capacity(waiting.len());
        let mut ports_of = Vec::with_capacity(waiting.len());
        for job in waiting {
            let name = ports::name(&self.settings.config, job);
            let fresh = names.len();
            let (port, on) = names.entry(name.clone()).or_insert_with(|| {
                let on = ports::eligible(job, &picture.nodes)
                    .into_iter()
                    .map(|node| (at[node.name.as_str()], row(&ports::request(job, node))));
                (fresh, Rc::new(on.collect()))
            });
            wanted.push(Wanted { port: *port, nodes: job.node_count as usize, on: Rc::clone(on) });
            ports_of.push(name);
        }
        let admitted = admission::admit(&wanted, &mut free, &self.until(picture));
        if let Some(first) = admitted.first_blocked {
            tracing::debug!(job = waiting[first].id, "waits for nodes; those it needs are kept for it");
        }
        let job = |&index: &usize| JobWire {
            id: waiting[index].key(),
            port: ports_of[index].clone(),
            weight: Some(weight(marked_priority(waiting[index]))),
            ..JobWire::default()
        };
        let told = |(index, row): (usize, Vec<u64>)| {
            let amounts = devices.iter().map(|device| (*device).to_owned()).zip(row);
            let amounts = amounts.chain([(SEAT.to_owned(), 1)]).collect();
            (picture.nodes[index].name.clone(), amounts)
        };
        Admission {
            jobs: admitted.jobs.iter().map(job).collect(),
            free: free.into_iter().enumerate().map(told).collect(),
            closed: picture
                .nodes
                .iter()
                .filter(|node| node.closed.is_some())
                .map(|node| node.name.clone())
                .collect(),
        }
    }

    /// When each node has nothing to do any more, as far as time limits tell.
    fn until(&self, picture: &Picture) -> Vec<u64> {
        let mut until: HashMap<&str, u64> = HashMap::new();
        for job in picture.jobs.iter().filter(|job| job.state == crate::slurm::job::State::Running) {
            for node in &job.nodes {
                let latest = until.entry(node).or_default();
                *latest = (*latest).max(job.ends.unwrap_or(u64::MAX));
            }
        }
        let of = |node: &crate::slurm::node::SlurmNode| match &node.closed {
            Some(_) => u64::MAX,
            None => until.get(node.name.as_str()).copied().unwrap_or(0),
        };
        picture.nodes.iter().map(of).collect()
    }

    /// Names the nodes of jobs and lets them start.
    fn carry_out(&mut self, decided: Vec<Decided>) -> Result<(), DriveError> {
        for Decided { job, ticket, nodes } in &decided {
            self.ledger.write(job, LedgerEvent::Decided, nodes, ticket)?;
        }
        let mut refused = Vec::new();
        for decided in decided {
            let Decided { job, nodes, .. } = &decided;
            match self.slurm.place(&job.id, nodes)? {
                Ok(()) => {
                    tracing::info!(job = job.id, nodes = nodes.join(","), "decided and released");
                    self.phases.insert(job.key(), Phase::Released(Instant::now()));
                }
                Err(SlurmRefusal(said)) => refused.push((decided, said)),
            }
        }
        if refused.is_empty() { Ok(()) } else { self.refused(refused) }
    }

    /// Looks at jobs again that Slurm did not place.
    fn refused(&mut self, refused: Vec<(Decided, String)>) -> Result<(), DriveError> {
        let now = Picture::new(self.slurm.jobs()?, Vec::new(), &self.settings.partition);
        for (Decided { job: was, ticket, nodes }, why) in refused {
            // What is gone, was cancelled or runs is found by the next turn.
            let Some(job) = now.job(&was.key()).filter(|job| job.is_held()) else { continue };
            if same(&job.required, &was.required) {
                tracing::warn!(
                    job = job.id,
                    nodes = nodes.join(","),
                    why,
                    "Slurm refuses the nodes; it waits again"
                );
                self.core.refuse(&ticket, &why)?;
                self.retracted(job, &nodes, &why)?;
            } else if !same(&job.required, &nodes) {
                let wants = job.required.join(",");
                self.give(job, &format!("its owner wants other nodes: {wants}"))?;
            }
        }
        Ok(())
    }
}

/// A port counts a little more with a job of high priority, and jobs of a port start in its order; that
/// nobody is passed is the work of admission.
fn weight(priority: u64) -> f64 {
    1.0 + priority.min(1 << 32) as f64 / (1u64 << 32) as f64
}

/// The jobs that an answer starts.
fn starts(answer: &SlotDecision, picture: &Picture) -> Vec<Decided> {
    let mut starts: Vec<Decided> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for place in &answer.placements {
        let Some(job) = picture.job(&place.job) else { continue };
        let (server, fresh) = (place.server.clone(), starts.len());
        match *at.entry(&place.job).or_insert(fresh) {
            index if index < fresh => starts[index].nodes.push(server),
            _ => starts.push(Decided { job: job.clone(), ticket: place.ticket.clone(), nodes: vec![server] }),
        }
    }
    starts
}
