//! One contract that every kind of statistics keeps.

use super::{Learned, StateError, Statistics, StatisticsState};
use crate::model::{ChannelId, Observation, Outcome, Slot};
use crate::rng::{Purpose, stream};
use rand::RngExt;

pub(super) const A: ChannelId = ChannelId(0);
pub(super) const B: ChannelId = ChannelId(1);

pub(super) fn ran(slot: u64, channel: ChannelId, utility: f64) -> Observation {
    Observation { slot: Slot(slot), channel, outcome: Outcome::Ran(utility) }
}

pub(super) fn censored(slot: u64, channel: ChannelId) -> Observation {
    Observation { slot: Slot(slot), channel, outcome: Outcome::Censored }
}

/// Checks statistics over 3 channels that remember at least 10 slots.
pub(super) fn check_contract(new: fn() -> Box<dyn Statistics>) {
    unknown_until_committed(new());
    outcomes_move_out_of_pending(new());
    save_and_restore_is_exact(new);
    foreign_states_are_refused(new());
}

fn unknown_until_committed(mut statistics: Box<dyn Statistics>) {
    statistics.advance(Slot(1));
    let read = |s: &dyn Statistics| (s.estimate(A), s.variance(A), s.count(A), s.pending(A));
    assert_eq!(read(&*statistics), (0.0, f64::INFINITY, 0.0, 0));
    statistics.commit(Slot(1), A);
    assert!(close(statistics.variance(A), 0.5));
    assert_eq!((statistics.estimate(A), statistics.count(A), statistics.pending(A)), (0.0, 0.0, 1));
    assert_eq!(statistics.variance(B), f64::INFINITY);
    statistics.observe(&censored(1, A));
    assert_eq!(read(&*statistics), (0.0, f64::INFINITY, 0.0, 0), "a censored outcome teaches nothing");
}

fn outcomes_move_out_of_pending(mut statistics: Box<dyn Statistics>) {
    statistics.advance(Slot(8));
    statistics.commit(Slot(8), A);
    statistics.commit(Slot(8), A);
    assert!(close(statistics.variance(A), 0.25) && statistics.pending(A) == 2);
    statistics.observe(&ran(8, A, 0.5));
    assert!(
        close(statistics.variance(A), 0.25) && statistics.pending(A) == 1 && close(statistics.count(A), 1.0)
    );
    statistics.observe(&ran(8, A, 0.75));
    assert!(
        close(statistics.variance(A), 0.25)
            && statistics.pending(A) == 0
            && close(statistics.estimate(A), 0.625)
    );

    statistics.observe(&ran(8, B, 0.25));
    assert!(close(statistics.estimate(B), 0.25) && statistics.pending(B) == 0, "learned without a commit");

    statistics.advance(Slot(9));
    statistics.commit(Slot(8), B);
    statistics.observe(&ran(8, B, 0.25));
    assert!(close(statistics.estimate(B), 0.25) && statistics.pending(B) == 0, "late news is news");
}

/// Fading statistics multiply by powers of gamma, so they agree up to rounding only.
fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-12
}

fn save_and_restore_is_exact(new: fn() -> Box<dyn Statistics>) {
    check_copies(new, 3, 200, |lives, _| {
        for life in lives {
            for channel in (0..3).map(ChannelId) {
                assert_eq!(life.estimate(channel).to_bits(), lives[0].estimate(channel).to_bits());
                assert_eq!(life.variance(channel).to_bits(), lives[0].variance(channel).to_bits());
            }
        }
    });
}

/// Copies through JSON at every 25th slot of a random life; their states must agree bit for bit ever after,
/// and `check` sees all of them after every slot.
pub(super) fn check_copies<S: Statistics + ?Sized>(
    new: impl Fn() -> Box<S>,
    channels: u32,
    slots: u64,
    check: impl Fn(&[Box<S>], u64),
) {
    let mut rng = stream(5, Purpose::Policy, 0, 0);
    let mut lives = vec![new()];
    for slot in 1..=slots {
        if slot % 25 == 0 {
            let saved = serde_json::to_string(&lives[0].state()).unwrap();
            let mut copy = new();
            copy.restore(serde_json::from_str(&saved).unwrap()).unwrap();
            lives.push(copy);
        }
        let channel = ChannelId(rng.random_range(0..channels));
        let seen = match rng.random_range(0..4) {
            0 => None,
            1 => Some(censored(slot, channel)),
            _ => Some(ran(slot.saturating_sub(rng.random_range(0..4)), channel, rng.random())),
        };
        for life in &mut lives {
            life.advance(Slot(slot));
            life.commit(Slot(slot), channel);
            seen.iter().for_each(|seen| life.observe(seen));
        }
        let expected = lives[0].state();
        assert!(lives.iter().all(|life| life.state() == expected), "slot {slot}");
        check(&lives, slot);
    }
}

fn foreign_states_are_refused(mut statistics: Box<dyn Statistics>) {
    let own = statistics.state();
    let version = StatisticsState { version: 7, ..own.clone() };
    assert!(matches!(statistics.restore(version), Err(StateError::Version { found: 7, .. })));
    let empty = match own.learned {
        Learned::Means { .. } => Learned::Windowed { slot: Slot(1), window: 8, blocks: vec![] },
        _ => Learned::Means { count: vec![0; 3], sum: vec![0.0; 3], pending: vec![0; 3] },
    };
    let kind = StatisticsState { learned: empty, ..own.clone() };
    assert!(matches!(statistics.restore(kind), Err(StateError::Kind { .. })));
    assert_eq!(statistics.state(), own, "a refused state changes nothing");
}
