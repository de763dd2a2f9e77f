//! Tasks that the cluster runs elsewhere than was decided.

use super::Live;
use super::effect::Effect;
use super::event::{EventError, WhichTasks};
use crate::model::{ChannelId, PortId, ServerId, Ticket};
use crate::scheduler::{StartedTask, TicketError};

impl Live {
    /// Books tasks on the server where they run. What is true out there is booked even if the server has no
    /// room for it or the port does not use the server: then nothing is free there, and nothing is learned.
    pub(super) fn move_tasks(
        &mut self,
        ticket: Ticket,
        tasks: &WhichTasks,
        server: &str,
        effects: &mut Vec<Effect>,
    ) -> Result<(), EventError> {
        let to = self.names.server(server)?;
        let started = self.book.started(ticket)?;
        let all = started.tasks.len();
        let (named, from) = match tasks {
            WhichTasks::All => (0..all, None),
            WhichTasks::On(from) => (0..all, Some(self.names.server(from)?)),
            WhichTasks::One(task) => match *task as usize {
                task if task < all => (task..task + 1, None),
                task => return Err(TicketError::UnknownTask { ticket, task, tasks: all }.into()),
            },
        };
        let mut chosen = Vec::new();
        for (task, started_task) in started.tasks.iter().enumerate().take(named.end).skip(named.start) {
            if started_task.server != Some(to) && (from.is_none() || started_task.server == from) {
                chosen.push((task, self.same_tasks_on(started.port, started_task, to)));
            }
        }
        if chosen.is_empty() {
            return self.again(format!("these tasks of {ticket} run on server `{server}`"), effects);
        }
        let (slot, accepted) = (started.slot, started.accepted);
        for (task, channel) in chosen {
            let before = self.book.relocate(ticket, task, to, channel)?;
            if let Some(before) = before.filter(|_| accepted) {
                self.censor(&[before]);
                channel.into_iter().for_each(|channel| self.scheduler.commit(slot, &[channel]));
            }
        }
        self.accept_if_new(ticket)
    }

    /// The channel on a server for tasks of the same group; none if the port has none there, or has left.
    fn same_tasks_on(&self, port: Option<PortId>, task: &StartedTask, to: ServerId) -> Option<ChannelId> {
        let cluster = self.scheduler.cluster();
        let (port, group) = (port?, cluster.task_group(task.channel?));
        let channels = self.names.channels(&cluster.ports()[port.index()], &cluster.servers()[to.index()]);
        channels.ok()?.iter().copied().find(|&channel| cluster.task_group(channel) == group)
    }
}
