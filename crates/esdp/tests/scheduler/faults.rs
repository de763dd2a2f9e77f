//! Everything that can go wrong between a scheduler and its cluster, at random and at length.
//!
//! Each life has a cluster and a policy of its own. The world outside is a [`Driver`](esdp::live::Driver)
//! that [`turn`] drives: a network that loses, doubles, delays and reorders what is said, a cluster that
//! refuses, forgets and does not answer, servers that die and come back, a cluster that changes under running
//! jobs. The core dies at any event, in the middle of a turn too, and is restarted from a snapshot and its
//! journal. A twin takes every event of the journal beside the core; `Model` keeps a simple book of its own
//! and checks the twin after every event:
//!
//! 1. no server is given more than it has;
//! 2. no job is lost, and none starts twice or after its end;
//! 3. no job starts below a minimum or with more tasks than it has;
//! 4. no outcome counts twice;
//! 5. a restart from the last snapshot and the journal since gives the same state, byte for byte, and goes on
//!    with it; `turn` tells what the journal's events have brought about, no more and no less;
//! 6. when all has ended, everything is free and nothing is pending.
//!
//! A failure names its seed: `ESDP_FAULTS_SEED=17 cargo test -p esdp-core --test scheduler faults::`. A
//! longer run: `ESDP_FAULTS_EVENTS=100000000 cargo test --release -p esdp-core --test scheduler faults::`.

mod described;
mod model;
mod network;
mod world;

use esdp::live::{Effect, Event, EventCounts, Journal, JournalError, Live, TurnError, TurnReport, turn};
use model::Model;
use world::World;

/// The events of a life.
const LIFE: u64 = 2_500;
/// The events of the test command.
const EVENTS: u64 = 1_000_000;

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is {text}, expected a number")))
}

/// A journal that dies when told.
#[derive(Default)]
struct Disk {
    kept: Vec<Event>,
    /// After how many more events, and whether the last of them is kept.
    dies: Option<(usize, bool)>,
}

impl Journal for Disk {
    fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        if let Some((left, keeps)) = &mut self.dies {
            if *left == 0 {
                let keeps = *keeps;
                if keeps {
                    self.kept.push(event.clone());
                }
                return Err(JournalError { cause: "the machine has died".into() });
            }
            *left -= 1;
        }
        self.kept.push(event.clone());
        Ok(())
    }
}

/// What happened in a life.
#[derive(Debug, Default)]
struct Lived {
    counts: EventCounts,
    crashes: u64,
    restarts: u64,
    unanswered: u64,
}

fn live(seed: u64) -> Lived {
    let mut world = World::new(seed);
    let policy = world.policy();
    let build = |cluster: &esdp::model::Cluster| {
        policy.build(cluster, seed, None).expect("a policy with its defaults")
    };
    let mut live = Live::new(world.described().clone(), build).expect("a sound cluster");
    let mut twin = Live::new(world.described().clone(), build).expect("a sound cluster");
    let mut model = Model::new(world.described().clone());
    let mut snapshot = live.snapshot().unwrap();
    let (mut disk, mut lived) = (Disk::default(), Lived::default());
    while twin.counts().events < LIFE {
        disk.dies = world.crash();
        let first = disk.kept.len();
        let slot = world.next_slot();
        let outcome = turn(&mut live, &mut world, &mut disk, slot);
        let answered = world.answered();
        let mut expected = TurnReport::default();
        for event in &disk.kept[first..] {
            let effects = twin.apply(event);
            model.check(event, &effects, &twin);
            for effect in effects {
                match effect {
                    Effect::Started(start) => expected.starts.push(start),
                    other => expected.effects.push(other),
                }
            }
        }
        let crashed = match outcome {
            Ok(report) => {
                assert_eq!(report, expected, "a turn tells something else than the journal");
                assert!(disk.kept.ends_with(&answered), "the driver's answers were not taken as they are");
                false
            }
            Err(TurnError::Driver(_)) => {
                assert_eq!(disk.kept.len(), first, "nothing has happened");
                lived.unanswered += 1;
                false
            }
            Err(TurnError::Journal(_)) => true,
        };
        if crashed || world.restarts() {
            let mut again = Live::restore(&snapshot, build).expect("a snapshot of our own");
            disk.kept.drain(..).for_each(|event| drop(again.apply(&event)));
            snapshot = again.snapshot().unwrap();
            assert_eq!(snapshot, twin.snapshot().unwrap(), "a restart gives another state");
            if !crashed {
                assert_eq!(snapshot, live.snapshot().unwrap(), "a turn gives another state than its journal");
            }
            live = again;
            world.resume(&live);
            lived.crashes += u64::from(crashed);
            lived.restarts += 1;
        }
    }
    for event in world.the_end(&twin) {
        let effects = twin.apply(&event);
        model.check(&event, &effects, &twin);
    }
    model.check_the_end(&twin);
    Lived { counts: twin.counts(), ..lived }
}

#[test]
fn nothing_is_lost_doubled_or_overcommitted_whatever_happens() {
    if let Some(seed) = number("ESDP_FAULTS_SEED") {
        live(seed);
        return;
    }
    let (mut all, mut seed) = (Lived::default(), 0);
    while all.counts.events < number("ESDP_FAULTS_EVENTS").unwrap_or(EVENTS) {
        match std::panic::catch_unwind(|| live(seed)) {
            Ok(lived) => {
                all.crashes += lived.crashes;
                all.restarts += lived.restarts;
                all.unanswered += lived.unanswered;
                let (all, lived) = (&mut all.counts, lived.counts);
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
    let Lived { counts, crashes, restarts, unanswered } = all;
    let EventCounts { events, starts, learned, duplicates, rejected, homeless } = counts;
    assert!(
        seed >= events / 3_400 && starts > events / 20 && learned > starts / 2,
        "{seed} clusters, {all:?}"
    );
    assert!(duplicates > events / 50 && rejected > events / 50 && homeless > 0, "{all:?}");
    assert!(
        crashes > 4 * seed && restarts > crashes + 4 * seed && unanswered > 10 * seed,
        "{seed} clusters, {all:?}"
    );
}
