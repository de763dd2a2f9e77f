//! A cluster whose speeds are known to the test, behind a live core that learns them from reports.

use crate::live::cluster::policy;
use esdp::live::{Effect, Event, Live, Mode, SpeedReport, Start, WhichTasks};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::rng;
use esdp::scheduler::Objective;
use rand::RngExt;

/// Servers of one device each. In every slot each port gets two jobs, of one task or of a gang.
#[derive(Clone)]
pub struct Shape {
    pub policy: &'static str,
    pub objective: Objective,
    /// The speed of each server, alike for all ports.
    pub speeds: Vec<f64>,
    /// How many ports there are; each reports in a unit of its own.
    pub ports: u32,
    /// How many tasks a job has.
    pub members: u32,
    /// What all reporters multiply a speed with.
    pub unit: f64,
    /// The deviation of a speed as a share of it.
    pub noise: f64,
    /// Who reports for the job of this number.
    pub source: fn(u64) -> &'static str,
    /// What a source makes of the speed of a server.
    pub lie: fn(&str, &str, f64) -> f64,
    /// In this slot the first report is so many times too large.
    pub wrong: Option<(u64, f64)>,
    pub seed: u64,
}

/// Six servers by hand.
pub const SIX: [f64; 6] = [1.0, 0.9, 0.5, 0.2, 0.3, 0.4];

/// As many servers as asked for, whose speeds nobody has chosen.
pub fn drawn(count: u32, seed: u64) -> Vec<f64> {
    let mut rng = rng::stream(seed, rng::Purpose::Laws, 0, 0);
    (0..count).map(|_| 0.1 + 0.9 * rng.random::<f64>().powi(2)).collect()
}

impl Shape {
    pub fn six(seed: u64) -> Self {
        Self {
            policy: "esdp",
            objective: Objective::Relative,
            speeds: SIX.to_vec(),
            ports: 1,
            members: 1,
            unit: 1.0,
            noise: 0.05,
            source: |_| "",
            lie: |_, _, speed| speed,
            wrong: None,
            seed,
        }
    }

    pub fn world(&self) -> World {
        let servers = (0..self.speeds.len()).map(|at| ServerSpec::new(&format!("s{at}"), &[("cpu", 1)]));
        let jobs = JobShape::tasks(self.members, self.members, &[("cpu", 1)]);
        let described = ClusterDescription {
            devices: vec!["cpu".into()],
            servers: servers.collect(),
            ports: (0..self.ports).map(|port| PortSpec::new(&port_name(port), jobs.clone())).collect(),
            ..ClusterDescription::default()
        };
        let mut live = Live::new(described, policy(self.policy)).unwrap();
        let (mode, objective) = (Mode::Place, Some(self.objective));
        live.apply(&Event::Directed { mode, most_exploration: None, objective });
        World { live, shape: self.clone(), slot: 0, values: Vec::new() }
    }
}

fn port_name(port: u32) -> String {
    format!("p{port}")
}

pub struct World {
    pub live: Live,
    pub shape: Shape,
    slot: u64,
    /// By slot: the true speeds of what was placed, with the source of the job.
    values: Vec<Vec<(&'static str, f64)>>,
}

impl World {
    /// The number by which this port's reporters count, so that no two ports are alike.
    fn unit(&self, port: u32) -> f64 {
        self.shape.unit * 10.0_f64.powi(port as i32)
    }

    pub fn speed(&self, server: &str) -> f64 {
        self.shape.speeds[server[1..].parse::<usize>().unwrap()]
    }

    pub fn run(&mut self, slots: u64) {
        for _ in 0..slots {
            self.step();
        }
    }

