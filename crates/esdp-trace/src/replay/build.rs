//! A played trace: jobs, types and servers.

use super::servers::{self, MachineSource};
use super::types::{Choice, Types};
use super::{Chosen, Job, JobType, Mapping, Nodes, PlayedServer, RelativeSpeeds, Replay, ReplayError, time};
use crate::event::unit;
use crate::plan::{Column, Units};
use crate::relative::{NodeSpeeds, SpeedTrial};
use esdp::rng::{Purpose, stream};
use rand::RngExt;
use std::collections::HashMap;

/// A job of a played trace.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedJob {
    /// Its id in the trace.
    pub id: String,
    /// The number of its type.
    pub kind: usize,
    /// When it arrived, in seconds after the start of the window.
    pub arrival: f64,
    /// How long it ran.
    pub duration: f64,
    /// What became of it, where the trace tells it.
    pub logged: Option<Logged>,
}

/// What became of a job in the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    /// When it started, in seconds after the start of the window.
    pub start: f64,
    /// The servers it ran on, one per task; empty where they are not told or are no servers of the replay.
    pub servers: Vec<u32>,
}

/// How long jobs wait today, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Today {
    /// Of how many jobs that is known.
    pub jobs: usize,
    /// From arrival to start.
    pub mean_wait: f64,
    /// The median of that.
    pub median_wait: f64,
    /// And the 99th percentile.
    pub p99_wait: f64,
    /// From arrival to end.
    pub mean_completion: f64,
}

/// A trace that is ready to be played.
#[derive(Debug, Clone)]
pub struct Played {
    /// The window.
    pub window: Chosen,
    /// The servers.
    pub servers: Vec<PlayedServer>,
    /// Where they come from.
    pub machines: MachineSource,
    /// The job types.
    pub types: Vec<JobType>,
    /// The jobs, in the order of their arrival.
    pub jobs: Vec<PlayedJob>,
    /// How many jobs of the window have a known length.
    pub tasks: usize,
    /// Where in the trace jobs are, in words.
    pub elsewhere: String,
    /// The devices.
    pub devices: Vec<String>,
    /// How busy the scarcest device would be at mean speeds, as a share.
    pub load: f64,
    /// What was left out or assumed, a sentence each.
    pub notes: Vec<String>,
    /// Speeds from a table, and which row each type has.
    pub table: Option<(RelativeSpeeds, Mapping)>,
    /// Speeds from accounting.
    pub nodes: Option<NodeSpeeds>,
    /// How well they foretell jobs that they were not estimated from.
    pub tried: Option<SpeedTrial>,
    /// Measured fluctuation; empty where there is none.
    pub series: Vec<Vec<f64>>,
    pub(super) requests: Vec<Vec<u64>>,
    pub(super) capacities: Vec<Vec<u64>>,
}

impl Replay {
    /// Chooses servers and types.
    ///
    /// # Errors
    /// When there is nothing to play, or no room for it.
    pub fn finish(mut self) -> Result<Played, ReplayError> {
        if self.overflow {
            return Err(ReplayError::TooManyJobs);
        }
        if self.jobs.is_empty() {
            return Err(self.empty());
        }
        let elsewhere = self.elsewhere();
        let gpu = self.plan.gpu_each.then(|| self.gpu());
        let Self {
            plan, window, devices, table, mut jobs, nodes, kinds, labels, speeds, cells, halves, ..
        } = self;
        jobs.sort_by(|a, b| a.arrival.total_cmp(&b.arrival));
        let mut notes = Vec::new();
        let mut note = |count: usize, words: &str| {
            if count > 0 {
                notes.push(format!("{count} {words}"));
            }
        };
        note(self.unknown, "jobs of unknown length (still running, or without an end) are left out.");
        note(
            self.stopped,
            "jobs failed, were cancelled or ran out of time: they are played for as long as they ran.",
        );
        note(self.cut, "jobs have more tasks than are played of one (--tasks).");
        note(table.beyond, "machines are beyond the most that are played.");
        let (servers, machines) =
            servers::choose(&plan, table, &nodes, &devices, &mut jobs, window.length())?;
        let told: Vec<bool> = devices
            .names()
            .iter()
            .map(|name| servers.iter().any(|server| server.amount(name).is_some()))
            .collect();
        let tasks = jobs.len();
        for (name, _) in devices.names().iter().zip(&told).filter(|(_, told)| !**told) {
            notes.push(format!(
                "Jobs ask for {} ({name}), of which the machine table does not tell: it is left out.",
                unit(name)
            ));
        }
        let choice = Choice {
            devices: &devices,
            told,
            nodes: &nodes,
            kinds: &kinds.names,
            labels: &labels.names,
            servers: &servers,
            most: plan.types,
            gpu,
        };
        let Types { types, left_out } = choice.choose(&mut jobs);
        if types.is_empty() {
            return Err(ReplayError::NoRoom(left_out.into_iter().take(3).collect::<Vec<_>>().join(", ")));
        }
        if !left_out.is_empty() {
            let shown = left_out.iter().take(4).cloned().collect::<Vec<_>>().join("; ");
            let more = left_out.len().saturating_sub(4);
            let more = if more > 0 { format!("; and {more} more types") } else { String::new() };
            notes.push(format!("{} of {tasks} jobs are left out: {shown}{more}.", tasks - jobs.len()));
        }
        let units = units(&types, devices.names());
        let requests = units.requests().to_vec();
        let capacities: Vec<Vec<u64>> =
            servers.iter().map(|server| units.capacity(&as_server(server))).collect();
        let load = |jobs: &[Job]| load(jobs, &types, &requests, &capacities, window.length());
        if let Some(wanted) = plan.load {
            let keep = (wanted / load(&jobs)).min(1.0);
            let mut at = 0;
            jobs.retain(|_| {
                at += 1;
                stream(plan.seed, Purpose::Arrivals, at - 1, 1).random::<f64>() < keep
            });
        }
        if jobs.is_empty() {
            return Err(ReplayError::NoneLeft { load: plan.load.unwrap_or(0.0), jobs: tasks });
        }
        let load = load(&jobs);
        let places: HashMap<&str, u32> =
            servers.iter().zip(0..).map(|(server, at)| (server.name.as_str(), at)).collect();
        let jobs = jobs.iter().map(|job| played(job, &types, &nodes, &places)).collect();
        let table = speeds.means(&types, &servers).map(|(means, mapping)| (RelativeSpeeds(means), mapping));
        let devices = units.names().map(str::to_owned).collect();
        let (nodes, series) = (cells.estimate(), speeds.fluctuation());
        let tried = nodes.as_ref().filter(|nodes| nodes.tells()).and_then(|_| SpeedTrial::new(&halves));
        debug_assert!(table.is_some() || !speeds.has_table());
        Ok(Played {
            window,
            servers,
            machines,
            types,
            jobs,
            tasks,
            elsewhere,
            devices,
            load,
            notes,
            table,
            nodes,
            tried,
            series,
            requests,
            capacities,
        })
    }
}

