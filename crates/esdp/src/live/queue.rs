//! The rule for queues by name: what a decision says of it, and how a job stands that waits.

use super::event::Decided;
use super::{Live, Mode};
use crate::model::{Arrivals, JobId, PortId, Room, Slot, SlotView};
use crate::scheduler::{BookedStart, IdleTime, Objective, QueueFacts};
use serde::{Deserialize, Serialize};

/// What a decision did beside its starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DecidedQueue {
    /// The job with a reservation in this slot, whether it starts or not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reserved: String,
    /// How many jobs of its port may follow it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub batch: u32,
    /// The share of all devices that idles for it, from 0 to 1.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub idle: f64,
    /// Ports of which a job waits for a faster server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// The share of all devices that idles because of that, from 0 to 1.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub idle_held: f64,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// How a job stands that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Its place among the jobs of its port, from 1.
    pub position: usize,
    /// The slot in which it was submitted.
    pub since: Slot,
    /// Since which slot devices are kept free for it, if they are.
    pub reserved: Option<Slot>,
    /// Whether jobs of its port waited for a faster server in the last slot.
    pub held: bool,
}

impl Live {
    /// What a slot maximises.
    pub fn objective(&self) -> Objective {
        self.objective.unwrap_or_default()
    }

    /// Whether what is learned does not depend on the unit of speeds. Not so before the rule for queues was
    /// ever used, so that old journals give old snapshots.
    pub(super) fn is_unit_free(&self) -> bool {
        self.objective == Some(Objective::Relative) || self.queue.is_used()
    }

    /// What idled for reservations and for jobs that wait for a faster server.
    pub fn idle(&self) -> IdleTime {
        self.queue.idle()
    }

    /// The job for which devices are kept free, and since when.
    pub fn reserved(&self) -> Option<(&str, Slot)> {
        let reserved = self.queue.reserved()?;
        Some((self.jobs.get(&reserved.job)?.name.as_str(), reserved.since))
    }

    /// Why jobs of a port can never start on the cluster as it is described, however empty it is; none if
    /// that is not certain.
    pub fn never_starts(&self, port: &str) -> Option<String> {
        let cluster = self.scheduler.cluster();
        let port = self.names.port(port).ok()?;
        let channels = cluster.channels_of(port);
        if channels.is_empty() {
            return Some("no server allows its jobs".to_owned());
        }
        let (arrivals, mut room) = (Arrivals::default(), Room::default());
        room.reset(&SlotView::new(cluster, Slot::FIRST, &arrivals, cluster.capacity()));
        let mut all = 0;
        for (index, group) in cluster.task_groups().iter().enumerate().filter(|(_, group)| group.port == port)
        {
            let of = channels.iter().filter(|&&channel| cluster.task_group(channel) == index);
            let most = of.map(|&channel| u64::from(room.copies(cluster, channel, group.count))).sum::<u64>();
            if most < u64::from(group.minimum) {
                let (name, needed) = (cluster.group_name(index), group.minimum);
                return Some(format!(
                    "its jobs need {needed} tasks `{name}`, the whole cluster holds {most}"
                ));
            }
            all += most.min(u64::from(group.count));
        }
        let needed = u64::from(cluster.minimum(port));
        (all < needed).then(|| format!("its jobs need {needed} tasks at once, the whole cluster holds {all}"))
    }

    /// How a job stands, if it waits. The cost is that of a search in a sorted list.
    pub fn waiting(&self, job: &str) -> Option<Standing> {
        let &id = self.by_name.get(job)?;
        let known = &self.jobs[&id];
        let port = self.names.port(&known.port).ok()?;
        let place = self.book.place(port, known.weight, id)?;
        let waiting = self.book.waiting_from(port, place).next()?;
        let reserved = self.queue.reserved().filter(|reserved| reserved.job == id);
        Some(Standing {
            position: place + 1,
            since: waiting.submitted,
            reserved: reserved.map(|reserved| reserved.since),
            held: self.last.held.contains(&port),
        })
    }

    /// Why a job of a port was passed over by the rule for queues, if it was.
    pub(super) fn why_queue(&self, port: PortId) -> Option<(super::HeldReason, String)> {
        if let Some((job, since)) = self.reserved() {
            let own = self.queue.reserved().is_some_and(|reserved| reserved.port == port);
            let why = match own {
                true => format!("devices are kept free for job `{job}` since {since}, until it fits"),
                false => format!("devices are kept free for job `{job}`, which waits since before {since}"),
            };
            return Some((super::HeldReason::Reserved, why));
        }
        let held = self.last.held.contains(&port);
        let why = "the free servers are slow for it, and faster ones are expected to be free soon";
        held.then(|| (super::HeldReason::Faster, why.to_owned()))
    }

    /// The facts of a decision by name.
    pub(super) fn named(&self, facts: &QueueFacts) -> DecidedQueue {
        let ports = self.scheduler.cluster().ports();
        let name = |job: JobId| self.jobs.get(&job).map_or_else(String::new, |job| job.name.clone());
        DecidedQueue {
            reserved: facts.reserved.map_or_else(String::new, |(_, job)| name(job)),
            batch: facts.batch,
            idle: facts.idle,
            held: facts.held.iter().map(|port| ports[port.index()].clone()).collect(),
            idle_held: facts.idle_held,
        }
    }

    /// The facts of a decision, if they fit the state.
    pub(super) fn facts(&self, decided: &Decided) -> Result<Option<QueueFacts>, String> {
        let Some(queue) = &decided.queue else { return Ok(None) };
        for (key, share) in [("idle", queue.idle), ("idle_held", queue.idle_held)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("`queue.{key}` is {share}, expected a share from 0 to 1"));
            }
        }
        let reserved = match queue.reserved.as_str() {
            "" => None,
            job => {
                let waits = self.by_name.get(job).filter(|&&id| self.book.ticket_of(id).is_none());
                let &id = waits.ok_or_else(|| format!("job `{job}` has a reservation, but does not wait"))?;
                Some((self.names.port(&self.jobs[&id].port).map_err(|error| error.to_string())?, id))
            }
        };
        let held: Result<_, _> = queue.held.iter().map(|port| self.names.port(port)).collect();
        Ok(Some(QueueFacts {
            reserved,
            batch: queue.batch,
            idle: queue.idle,
            held: held.map_err(|error| error.to_string())?,
            idle_held: queue.idle_held,
            paces: decided.starts.iter().map(|start| start.pace).collect(),
        }))
    }

    /// Books the facts of a decision. Advice starts nothing.
    pub(super) fn book_facts(&mut self, slot: Slot, facts: QueueFacts, mut starts: Vec<BookedStart>) {
        if self.mode != Mode::Place {
            starts.clear();
        }
        self.queue.book(slot, &facts, &starts);
        self.last.held = facts.held;
    }
}
