//! Wrong reports, and true ones that look wrong: what an attack costs, how soon a change is followed.

use crate::live::cluster::policy;
use esdp::live::{Effect, Event, Live, SpeedReport, Start, WhichTasks};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
use esdp::rng;
use rand::RngExt;

/// A cluster with servers of one device, two jobs of a port in every slot, and speeds with noise.
struct World {
    live: Live,
    /// By server.
    speeds: Vec<f64>,
    /// What the reporters multiply a speed with.
    unit: f64,
    /// Who reports for the job of this number.
    source: fn(u64) -> &'static str,
    /// What a source makes of a speed on a server.
    lie: fn(&str, &str, f64) -> f64,
    noise: f64,
    seed: u64,
    slot: u64,
    /// Of each slot: the true speeds of its placements together, by source.
    values: Vec<Vec<(&'static str, f64)>>,
    outcomes: u64,
}

fn honest(_: &str, _: &str, speed: f64) -> f64 {
    speed
}

impl World {
    fn new(name: &str, speeds: &[f64], unit: f64, seed: u64) -> Self {
        let servers = (0..speeds.len()).map(|at| ServerSpec::new(&format!("s{at}"), &[("cpu", 1)]));
        let described = ClusterDescription {
            devices: vec!["cpu".into()],
            servers: servers.collect(),
            ports: vec![PortSpec::new("p", JobShape::tasks(1, 1, &[("cpu", 1)]))],
            ..ClusterDescription::default()
        };
        Self {
            live: Live::new(described, policy(name)).unwrap(),
            speeds: speeds.to_vec(),
            unit,
            source: |_| "",
            lie: honest,
            noise: 0.05,
            seed,
            slot: 0,
            values: Vec::new(),
            outcomes: 0,
        }
    }

    fn speed(&self, server: &str) -> f64 {
        self.speeds[server[1..].parse::<usize>().unwrap()]
    }

    fn run(&mut self, slots: u64) {
        for _ in 0..slots {
            self.slot += 1;
            for job in 0..2 {
                let (job, port) = (format!("j{}.{job}", self.slot), "p".to_owned());
                self.live.apply(&Event::Submitted { job, port, weight: 1.0 });
            }
            let slot = Slot(self.slot);
            let due = Event::SlotDue { slot, free: [].into(), closed: vec![], work: None };
            let started = |effect| match effect {
                Effect::Started(start) => Some(start),
                _ => None,
            };
            let starts: Vec<Start> = self.live.step(&due).into_iter().filter_map(started).collect();
            let mut values = Vec::new();
            for (number, start) in (0..).zip(starts) {
                let server = start.placements[0].server.clone();
                let source = (self.source)(self.slot * 2 + number);
                values.push((source, self.speed(&server)));
                let mut rng = rng::stream(self.seed, rng::Purpose::Speeds, self.slot, number);
                let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                let speed = (self.speed(&server) * (1.0 + self.noise * normal)).max(0.0);
                let told = SpeedReport::Rate((self.lie)(source, &server, speed) * self.unit);
                self.outcomes += 1;
                let tasks = WhichTasks::All;
                let source = source.to_owned();
                self.live.apply(&Event::Reported { ticket: start.ticket, tasks, report: told, source });
                self.live.apply(&Event::Ended { job: start.job });
            }
            self.values.push(values);
        }
    }

    /// Says something of a server without a ticket, in the unit of the reporters.
    fn say(&mut self, server: &str, speed: f64, times: u64, source: &str) {
        for time in 0..times {
            let (port, group, server) = ("p".to_owned(), "task".to_owned(), server.to_owned());
            let report = SpeedReport::Rate(speed * self.unit);
            let (id, source) = (format!("{source}-{server}-{time}"), source.to_owned());
            let effects = self.live.apply(&Event::Observed { id, port, group, server, report, source });
            assert!(!effects.iter().any(|e| matches!(e, Effect::Rejected { .. })), "{effects:?}");
        }
    }

