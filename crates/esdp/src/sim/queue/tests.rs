use super::*;
use crate::model::{Capacity, ChannelSpec, ClusterSpec, GangSpec};
use crate::sim::{
    ArrivalSpec, Delay, FinishedJob, HeldSpec, Recorder, Setting, Simulation, SlotRecord, SpeedSpec,
};
use std::ops::ControlFlow;

/// Two servers of four cores. Port 0 asks for three cores, port 1 for all four of both servers, port 2 for
/// one; every task runs at full speed. Jobs come slot by slot, and last as long as `work` says.
fn setting(arrivals: &[[u32; 3]], work: [&[f64]; 3]) -> Setting {
    sized(4, arrivals, work)
}

/// The same with servers of another size.
fn sized(cores: u64, arrivals: &[[u32; 3]], work: [&[f64]; 3]) -> Setting {
    build(cores, &[1.0; 6], arrivals, work)
}

/// The same with a speed for each port on each server.
fn build(cores: u64, speeds: &[f64; 6], arrivals: &[[u32; 3]], work: [&[f64]; 3]) -> Setting {
    let channels = [3, 4, 1].into_iter().enumerate();
    let channels = channels
        .flat_map(|(port, asked)| (0..2).map(move |at| ChannelSpec::new(port as u32, at, vec![asked])));
    let cluster = crate::model::Cluster::new(ClusterSpec {
        devices: vec!["cpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["three".into(), "whole".into(), "one".into()],
        channels: channels.collect(),
        capacity: Capacity::per_server(vec![vec![cores], vec![cores]]),
        gangs: vec![GangSpec::new(0, 1, &[1]), GangSpec::new(1, 2, &[2]), GangSpec::new(2, 1, &[1])],
        ..ClusterSpec::default()
    });
    let arrivals =
        ArrivalSpec::List { jobs: arrivals.iter().map(|row| row.to_vec()).collect(), repeat: false };
    let speeds = SpeedSpec { deviation: 0.0, table: Some(vec![speeds.to_vec()]), ..SpeedSpec::default() };
    let setting = Setting::build(cluster.unwrap(), arrivals, &speeds, Delay::default(), 1).unwrap();
    let work = work.map(|jobs| if jobs.is_empty() { vec![1.0] } else { jobs.to_vec() });
    setting.with_held_jobs(HeldSpec::Listed(Arc::new(work.to_vec()))).unwrap()
}

#[derive(Default)]
struct Log(Vec<FinishedJob>);

impl Recorder for Log {
    fn record(&mut self, record: &SlotRecord<'_>) -> ControlFlow<()> {
        self.0.extend_from_slice(record.finished);
        ControlFlow::Continue(())
    }
}

/// Port and number of every job with the slot of its start, in the order of the starts.
fn starts(setting: &Setting, rule: QueueRule) -> Vec<(u32, u64, u64)> {
    let mut simulation = Simulation::with_rule(setting, rule).unwrap();
    let mut log = Log::default();
    assert!(simulation.run(3, &mut log).unwrap().is_continue());
    assert!(simulation.drain(1000, &mut log).unwrap().is_continue());
    let mut starts: Vec<(u32, u64, u64)> =
        log.0.iter().map(|job| (job.port.0, job.number, job.started.0)).collect();
    starts.sort_by_key(|start| (start.2, start.0, start.1));
    starts
}

#[test]
fn easy_lets_pass_who_does_not_delay_the_first() {
    // Slot 1: three cores on `a` for 6 slots. Slot 2: the whole cluster is wanted, free from slot 7 on. Slot
    // 3: two jobs of one core, one of which ends in time on `b`; the other, long one would delay it, wherever
    // it runs.
    let setting = setting(&[[1, 0, 0], [0, 1, 0], [0, 0, 2]], [&[6.0], &[2.0], &[4.0, 9.0]]);
    assert_eq!(starts(&setting, QueueRule::Easy), [(0, 0, 1), (2, 0, 3), (1, 0, 7), (2, 1, 9)]);
}

#[test]
fn conservative_delays_nobody_who_came_before() {
    let same = setting(&[[1, 0, 0], [0, 1, 0], [0, 0, 2]], [&[6.0], &[2.0], &[4.0, 9.0]]);
    assert_eq!(starts(&same, QueueRule::Conservative), starts(&same, QueueRule::Easy));
    // Three jobs of three cores: two run, the third waits for slot 5; then the whole cluster is wanted, free
    // from slot 10 on; then a long job of one core. EASY protects the third alone, so the last goes ahead,
    // and the whole cluster is free when it has ended. With a reservation for all it may not.
    let other = setting(&[[3, 0, 0], [0, 1, 0], [0, 0, 1]], [&[4.0, 9.0, 3.0], &[1.0], &[20.0]]);
    let (easy, conservative) = (starts(&other, QueueRule::Easy), starts(&other, QueueRule::Conservative));
    assert_eq!(easy, [(0, 0, 1), (0, 1, 1), (2, 0, 3), (0, 2, 5), (1, 0, 23)]);
    assert_eq!(conservative, [(0, 0, 1), (0, 1, 1), (0, 2, 5), (1, 0, 10), (2, 0, 11)]);
}

/// What runs is expected to go on as it did, and not as it would on an average server.
#[test]
fn a_slow_server_is_seen_by_what_is_done_there() {
    // Three cores on `a`, at half speed, for six slots; a server of average speed would take four. So there
    // is time for a job of four slots before the whole cluster is free, and the average would say that there
    // is not.
    let speeds = [0.5, 1.0, 1.0, 1.0, 1.0, 1.0];
    let setting = build(4, &speeds, &[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [&[3.0], &[2.0], &[4.0]]);
    for rule in [QueueRule::Easy, QueueRule::Conservative] {
        assert_eq!(starts(&setting, rule), [(0, 0, 1), (2, 0, 3), (1, 0, 7)]);
    }
}

/// However many come at once: only those that have to wait are limited.
#[test]
fn whoever_has_room_starts_at_once() {
    let work = [2.0; 150];
    let setting = sized(100, &[[0, 0, 150], [0; 3], [0; 3]], [&[], &[], &work]);
    for rule in [QueueRule::Easy, QueueRule::Conservative] {
        let starts = starts(&setting, rule);
        assert!(starts.len() == 150 && starts.iter().all(|start| start.2 == 1), "{starts:?}");
    }
}

#[test]
fn a_log_is_followed_and_waits_where_there_is_no_room() {
    let setting = setting(&[[2, 0, 1], [0, 0, 0], [0, 0, 0]], [&[3.0, 2.0], &[], &[1.0]]);
    let at = |slot, channel| LoggedStart { slot: Slot(slot), channels: vec![ChannelId(channel)] };
    // The second wants server `a` while the first still holds three of its four cores.
    let log =
        vec![vec![at(2, 0), at(3, 0)], Vec::new(), vec![LoggedStart { slot: Slot(4), channels: Vec::new() }]];
    assert_eq!(starts(&setting, QueueRule::Logged(Arc::new(log))), [(0, 0, 2), (2, 0, 4), (0, 1, 5)]);
}

#[test]
fn a_queue_needs_jobs_that_wait() {
    let setting = setting(&[[1, 0, 0]], [&[1.0], &[], &[]]);
    let cluster = Cluster::clone(setting.cluster());
    let arrivals = ArrivalSpec::Bernoulli { rho: 0.5.into() };
    let paper = Setting::build(cluster, arrivals, &SpeedSpec::default(), Delay::default(), 1).unwrap();
    assert!(Simulation::with_rule(&paper, QueueRule::Easy).is_err());
}
