//! Whether the queue of a policy is stable or grows, where jobs wait.
//!
//! Under each seed a line of least squares is laid through the number of waiting jobs over the last 80 % of
//! the run. Its slope, as a share of the arrivals, says how many of the jobs that come pile up. A seed
//! *grows* if that is more than 1 % and more jobs wait in the second half of the run than in the first.
//!
//! - *Growing*: the mean slope is above 1 %, most seeds grow, and the 95 % interval of the slope over the
//!   seeds is above 0; with one or two seeds, the queue rises from each fifth of the run to the next.
//! - *Growing at a port*: the same of one port with at least 10 jobs, with 10 % of its own arrivals in the
//!   place of 1 %: it starves, however few its jobs are among all.
//! - *Stable*: the mean slope is at most 1 %, at most half of the seeds grow, and no port does.
//! - *Undecided*: neither, or the run is too short: fewer than 200 jobs come, or it is not 50 times as long
//!   as jobs are on their devices.
//!
//! A queue near the edge of what can be carried swings so slowly that a short run cannot tell; more slots and
//! seeds can.

use crate::{Difference, PolicyOutcome};
use esdp::sim::{Growth, JobCounts};

/// The share of the arrivals that may pile up, over all ports and at one.
const GROWS: f64 = 0.01;
const PORT_GROWS: f64 = 0.1;
/// Fewer jobs tell nothing.
const FEWEST_JOBS: u64 = 200;
const FEWEST_PORT_JOBS: u64 = 10;
/// A run is so many times as long as a job is on its devices, at least.
const SHORTEST: f64 = 50.0;
/// With fewer seeds there is no interval to speak of.
const FEWEST_SEEDS: usize = 3;

/// What a queue does in the long run, as far as a run can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stability {
    /// It does not grow.
    Stable,
    /// It grows as long as jobs come.
    Growing,
    /// The run does not tell.
    Undecided,
}

impl Stability {
    /// The word in tables and files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Growing => "growing",
            Self::Undecided => "undecided",
        }
    }

    /// Whether the queue is unstable; none if the run does not tell.
    pub fn is_unstable(self) -> Option<bool> {
        match self {
            Self::Stable => Some(false),
            Self::Growing => Some(true),
            Self::Undecided => None,
        }
    }
}

/// A verdict, and what it stands on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueVerdict {
    /// What it says.
    pub stability: Stability,
    /// The share of the arrivals that pile up: the mean over the seeds.
    pub slope: f64,
    /// The port whose queue grows, if that of all ports together does not.
    pub port: Option<usize>,
}

/// A queue under one seed.
#[derive(Debug, Clone, Copy)]
struct Seed {
    /// The slope as a share of the arrivals.
    share: f64,
    growth: Growth,
}

impl Seed {
    fn new(growth: Option<Growth>, arrived: u64, slots: u64) -> Option<Self> {
        let growth = growth.filter(|_| arrived > 0)?;
        Some(Self { share: growth.slope * slots as f64 / arrived as f64, growth })
    }

    fn grows(&self, limit: f64) -> bool {
        self.share > limit && self.growth.halves.1 > self.growth.halves.0
    }
}

