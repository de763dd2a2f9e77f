//! A slot that is due: what is free, what counts how much, what is decided, and the booking of it.

use super::effect::{Effect, Placement, Start};
use super::event::{Decided, DecidedStart, DecidedTasks, Event, EventError, Mode};
use super::{LastSlot, Live};
use crate::model::{
    Amounts, Arrivals, Capacity, ChannelId, ChannelKey, Cluster, JobId, PlacedJob, PortId, ServerId, Slot,
    Ticket,
};
use crate::scheduler::{BookedStart, Objective, SlotInput, Started};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

impl Live {
    /// Time comes to a slot: what is free in it, and which servers are closed.
    pub(super) fn begin_slot(
        &mut self,
        slot: Slot,
        free: &BTreeMap<String, Amounts>,
        closed: &[String],
    ) -> Result<(), EventError> {
        let told: Vec<(ServerId, &Amounts)> = free
            .iter()
            .map(|(server, amounts)| Ok((self.names.server(server)?, amounts)))
            .collect::<Result<_, EventError>>()?;
        self.scheduler.begin(slot).map_err(|error| EventError::Schedule(error.to_string()))?;
        let LastSlot { left, closed: shut, certificate, decided: _, held } = &mut self.last;
        *certificate = None;
        held.clear();
        shut.clear();
        shut.extend(closed.iter().chain(&self.drained).filter_map(|name| self.names.server(name).ok()));
        shut.sort_unstable();
        shut.dedup();
        left.clone_from(self.book.free());
        for (server, amounts) in told {
            let devices = self.scheduler.cluster().devices().iter();
            for (device, left) in devices.zip(left.server_mut(server).into_iter().flatten()) {
                if let Some(&amount) = amounts.get(device) {
                    *left = (*left).min(amount);
                }
            }
        }
        Ok(())
    }

    /// Decides the slot that is due, after its event was applied: the only place that solves. No state is
    /// changed, only buffers; the answer takes effect when it is [applied](Live::apply) as
    /// [`Event::Decided`]. None if the event is not [`Event::SlotDue`], was rejected, or others decide.
    ///
    /// # Errors
    /// When the policy fails or chooses what may not run. The slot then passes without a decision.
    pub fn decide(&mut self, due: &Event) -> Result<Option<Decided>, EventError> {
        let &Event::SlotDue { slot, work, .. } = due else { return Ok(None) };
        if slot != self.scheduler.slot() || slot <= self.last.decided || self.mode == Mode::Observe {
            return Ok(None);
        }
        let cluster = Arc::clone(self.scheduler.cluster());
        let mut arrivals = Arrivals::new(vec![0; cluster.ports().len()]);
        self.book.present(&mut arrivals);
        let weights = self.weights(&cluster);
        let exploit = self.explored.reaches(self.most_exploration);
        self.scheduler.limit_exploration(exploit);
        let LastSlot { left, closed, .. } = &self.last;
        let input =
            SlotInput { arrivals: &arrivals, free: Some(left), closed, weights: &weights, barred: &[], work };
        let ranks_jobs = self.scheduler.policy().ranks_jobs();
        let chosen = match self.objective() {
            _ if ranks_jobs => self.scheduler.choose(&input).map(|decision| (decision, None)),
            Objective::Sum => self.scheduler.choose(&input).map(|decision| (decision, None)),
            Objective::Relative => {
                let reserves = self.mode == Mode::Place;
                let chosen = self.scheduler.choose_from_queue(&self.queue, &self.book, &input, reserves);
                chosen.map(|(decision, facts)| (decision, Some(facts)))
            }
        };
        let (decision, facts) = chosen.map_err(|error| EventError::Schedule(error.to_string()))?;
        let decision = decision.clone();
        let mut starts = Vec::new();
        let mut taken = vec![0; cluster.ports().len()];
        let paces = facts.iter().flat_map(|facts| facts.paces.iter().copied()).chain(std::iter::repeat(0));
        for (placed, pace) in decision.jobs(&cluster).into_iter().zip(paces) {
            let job = match decision.first().filter(|_| starts.is_empty()) {
                Some(first) => first,
                None => {
                    let place = &mut taken[placed.port.index()];
                    let mut others =
                        self.book.waiting(placed.port).filter(|job| Some(job.job) != decision.first());
                    let job = others.nth(*place).expect("no more jobs start than wait").job;
                    *place += 1;
                    job
                }
            };
            let ticket = Ticket(self.book.next_ticket().0 + starts.len() as u64);
            let job = self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
            let tasks = self.tasks_of(&cluster, &placed.channels, exploit);
            starts.push(DecidedStart { ticket, job, tasks, pace });
        }
        // What is not a number cannot be written as JSON.
        let certificate = decision.certificate().copied();
        let certificate = certificate.filter(|proved| proved.value.is_finite() && proved.bound.is_finite());
        let (key, build) = (String::new(), crate::model::BUILD.to_owned());
        let queue = facts.map(|facts| self.named(&facts));
        Ok(Some(Decided { slot, key, starts, certificate, queue, build }))
    }

