//! How things went: outcomes, lost servers, resets.

use super::Live;
use super::event::{Effect, EventError, SpeedReport, WhichTasks};
use super::speeds::{Scaled, SpeedScale};
use crate::model::{ChannelId, Observation, Outcome, PortId, Slot, Ticket};

impl Live {
    /// Gives every port with a reference its scale, and a new one where the reference has changed.
    pub(super) fn scale_ports(&mut self) {
        for index in 0..self.described.ports.len() {
            let port = &self.described.ports[index];
            let Some(reference) = port.reference else { continue };
            match self.scales.get(&port.name).copied() {
                Some(scale) if scale.reference == reference => {}
                None => drop(self.scales.insert(port.name.clone(), SpeedScale::new(Some(reference)))),
                Some(old) => {
                    // The same speeds in another unit; a power of two larger where they would exceed 1.
                    let ratio = old.reference / reference;
                    let up = if ratio > 1.0 { libm::frexp(ratio).1 } else { 0 };
                    let exponent = old.exponent.map_or(0, |exponent| exponent + up);
                    self.scales.insert(port.name.clone(), SpeedScale { reference, exponent: Some(exponent) });
                    self.scheduler.rescale(PortId::at(index), libm::ldexp(ratio, -up));
                }
            }
        }
    }

    pub(super) fn report(
        &mut self,
        ticket: Ticket,
        tasks: &WhichTasks,
        report: SpeedReport,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        let started = self.book.started(ticket)?;
        let chosen: Vec<usize> = match tasks {
            WhichTasks::One(task) => vec![*task as usize],
            WhichTasks::All => (0..started.tasks.len()).filter(|&task| started.tasks[task].open).collect(),
            WhichTasks::On(server) => {
                let server = self.names.server(server)?;
                let on = |task: &usize| started.tasks[*task].server == Some(server);
                let all: Vec<usize> = (0..started.tasks.len()).filter(on).collect();
                let none = || EventError::Unknown {
                    what: "task on server",
                    name: self.scheduler.cluster().servers()[server.index()].clone(),
                };
                let first = *all.first().ok_or_else(none)?;
                let open: Vec<usize> = all.into_iter().filter(|&task| started.tasks[task].open).collect();
                // All of them were reported: the first says so.
                if open.is_empty() { vec![first] } else { open }
            }
        };
        let port = started.port;
        // What is no task, or was reported, is found before anything changes.
        if let [task] = chosen[..]
            && started.tasks.get(task).is_none_or(|task| !task.open)
        {
            self.book.report(ticket, task)?;
        }
        if chosen.is_empty() {
            return Err(crate::scheduler::TicketError::Reported { ticket, task: 0 }.into());
        }
        let scaled = self.scaled(port, report)?;
        self.accept_if_new(ticket)?;
        let mut uses = 0;
        for task in chosen {
            let closed = self.book.report(ticket, task)?;
            match closed.channel {
                Some(channel) => uses += usize::from(self.learn(closed.slot, channel, scaled)?),
                None => self.counts.homeless += 1,
            }
        }
        if self.book.started(ticket).is_err() {
            self.ended.remove(ticket);
        }
        effects.push(Effect::Learned { uses });
        Ok(())
    }

    pub(super) fn observe(
        &mut self,
        id: &str,
        (port, group, server): (&str, &str, &str),
        report: SpeedReport,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        if self.observed.knows(id) {
            return self.again(format!("`{id}` was reported before"), effects);
        }
        let cluster = self.scheduler.cluster();
        let mut channels = self.names.channels(port, server)?.iter().copied();
        let channel = channels.find(|&channel| cluster.group_name(cluster.task_group(channel)) == group);
        let channel =
            channel.ok_or_else(|| EventError::Unknown { what: "task group", name: group.to_owned() })?;
        let slot = self.scheduler.slot();
        if slot < Slot::FIRST {
            return Err(EventError::NoSlot);
        }
        let scaled = self.scaled(Some(cluster.channel(channel).port), report)?;
        let uses = usize::from(self.learn(slot, channel, scaled)?);
        self.observed.add(id);
        effects.push(Effect::Learned { uses });
        Ok(())
    }

    /// A report in the port's scale, which grows if it must.
    fn scaled(&mut self, port: Option<PortId>, report: SpeedReport) -> Result<Scaled, EventError> {
        let Some(port) = port else {
            // The port has left: whatever it is, nothing is learned from it.
            return SpeedScale::new(None).take(report).map(|(scaled, _)| scaled);
        };
        if let SpeedReport::Lost | SpeedReport::Utility(_) = report {
            return SpeedScale::new(None).take(report).map(|(scaled, _)| scaled);
        }
        let spec = &self.described.ports[port.index()];
        let mut scale =
            self.scales.get(&spec.name).copied().unwrap_or_else(|| SpeedScale::new(spec.reference));
        let (scaled, raised) = scale.take(report)?;
        self.scales.insert(spec.name.clone(), scale);
        if let Some(factor) = raised {
            self.scheduler.rescale(port, factor);
        }
        Ok(scaled)
    }

    /// Whether something was learned.
    fn learn(&mut self, slot: Slot, channel: ChannelId, scaled: Scaled) -> Result<bool, EventError> {
        let outcome = match scaled {
            Scaled::Utility(utility) => Outcome::Ran(utility),
            Scaled::Speed(speed) => Outcome::Ran(self.scheduler.cluster().net_utility(channel, speed)),
            Scaled::Lost => Outcome::Censored,
        };
        let seen = Observation { slot, channel, outcome };
        self.scheduler.observe(&seen).map_err(|error| EventError::Schedule(error.to_string()))?;
        let learned = outcome != Outcome::Censored;
        self.counts.learned += u64::from(learned);
        Ok(learned)
    }

    /// Everything on a server is lost, and it takes nothing new until it is opened.
    pub(super) fn lose_server(&mut self, server: &str, effects: &mut Vec<Effect>) -> Result<(), EventError> {
        let id = self.names.server(server)?;
        let on = |task: &crate::scheduler::StartedTask| task.server == Some(id);
        let lost = self.book.starts().filter(|(_, started)| !started.over && started.tasks.iter().any(on));
        let lost: Vec<_> = lost.map(|(ticket, started)| (ticket, started.job.job)).collect();
        for (ticket, job) in lost {
            let censored = self.book.lose(ticket)?;
            self.censor(&censored);
            self.lost(job, &format!("server `{server}` was lost"), effects);
        }
        self.drained.insert(server.to_owned());
        Ok(())
    }

    pub(super) fn reset(&mut self, port: Option<&str>, server: Option<&str>) -> Result<(), EventError> {
        let at = port.map(|port| self.names.port(port)).transpose()?;
        let on = server.map(|server| self.names.server(server)).transpose()?;
        let cluster = std::sync::Arc::clone(self.scheduler.cluster());
        for (index, channel) in cluster.channels().iter().enumerate() {
            if at.is_none_or(|at| channel.port == at) && on.is_none_or(|on| channel.server == on) {
                self.scheduler.reset(ChannelId::at(index));
            }
        }
        if server.is_none() {
            // Nothing of these ports is known any more: their scales start again.
            let departed = |name: &str| port.is_none_or(|port| port == name);
            self.scales.retain(|name, _| !departed(name));
            self.scheduler.forget(|key| departed(&key.port));
            self.scale_ports();
        }
        Ok(())
    }
}
