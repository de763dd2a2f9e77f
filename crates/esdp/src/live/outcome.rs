//! How things went: outcomes, lost servers, resets.

use super::Live;
use super::effect::Effect;
use super::event::{EventError, SpeedReport, WhichTasks};
use super::speeds::{SpeedScale, Told};
use crate::model::{ChannelId, PortId, Slot, Ticket};
use crate::scheduler::without_crossing;

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
                    let ratio = old.reference * old.unit / reference;
                    let up = if ratio > 1.0 { libm::frexp(ratio).1 } else { 0 };
                    let exponent = old.exponent.map_or(0, |exponent| exponent + up);
                    self.scales.insert(
                        port.name.clone(),
                        SpeedScale { reference, exponent: Some(exponent), unit: 1.0, is_own: false },
                    );
                    self.scheduler.rescale(PortId::at(index), libm::ldexp(ratio, -up));
                }
            }
        }
    }

    pub(super) fn report(
        &mut self,
        ticket: Ticket,
        tasks: &WhichTasks,
        (report, source): (SpeedReport, &str),
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
        let told = self.check_report(port, report)?;
        let (told, slowest) = self.of_job(ticket, tasks, told);
        let name = ticket.to_string();
        self.accept_if_new(ticket)?;
        let mut uses = 0;
        for task in chosen {
            let closed = self.book.report(ticket, task)?;
            match closed.channel {
                Some(channel) => {
                    let at = (closed.slot, channel);
                    let told =
                        if slowest.is_none_or(|slowest| slowest == channel) { told } else { Told::Lost };
                    uses += usize::from(self.take_outcome(at, told, (source, &name, true), effects)?);
                }
                None => self.counts.homeless += 1,
            }
        }
        if self.book.started(ticket).is_err() {
            self.ended.remove(ticket);
        }
        effects.push(Effect::Learned { uses });
        Ok(())
    }

    /// What the speed of a whole job says, where its tasks wait for each other: how fast it would have been
    /// on one server, and the channel that is believed to be the slowest.
    fn of_job(&self, ticket: Ticket, tasks: &WhichTasks, told: Told) -> (Told, Option<ChannelId>) {
        let Ok(started) = self.book.started(ticket) else { return (told, None) };
        let cluster = self.scheduler.cluster();
        let channels: Vec<ChannelId> = started.tasks.iter().filter_map(|task| task.channel).collect();
        let waits = started.port.is_some_and(|port| cluster.crossing(port).is_some());
        if !waits || *tasks != WhichTasks::All {
            return (told, None);
        }
        let alone = |speed| without_crossing(cluster, &channels, speed);
        let told = match told {
            Told::Utility(utility) => Told::Utility(alone(utility).min(1.0)),
            Told::Speed(speed) => Told::Speed(alone(speed)),
            Told::Lost => Told::Lost,
        };
        (told, self.scheduler.believed_slowest(&channels))
    }

    pub(super) fn observe(
        &mut self,
        id: &str,
        (port, group, server): (&str, &str, &str),
        (report, source): (SpeedReport, &str),
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
        let told = self.check_report(Some(cluster.channel(channel).port), report)?;
        let uses = usize::from(self.take_outcome((slot, channel), told, (source, id, false), effects)?);
        self.observed.add(id);
        effects.push(Effect::Learned { uses });
        Ok(())
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
        self.judge.forget(port, server);
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
