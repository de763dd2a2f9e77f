//! The search against all there is, on small problems.

use super::*;
use crate::model::{Arrivals, Capacity, ChannelSpec, ClusterSpec, GangSpec, Pace, ServerId, Slot};
use crate::policy::Choice;
use crate::policy::kit::{Scope, SlotProblem};
use crate::rng::{Purpose, stream};
use crate::solver::Exact;
use rand::RngExt;

struct Drawn {
    cluster: Cluster,
    arrivals: Arrivals,
    index: Vec<f64>,
}

/// Gangs of 1 to 3 tasks at two ports, up to two jobs each, on three servers of up to three devices.
fn draw(seed: u64) -> Drawn {
    let mut rng = stream(seed, Purpose::Instances, 77, 0);
    let gang = |port: u32| {
        let tasks = rng.random_range(1..=3);
        let crossing = [1.0, 0.8, 0.4][rng.random_range(0..3)];
        let pace = if rng.random_range(0..4) == 0 { Pace::Sum } else { Pace::Slowest { crossing } };
        GangSpec { pace, ..GangSpec::new(port, rng.random_range(1..=tasks), &[tasks]) }
    };
    let gangs: Vec<GangSpec> = (0..2).map(gang).collect();
    let cluster = Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: (0..3).map(|server| format!("n{server}")).collect(),
        ports: vec!["a".into(), "b".into()],
        channels: (0..6).map(|id| ChannelSpec::new(id / 3, id % 3, vec![1 + u64::from(id / 3)])).collect(),
        capacity: Capacity::per_server((0..3).map(|_| vec![rng.random_range(1..=3)]).collect()),
        gangs,
        ..ClusterSpec::default()
    })
    .unwrap();
    let arrivals = Arrivals::new((0..2).map(|_| rng.random_range(1..=2)).collect());
    let index = (0..6).map(|_| rng.random_range(0.1..1.0)).collect();
    Drawn { cluster, arrivals, index }
}

/// The most that the rest of the jobs can do: for each of them every number of tasks on every server.
fn most(drawn: &Drawn, jobs: &[PortId], free: &mut [u64]) -> f64 {
    let Some((&port, rest)) = jobs.split_first() else { return 0.0 };
    let cluster = &drawn.cluster;
    let mut best = most(drawn, rest, free);
    let own = cluster.channels_of(port);
    let (group, asked) = (cluster.task_groups()[cluster.task_group(own[0])], cluster.request(own[0])[0]);
    for code in 0..4_u32.pow(3) {
        let counts = [code % 4, code / 4 % 4, code / 16];
        let tasks: u32 = counts.iter().sum();
        let fits = counts.iter().zip(&*free).all(|(&count, &free)| u64::from(count) * asked <= free);
        if tasks > group.count || tasks < cluster.minimum(port) || !fits {
            continue;
        }
        let uses = own.iter().zip(counts).flat_map(|(&channel, count)| vec![channel; count as usize]);
        let uses: Vec<ChannelId> = uses.collect();
        let value = cluster.progress(port, &uses, |task| drawn.index[uses[task].index()]);
        free.iter_mut().zip(counts).for_each(|(free, count)| *free -= u64::from(count) * asked);
        best = best.max(value + most(drawn, rest, free));
        free.iter_mut().zip(counts).for_each(|(free, count)| *free += u64::from(count) * asked);
    }
    best
}

#[test]
fn small_problems_are_solved_as_well_as_by_trying_everything() {
    let (mut short, mut paced) = (0, 0);
    for seed in 0..300 {
        let drawn = draw(seed);
        let Drawn { cluster, arrivals, index } = &drawn;
        let view = SlotView::new(cluster, Slot(seed + 1), arrivals, cluster.capacity());
        let (mut problem, mut choice) = (SlotProblem::new(Box::new(Exact::default())), Choice::default());
        problem.open(&view, &mut choice);
        problem
            .solve(&view, Scope::Open, &mut choice, |channel| Some(index[channel.index()].into()))
            .unwrap();
        let certificate = choice.certificate.unwrap();
        let ports = (0..2).map(PortId).flat_map(|id| vec![id; arrivals.jobs(id) as usize]);
        let mut free: Vec<u64> =
            (0..3).map(|id| cluster.capacity().server(ServerId(id)).unwrap()[0]).collect();
        let best = most(&drawn, &ports.collect::<Vec<_>>(), &mut free);
        assert!(certificate.bound >= best - 1e-9, "seed {seed}: the bound is below {best}");
        assert!(certificate.value <= best + 1e-9, "seed {seed}: {} is more than there is", certificate.value);
        // The value is that of the jobs.
        let mut sum: f64 = choice
            .jobs
            .iter()
            .map(|job| {
                let speed = |task: usize| index[job.channels[task].index()];
                cluster.progress(job.port, &job.channels, speed)
            })
            .sum();
        let alone = |channel: &&ChannelId| cluster.crossing(cluster.channel(**channel).port).is_none();
        sum += choice.channels.iter().filter(alone).map(|channel| index[channel.index()]).sum::<f64>();
        assert!((sum - certificate.value).abs() < 1e-9, "seed {seed}: {sum} is done");
        paced += usize::from(cluster.has_slowest() && !choice.jobs.is_empty());
        // It may give a little to stay together.
        short += usize::from(certificate.value < best * (1.0 - NODE) - 1e-9);
    }
    assert!(paced > 150, "{paced} of 300 have jobs that wait for their slowest task");
    assert!(short <= 3, "{short} of 300 are short of the best");
}

#[test]
fn a_fast_server_is_not_wasted_on_a_job_with_a_slow_one() {
    // Tasks at 1.0, .9 and .3; a job of two and a job of one wait. The sum takes 1.0 and .3 for the job of
    // two.
    let cluster = Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into(), "v".into()],
        ports: vec!["two".into(), "one".into()],
        channels: (0..6).map(|id| ChannelSpec::new(id / 3, id % 3, vec![1])).collect(),
        capacity: Capacity::per_server(vec![vec![1]; 3]),
        gangs: vec![
            GangSpec { pace: Pace::Slowest { crossing: 1.0 }, ..GangSpec::new(0, 2, &[2]) },
            GangSpec::new(1, 1, &[1]),
        ],
        ..ClusterSpec::default()
    })
    .unwrap();
    let index = [1.0, 0.9, 0.3, 1.0, 0.9, 0.2];
    let arrivals = Arrivals::everywhere(2);
    let view = SlotView::new(&cluster, Slot(1), &arrivals, cluster.capacity());
    let (mut problem, mut choice) = (SlotProblem::new(Box::new(Exact::default())), Choice::default());
    problem.open(&view, &mut choice);
    problem.solve(&view, Scope::Open, &mut choice, |channel| Some(index[channel.index()].into())).unwrap();
    choice.channels.sort_unstable();
    assert_eq!(choice.channels, [0, 1, 5].map(ChannelId));
    let certificate = choice.certificate.unwrap();
    assert!((certificate.value - 2.0).abs() < 1e-12 && certificate.bound >= 2.2 - 1e-9);
}
