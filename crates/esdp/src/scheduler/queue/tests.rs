use super::plan::{Plan, QueueView, place};
use super::{BookedStart, LOSS, PATIENCE, QueueFacts, QueueState};
use crate::model::{Capacity, ChannelId, ChannelSpec, Cluster, ClusterSpec, GangSpec, JobId, PortId, Slot};
use crate::scheduler::Book;

/// Jobs of one task and gangs of three, all for one device each, on a server with four and one with two.
fn cluster() -> Cluster {
    let channels = (0..2).flat_map(|port| (0..2).map(move |server| ChannelSpec::new(port, server, vec![1])));
    Cluster::new(ClusterSpec {
        devices: vec!["gpu".into()],
        servers: vec!["a".into(), "b".into()],
        ports: vec!["one".into(), "three".into()],
        channels: channels.collect(),
        gangs: vec![GangSpec::new(0, 1, &[1]), GangSpec::new(1, 3, &[3])],
        capacity: Capacity::per_server(vec![vec![4], vec![2]]),
        ..ClusterSpec::default()
    })
    .unwrap()
}

fn view<'a>(cluster: &'a Cluster, book: &'a Book, slot: u64, speeds: &'a [f64]) -> QueueView<'a> {
    let free = book.free();
    QueueView { cluster, slot: Slot(slot), book, free, closed: &[], weights: &[], speeds }
}

/// A state in which every job took so many slots and waited none.
fn after(slots: u64) -> QueueState {
    let mut state = QueueState::default();
    let start = |port| BookedStart { job: JobId(99), port: PortId(port), waited: 0 };
    state.book(
        Slot(1),
        &QueueFacts { paces: vec![1000, 1000], ..QueueFacts::default() },
        &[start(0), start(1)],
    );
    for port in 0..2 {
        state.ended(PortId(port), Slot(1), Slot(slots));
    }
    state
}

#[test]
fn weights_are_those_of_the_header() {
    let (cluster, mut state) = (cluster(), after(10));
    // The gangs took twice as long.
    state.ended(PortId(1), Slot(1), Slot(30));
    let mut book = Book::new(&cluster);
    (0..8).for_each(|_| {
        book.submit(PortId(0), 1.0, Slot(40));
    });
    book.submit(PortId(1), 1.0, Slot(20));
    let speeds = [0.8, 0.2, 0.5, 0.5];
    let plan = Plan::new(&state, &view(&cluster, &book, 50, &speeds), false);
    // d = (10 + 10 + 30) / 3; D = 10 and 20; every server counts by its devices.
    let d = 50.0 / 3.0;
    let mean = (4.0 * 0.8 + 2.0 * 0.2) / 6.0;
    let one = 1.0 / mean * (8.0 * (d + 10.0) / 10.0_f64).cbrt();
    let three = 1.0 / 0.5 * (1.0 * (d + 30.0) / 20.0_f64).cbrt();
    let ratio = plan.weights[0] / plan.weights[1];
    assert!((ratio / (one / three) - 1.0).abs() < 0.05, "{ratio} instead of {}", one / three);
    let largest = (plan.weights[0] * 0.8).max(plan.weights[1] * 0.5);
    assert!((largest - 1.0).abs() < 1e-12, "{largest}");
}

#[test]
fn a_slow_server_is_used_only_if_the_queue_is_long() {
    let (cluster, state) = (cluster(), after(10));
    let barred = |jobs: usize, speeds: &[f64]| {
        let mut book = Book::new(&cluster);
        (0..jobs).for_each(|_| {
            book.submit(PortId(0), 1.0, Slot(40));
        });
        Plan::new(&state, &view(&cluster, &book, 50, speeds), false).barred
    };
    // At the mean speed of 0.7 a job takes 10 slots: 7 on the fast server, 70 on the slow one. With n jobs
    // the queue lasts n * 10 / 4 slots, which is not a quarter of 63 before n = 7.
    let speeds = [1.0, 0.1, 0.5, 0.5];
    assert_eq!(barred(6, &speeds), [false, true, false, false]);
    assert!(barred(7, &speeds).is_empty());
    // Alike, or not known: nothing is held back.
    assert!(barred(1, &[0.5, 0.5, 0.5, 0.5]).is_empty());
    assert!(barred(1, &[1.0, f64::NAN, 0.5, 0.5]).is_empty());
    assert!(barred(1, &[]).is_empty());
}