    fn step(&mut self) {
        self.slot += 1;
        for job in 0..2 * self.shape.ports {
            let (job, port) = (format!("j{}.{job}", self.slot), port_name(job % self.shape.ports));
            self.live.apply(&Event::Submitted { job, port, weight: 1.0 });
        }
        let due = Event::SlotDue { slot: Slot(self.slot), free: [].into(), closed: vec![], work: None };
        let started = |effect| match effect {
            Effect::Started(start) => Some(start),
            _ => None,
        };
        let starts: Vec<Start> = self.live.step(&due).into_iter().filter_map(started).collect();
        let mut values = Vec::new();
        let mut wrong = self.shape.wrong.filter(|&(slot, _)| slot == self.slot).map(|(_, times)| times);
        for start in starts {
            let number: u64 = start.job.split('.').next_back().unwrap().parse().unwrap();
            let source = (self.shape.source)(self.slot * 2 + number);
            let unit = self.unit(start.port[1..].parse().unwrap());
            for place in &start.placements {
                let mut rng = rng::stream(
                    self.shape.seed,
                    rng::Purpose::Speeds,
                    self.slot,
                    number * 64 + self.at(place),
                );
                let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                let truth = self.speed(&place.server);
                values.push((source, truth * f64::from(place.count)));
                let seen = (truth * (1.0 + self.shape.noise * normal)).max(0.0);
                let lie = (self.shape.lie)(source, &place.server, seen) * unit;
                let told = (lie * wrong.take().unwrap_or(1.0)).min(f64::MAX);
                let (tasks, source) = (WhichTasks::On(place.server.clone()), source.to_owned());
                let report = SpeedReport::Rate(told);
                self.live.apply(&Event::Reported { ticket: start.ticket, tasks, report, source });
            }
            self.live.apply(&Event::Ended { job: start.job });
        }
        // Jobs that found no place leave, so that each slot is like the one before.
        let left: Vec<String> = self.live.jobs().map(|(job, _)| job.to_owned()).collect();
        left.into_iter().for_each(|job| drop(self.live.apply(&Event::Cancelled { job })));
        self.values.push(values);
    }

    fn at(&self, place: &esdp::live::Placement) -> u64 {
        place.server[1..].parse().unwrap()
    }

    /// Says something of a server without a ticket, in the unit of the port's reporters.
    pub fn say(&mut self, server: &str, speed: f64, times: u64, source: &str) {
        for time in 0..times {
            let (port, group, server) = (port_name(0), "task".to_owned(), server.to_owned());
            let report = SpeedReport::Rate(speed * self.unit(0));
            let (id, source) = (format!("{source}-{server}-{speed}-{time}"), source.to_owned());
            let effects = self.live.apply(&Event::Observed { id, port, group, server, report, source });
            assert!(!effects.iter().any(|e| matches!(e, Effect::Rejected { .. })), "{effects:?}");
        }
    }

    /// The mean value of the last slots, of all sources or of one.
    pub fn last(&self, slots: usize, of: Option<&str>) -> f64 {
        let last = &self.values[self.values.len().saturating_sub(slots)..];
        let counts = |(source, _): &&(&str, f64)| of.is_none_or(|of| of == *source);
        last.iter().flatten().filter(counts).map(|(_, value)| value).sum::<f64>() / last.len() as f64
    }

    /// Makes the best servers, as many as said, faster by a factor.
    pub fn change(&mut self, factor: f64, count: usize) {
        let mut order: Vec<usize> = (0..self.shape.speeds.len()).collect();
        order.sort_by(|&a, &b| self.shape.speeds[b].total_cmp(&self.shape.speeds[a]));
        order.iter().take(count).for_each(|&at| self.shape.speeds[at] *= factor);
    }

    /// What is believed of the servers of a port as a multiple of the truth, of those with so many outcomes.
    pub fn believed(&self, count: f64) -> Vec<f64> {
        let beliefs =
            self.live.beliefs().filter(|belief| belief.channel.port == "p0" && belief.count >= count);
        beliefs.map(|belief| belief.speed / self.speed(&belief.channel.server) / self.unit(0)).collect()
    }
}
