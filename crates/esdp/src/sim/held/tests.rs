use super::*;
use crate::model::{Capacity, ChannelSpec, Cluster, ClusterSpec, GangSpec, Pace};
use crate::sim::{
    ArrivalSpec, Delay, OracleTrack, RandomCluster, Recorder, Setting, Simulation, SlotRecord, SpeedSpec,
    Summary,
};
use std::ops::ControlFlow;

/// Two servers that hold one task each, and jobs of two tasks; every task runs at 0.5.
fn pair() -> Setting {
    let cluster = Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["train".into()],
        channels: (0..2).map(|server| ChannelSpec::new(0, server, vec![1])).collect(),
        capacity: Capacity::per_server(vec![vec![1], vec![1]]),
        gangs: vec![GangSpec::new(0, 2, &[2])],
        ..ClusterSpec::default()
    });
    let arrivals = ArrivalSpec::List { jobs: vec![vec![1], vec![1], vec![0]], repeat: false };
    let speeds = SpeedSpec { deviation: 0.0, mean: (0.5, 0.5), ..SpeedSpec::default() };
    let setting = Setting::build(cluster.unwrap(), arrivals, &speeds, Delay::default(), 1).unwrap();
    setting.with_held_jobs(HeldSpec::Drawn(1.5, 1.5)).unwrap()
}

#[test]
fn a_job_at_the_pace_of_its_slowest_task_does_as_much_as_that_and_loses_by_crossing() {
    let pair = pair();
    let cluster = Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["train".into()],
        channels: (0..2).map(|server| ChannelSpec::new(0, server, vec![1])).collect(),
        capacity: pair.cluster().capacity().clone(),
        gangs: vec![GangSpec { pace: Pace::Slowest { crossing: 0.5 }, ..GangSpec::new(0, 2, &[2]) }],
        ..ClusterSpec::default()
    });
    let mut work = JobWork::new(&Arc::new(cluster.unwrap()), HeldSpec::Drawn(0.5, 0.5), 0.0, 7);
    let (mut present, mut log, mut seen) = (Arrivals::everywhere(1), Vec::new(), Vec::new());
    work.admit(Slot(1), &Arrivals::everywhere(1), &mut present);
    work.start_by(&QueueRule::Easy, Slot(1), &[0.5], &[], &mut [0]);
    assert_eq!(work.worth(|channel| [0.75, 0.25][channel.index()]), 0.25);
    // Two tasks, each as fast as the slower, and half of that: .4, .2 and .4 of a work of 1.
    let done: Vec<f64> = [[0.8, 0.4], [0.2, 0.9], [0.4, 0.4]]
        .iter()
        .zip(1..)
        .map(|(speeds, slot)| work.advance(Slot(slot), speeds, &mut log, &mut seen))
        .collect();
    assert_eq!(done, [0.4, 0.2, 0.4]);
    assert_eq!((log.len(), log[0].finished, work.is_idle()), (1, Slot(3), true));
    let [Report::Job(Slot(1), channels, each)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(channels[..], [ChannelId(0), ChannelId(1)]);
    assert!((each - 1.0 / 6.0).abs() < 1e-12, "half of 1.0 in three slots: {each}");
}

/// Keeps the finished jobs, and what ran in each slot.
#[derive(Default)]
struct Log {
    finished: Vec<FinishedJob>,
    running: Vec<usize>,
}

impl Recorder for Log {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.finished.extend_from_slice(record.finished);
        self.running.push(record.running.len());
        ControlFlow::Continue(())
    }
}

#[test]
fn a_job_holds_its_devices_until_its_work_is_done() {
    let setting = pair();
    let (mut log, mut summary) = (Log::default(), Summary::new(setting.cluster()));
    let mut simulation = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap();
    assert!(simulation.run(8, &mut (&mut log, &mut summary)).unwrap().is_continue());
    // 1.5 slots at full speed for two tasks: a work of 3, done by two tasks at 0.5 in 3 slots.
    let job = |number, arrived, started, finished| FinishedJob {
        port: PortId(0),
        number,
        arrived: Slot(arrived),
        started: Slot(started),
        finished: Slot(finished),
        channels: vec![ChannelId(0), ChannelId(1)],
        spare: 0.0,
    };
    assert_eq!(log.finished, [job(0, 1, 1, 3), job(1, 2, 4, 6)]);
    assert_eq!(log.running, [2, 2, 2, 2, 2, 2, 0, 0]);
    let jobs = &summary.jobs;
    assert_eq!((jobs.all_arrived(), jobs.all_started(), jobs.finished(), jobs.deferred), (2, 2, 2, 2));
    assert_eq!((jobs.mean_completion(), jobs.mean_wait(), jobs.makespan), (Some(4.0), Some(1.0), 6));
    assert_eq!(summary.utilisation(), [0.75]);
    assert_eq!(summary.aou, 6.0);
}