/// The verdict over the seeds of a run of so many slots; none where jobs do not wait.
pub fn verdict(policy: &PolicyOutcome, slots: u64) -> Option<QueueVerdict> {
    let jobs = || policy.runs.iter().map(|run| &run.summary.jobs);
    if jobs().all(|jobs| jobs.mean_wait().is_none()) {
        return None;
    }
    let whole: Option<Vec<Seed>> =
        jobs().map(|jobs| Seed::new(jobs.backlog.growth(), jobs.all_arrived(), slots)).collect();
    let undecided = QueueVerdict { stability: Stability::Undecided, slope: 0.0, port: None };
    let Some(whole) = whole.filter(|seeds| !seeds.is_empty()) else { return Some(undecided) };
    let slope = whole.iter().map(|seed| seed.share).sum::<f64>() / whole.len() as f64;
    let told = |stability, port| Some(QueueVerdict { stability, slope, port });
    if jobs().any(|jobs| is_short(jobs, slots)) {
        return told(Stability::Undecided, None);
    }
    if is_growing(&whole, GROWS) {
        return told(Stability::Growing, None);
    }
    let ports = jobs().map(|jobs| jobs.arrived.len()).min().unwrap_or(0);
    let grows = |port: &usize| {
        let seed = |jobs: &JobCounts| {
            let arrived = Some(jobs.arrived[*port]).filter(|arrived| *arrived >= FEWEST_PORT_JOBS)?;
            Seed::new(jobs.backlog.growth_at(*port), arrived, slots)
        };
        jobs().map(seed).collect::<Option<Vec<_>>>().is_some_and(|seeds| is_growing(&seeds, PORT_GROWS))
    };
    if let Some(port) = (0..ports).find(grows) {
        return told(Stability::Growing, Some(port));
    }
    match slope <= GROWS && !most(&whole, GROWS) {
        true => told(Stability::Stable, None),
        false => told(Stability::Undecided, None),
    }
}

fn is_short(jobs: &JobCounts, slots: u64) -> bool {
    let on_devices = jobs.mean_completion().unwrap_or(0.0) - jobs.mean_wait().unwrap_or(0.0);
    jobs.all_arrived() < FEWEST_JOBS || (slots as f64) < SHORTEST * on_devices
}

fn most(seeds: &[Seed], limit: f64) -> bool {
    2 * seeds.iter().filter(|seed| seed.grows(limit)).count() > seeds.len()
}

fn is_growing(seeds: &[Seed], limit: f64) -> bool {
    let slopes = Difference::of(seeds.iter().map(|seed| seed.share));
    let clear = match seeds.len() < FEWEST_SEEDS {
        true => seeds.iter().all(|seed| seed.growth.rises),
        false => slopes.is_above(),
    };
    slopes.spread.mean > limit && most(seeds, limit) && clear
}

