//! Job types: what jobs ask for on each server, on how many, and where they may run.
//!
//! Types are taken until they cover [`ENOUGH`] of the jobs and of the time that they ran, at most 64, or 16
//! on thousands of servers; or as many as are asked for. The others are counted and named.

use super::{Job, Nodes, PlayedServer};
use crate::summary::{Devices, Key};
use std::collections::{BTreeSet, HashMap};

/// The share of jobs and of time that is enough.
pub const ENOUGH: f64 = 0.99;
/// The most types that are chosen: fewer where that would be more channels than this.
const MOST_CHANNELS: usize = 20_000;

/// A job type.
#[derive(Debug, Clone, PartialEq)]
pub struct JobType {
    /// What its jobs ask for, in words.
    pub words: String,
    /// How much of each device a task asks for.
    pub request: Vec<f64>,
    /// The tasks of a job, which start together or not at all.
    pub tasks: u32,
    /// How many jobs.
    pub jobs: usize,
    /// What most of its jobs are called; empty where that is not told.
    pub label: String,
    /// The servers that may run them.
    pub servers: Vec<u32>,
}

/// Request, tasks, and where it may run.
type Sort = (Key, u32, u32);

/// What is known of a type while types are chosen.
#[derive(Default)]
struct Weight {
    jobs: usize,
    seconds: f64,
    labels: HashMap<u32, usize>,
}

/// The types that are played and the jobs' types; what is left out, in words.
pub(super) struct Types {
    pub(super) types: Vec<JobType>,
    pub(super) left_out: Vec<String>,
}

/// What types are chosen from.
pub(super) struct Choice<'a> {
    pub(super) devices: &'a Devices,
    /// By device, whether some server tells of it.
    pub(super) told: Vec<bool>,
    pub(super) nodes: &'a Nodes,
    pub(super) kinds: &'a [String],
    pub(super) labels: &'a [String],
    pub(super) servers: &'a [PlayedServer],
    pub(super) most: Option<usize>,
    /// One GPU for every task, whatever it asks for.
    pub(super) gpu: Option<usize>,
}

