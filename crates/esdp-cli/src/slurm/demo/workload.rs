//! The jobs of the demo and the hidden speeds of its nodes: the same for every arm.
//!
//! Three types of jobs, of 2, 3 and 4 nodes. Each type runs at the speeds 0.3, 0.4, ... 1.0 on the eight
//! nodes, in an order of its own. The orders are alike, since some nodes are slow for most types, but not the
//! same. A job ends when its slowest node does.
//!
//! Slurm prefers the first of the nodes that are free. That must not decide the comparison, so the first half
//! of the nodes and the second are equally good: of each two nodes that are neighbours in quality, one is in
//! each half.

use esdp::rng::{Purpose, stream};
use rand::RngExt;
use rand::seq::SliceRandom;

/// The nodes of the demo's cluster.
pub(super) const NODES: usize = 8;
/// The CPUs of a node. Every job takes one on each of its nodes.
pub(super) const CPUS: u32 = 8;
/// Users that every Debian has. Slurm accepts no user id without an account, and the demo shall not make any.
pub(super) const USERS: [&str; 3] = ["daemon", "bin", "sys"];
/// How many jobs come per second, at every load: what Slurm and this machine have to do for a job does not
/// depend on its length, so the load is set by the length. Three clusters at this rate keep about half of one
/// core busy.
const RATE: f64 = 1.1;
/// The least and the most work of a job, as a share of the mean.
const WORK: (f64, f64) = (0.67, 1.33);
/// How far a type's order of nodes is its own: 0 not at all.
const OWN: f64 = 1.2;

/// A type of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobType {
    pub name: &'static str,
    pub nodes: usize,
    /// Memory per node, in MB.
    pub memory_mb: u64,
    /// GPUs per node.
    pub gpus: u32,
}

/// They differ in what they request, which is how `esdp slurm` tells them apart.
pub(super) const TYPES: [JobType; 3] = [
    JobType { name: "train", nodes: 2, memory_mb: 100, gpus: 1 },
    JobType { name: "solve", nodes: 3, memory_mb: 200, gpus: 0 },
    JobType { name: "render", nodes: 4, memory_mb: 300, gpus: 0 },
];

/// A job before anyone has seen it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlannedJob {
    /// When it is submitted, in seconds.
    pub due: f64,
    /// Its type, by position.
    pub kind: usize,
    /// Its user, by position.
    pub user: usize,
    /// Seconds at speed 1.
    pub work: f64,
}

/// Hidden speeds and a list of jobs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Workload {
    /// Thousandths, by type and node.
    pub speeds: Vec<Vec<u32>>,
    pub jobs: Vec<PlannedJob>,
}

impl Workload {
    /// Jobs that would keep the share `load` of all CPUs busy if nodes were chosen at random.
    pub(super) fn draw(seed: u64, load: f64, jobs: usize) -> Self {
        let speeds = speeds(seed);
        let demand: f64 = TYPES
            .iter()
            .zip(&speeds)
            .map(|(kind, speeds)| kind.nodes as f64 * stretch(speeds, kind.nodes))
            .sum();
        // In seconds at speed 1.
        let mean = load * NODES as f64 * f64::from(CPUS) / RATE / (demand / TYPES.len() as f64);
        let mut arrivals = stream(seed, Purpose::Arrivals, 0, 0);
        let mut work = stream(seed, Purpose::Work, 0, 0);
        let mut due = 0.0;
        let mut job = || {
            due -= (1.0 - arrivals.random::<f64>()).ln() / RATE;
            let (kind, user) = (arrivals.random_range(0..TYPES.len()), arrivals.random_range(0..USERS.len()));
            // Whole milliseconds: the job script counts in them.
            let work = (1000.0 * mean * work.random_range(WORK.0..WORK.1)).round() / 1000.0;
            PlannedJob { due, kind, user, work }
        };
        Self { jobs: (0..jobs).map(|_| job()).collect(), speeds }
    }
}

fn speeds(seed: u64) -> Vec<Vec<u32>> {
    let mut draw = stream(seed, Purpose::Laws, 0, 0);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for pair in 0..NODES / 2 {
        let flip = usize::from(draw.random::<bool>());
        first.push(2 * pair + flip);
        second.push(2 * pair + 1 - flip);
    }
    first.shuffle(&mut draw);
    second.shuffle(&mut draw);
    let quality: Vec<usize> = first.into_iter().chain(second).collect();
    let mut row = || {
        let scale = (NODES - 1) as f64;
        let score: Vec<f64> =
            quality.iter().map(|&rank| rank as f64 / scale + OWN * draw.random::<f64>()).collect();
        let mut order: Vec<usize> = (0..NODES).collect();
        order.sort_by(|&a, &b| score[a].total_cmp(&score[b]));
        let mut speeds = vec![0; NODES];
        order.iter().zip(0..).for_each(|(&node, rank)| speeds[node] = 300 + 700 * rank / (NODES as u32 - 1));
        speeds
    };
    TYPES.iter().map(|_| row()).collect()
}

/// How much longer than at speed 1 a job takes on so many nodes chosen at random: the mean of 1 / (lowest
/// speed).
fn stretch(speeds: &[u32], nodes: usize) -> f64 {
    let mut sorted = speeds.to_vec();
    sorted.sort_unstable();
    // The k-th slowest is the slowest of a choice if the others are among the faster ones.
    let choices =
        |from: usize, take: usize| (0..take).map(|i| (from - i) as f64 / (i + 1) as f64).product::<f64>();
    let chances = (0..=sorted.len() - nodes).map(|k| choices(sorted.len() - 1 - k, nodes - 1));
    let all = choices(sorted.len(), nodes);
    sorted.iter().zip(chances).map(|(&speed, chance)| 1000.0 / f64::from(speed) * chance / all).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_every_speed_and_both_halves_are_alike() {
        for seed in 0..20 {
            let speeds = speeds(seed);
            for row in &speeds {
                let mut sorted = row.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, [300, 400, 500, 600, 700, 800, 900, 1000]);
            }
            assert_eq!(speeds, super::speeds(seed), "the same for every arm");
        }
        let halves = (0..1000).flat_map(speeds).fold([0, 0], |sum, row| {
            let total = |half: &[u32]| half.iter().sum::<u32>();
            [sum[0] + total(&row[..4]), sum[1] + total(&row[4..])]
        });
        let ratio = f64::from(halves[0]) / f64::from(halves[1]);
        assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    }

    #[test]
    fn a_choice_is_as_slow_as_its_slowest() {
        assert_eq!(stretch(&[500, 1000], 2), 2.0);
        assert_eq!(stretch(&[500, 1000], 1), 1.5);
        // Of three pairs, two have the node at half speed.
        assert!((stretch(&[1000, 500, 1000], 2) - 5.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_load_is_the_one_asked_for() {
        let workload = Workload::draw(3, 0.4, 20_000);
        let busy: f64 = workload
            .jobs
            .iter()
            .map(|job| {
                let nodes = TYPES[job.kind].nodes;
                nodes as f64 * job.work * stretch(&workload.speeds[job.kind], nodes)
            })
            .sum();
        let share = busy / (workload.jobs.last().unwrap().due * NODES as f64 * f64::from(CPUS));
        assert!((share - 0.4).abs() < 0.01, "{share}");
        let mean = workload.jobs.iter().map(|job| job.work).sum::<f64>() / 20_000.0;
        assert!((2.5..3.5).contains(&mean), "jobs of seconds: {mean}");
    }
}