#[test]
fn a_job_that_is_left_over_counts_with_the_slots_it_has_had() {
    let setting = pair();
    let mut summary = Summary::new(setting.cluster());
    let mut simulation = Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap();
    // The first job is done in slot 3; the second, which came in slot 2, starts in slot 4.
    assert!(simulation.run(2, &mut summary).unwrap().is_continue());
    let mut waits = summary.jobs.clone();
    waits.close(Slot(2), simulation.unfinished());
    assert_eq!((waits.finished(), waits.never_started(), waits.oldest_waiting()), (0, 1, 1));
    assert_eq!((waits.mean_completion(), waits.mean_wait(), waits.throughput()), (Some(1.5), Some(0.5), 0.0));
    assert!(simulation.run(2, &mut summary).unwrap().is_continue());
    let mut runs = summary.jobs.clone();
    runs.close(Slot(4), simulation.unfinished());
    assert_eq!((runs.finished(), runs.never_started(), runs.oldest_waiting()), (1, 0, 0));
    assert_eq!((runs.mean_completion(), runs.mean_wait(), runs.longest), (Some(3.0), Some(1.0), (3, 2)));
    // All waiting is what was deferred, also of those that still wait.
    assert_eq!((waits.waited_slots, waits.deferred), (vec![1], 1));
    assert_eq!((runs.waited_slots, runs.deferred), (vec![2], 2));
}

#[test]
fn the_oracle_lives_its_own_life() {
    let cluster = RandomCluster::default().generate(4).unwrap();
    let arrivals = ArrivalSpec::Bernoulli { rho: 0.5.into() };
    let setting = Setting::build(cluster, arrivals, &SpeedSpec::default(), Delay(0, 3), 4).unwrap();
    let setting = setting.with_held_jobs(HeldSpec::Drawn(0.5, 4.0)).unwrap();
    let run = |policy: &str, slots: &[u64], track: Option<&OracleTrack>| {
        let mut summary = Summary::new(setting.cluster());
        let simulation = Simulation::new(&setting, &policy.parse().unwrap()).unwrap();
        let mut simulation = match track {
            Some(track) => simulation.against(track),
            None => simulation.against_live_oracle(&setting),
        };
        slots.iter().for_each(|&slots| assert!(simulation.run(slots, &mut summary).unwrap().is_continue()));
        summary
    };
    let track = OracleTrack::new(&setting, 400).unwrap();
    assert_eq!(run("oracle", &[400], None).oracle_ratio(), Some(1.0));
    assert_eq!(run("oracle", &[400], Some(&track)).oracle_ratio(), Some(1.0));
    let whole = run("esdp", &[400], Some(&track));
    assert_eq!(whole, run("esdp", &[150, 250], None));
    assert!(whole.jobs.finished() > 50);
    // Who knows the speeds is done sooner than who takes any channel.
    let completion = |policy| run(policy, &[400], None).jobs.mean_completion().unwrap();
    assert!(completion("oracle") < completion("random"));
}

#[test]
fn luck_is_told_and_takes_no_time() {
    let run = |luck: f64| {
        let setting = pair().with_luck(luck).unwrap();
        let mut work = JobWork::new(setting.cluster(), HeldSpec::Drawn(1.5, 1.5), setting.luck(), 7);
        let (mut present, mut log) = (Arrivals::everywhere(1), Vec::new());
        let mut seen = Vec::new();
        work.admit(Slot(1), &Arrivals::everywhere(1), &mut present);
        work.start_by(&QueueRule::Easy, Slot(1), &[0.5], &[], &mut [0]);
        for slot in 1..=3 {
            assert_eq!(work.advance(Slot(slot), &[0.5, 0.5], &mut log, &mut seen), 1.0);
        }
        let told = seen.iter().map(|seen| match seen {
            Report::Task(seen) => seen.outcome,
            Report::Job(..) => panic!("its tasks do not wait for each other"),
        });
        let told: Vec<Outcome> = told.collect();
        (log, told)
    };
    let ((ended, plain), (same, told)) = (run(0.0), run(0.3));
    assert_eq!((ended.len(), &ended), (1, &same), "it ends when it would");
    assert_eq!(plain, [Outcome::Ran(0.5); 2]);
    assert!(told[0] == told[1] && told != plain, "a job has one luck: {told:?}");
    let factors: Vec<f64> = (0..4000).map(|job| luck(0.3, 7, PortId(0), job)).collect();
    let mean = factors.iter().sum::<f64>() / 4000.0;
    let deviation = (factors.iter().map(|factor| (factor - mean).powi(2)).sum::<f64>() / 4000.0).sqrt();
    assert!((mean - 1.0).abs() < 0.02 && (deviation - 0.3).abs() < 0.02, "{mean} {deviation}");
    assert!(pair().with_luck(-0.1).is_err() && pair().with_luck(f64::NAN).is_err());
}

#[test]
fn bad_work_is_refused() {
    for (from, to) in [(0.0, 1.0), (2.0, 1.0), (1.0, f64::NAN), (1.0, f64::INFINITY)] {
        assert!(HeldSpec::Drawn(from, to).check().is_err(), "{from} {to}");
    }
    let refused = |list: Vec<Vec<f64>>| HeldSpec::Listed(Arc::new(list)).check().unwrap_err().to_string();
    assert!(refused(vec![vec![1.0], vec![]]).contains("`list[1]` is empty"));
    assert!(refused(vec![vec![1.0, -2.0]]).contains("`list[0][1]` is -2"));
}

#[test]
fn work_can_be_listed() {
    let held = HeldSpec::Listed(Arc::new(vec![vec![1.0, 0.5]]));
    let setting = pair().with_held_jobs(held).unwrap();
    let mut log = Log::default();
    assert!(
        Simulation::new(&setting, &"lcf".parse().unwrap()).unwrap().run(8, &mut log).unwrap().is_continue()
    );
    let ends: Vec<_> = log.finished.iter().map(|job| (job.started.0, job.finished.0)).collect();
    assert_eq!(ends, [(1, 2), (3, 3)]);
}