    /// Comes to a slot, decides it and books the decision, for those who keep no journal; what follows from
    /// both events.
    pub fn step(&mut self, due: &Event) -> Vec<Effect> {
        let mut effects = self.apply(due);
        match self.decide(due) {
            Ok(Some(decided)) => effects.extend(self.apply(&Event::Decided(decided))),
            Ok(None) => {}
            Err(error) => effects.push(Effect::Rejected { why: error.to_string(), cause: error.cause() }),
        }
        effects
    }

    /// Applies an event of version 1 of the journal, with what was answered in its slot. There, `SlotDue`
    /// stood for the decision too, and both together count as one event. Where no answer is known, a slot in
    /// which somebody waited is refused: deciding it again could give another cluster than the one that
    /// runs.
    ///
    /// # Errors
    /// When a decision is missing, or does not fit the state.
    pub fn apply_version_1(
        &mut self,
        event: &Event,
        answered: Option<Vec<DecidedStart>>,
    ) -> Result<Vec<Effect>, EventError> {
        let mut effects = self.apply(event);
        let &Event::SlotDue { slot, .. } = event else { return Ok(effects) };
        let rejected = effects.iter().any(|effect| matches!(effect, Effect::Rejected { .. }));
        if rejected || self.mode == Mode::Observe {
            return Ok(effects);
        }
        let waits = || self.jobs.keys().any(|&id| self.book.ticket_of(id).is_none());
        let mut starts = match answered {
            Some(starts) => starts,
            None if !waits() => Vec::new(),
            None => return Err(EventError::Decided { slot, why: "its answer is not kept".to_owned() }),
        };
        let exploit = self.explored.reaches(self.most_exploration);
        for start in &mut starts {
            let port = self.port_of(&start.job).unwrap_or_default().to_owned();
            for tasks in &mut start.tasks {
                let channel = self.channel_of(self.scheduler.cluster(), &key(&port, tasks));
                tasks.exploration = !exploit && channel.is_some_and(|channel| self.is_unsure(channel));
            }
        }
        let (key, certificate, build) = (String::new(), None, String::new());
        self.book_decision(&Decided { slot, key, starts, certificate, queue: None, build }, &mut effects)?;
        Ok(effects)
    }

    /// Tasks by name, as long as they are alike and follow each other.
    fn tasks_of(&self, cluster: &Cluster, channels: &[ChannelId], exploit: bool) -> Vec<DecidedTasks> {
        let same = channels.chunk_by(|a, b| a == b);
        let tasks = same.map(|same| DecidedTasks {
            group: cluster.group_name(cluster.task_group(same[0])).to_owned(),
            server: cluster.servers()[cluster.channel(same[0]).server.index()].clone(),
            count: same.len() as u32,
            exploration: !exploit && self.is_unsure(same[0]),
        });
        tasks.collect()
    }

    /// Books a decision: its jobs start and hold their devices. Everything is checked before anything
    /// changes.
    pub(super) fn book_decision(
        &mut self,
        decided: &Decided,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        let &Decided { slot, certificate, .. } = decided;
        let wrong = |why: String| EventError::Decided { slot, why };
        if slot != self.scheduler.slot() {
            return Err(wrong(format!("the slot that is due is {}", self.scheduler.slot())));
        }
        if slot <= self.last.decided {
            return Err(wrong("it was decided before".to_owned()));
        }
        let cluster = Arc::clone(self.scheduler.cluster());
        let mut room = std::mem::take(&mut self.room);
        room.clone_from(self.book.free());
        let placed = self.placed(&cluster, decided, &mut room);
        self.room = room;
        let placed = placed.map_err(wrong)?;
        let facts = self.facts(decided).map_err(wrong)?;
        if self.directed {
            let tasks = || decided.starts.iter().flat_map(|start| &start.tasks);
            let exploring = tasks().filter(|tasks| tasks.exploration).map(|tasks| tasks.count).sum();
            self.explored.add(exploring, tasks().map(|tasks| tasks.count).sum());
        }
        let mut arrivals = Arrivals::new(vec![0; cluster.ports().len()]);
        self.book.present(&mut arrivals);
        self.scheduler.settle(&arrivals);
        self.last.decided = slot;
        self.last.certificate = certificate;
        effects.push(Effect::Decided { slot, certificate });
        let mut booked = Vec::with_capacity(placed.len());
        for (job, placed) in placed {
            for &channel in &placed.channels {
                let (server, used) = (cluster.channel(channel).server, cluster.request(channel));
                let less = |left: &mut [u64]| {
                    left.iter_mut().zip(used).for_each(|(left, &used)| *left = left.saturating_sub(used));
                };
                self.last.left.cluster_mut().map(less);
                self.last.left.server_mut(server).map(less);
            }
            let ticket = self.book.start_job(&cluster, slot, job, &placed).expect("it was seen to wait");
            self.counts.starts += 1;
            let started = self.book.started(ticket)?;
            let waited = slot.0.saturating_sub(started.job.submitted.0);
            booked.push(BookedStart { job, port: placed.port, waited });
            let start = self.start_of(ticket, self.book.started(ticket)?);
            if self.mode == Mode::Advise {
                // The job waits again at its old place, and what it would have held is free.
                self.advice.give(&start);
                self.book.refuse(ticket)?;
            }
            effects.push(Effect::Started(start));
        }
        if let Some(facts) = facts {
            self.book_facts(slot, facts, booked);
        }
        Ok(())
    }

