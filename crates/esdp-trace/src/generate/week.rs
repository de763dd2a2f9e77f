//! Slurm accounting of our own: jobs that repeat, on nodes whose speeds are hidden, so that what is estimated
//! can be held against what is true.
//!
//! Eight nodes of ten are for processors, the others have GPUs of two models. A node's speed is that of its
//! kind times a log-normal factor of its own. Users run jobs under a few names each; a name has a request, a
//! typical duration and a spread of its own. Jobs arrive by day and night, go to a random node with room, and
//! wait in the order of their submission, whoever fits goes first. Some fail half-way, some are cancelled
//! while they wait, some use two nodes; at the end some run and some wait.

use super::{log_normal, normal, poisson};
use esdp::rng::{Purpose, Stream, stream};
use rand::RngExt;
use std::fmt::Write;

/// The most nodes.
pub const MOST_NODES: usize = 2000;

/// What is made depends on these numbers and nothing else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Week {
    /// The seed.
    pub seed: u64,
    /// How long, in seconds.
    pub seconds: u64,
    /// How many nodes.
    pub nodes: usize,
    /// How many names of jobs.
    pub names: usize,
    /// The standard deviation of the logarithm of nodes' speeds within a kind.
    pub spread: f64,
    /// How busy the nodes are, about.
    pub load: f64,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct WeekNode {
    /// Its name.
    pub name: String,
    /// The model of its GPUs; empty without any.
    pub kind: &'static str,
    /// Cores, GiB, GPUs.
    pub capacity: [u32; 3],
    /// Its hidden speed.
    pub speed: f64,
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct WeekJob {
    name: usize,
    submit: u64,
    /// Start and end, if it ran.
    ran: Option<(u64, u64)>,
    nodes: Vec<usize>,
    state: &'static str,
}

/// What users run under one name.
#[derive(Debug, Clone)]
struct Name {
    user: String,
    name: String,
    /// Cores, GiB, GPUs, on each node.
    request: [u32; 3],
    nodes: usize,
    /// Seconds on a node of speed 1.
    typical: f64,
    spread: f64,
    weight: f64,
}

/// A week that is made.
#[derive(Debug, Clone)]
pub struct MadeWeek {
    /// The nodes.
    pub nodes: Vec<WeekNode>,
    /// The jobs, in the order of their submission.
    pub jobs: Vec<WeekJob>,
    names: Vec<Name>,
}

/// What jobs ask for: cores, GiB, GPUs, and how often.
const SHAPES: [([u32; 3], f64); 7] = [
    ([1, 4, 0], 0.22),
    ([4, 16, 0], 0.26),
    ([8, 32, 0], 0.18),
    ([16, 64, 0], 0.12),
    ([32, 128, 0], 0.06),
    ([8, 64, 1], 0.11),
    ([16, 128, 2], 0.05),
];
/// Monday, 1 January 2024, in seconds since 1970.
const FIRST: u64 = 1_704_067_200;

impl Week {
    /// A week on 40 nodes whose speeds differ by 15 %.
    pub fn new(seed: u64) -> Self {
        Self { seed, seconds: 7 * 86_400, nodes: 40, names: 60, spread: 0.15, load: 0.8 }
    }

    /// Makes it.
    pub fn make(&self) -> MadeWeek {
        let nodes = self.nodes();
        let names = self.names();
        let mut jobs = self.arrivals(&nodes, &names);
        self.run(&nodes, &names, &mut jobs);
        MadeWeek { nodes, jobs, names }
    }

    fn nodes(&self) -> Vec<WeekNode> {
        let count = self.nodes.clamp(5, MOST_NODES);
        let gpus = (count / 10).max(1);
        let node = |at: usize| {
            let (kind, name, capacity, speed) = match at {
                at if at < gpus => ("a100", format!("gpu{:03}", at + 1), [64, 512, 4], 1.3),
                at if at < 2 * gpus => ("v100", format!("gpu{:03}", at + 1), [64, 512, 4], 0.8),
                at => ("", format!("cpu{:03}", at + 1 - 2 * gpus), [64, 256, 0], 1.0),
            };
            let mut rng = stream(self.seed, Purpose::Cluster, 1, at as u64);
            WeekNode { name, kind, capacity, speed: speed * libm::exp(self.spread * normal(&mut rng)) }
        };
        (0..count).map(node).collect()
    }

    fn names(&self) -> Vec<Name> {
        let name = |at: usize| {
            let mut rng = stream(self.seed, Purpose::Laws, 1, at as u64);
            let mut left = rng.random::<f64>() * SHAPES.iter().map(|(_, share)| share).sum::<f64>();
            let shape = SHAPES.iter().position(|(_, share)| {
                left -= share;
                left < 0.0
            });
            let request = SHAPES[shape.unwrap_or(0)].0;
            let two = request[2] == 0 && rng.random::<f64>() < 0.05;
            Name {
                user: format!("user{:02}", rng.random_range(0..(self.names / 5).max(1))),
                name: format!("job{:03}", at + 1),
                request,
                nodes: 1 + usize::from(two),
                typical: log_normal((1800.0, 9000.0), &mut rng).clamp(60.0, 86_400.0),
                spread: 0.03 + 0.2 * rng.random::<f64>() * rng.random::<f64>(),
                weight: log_normal((1.0, 4.0), &mut rng),
            }
        };
        (0..self.names.max(1)).map(name).collect()
    }

    /// Submissions: as many as keep the scarcer of processors and GPUs busy to the load.
    fn arrivals(&self, nodes: &[WeekNode], names: &[Name]) -> Vec<WeekJob> {
        let total: f64 = names.iter().map(|name| name.weight).sum();
        let busy = |device: usize| {
            let asked = |name: &Name| {
                f64::from(name.request[device]) * name.nodes as f64 * name.typical * name.weight / total
            };
            let place = |node: &&WeekNode| device == 2 || node.kind.is_empty();
            let there: f64 = nodes.iter().filter(place).map(|node| f64::from(node.capacity[device])).sum();
            let mine = |name: &&Name| device == 2 || name.request[2] == 0;
            names.iter().filter(mine).map(asked).sum::<f64>() / there.max(1.0)
        };
        let rate = self.load / (0..3).map(busy).fold(1e-12, f64::max);
        let mut jobs = Vec::new();
        for minute in 0..self.seconds / 60 {
            let mut rng = stream(self.seed, Purpose::Arrivals, minute, 2);
            let hour = (minute / 60 % 24) as f64;
            let day = 1.0 + 0.6 * libm::sin((hour - 9.0) / 24.0 * std::f64::consts::TAU);
            for _ in 0..poisson(60.0 * rate * day, &mut rng).min(10_000) {
                let mut left = rng.random::<f64>() * total;
                let name = names.iter().position(|name| {
                    left -= name.weight;
                    left < 0.0
                });
                let submit = minute * 60 + rng.random_range(0..60);
                let name = name.unwrap_or(0);
                jobs.push(WeekJob { name, submit, ran: None, nodes: Vec::new(), state: "PENDING" });
            }
        }
        jobs.sort_by_key(|job| job.submit);
        jobs
    }

    /// Starts jobs where there is room, event after event.
    fn run(&self, nodes: &[WeekNode], names: &[Name], jobs: &mut [WeekJob]) {
        let mut free: Vec<[u32; 3]> = nodes.iter().map(|node| node.capacity).collect();
        let mut waiting: Vec<usize> = Vec::new();
        let mut ends: std::collections::BTreeSet<(u64, usize)> = std::collections::BTreeSet::new();
        let mut next = 0;
        loop {
            let submit = jobs.get(next).map(|job| job.submit);
            let now = match (submit, ends.first().map(|(end, _)| *end)) {
                (Some(submit), Some(end)) => submit.min(end),
                (Some(submit), None) => submit,
                (None, Some(end)) => end,
                (None, None) => break,
            };
            if now >= self.seconds {
                break;
            }
            while let Some((end, job)) = ends.first().copied().filter(|(end, _)| *end <= now) {
                ends.remove(&(end, job));
                let request = names[jobs[job].name].request;
                for node in &jobs[job].nodes {
                    free[*node].iter_mut().zip(request).for_each(|(free, asked)| *free += asked);
                }
            }
            while jobs.get(next).is_some_and(|job| job.submit <= now) {
                waiting.push(next);
                next += 1;
            }
            waiting.retain(|&job| {
                let mut rng = stream(self.seed, Purpose::Work, job as u64, 3);
                if rng.random::<f64>() < 0.02 && now >= jobs[job].submit + 600 {
                    jobs[job].state = "CANCELLED by 1000";
                    return false;
                }
                let name = &names[jobs[job].name];
                let Some(chosen) =
                    room(name, nodes, &free, &mut stream(self.seed, Purpose::Work, job as u64, now))
                else {
                    return true;
                };
                for node in &chosen {
                    free[*node].iter_mut().zip(name.request).for_each(|(free, asked)| *free -= asked);
                }
                let speed = chosen.iter().map(|node| nodes[*node].speed).sum::<f64>() / chosen.len() as f64;
                let mut length = name.typical * libm::exp(name.spread * normal(&mut rng)) / speed;
                let state = if rng.random::<f64>() < 0.03 { "FAILED" } else { "COMPLETED" };
                if state == "FAILED" {
                    length *= rng.random::<f64>();
                }
                let end = now + (length.round() as u64).max(1);
                ends.insert((end, job));
                jobs[job].ran = Some((now, end));
                jobs[job].nodes = chosen;
                jobs[job].state = if end > self.seconds { "RUNNING" } else { state };
                false
            });
        }
    }
}

/// Random nodes with room for a job: a GPU job goes to nodes with GPUs, the others to those without.
fn room(name: &Name, nodes: &[WeekNode], free: &[[u32; 3]], rng: &mut Stream) -> Option<Vec<usize>> {
    let fits = |node: &usize| {
        (name.request[2] > 0) != nodes[*node].kind.is_empty()
            && free[*node].iter().zip(name.request).all(|(free, asked)| *free >= asked)
    };
    let mut open: Vec<usize> = (0..nodes.len()).filter(fits).collect();
    if open.len() < name.nodes {
        return None;
    }
    Some((0..name.nodes).map(|_| open.swap_remove(rng.random_range(0..open.len()))).collect())
}

impl MadeWeek {
    /// What `sacct -aPX` would print.
    pub fn accounting(&self) -> String {
        let mut text =
            "JobID|User|JobName|Partition|Submit|Start|End|Elapsed|State|NodeList|NNodes|ReqTRES\n"
                .to_owned();
        for (at, job) in self.jobs.iter().enumerate() {
            let name = &self.names[job.name];
            let [cpu, memory, gpu] = name.request.map(|amount| amount * name.nodes as u32);
            let gpus = if gpu > 0 { format!(",gres/gpu={gpu}") } else { String::new() };
            let partition = if gpu > 0 { "gpu" } else { "cpu" };
            let running = job.state == "RUNNING";
            let (start, end, elapsed) = match job.ran {
                Some((start, _)) if running => (moment(start), "Unknown".to_owned(), "00:10:00".to_owned()),
                Some((start, end)) => (moment(start), moment(end), span(end - start)),
                None => ("Unknown".to_owned(), "Unknown".to_owned(), "00:00:00".to_owned()),
            };
            let nodes =
                job.nodes.iter().map(|node| self.nodes[*node].name.as_str()).collect::<Vec<_>>().join(",");
            let nodes = if nodes.is_empty() { "None assigned".to_owned() } else { nodes };
            let _ = writeln!(
                text,
                "{}|{}|{}|{partition}|{}|{start}|{end}|{elapsed}|{}|{nodes}|{}|\
                 cpu={cpu},mem={memory}G,node={}{gpus}",
                1000 + at,
                name.user,
                name.name,
                moment(job.submit),
                job.state,
                name.nodes,
                name.nodes,
            );
        }
        text
    }

    /// What `sinfo -N -o '%N|%c|%m|%G|%T'` would print.
    pub fn machines(&self) -> String {
        let mut text = "NODELIST|CPUS|MEMORY|GRES|STATE\n".to_owned();
        for WeekNode { name, kind, capacity: [cpu, memory, gpu], .. } in &self.nodes {
            let gres = if *gpu > 0 { format!("gpu:{kind}:{gpu}(S:0-1)") } else { "(null)".to_owned() };
            let _ = writeln!(text, "{name}|{cpu}|{}|{gres}|mixed", memory * 1024);
        }
        text
    }

    /// The hidden speeds, as a speed table.
    pub fn speeds(&self) -> String {
        let mut text = "job,server,speed\n".to_owned();
        for node in &self.nodes {
            let _ = writeln!(text, "*,{},{}", node.name, node.speed);
        }
        text
    }
}

/// `2024-01-02T03:04:05`.
fn moment(second: u64) -> String {
    let (day, clock) = (FIRST / 86_400 + second / 86_400, second % 86_400);
    let (year, month, day) = civil(day);
    format!("{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}", clock / 3600, clock / 60 % 60, clock % 60)
}

/// Year, month and day of days since 1970 (H. Hinnant's formula).
fn civil(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let (era, of_era) = (z / 146_097, z % 146_097);
    let of_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (of_years + era * 400 + u64::from(month <= 2), month, day)
}

/// `1-02:03:04`.
fn span(seconds: u64) -> String {
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    if seconds >= 86_400 { format!("{}-{clock}", seconds / 86_400) } else { clock }
}
