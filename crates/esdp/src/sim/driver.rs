//! A simulated cluster behind the live core: the first [`Driver`].
//!
//! The same arrivals, speeds, delays and work as in a [`Simulation`](super::Simulation), told in events by
//! name. Turned with [`turn`](crate::live::turn), a live scheduler makes the very decisions that the
//! simulation makes, which is what makes its figures figures of the live core (`tests/scheduler/live.rs`
//! compares them). Where jobs do not wait, those that were not started are cancelled when the slot is over.

use super::feedback::Delays;
use super::held::luck;
use super::outage::Windows;
use super::{Environment, HeldSpec, Setting, Workload};
use crate::live::{Driver, DriverError, Due, Event, Refusal, SpeedReport, Start, WhichTasks};
use crate::model::{
    Arrivals, ChannelId, ChannelKey, Cluster, ClusterDescription, PortId, ServerId, Slot, Ticket,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A cluster that does what a [`Setting`] says.
pub struct SimulatedCluster {
    cluster: Arc<Cluster>,
    workload: Box<dyn Workload>,
    environment: Box<dyn Environment>,
    held: Option<HeldSpec>,
    windows: Arc<Windows>,
    weights: Vec<f64>,
    luck: f64,
    seed: u64,
    delays: Delays<Event>,
    slot: Slot,
    /// From one slot that is played to the next.
    stride: u64,
    next: Slot,
    arrived: Arrivals,
    /// How many jobs have come to each port.
    came: Vec<u64>,
    channels: HashMap<ChannelKey, ChannelId>,
    /// Jobs that came in this slot and are gone after it, where jobs do not wait.
    passing: BTreeSet<String>,
    running: Vec<Running>,
    events: Vec<Event>,
}

struct Running {
    ticket: Ticket,
    job: String,
    port: PortId,
    started: Slot,
    channels: Vec<ChannelId>,
    left: f64,
    sums: Vec<f64>,
    /// The least that a task did in this slot, where they wait for each other.
    slowest: Option<f64>,
}

impl SimulatedCluster {
    /// A cluster before its first slot.
    pub fn new(setting: &Setting) -> Self {
        let cluster = Arc::clone(setting.cluster());
        let all = (0..cluster.channels().len()).map(ChannelId::at);
        Self {
            channels: all.map(|channel| (cluster.channel_key(channel), channel)).collect(),
            workload: Box::new(setting.workload()),
            environment: Box::new(setting.environment()),
            held: setting.held().cloned(),
            windows: Arc::clone(setting.windows()),
            weights: setting.weights().to_vec(),
            luck: setting.luck(),
            seed: setting.seed(),
            delays: Delays::new(setting.delay(), setting.seed()),
            slot: Slot(0),
            stride: 1,
            next: Slot::FIRST,
            arrived: Arrivals::everywhere(cluster.ports().len()),
            came: vec![0; cluster.ports().len()],
            passing: BTreeSet::new(),
            running: Vec::new(),
            events: Vec::new(),
            cluster,
        }
    }

    /// Plays every `stride`-th slot only, from `first` on. Several such clusters play all slots between them.
    #[must_use]
    pub fn with_stride(self, first: Slot, stride: u64) -> Self {
        Self { next: first, stride, ..self }
    }

    /// Whether jobs last for more than a slot.
    pub fn has_lasting_jobs(&self) -> bool {
        self.held.is_some()
    }

    /// The cluster, as a live scheduler wants it described.
    pub fn describe(&self) -> ClusterDescription {
        let mut described = ClusterDescription::of(&self.cluster);
        described.ports.iter_mut().zip(&self.weights).for_each(|(port, weight)| port.weight = *weight);
        described
    }

    /// The number among its port's jobs that a job's name ends with.
    fn number(job: &str) -> u64 {
        job.rsplit('#').next().and_then(|number| number.parse().ok()).unwrap_or(0)
    }

    /// The work of a job that starts, for all of its tasks.
    fn work(&self, start: &Start, port: PortId) -> f64 {
        let Some(spec) = &self.held else { return 0.0 };
        let all: u64 = match self.cluster.is_gang(port) {
            true => {
                self.cluster.task_groups().iter().filter(|g| g.port == port).map(|g| u64::from(g.count)).sum()
            }
            false => 1,
        };
        spec.work(self.seed, port, Self::number(&start.job)) * all as f64
    }

    fn admit(&mut self, start: &Start) {
        self.passing.remove(&start.job);
        let mut channels = Vec::new();
        for placement in &start.placements {
            let key = ChannelKey {
                port: start.port.clone(),
                group: placement.group.clone(),
                server: placement.server.clone(),
            };
            channels.extend(std::iter::repeat_n(self.channels[&key], placement.count as usize));
        }
        let port = self.cluster.ports().iter().position(|name| *name == start.port).map(PortId::at);
        let port = port.expect("a start is of a port that was described");
        let (left, sums) = (self.work(start, port), vec![0.0; channels.len()]);
        let (ticket, job, started) = (start.ticket, start.job.clone(), start.slot);
        let slowest = self.cluster.crossing(port).map(|_| f64::INFINITY);
        self.running.push(Running { ticket, job, port, started, channels, left, sums, slowest });
    }

    /// Lets all that runs do its work of the slot.
    fn work_a_slot(&mut self) {
        let slot = self.slot;
        let mut uses: Vec<(ChannelId, usize, usize)> = Vec::new();
        for (index, running) in self.running.iter().enumerate() {
            uses.extend(running.channels.iter().enumerate().map(|(task, &channel)| (channel, index, task)));
        }
        uses.sort_unstable();
        let channels: Vec<ChannelId> = uses.iter().map(|&(channel, ..)| channel).collect();
        let mut utilities = Vec::with_capacity(uses.len());
        self.environment.run(slot, &channels, &mut utilities);
        let Self { cluster, running, delays, held, luck: deviation, seed, events, .. } = self;
        for (&(channel, index, task), &utility) in uses.iter().zip(&utilities) {
            let running = &mut running[index];
            if let Some(slowest) = &mut running.slowest {
                *slowest = slowest.min(utility);
                continue;
            }
            running.left -= utility;
            running.sums[task] += utility;
            if held.is_none() {
                delays.send(slot, (slot, channel), reported(running.ticket, Some(task), utility));
            }
        }
        for running in running.iter_mut() {
            let Some(slowest) = &mut running.slowest else { continue };
            let slowest = std::mem::replace(slowest, f64::INFINITY);
            let done = cluster.progress(running.port, &running.channels, |_| slowest);
            running.left -= done;
            let each = done / running.channels.len() as f64;
            running.sums.iter_mut().for_each(|sum| *sum += each);
            if held.is_none() {
                delays.send(slot, (slot, running.channels[0]), reported(running.ticket, None, each));
            }
        }
        running.retain(|running| {
            if held.is_some() && running.left > 0.0 {
                return true;
            }
            if held.is_some() {
                let slots = (slot.0 - running.started.0 + 1) as f64;
                let luck = luck(*deviation, *seed, running.port, Self::number(&running.job));
                for (task, (&channel, sum)) in running.channels.iter().zip(&running.sums).enumerate() {
                    let utility = (luck * sum / slots).clamp(0.0, 1.0);
                    let tasks = running.slowest.is_none().then_some(task);
                    delays.send(slot, (running.started, channel), reported(running.ticket, tasks, utility));
                    if tasks.is_none() {
                        break;
                    }
                }
            }
            events.push(Event::Ended { job: running.job.clone() });
            false
        });
        delays.deliver(slot, |event| events.push(event));
    }
}

fn reported(ticket: Ticket, task: Option<usize>, utility: f64) -> Event {
    Event::Reported {
        ticket,
        tasks: task.map_or(WhichTasks::All, |task| WhichTasks::One(task as u32)),
        report: SpeedReport::Utility(utility),
        source: String::new(),
    }
}

impl Driver for SimulatedCluster {
    fn poll(&mut self) -> Result<Vec<Event>, DriverError> {
        let mut events = std::mem::take(&mut self.events);
        events.extend(std::mem::take(&mut self.passing).into_iter().map(|job| Event::Cancelled { job }));
        self.slot = self.next;
        self.next = Slot(self.slot.0 + self.stride);
        self.workload.arrivals(self.slot, &mut self.arrived);
        for (index, port) in self.cluster.ports().iter().enumerate() {
            for _ in 0..self.arrived.jobs(PortId::at(index)) {
                let job = format!("{port}#{}", self.came[index]);
                self.came[index] += 1;
                if self.held.is_none() {
                    self.passing.insert(job.clone());
                }
                events.push(Event::Submitted { job, port: port.clone(), weight: 1.0 });
            }
        }
        Ok(events)
    }

    fn due(&mut self) -> Due {
        let mut closed = Vec::new();
        self.windows.closed(self.slot, &mut closed);
        let name = |server: ServerId| self.cluster.servers()[server.index()].clone();
        Due { closed: closed.into_iter().map(name).collect(), ..Due::default() }
    }

    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)> {
        starts.iter().for_each(|start| self.admit(start));
        self.work_a_slot();
        starts.iter().map(|start| (start.ticket, Ok(()))).collect()
    }
}
