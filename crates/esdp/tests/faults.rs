//! Everything that can go wrong between a scheduler and its cluster, at random and at length.
//!
//! Each life has a cluster and a policy of its own and a network that loses, doubles, delays and reorders what is said;
//! drivers refuse and forget, servers die and come back, the cluster changes under running jobs, and the core is
//! restarted from a snapshot and its journal. `Model` keeps a simple book of its own and checks after every event:
//!
//! 1. no server is given more than it has;
//! 2. no job is lost, and none starts twice or after its end;
//! 3. no job starts below a minimum or with more tasks than it has;
//! 4. no outcome counts twice;
//! 5. a restart from the last snapshot and the journal since gives the same state, byte for byte, and goes on with it;
//! 6. when all has ended, everything is free and nothing is pending.
//!
//! A failure names its seed: `ESDP_FAULTS_SEED=17 cargo test --test faults`. A longer run:
//! `ESDP_FAULTS_EVENTS=100000000 cargo test --release --test faults`.

#[path = "faults/model.rs"]
mod model;
#[path = "faults/world.rs"]
mod world;

use esdp::live::{EventCounts, Live};
use model::Model;
use world::World;

/// The events of a life.
const LIFE: u64 = 2_500;
/// The events of the test command.
const EVENTS: u64 = 1_000_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}, expected a number")))
}

/// A life; what became of its events.
fn live(seed: u64) -> EventCounts {
    let mut world = World::new(seed);
    let policy = world.policy();
    let build = |cluster: &esdp::model::Cluster| policy.build(cluster, seed, None).expect("a policy with its defaults");
    let mut live = Live::new(world.described().clone(), build).expect("a sound cluster");
    let mut model = Model::new(world.described().clone());
    let mut snapshot = live.snapshot().unwrap();
    let mut journal = Vec::new();
    while world.events() < LIFE {
        let event = world.next(&live);
        journal.push(event.clone());
        let effects = live.apply(&event);
        model.check(&event, &effects, &live);
        world.hear(&event, &effects);
        if world.restarts() {
            let mut twin = Live::restore(&snapshot, build).expect("a snapshot of our own");
            journal.drain(..).for_each(|event| drop(twin.apply(&event)));
            snapshot = live.snapshot().unwrap();
            assert_eq!(twin.snapshot().unwrap(), snapshot, "a restart gives another state");
            live = twin;
        }
    }
    for event in world.the_end(&live) {
        let effects = live.apply(&event);
        model.check(&event, &effects, &live);
    }
    model.check_the_end(&live);
    live.counts()
}

#[test]
fn nothing_is_lost_doubled_or_overcommitted_whatever_happens() {
    if let Some(seed) = number("ESDP_FAULTS_SEED") {
        live(seed);
        return;
    }
    let (mut all, mut seed) = (EventCounts::default(), 0);
    while all.events < number("ESDP_FAULTS_EVENTS").unwrap_or(EVENTS) {
        match std::panic::catch_unwind(|| live(seed)) {
            Ok(lived) => {
                all.events += lived.events;
                all.starts += lived.starts;
                all.learned += lived.learned;
                all.duplicates += lived.duplicates;
                all.rejected += lived.rejected;
                all.homeless += lived.homeless;
            }
            Err(cause) => {
                let cause = cause.downcast_ref::<String>().cloned().unwrap_or_else(|| "a panic".to_owned());
                panic!("seed {seed}: {cause}\nagain with ESDP_FAULTS_SEED={seed}");
            }
        }
        seed += 1;
    }
    // The world must do what it threatens to do.
    assert!(seed >= 300 && all.starts > all.events / 20 && all.learned > all.starts / 2, "{seed} clusters, {all:?}");
    assert!(all.duplicates > all.events / 50 && all.rejected > all.events / 50 && all.homeless > 0, "{all:?}");
}