/// The N-model: `a` runs on both servers, `b` on the first only.
#[cfg(test)]
pub(crate) fn n_model(policies: &str) -> esdp::scenario::Scenario {
    let text = "[graph]\nports = [\"a\", \"b\"]\nservers = [\"s1\", \"s2\"]\nchannels = [\
                { port = \"a\", server = \"s1\", request = [1] }, \
                { port = \"a\", server = \"s2\", request = [1] }, \
                { port = \"b\", server = \"s1\", request = [1] }]\n[devices]\nnames = [\"gpu\"]\n\
                servers = [[1], [1]]\n[costs]\nscale = 0.0\n[arrivals]\nlaw = \"poisson\"\n\
                rate = { a = 0.165, b = 0.08 }\n[jobs]\nheld = true\nwork = [5.0, 5.0]\n[speeds]\n\
                deviation = 0.0\ntable = [[1.0, 0.9, 0.5]]\n";
    esdp::scenario::Scenario::from_toml(text).unwrap().set("policies", policies).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contender, Options, simulate};
    use esdp::scenario::Scenario;

    /// One server and one port: a queue whose truth the textbook knows. A job takes four slots.
    fn single(rate: f64, slots: u64, seeds: &[u64]) -> QueueVerdict {
        let text = format!(
            "policies = [\"lwtf\"]\n[graph]\nports = 1\nservers = 1\nprobability = 1.0\n[devices]\n\
             count = 1\nrequest = [1, 1]\nserver_capacity = [1, 1]\n[costs]\nscale = 0.0\n[arrivals]\n\
             law = \"poisson\"\nrate = {rate}\n[jobs]\nheld = true\nwork = [4.0, 4.0]\n[speeds]\n\
             deviation = 0.0\nmean = [1.0, 1.0]\n"
        );
        judged(&Scenario::from_toml(&text).unwrap(), slots, seeds)
    }

    fn judged(scenario: &Scenario, slots: u64, seeds: &[u64]) -> QueueVerdict {
        let outcome =
            simulate(scenario, &Contender::of(scenario), slots, seeds, &Options::default()).unwrap();
        verdict(&outcome.policies[0], slots).expect("jobs wait")
    }

    #[test]
    fn a_queue_grows_from_a_load_of_one_on() {
        let seeds: Vec<u64> = (0..6).collect();
        for (load, expected) in [(0.5, Stability::Stable), (0.8, Stability::Stable), (0.9, Stability::Stable)]
        {
            assert_eq!(single(load / 4.0, 20_000, &seeds).stability, expected, "{load}");
        }
        for load in [1.05, 1.2, 3.0] {
            let verdict = single(load / 4.0, 20_000, &seeds);
            assert_eq!(verdict.stability, Stability::Growing, "{load}: {verdict:?}");
            // What cannot be carried piles up.
            assert!((verdict.slope - (1.0 - 1.0 / load)).abs() < 0.03, "{load}: {verdict:?}");
        }
    }

    #[test]
    fn one_seed_is_enough_if_the_queue_rises_all_the_time() {
        assert_eq!(single(1.2 / 4.0, 20_000, &[3]).stability, Stability::Growing);
        assert_eq!(single(0.7 / 4.0, 20_000, &[3]).stability, Stability::Stable);
        let wrong = (0..40).filter(|&seed| single(0.95 / 4.0, 6000, &[seed]).stability == Stability::Growing);
        assert!(wrong.count() <= 4, "a queue that only swings is said to grow");
    }

    #[test]
    fn the_n_model_tells_the_sum_of_speeds_from_longest_waiting_first() {
        let seeds: Vec<u64> = (0..5).collect();
        for (policy, expected) in [("lwtf", Stability::Stable), ("random", Stability::Stable)] {
            assert_eq!(judged(&n_model(policy), 12_000, &seeds).stability, expected, "{policy}");
        }
        for policy in ["oracle", "esdp", "maxweight-ucb"] {
            assert_eq!(judged(&n_model(policy), 12_000, &seeds).stability, Stability::Stable, "{policy}");
        }
        let sum = n_model("oracle").set("objective", "sum").unwrap();
        let sum = judged(&sum, 12_000, &seeds);
        assert_eq!(sum.stability, Stability::Growing, "{sum:?}");
    }

    #[test]
    fn a_short_run_tells_nothing() {
        assert_eq!(single(3.0 / 4.0, 100, &[0, 1, 2]).stability, Stability::Undecided);
        assert_eq!(single(0.5 / 4.0, 9, &[0]).stability, Stability::Undecided);
    }

    /// `a` keeps some of the servers busy all the time, and `wide`, which needs all at once, never starts.
    #[test]
    fn a_port_that_starves_makes_a_queue_grow_however_few_its_jobs_are() {
        let text = "policies = [\"first-fit\"]\nobjective = \"sum\"\n[graph]\nports = [\"a\", \"wide\"]\n\
                    servers = 12\nprobability = 1.0\n[devices]\nnames = [\"gpu\"]\nservers = [\
                    [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1]]\n\
                    [costs]\nscale = 0.0\n[gangs]\nlist = [\
                    { port = \"a\", minimum = 1, tasks = [1], requests = [[1]] }, \
                    { port = \"wide\", minimum = 12, tasks = [12], requests = [[1]] }]\n[arrivals]\n\
                    law = \"poisson\"\nrate = { a = 1.92, wide = 0.003 }\n[jobs]\nheld = true\n\
                    work = [5.0, 5.0]\n[speeds]\ndeviation = 0.0\nmean = [1.0, 1.0]\n";
        let scenario = Scenario::from_toml(text).unwrap();
        let verdict = judged(&scenario, 12_000, &[0, 1, 2, 3]);
        assert_eq!((verdict.stability, verdict.port), (Stability::Growing, Some(1)), "{verdict:?}");
        assert!(verdict.slope < GROWS);
    }
}
