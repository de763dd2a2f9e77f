//! The servers of a replay: a machine table as it is; or, without one, the nodes that accounting names, each
//! as large as the most it ran at once; or, where a number is asked for, equal ones.

use super::{Job, Nodes, ReplayError, ReplayPlan};
use crate::event::{GPU, Machine};
use crate::plan::{PlanError, check};
use crate::summary::{Devices, Key};
use esdp::rng::{Purpose, stream};
use rand::RngExt;
use std::collections::{BTreeMap, HashSet};

/// The most servers.
pub const MOST_SERVERS: usize = 20_000;
/// How busy equal servers are made.
const BUSY: f64 = 0.7;

/// A server of the replay.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedServer {
    /// Its name.
    pub name: String,
    /// Its kind, such as its GPU model; empty where that is not told.
    pub kind: String,
    /// What it has, by device.
    pub capacity: Vec<(String, f64)>,
}

impl PlayedServer {
    pub(super) fn of(machine: &Machine<'_>) -> Self {
        let capacity = machine.capacity.iter().map(|(name, amount)| ((*name).to_owned(), *amount)).collect();
        Self { name: machine.name.to_owned(), kind: machine.kind.to_owned(), capacity }
    }

    /// How much it has of a device; none where that is not told.
    pub fn amount(&self, device: &str) -> Option<f64> {
        self.capacity.iter().find(|(name, _)| name == device).map(|(_, amount)| *amount)
    }

    /// What to call its kind: `A100`, `CPU`.
    pub fn sort(&self) -> &str {
        match self.kind.as_str() {
            "" if self.amount(GPU).unwrap_or(0.0) > 0.0 => "GPU",
            "" => "CPU",
            kind => kind,
        }
    }
}

/// `40 servers: 4 x A100, 4 x V100, 32 x CPU`.
pub fn in_words(servers: &[PlayedServer]) -> String {
    let mut sorts: BTreeMap<&str, usize> = BTreeMap::new();
    servers.iter().for_each(|server| *sorts.entry(server.sort()).or_default() += 1);
    let mut sorts: Vec<(&str, usize)> = sorts.into_iter().collect();
    // What is rare comes first: it is what people look for.
    sorts.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(b.0)));
    let beyond = sorts.len().saturating_sub(8);
    let mut words: Vec<String> =
        sorts.iter().rev().take(8).rev().map(|(sort, n)| format!("{n} x {sort}")).collect();
    if beyond > 0 {
        words.push(format!("{beyond} more kinds"));
    }
    format!("{} server{}: {}", servers.len(), if servers.len() == 1 { "" } else { "s" }, words.join(", "))
}

/// The machine table, as it comes.
#[derive(Debug, Default)]
pub(super) struct Table {
    seen: HashSet<String>,
    pub(super) list: Vec<PlayedServer>,
    /// Machines beyond the most.
    pub(super) beyond: usize,
}

impl Table {
    pub(super) fn add(&mut self, machine: &Machine<'_>) {
        if self.seen.contains(machine.name) {
            return;
        }
        if self.list.len() == MOST_SERVERS {
            self.beyond += 1;
            return;
        }
        self.seen.insert(machine.name.to_owned());
        self.list.push(PlayedServer::of(machine));
    }
}

/// Where the servers come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineSource {
    /// A table, whole.
    Table,
    /// Some of a table.
    Drawn,
    /// One system, cut into equal parts.
    Cut,
    /// The nodes that accounting names.
    Named,
    /// Nobody told: equal ones.
    Assumed,
}

/// Chooses the servers; jobs are cut where a whole system is.
pub(super) fn choose(
    plan: &ReplayPlan,
    table: Table,
    nodes: &Nodes,
    devices: &Devices,
    jobs: &mut [Job],
    length: f64,
) -> Result<(Vec<PlayedServer>, MachineSource), ReplayError> {
    if let Some(servers) = plan.servers {
        check("servers", servers as f64, 1.0, MOST_SERVERS as f64)?;
    }
    let Table { list, .. } = table;
    match (list.as_slice(), plan.servers) {
        ([system], Some(parts)) if parts > 1 => Ok((cut(system, parts, devices, jobs), MachineSource::Cut)),
        ([system], None) if nodes.names.is_empty() => {
            Err(ReplayError::OneMachine { name: system.name.clone() })
        }
        ([], None) if nodes.names.is_empty() => Err(ReplayError::NoMachines),
        ([], Some(count)) if nodes.names.is_empty() => {
            Ok((equal(count, devices, jobs, length), MachineSource::Assumed))
        }
        ([], None) => Ok((named(nodes, devices, jobs)?, MachineSource::Named)),
        ([], Some(count)) => {
            Ok((drawn(named(nodes, devices, jobs)?, count, plan.seed)?, MachineSource::Drawn))
        }
        (_, None) => Ok((list, MachineSource::Table)),
        (all, Some(count)) if all.len() == count => Ok((list, MachineSource::Table)),
        (_, Some(count)) => Ok((drawn(list, count, plan.seed)?, MachineSource::Drawn)),
    }
}