    /// The jobs of a decision with their channels, if all of them wait and there is room for them.
    fn placed(
        &self,
        cluster: &Cluster,
        decided: &Decided,
        room: &mut Capacity,
    ) -> Result<Vec<(JobId, PlacedJob)>, String> {
        let (mut placed, mut seen) = (Vec::with_capacity(decided.starts.len()), HashSet::new());
        for (index, start) in decided.starts.iter().enumerate() {
            let DecidedStart { ticket, job, tasks, pace: _ } = start;
            let expected = Ticket(self.book.next_ticket().0 + index as u64);
            if *ticket != expected {
                return Err(format!("job `{job}` has {ticket}, expected {expected}"));
            }
            let waits = self.by_name.get(job).filter(|&&id| self.book.ticket_of(id).is_none());
            let id = waits.filter(|&&id| seen.insert(id));
            let &id = id.ok_or_else(|| format!("job `{job}` does not wait"))?;
            let port = &self.jobs[&id].port;
            let mut channels = Vec::new();
            for tasks in tasks {
                let channel = self.channel_of(cluster, &key(port, tasks)).ok_or_else(|| {
                    format!("port `{port}` has no tasks `{}` on server `{}`", tasks.group, tasks.server)
                })?;
                if !take(cluster, room, channel, tasks.count) {
                    return Err(format!("server `{}` has no room for job `{job}`", tasks.server));
                }
                channels.extend(std::iter::repeat_n(channel, tasks.count as usize));
            }
            if channels.is_empty() {
                return Err(format!("job `{job}` has no tasks"));
            }
            let port = self.names.port(port).map_err(|error| error.to_string())?;
            placed.push((id, PlacedJob { port, channels }));
        }
        Ok(placed)
    }

    /// What each port counts: its own weight times that of the job that would start first. None if all count
    /// 1.
    fn weights(&self, cluster: &Cluster) -> Vec<f64> {
        let of = |index: usize| {
            let head = self.book.waiting(PortId::at(index)).next().map_or(1.0, |job| job.weight);
            (self.described.ports[index].weight * head).clamp(1e-100, 1e100)
        };
        let weights: Vec<f64> = (0..cluster.ports().len()).map(of).collect();
        if weights.iter().all(|&weight| weight == 1.0) { Vec::new() } else { weights }
    }

    pub(super) fn start_of(&self, ticket: Ticket, started: &Started) -> Start {
        let cluster = self.scheduler.cluster();
        let mut placements: Vec<Placement> = Vec::new();
        for (task, channel) in
            started.tasks.iter().enumerate().filter_map(|(task, t)| Some((task, t.channel?)))
        {
            let server = &cluster.servers()[cluster.channel(channel).server.index()];
            let group = cluster.group_name(cluster.task_group(channel));
            match placements.last_mut() {
                Some(last) if last.server == *server && last.group == group => last.count += 1,
                _ => placements.push(Placement {
                    group: group.to_owned(),
                    server: server.clone(),
                    count: 1,
                    first: task as u32,
                }),
            }
        }
        let job = self.jobs.get(&started.job.job);
        Start {
            ticket,
            job: job.map_or_else(String::new, |job| job.name.clone()),
            port: job.map_or_else(String::new, |job| job.port.clone()),
            slot: started.slot,
            placements,
        }
    }
}

fn key(port: &str, tasks: &DecidedTasks) -> ChannelKey {
    ChannelKey { port: port.to_owned(), group: tasks.group.clone(), server: tasks.server.clone() }
}

/// Takes the devices of some uses of a channel; whether there were enough.
fn take(cluster: &Cluster, room: &mut Capacity, channel: ChannelId, count: u32) -> bool {
    let used = cluster.request(channel);
    let less = |left: &mut [u64]| {
        left.iter_mut().zip(used).all(|(left, &used)| {
            let rest = used.checked_mul(u64::from(count)).and_then(|used| left.checked_sub(used));
            rest.map(|rest| *left = rest).is_some()
        })
    };
    room.cluster_mut().is_none_or(less) && room.server_mut(cluster.channel(channel).server).is_none_or(less)
}
