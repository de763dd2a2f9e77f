//! A slot that is due: what is free, what counts how much, and the starts that come of it.

use super::Live;
use super::event::{Effect, EventError, Mode, Placement, Start};
use crate::model::{Amounts, Arrivals, Capacity, Cluster, PortId, ServerId, Slot, Ticket};
use crate::scheduler::{SlotInput, Started};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Live {
    pub(super) fn decide(
        &mut self,
        slot: Slot,
        (free, closed, work): (&BTreeMap<String, Amounts>, &[String], Option<u64>),
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        if self.mode == Mode::Observe {
            return self.scheduler.pass(slot).map_err(|error| EventError::Schedule(error.to_string()));
        }
        let cluster = Arc::clone(self.scheduler.cluster());
        let mut arrivals = Arrivals::new(vec![0; cluster.ports().len()]);
        self.book.present(&mut arrivals);
        let free = self.free(free)?;
        let shut = closed.iter().chain(&self.drained).filter_map(|name| self.names.server(name).ok());
        let mut shut: Vec<ServerId> = shut.collect();
        shut.sort_unstable();
        shut.dedup();
        let weights = self.weights(&cluster);
        let input =
            SlotInput { arrivals: &arrivals, free: Some(&free), closed: &shut, weights: &weights, work };
        let exploit = self.explored.reaches(self.most_exploration);
        self.scheduler.limit_exploration(exploit);
        let decision = self.scheduler.decide_at(slot, &input);
        let decision = decision.map_err(|error| EventError::Schedule(error.to_string()))?.clone();
        if self.directed {
            let exploring = if exploit { 0 } else { self.unsure(decision.channels()) };
            self.explored.add(exploring, decision.channels().len() as u32);
        }
        effects.push(Effect::Decided { slot, certificate: decision.certificate().copied() });
        self.left = free;
        self.closed = shut;
        for &channel in decision.channels() {
            let server = cluster.channel(channel).server;
            let used = cluster.request(channel);
            if let Some(left) = self.left.cluster_mut() {
                left.iter_mut().zip(used).for_each(|(left, &amount)| *left -= amount);
            }
            if let Some(left) = self.left.server_mut(server) {
                left.iter_mut().zip(used).for_each(|(left, &amount)| *left -= amount);
            }
        }
        for ticket in self.book.start(&cluster, &decision).map(Ticket) {
            self.counts.starts += 1;
            let start = self.start_of(ticket, self.book.started(ticket)?);
            if self.mode == Mode::Advise {
                // The job waits again at its old place, and what it would have held is free.
                self.advice.give(&start);
                self.book.refuse(ticket)?;
            }
            effects.push(Effect::Started(start));
        }
        Ok(())
    }

    /// The devices that no job holds, and that nobody else uses.
    fn free(&self, told: &BTreeMap<String, Amounts>) -> Result<Capacity, EventError> {
        let mut free = self.book.free().clone();
        for (server, amounts) in told {
            let server = self.names.server(server)?;
            let Some(free) = free.server_mut(server) else { continue };
            for (device, free) in self.scheduler.cluster().devices().iter().zip(free) {
                if let Some(&amount) = amounts.get(device) {
                    *free = (*free).min(amount);
                }
            }
        }
        Ok(free)
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