/// Some of the machines, in the order of the table.
fn drawn(mut list: Vec<PlayedServer>, count: usize, seed: u64) -> Result<Vec<PlayedServer>, ReplayError> {
    if count > list.len() {
        let accepted = format!("at most the {} that the files name", list.len());
        return Err(PlanError { key: "servers", value: count.to_string(), accepted }.into());
    }
    let mut rng = stream(seed, Purpose::Cluster, 0, 0);
    let mut order: Vec<usize> = (0..list.len()).collect();
    for at in 0..count {
        let other = rng.random_range(at..order.len());
        order.swap(at, other);
    }
    let mut keep = vec![false; list.len()];
    order[..count].iter().for_each(|at| keep[*at] = true);
    let mut keep = keep.into_iter();
    list.retain(|_| keep.next().unwrap_or(false));
    Ok(list)
}

/// A system in equal parts; a job that no part can hold becomes tasks that one can.
fn cut(system: &PlayedServer, parts: usize, devices: &Devices, jobs: &mut [Job]) -> Vec<PlayedServer> {
    let own: Vec<(String, f64)> = system
        .capacity
        .iter()
        .map(|(name, amount)| (name.clone(), (amount / parts as f64).floor().max(1.0)))
        .collect();
    let most =
        |name: &String| own.iter().find(|(own, _)| own == name).map_or(f64::INFINITY, |(_, amount)| *amount);
    let limits: Vec<f64> = devices.names().iter().map(most).collect();
    for job in jobs {
        let asked = devices.amounts(&job.request);
        let tasks = asked.iter().zip(&limits).map(|(asked, most)| (asked / most).ceil()).fold(1.0, f64::max);
        let tasks = (tasks as i64).clamp(1, 1 << 20);
        job.request
            .iter_mut()
            .for_each(|amount| *amount = amount.div_euclid(tasks) + i64::from(*amount % tasks > 0));
        job.count = job.count.saturating_mul(tasks as u32);
    }
    let name = |at: usize| format!("{}-{}", system.name, at + 1);
    (0..parts)
        .map(|at| PlayedServer { name: name(at), kind: system.kind.clone(), capacity: own.clone() })
        .collect()
}

/// Equal servers: each has room for the largest request, and all are busy to a share that leaves some room.
fn equal(count: usize, devices: &Devices, jobs: &[Job], length: f64) -> Vec<PlayedServer> {
    let names = devices.names();
    let (mut largest, mut demand) = (vec![0.0_f64; names.len()], vec![0.0; names.len()]);
    for job in jobs {
        for (at, amount) in devices.amounts(&job.request).into_iter().enumerate() {
            largest[at] = largest[at].max(amount);
            demand[at] += amount * f64::from(job.count) * job.duration / length;
        }
    }
    let amount = |at: usize| largest[at].max((demand[at] / BUSY / count as f64).ceil());
    let asked = (0..names.len()).filter(|at| largest[*at] > 0.0);
    let capacity: Vec<(String, f64)> = asked.map(|at| (names[at].clone(), amount(at))).collect();
    let server =
        |at| PlayedServer { name: format!("s{}", at + 1), kind: String::new(), capacity: capacity.clone() };
    (0..count).map(server).collect()
}

/// The nodes that jobs ran on, each as large as the most that ran there at once.
fn named(nodes: &Nodes, devices: &Devices, jobs: &[Job]) -> Result<Vec<PlayedServer>, ReplayError> {
    // Ends before starts of the same moment: what is given back can be taken.
    let mut events: BTreeMap<u32, Vec<(f64, bool, Key)>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.start.is_finite()) {
        for &node in &nodes.lists[job.nodes as usize] {
            let own = events.entry(node).or_default();
            own.push((job.start, true, job.request));
            own.push((job.start + job.duration, false, job.request));
        }
    }
    if events.is_empty() {
        return Err(ReplayError::NoStarts);
    }
    let server = |(node, mut events): (u32, Vec<(f64, bool, Key)>)| {
        events.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut used, mut most) = (Key::default(), Key::default());
        for (_, starts, request) in events {
            for (device, amount) in request.into_iter().enumerate() {
                used[device] = used[device].saturating_add(if starts { amount } else { -amount });
                most[device] = most[device].max(used[device]);
            }
        }
        let capacity = devices.names().iter().cloned().zip(devices.amounts(&most)).collect();
        PlayedServer { name: nodes.names[node as usize].clone(), kind: String::new(), capacity }
    };
    Ok(events.into_iter().map(server).collect())
}
