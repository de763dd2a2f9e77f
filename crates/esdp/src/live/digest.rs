//! Digests of the facts of a state: two that are equal were given the same answers.
//!
//! They cover what was decided and what became of it, by name, and nothing that learning computes: another
//! build may learn otherwise from the same events, and its state is as right.

use super::Live;
use crate::model::{Capacity, Fnv, PortId, ServerId};
use std::mem::discriminant;

impl Live {
    /// A digest of the slot, the next ticket and what became of events; it costs the same however large the
    /// state is.
    pub fn digest(&self) -> u64 {
        let counts = self.counts;
        let mut hash = Fnv::default();
        for fact in [
            self.scheduler.slot().0,
            self.book.next_ticket().0,
            counts.events,
            counts.duplicates,
            counts.rejected,
            counts.starts,
        ] {
            hash.number(fact);
        }
        hash.finish()
    }

    /// The same with the whole book: who waits, in which order and since when; who runs where, with how many
    /// tasks and under which ticket; what is free; which servers are drained; who decides. It costs some
    /// hundred nanoseconds for each job and server.
    pub fn book_digest(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.number(self.digest());
        let cluster = self.scheduler.cluster();
        for (index, port) in cluster.ports().iter().enumerate() {
            let waiting = self.book.waiting(PortId::at(index));
            hash.text(port);
            hash.number(waiting.len() as u64);
            for job in waiting {
                hash.text(self.jobs.get(&job.job).map_or("", |job| &job.name));
                hash.number(job.weight.to_bits());
                hash.number(job.submitted.0);
            }
        }
        // Few jobs have any, and without them the digest is what it was before there were traits.
        for job in self.jobs.values() {
            if let Some(traits) = &job.traits {
                hash.text(&job.name);
                hash.bytes(format!("{traits:?}").as_bytes());
            }
        }
        for (ticket, started) in self.book.starts() {
            hash.number(ticket.0);
            hash.number(started.slot.0);
            hash.number(u64::from(started.accepted) | u64::from(started.over) << 1);
            hash.text(self.jobs.get(&started.job.job).map_or("", |job| &job.name));
            for task in &started.tasks {
                let server = task.server.map_or("", |server| &cluster.servers()[server.index()]);
                let group = task.channel.map_or("", |id| cluster.group_name(cluster.task_group(id)));
                hash.text(server);
                hash.text(group);
                hash.number(u64::from(task.open));
                task.amounts.iter().for_each(|&amount| hash.number(amount));
            }
        }
        self.add_free(&mut hash, self.book.free());
        hash.number(self.drained.len() as u64);
        self.drained.iter().for_each(|server| hash.text(server));
        hash.bytes(format!("{:?}", discriminant(&self.mode)).as_bytes());
        hash.number(self.most_exploration.map_or(u64::MAX, f64::to_bits));
        if let Some((job, since)) = self.reserved() {
            hash.text(job);
            hash.number(since.0);
        }
        hash.finish()
    }

    fn add_free(&self, hash: &mut Fnv, free: &Capacity) {
        let servers = self.scheduler.cluster().servers();
        for (index, server) in servers.iter().enumerate() {
            hash.text(server);
            let free = free.server(ServerId::at(index)).into_iter().flatten();
            free.for_each(|&amount| hash.number(amount));
        }
        free.cluster().into_iter().flatten().for_each(|&amount| hash.number(amount));
    }

    /// About how many names the whole book has, for those who ask how much its digest costs.
    pub fn book_size(&self) -> usize {
        self.jobs.len() + self.ended.len() + self.scheduler.cluster().servers().len()
    }
}
