//! A policy in a crate of its own: explore, then commit.
//!
//! Every channel is tried a number of times; from then on the averages are trusted. In a slot
//! it maximises, over channels whose port has a job and within what is free, the sum of
//!
//! ```text
//! index_e = weight of its port * { 1            while channel e was tried fewer than `tries` times
//!                                  estimate_e   from then on
//! ```
//!
//! Jobs of several tasks start whole: the solver is told which tasks make up a job, and how many it needs.
//!
//! No net utility exceeds 1, so what is not yet known is preferred to everything known. Simple,
//! and a fair measure of what a better rule is worth: too few tries commit to the wrong
//! channels for good, too many waste slots on bad ones.

use esdp::model::{Amount, ChannelId, Cluster, ClusterChange, Observation, PortId, ServerId, Slot, SlotView};
use esdp::policy::{Certificate, Choice, Policy, PolicyError, PolicyState};
use esdp::solver::{Exact, Gang, Group, Instance, Solution, Solver};
use esdp::stats::{Means, StateError, Statistics};

/// Visits that a decision may take, about 5 ms: channels that are all worth 1 keep a solver busy for nothing.
const WORK: u64 = 2_000_000;

/// Tries every channel some times, then trusts the averages.
pub struct ExploreThenCommit {
    tries: f64,
    statistics: Means,
    solver: Exact,
    // Buffers, kept from slot to slot.
    instance: Instance,
    channels: Vec<ChannelId>,
    solution: Solution,
}

impl ExploreThenCommit {
    /// The name users choose it by.
    pub const NAME: &'static str = "explore-then-commit";

    /// Nothing known yet; every channel will be tried this often.
    pub fn new(cluster: &Cluster, tries: u32) -> Self {
        Self {
            tries: f64::from(tries),
            statistics: Means::new(cluster.channels().len()),
            solver: Exact::default().with_work_budget(WORK),
            instance: Instance::default(),
            channels: Vec::new(),
            solution: Solution::default(),
        }
    }

    // begin: index
    /// What a channel counts in this slot.
    fn index(&self, channel: ChannelId) -> f64 {
        // A use whose outcome is still open counts as a try, or late news would cause a herd.
        let tried = self.statistics.count(channel) + f64::from(self.statistics.pending(channel));
        if tried < self.tries { 1.0 } else { self.statistics.estimate(channel) }
    }
    // end: index

    /// The slot's problem: the devices that are free, and one entry for each channel to them. Of a port with several
    /// jobs, gangs may use a channel once for each task; other jobs go to different channels.
    fn describe(&mut self, view: &SlotView<'_>) {
        self.instance.clear();
        self.channels.clear();
        match view.free.cluster() {
            Some(free) => self.instance.capacity.extend_from_slice(free),
            None => self.instance.capacity.resize(view.cluster.devices().len(), Amount::MAX),
        }
        let servers = (0..view.cluster.servers().len()).map(ServerId::at);
        for free in servers.filter_map(|server| view.free.server(server)) {
            self.instance.server_capacity.extend_from_slice(free);
        }
        let has_gangs = view.cluster.has_gangs();
        if has_gangs {
            self.describe_jobs(view);
        }
        for channel in view.open_channels() {
            let index = self.index(channel) * view.weight(view.cluster.channel(channel).port);
            self.instance.push(view.cluster.request(channel), index, 0.0);
            if view.free.has_servers() {
                self.instance.server.push(view.cluster.channel(channel).server.0);
            }
            if has_gangs {
                self.instance.group.push(view.cluster.task_group(channel) as u32);
            }
            self.channels.push(channel);
        }
    }

    /// Which tasks make up a job, and how many jobs there are: of all ports, so that positions are ids.
    fn describe_jobs(&mut self, view: &SlotView<'_>) {
        for group in view.cluster.task_groups() {
            let (job, count, minimum) = (group.port.0, group.count, group.minimum);
            self.instance.groups.push(Group { job, count, minimum });
        }
        for port in (0..view.cluster.ports().len()).map(PortId::at) {
            let (minimum, copies) = (view.cluster.minimum(port), view.arrivals.jobs(port));
            self.instance.jobs.push(Gang { minimum, copies });
        }
    }
}

// begin: policy
impl Policy for ExploreThenCommit {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn limit_work(&mut self, visits: Option<u64>) {
        self.solver.limit_work(visits);
    }

    fn decide(&mut self, view: &SlotView<'_>, choice: &mut Choice) -> Result<(), PolicyError> {
        choice.clear();
        self.statistics.advance(view.slot);
        self.describe(view);
        if self.channels.is_empty() {
            return Ok(());
        }
        self.solver.solve_into(&self.instance.problem()?, &mut self.solution)?;
        let Solution { value, bound, guarantee, stopped, .. } = self.solution;
        choice.certificate = Some(Certificate { value, bound, guarantee, stopped });
        choice.channels.extend(self.solution.chosen.each().map(|position| self.channels[position as usize]));
        Ok(())
    }

    fn commit(&mut self, _cluster: &Cluster, slot: Slot, channels: &[ChannelId]) {
        channels.iter().for_each(|&channel| self.statistics.commit(slot, channel));
    }

    fn change(&mut self, change: &ClusterChange<'_>) {
        self.statistics.change(change);
    }

    fn learned(&self) -> Option<&dyn Statistics> {
        Some(&self.statistics)
    }

    fn learned_mut(&mut self) -> Option<&mut dyn Statistics> {
        Some(&mut self.statistics)
    }

    fn learn(&mut self, seen: &Observation) {
        self.statistics.observe(seen);
    }

    fn state(&self) -> PolicyState {
        PolicyState { statistics: Some(self.statistics.state()), ..PolicyState::empty(Self::NAME) }
    }

    fn restore(&mut self, state: PolicyState) -> Result<(), StateError> {
        state.check(Self::NAME)?;
        let statistics = state.statistics.ok_or(StateError::Kind { found: "none", expected: "means" })?;
        self.statistics.restore(statistics)
    }
}
// end: policy