#[test]
fn the_oldest_job_that_waits_too_long_is_reserved_for() {
    let (cluster, state) = (cluster(), after(10));
    assert_eq!(state.patience(), Some(PATIENCE * 10.0));
    let mut book = Book::new(&cluster);
    let gang = book.submit(PortId(1), 1.0, Slot(20));
    book.submit(PortId(1), 5.0, Slot(30));
    book.submit(PortId(0), 1.0, Slot(30));
    let first = |state: &QueueState, slot| Plan::new(state, &view(&cluster, &book, slot, &[]), true).first;
    assert_eq!(first(&state, 120), None);
    let chosen = first(&state, 121).unwrap();
    assert_eq!(
        (chosen.job, chosen.is_reserved, chosen.batch),
        (gang, true, 1),
        "the oldest, not the heaviest"
    );
    // A budget in debt makes no reservation, and is paid back in time.
    let mut poor = state.clone();
    let facts = |idle| QueueFacts { idle, ..QueueFacts::default() };
    (121..131).for_each(|slot| poor.book(Slot(slot), &facts(1.0), &[]));
    poor.book(Slot(131), &facts(0.0), &[]);
    // It had saved for a patience, and has paid ten slots of the whole cluster.
    let back = (10.0 * (1.0 - LOSS) / LOSS - 100.0) as u64;
    assert_eq!(first(&poor, 131 + back - 1), None);
    assert!(first(&poor, 131 + back + 1).is_some());
}

#[test]
fn a_server_keeps_back_what_the_whole_job_could_take() {
    let (cluster, mut book) = (cluster(), Book::new(&cluster()));
    let job = book.submit(PortId(0), 1.0, Slot(1));
    let placed = crate::model::PlacedJob { port: PortId(0), channels: vec![ChannelId(1)] };
    book.start_job(&cluster, Slot(1), job, &placed).unwrap();
    let view = view(&cluster, &book, 2, &[]);
    let plan = Plan::new(&QueueState::default(), &view, false);
    let (left, idle) = plan.withhold(&view, PortId(1));
    assert_eq!(left, Capacity::per_server(vec![vec![1], vec![0]]), "three of four, and the one that is free");
    assert!((idle - 4.0 / 6.0).abs() < 1e-12);
    assert_eq!(place(&view, PortId(1), &left), None);
    assert_eq!(place(&view, PortId(1), book.free()).map(|channels| channels.len()), Some(3));
}

/// What is booked is a matter of facts: a job with a reservation keeps it until it starts or leaves.
#[test]
fn a_reservation_lasts_until_its_job_starts() {
    let mut state = after(10);
    let (port, job) = (PortId(1), JobId(7));
    let facts = QueueFacts { reserved: Some((port, job)), batch: 2, idle: 0.5, ..QueueFacts::default() };
    state.book(Slot(20), &facts, &[]);
    state.book(Slot(21), &facts, &[]);
    assert_eq!(state.reserved().map(|reserved| (reserved.job, reserved.since)), Some((job, Slot(20))));
    let mut gone = state.clone();
    gone.forget(JobId(8));
    assert!(gone.reserved().is_some());
    gone.forget(job);
    assert!(gone.reserved().is_none());
    state.book(Slot(22), &QueueFacts { idle: 0.0, ..facts }, &[BookedStart { job, port, waited: 30 }]);
    assert!(state.reserved().is_none() && state.batch.is_some_and(|batch| batch.left == 2));
    assert_eq!((state.idle().slots, state.idle().reserved), (4, 1.0));
    let text = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<QueueState>(&text).unwrap(), state);
}