impl Choice<'_> {
    /// Chooses the types; jobs get the numbers of theirs, and those of no type are dropped.
    pub(super) fn choose(&self, jobs: &mut Vec<Job>) -> Types {
        let mut weights: HashMap<Sort, Weight> = HashMap::new();
        let sort = |job: &Job| (self.asked(&job.request), job.count, job.kind);
        for job in jobs.iter() {
            let weight = weights.entry(sort(job)).or_default();
            weight.jobs += 1;
            weight.seconds += job.duration * f64::from(job.count);
            if weight.labels.len() < 1000 {
                *weight.labels.entry(job.label).or_default() += 1;
            }
        }
        // Not over the table, whose order differs from run to run.
        let (all, seconds) =
            (jobs.len() as f64, jobs.iter().map(|job| job.duration * f64::from(job.count)).sum::<f64>());
        let mut ranked: Vec<(Sort, Weight)> = weights.into_iter().collect();
        let score = |weight: &Weight| weight.jobs as f64 / all + weight.seconds / seconds.max(1e-9);
        ranked.sort_by(|a, b| score(&b.1).total_cmp(&score(&a.1)).then(a.0.cmp(&b.0)));
        let (mut types, mut numbers, mut left_out) = (Vec::new(), HashMap::new(), Vec::new());
        let (mut jobs_left, mut seconds_left) = (all, seconds);
        let chosen = (MOST_CHANNELS / self.servers.len().max(1)).clamp(16, 64);
        for (sort, weight) in ranked {
            let full = match self.most {
                Some(most) => types.len() >= most,
                None => {
                    types.len() >= chosen
                        || jobs_left <= (1.0 - ENOUGH) * all && seconds_left <= (1.0 - ENOUGH) * seconds
                }
            };
            let servers = self.servers_of(&sort);
            if full || servers.len() < (sort.1 as usize).min(1) {
                let why = if full { "rare" } else { "no server has room" };
                left_out.push(format!("{} jobs of {} ({why})", weight.jobs, self.words(&sort)));
                continue;
            }
            jobs_left -= weight.jobs as f64;
            seconds_left -= weight.seconds;
            numbers.insert(sort, types.len() as u32);
            let label = weight.labels.iter().max_by_key(|(label, jobs)| (**jobs, std::cmp::Reverse(**label)));
            types.push(JobType {
                words: self.words(&sort),
                request: self.devices.amounts(&sort.0),
                tasks: sort.1,
                jobs: weight.jobs,
                label: label.map_or_else(String::new, |(label, _)| self.labels[*label as usize].clone()),
                servers,
            });
        }
        jobs.retain_mut(|job| match numbers.get(&sort(job)) {
            Some(number) => {
                job.kind = *number;
                true
            }
            None => false,
        });
        Types { types, left_out }
    }

    /// A request of what the servers tell, with a GPU where every task gets one.
    fn asked(&self, request: &Key) -> Key {
        let mut asked = *request;
        for (device, amount) in asked.iter_mut().enumerate() {
            if !self.told.get(device).copied().unwrap_or(false) {
                *amount = 0;
            }
        }
        if let Some(gpu) = self.gpu {
            asked[gpu] = asked[gpu].max(1_000_000);
        }
        asked
    }

    /// The servers that have room for a task, and that jobs for this place may use.
    fn servers_of(&self, (request, tasks, kind): &Sort) -> Vec<u32> {
        let amounts = self.devices.amounts(request);
        let room = |server: &PlayedServer| {
            let has = |(name, asked): (&String, &f64)| *asked <= server.amount(name).unwrap_or(0.0) + 1e-9;
            self.devices.names().iter().zip(&amounts).all(has)
        };
        let place = self.kinds[*kind as usize].as_str();
        let ran: Option<&BTreeSet<u32>> = self.nodes.by_kind.get(kind).filter(|_| !place.is_empty());
        let ran: Option<BTreeSet<&str>> =
            ran.map(|nodes| nodes.iter().map(|node| self.nodes.names[*node as usize].as_str()).collect());
        let models: Vec<&str> = place.split('|').filter(|model| !model.is_empty()).collect();
        let by_model = self.servers.iter().any(|server| models.contains(&server.kind.as_str()));
        let may = |server: &PlayedServer| match &ran {
            Some(ran) => ran.contains(server.name.as_str()),
            None if by_model => models.contains(&server.kind.as_str()),
            None => true,
        };
        let servers = self.servers.iter().enumerate().filter(|(_, server)| room(server) && may(server));
        let servers: Vec<u32> = servers.map(|(at, _)| at as u32).collect();
        let holds = |server: &u32| {
            let own = &self.servers[*server as usize];
            let each = |(name, asked): (&String, &f64)| match *asked > 0.0 {
                true => (own.amount(name).unwrap_or(0.0) / asked + 1e-9).floor(),
                false => f64::INFINITY,
            };
            self.devices.names().iter().zip(&amounts).map(each).fold(f64::INFINITY, f64::min)
        };
        // A job whose tasks do not fit at once would wait for ever.
        let fits = servers.iter().map(holds).sum::<f64>() >= f64::from(*tasks);
        if fits { servers } else { Vec::new() }
    }

    fn words(&self, (request, tasks, kind): &Sort) -> String {
        let amounts = self.devices.amounts(request);
        let told = self.devices.names().iter().zip(&amounts).filter(|(_, amount)| **amount > 0.0);
        let mut words =
            told.map(|(name, amount)| format!("{name} {}", round(*amount))).collect::<Vec<_>>().join(", ");
        if *tasks > 1 {
            words = format!("{tasks} x ({words})");
        }
        match self.kinds[*kind as usize].as_str() {
            "" => words,
            kind => format!("{words} in {kind}"),
        }
    }
}

fn round(amount: f64) -> f64 {
    (amount * 1000.0).round() / 1000.0
}