    /// The mean value of the last slots.
    fn last(&self, slots: usize) -> f64 {
        let last = &self.values[self.values.len() - slots..];
        last.iter().flatten().map(|(_, value)| value).sum::<f64>() / slots as f64
    }
}

const SIX: [f64; 6] = [1.0, 0.9, 0.5, 0.2, 0.3, 0.4];

/// Twelve servers that nobody has drawn by hand.
fn twelve(seed: u64) -> Vec<f64> {
    let mut rng = rng::stream(seed, rng::Purpose::Laws, 0, 0);
    (0..12).map(|_| 0.1 + 0.9 * rng.random::<f64>().powi(2)).collect()
}

type Attack = fn(&mut World);

const ATTACKS: [(&str, Attack); 9] = [
    ("one report of 1e30", |world| world.say("s3", 1e30, 1, "")),
    ("one report of 1e300", |world| world.say("s3", 1e300 / world.unit.max(1.0), 1, "")),
    ("one report of 1000x", |world| world.say("s3", 200.0, 1, "")),
    ("one report of 100x", |world| world.say("s3", 20.0, 1, "")),
    ("1000 reports of 100x", |world| world.say("s3", 20.0, 1000, "")),
    ("1000 zeros of two servers", |world| {
        world.say("s0", 0.0, 1000, "");
        world.say("s1", 0.0, 1000, "");
    }),
    ("1000 zeros of all servers", |world| (0..6).for_each(|at| world.say(&format!("s{at}"), 0.0, 1000, "x"))),
    ("1000 reports of 1 of a slow server", |world| world.say("s3", 1.0, 1000, "")),
    ("30 times 7x, one on the other", |world| {
        (0..30).for_each(|power| world.say("s3", 7.0_f64.powi(power), 1, &format!("x{power}")));
    }),
];

/// What the next 50 slots are worth after an attack, against a twin that was left alone.
fn kept(name: &str, speeds: &[f64], (unit, noise): (f64, f64), seed: u64, attack: Attack) -> f64 {
    let mut worlds = [None, Some(attack)].map(|attack| {
        let mut world = World::new(name, speeds, unit, seed);
        world.noise = noise;
        world.run(300);
        attack.into_iter().for_each(|attack| attack(&mut world));
        world.run(50);
        world
    });
    let [twin, attacked] = &mut worlds;
    attacked.last(50) / twin.last(50)
}

type Change = fn(&mut World);

const CHANGES: [(&str, Change, f64); 9] = [
    ("the unit, x1000", |world| world.unit *= 1000.0, 1.0),
    ("the unit, x1e9", |world| world.unit *= 1e9, 1.0),
    ("the unit, /1000", |world| world.unit /= 1000.0, 1.0),
    ("the unit, x60", |world| world.unit *= 60.0, 1.0),
    ("the unit, /60", |world| world.unit /= 60.0, 1.0),
    ("all speeds, x2", |world| world.speeds.iter_mut().for_each(|speed| *speed *= 2.0), 2.0),
    ("all speeds, x7", |world| world.speeds.iter_mut().for_each(|speed| *speed *= 7.0), 7.0),
    ("all speeds, /2", |world| world.speeds.iter_mut().for_each(|speed| *speed /= 2.0), 0.5),
    ("all speeds, /7", |world| world.speeds.iter_mut().for_each(|speed| *speed /= 7.0), 1.0 / 7.0),
];

/// After a change: how far beliefs of servers with outcomes are off after 60 of them, as a factor, and the value of the next 50
/// slots against a twin.
fn followed(
    name: &str,
    speeds: &[f64],
    noise: f64,
    seed: u64,
    (change, worth): (Change, f64),
    source: fn(u64) -> &'static str,
) -> (f64, f64, f64) {
    let mut worlds = [None, Some(change)].map(|change| {
        let mut world = World::new(name, speeds, 1.0, seed);
        (world.noise, world.source) = (noise, source);
        world.run(300);
        change.into_iter().for_each(|change| change(&mut world));
        world.run(30);
        let during = world.last(30);
        let off = world.values[320..].iter().flatten().map(|(_, value)| {
            let at = world.speeds.iter().position(|speed| speed == value).unwrap();
            let belief =
                world.live.beliefs().find(|belief| belief.channel.server == format!("s{at}")).unwrap();
            belief.speed / (value * world.unit)
        });
        let off = off.map(|off| off.max(1.0 / off)).fold(1.0, f64::max);
        world.run(50);
        (off, during, world.last(50))
    });
    (worlds[1].0, worlds[1].1 / worlds[0].1 / worth, worlds[1].2 / worlds[0].2 / worth)
}

#[test]
fn explore() {
    for (what, change, worth) in CHANGES {
        for name in ["esdp", "esdp-index", "esdp-pooled", "cts"] {
            let mut line = format!("{what:16} {name:12}");
            for (noise, source) in [
                (0.05, (|_| "") as fn(u64) -> &'static str),
                (0.3, |_| ""),
                (0.05, |at| if at % 3 == 0 { "a" } else { "b" }),
            ] {
                for speeds in [SIX.to_vec(), twelve(5)] {
                    let all: Vec<_> = (0..3)
                        .map(|seed| followed(name, &speeds, noise, seed, (change, worth), source))
                        .collect();
                    let mean = |of: fn(&(f64, f64, f64)) -> f64| all.iter().map(of).sum::<f64>() / 3.0;
                    line += &format!(" | {:6.2} {:.3} {:.3}", mean(|a| a.0), mean(|a| a.1), mean(|a| a.2));
                }
            }
            eprintln!("{line}");
        }
    }
    for (what, attack) in ATTACKS {
        for name in ["esdp", "esdp-index", "esdp-pooled", "cucb", "cts"] {
            let mut line = format!("{what:36} {name:12}");
            for (unit, noise) in [(1.0, 0.05), (1e-6, 0.2), (1e9, 0.5)] {
                let six: Vec<f64> =
                    (0..3).map(|seed| kept(name, &SIX, (unit, noise), seed, attack)).collect();
                let twelve: Vec<f64> =
                    (0..3).map(|seed| kept(name, &twelve(seed), (unit, noise), seed, attack)).collect();
                line += &format!(
                    " | {:.3} {:.3}",
                    six.iter().sum::<f64>() / 3.0,
                    twelve.iter().sum::<f64>() / 3.0
                );
            }
            eprintln!("{line}");
        }
    }
}