fn as_server(server: &PlayedServer) -> crate::plan::Server {
    crate::plan::Server::having(server.capacity.clone())
}

fn played(job: &Job, types: &[JobType], nodes: &Nodes, places: &HashMap<&str, u32>) -> PlayedJob {
    let kind = job.kind as usize;
    let names = nodes.lists[job.nodes as usize].iter().map(|node| nodes.names[*node as usize].as_str());
    let servers: Option<Vec<u32>> = names.map(|name| places.get(name).copied()).collect();
    let may = |servers: &Vec<u32>| {
        servers.len() == types[kind].tasks as usize
            && servers.iter().all(|at| types[kind].servers.contains(at))
    };
    let servers = servers.filter(may).unwrap_or_default();
    let logged = job.start.is_finite().then_some(Logged { start: job.start, servers });
    PlayedJob { id: job.id.to_string(), kind, arrival: job.arrival, duration: job.duration, logged }
}

/// Whole units in which every request is whole, where there are any; else fine ones.
fn units(types: &[JobType], names: &[String]) -> Units {
    let mut columns = Vec::new();
    for (device, name) in names.iter().enumerate() {
        let amounts: Vec<f64> = types.iter().map(|kind| kind.request[device]).collect();
        let least = amounts.iter().copied().filter(|amount| *amount > 0.0).fold(f64::INFINITY, f64::min);
        if least.is_infinite() {
            continue;
        }
        let whole =
            |size: &f64| amounts.iter().all(|amount| (amount / size - (amount / size).round()).abs() < 1e-6);
        let sizes = [least, 1.0, 0.5, 0.25, 0.1, 0.05, 0.01];
        let size = sizes.into_iter().find(whole).unwrap_or(least / 64.0);
        columns.push(Column { name: name.clone(), size: Some(size), amounts });
    }
    Units::new(types.len(), &columns)
}

/// How busy the scarcest device is.
fn load(jobs: &[Job], types: &[JobType], requests: &[Vec<u64>], capacities: &[Vec<u64>], length: f64) -> f64 {
    let mut asked = vec![0.0; requests[0].len()];
    for job in jobs {
        let seconds = job.duration * f64::from(types[job.kind as usize].tasks);
        asked
            .iter_mut()
            .zip(&requests[job.kind as usize])
            .for_each(|(sum, units)| *sum += *units as f64 * seconds);
    }
    let there = |device: usize| capacities.iter().map(|own| own[device] as f64).sum::<f64>().max(1.0);
    asked.iter().enumerate().map(|(device, asked)| asked / there(device) / length).fold(0.0, f64::max)
}

impl Played {
    /// The speeds of servers by those of nodes of their names; 1 where a node is not known.
    pub fn by_node(&self, nodes: &NodeSpeeds, speeds: &[f64]) -> Vec<f64> {
        let known: HashMap<&str, f64> =
            nodes.nodes.iter().zip(speeds).map(|(node, speed)| (node.name.as_str(), *speed)).collect();
        self.servers.iter().map(|server| known.get(server.name.as_str()).copied().unwrap_or(1.0)).collect()
    }

    /// How long jobs wait today; none where the trace does not tell.
    pub fn today(&self) -> Option<Today> {
        let told =
            || self.jobs.iter().filter_map(|job| Some((job, job.logged.as_ref()?.start - job.arrival)));
        let mut waits: Vec<f64> = told().map(|(_, wait)| wait).collect();
        waits.sort_by(f64::total_cmp);
        let jobs = waits.len();
        let at = |share: f64| waits[((jobs - 1) as f64 * share).round() as usize];
        (jobs > 0).then(|| Today {
            jobs,
            mean_wait: waits.iter().sum::<f64>() / jobs as f64,
            median_wait: at(0.5),
            p99_wait: at(0.99),
            mean_completion: told().map(|(job, wait)| wait + job.duration).sum::<f64>() / jobs as f64,
        })
    }

    /// The jobs and the servers in a line: `3988 jobs of 7 types; 40 servers: 4 x A100, ...`.
    pub fn words(&self) -> String {
        let load = 100.0 * self.load;
        format!(
            "{} of {} jobs, {} types, over {}; {}; the scarcest device is busy to {load:.0} %",
            self.jobs.len(),
            self.tasks,
            self.types.len(),
            time(self.window.length()),
            servers::in_words(&self.servers),
        )
    }
}
