//! The answers that are kept, beside what the journal says was decided.

use super::recover::{JournalReplayError, LOST_NOTE};
use crate::storage::{SlotRow, Storage, StorageError};
use crate::wire::{PlacementWire, TicketName};
use esdp::live::{Decided, DecidedStart, DecidedTasks, Event};
use std::collections::{HashMap, HashSet};

/// What the answers that are kept say was started.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    by_slot: HashMap<u64, Answer>,
    /// Of an older slot no answer is expected.
    oldest: Option<u64>,
    /// Slots whose answers were lost, which a repair has told.
    lost: HashSet<u64>,
    /// How many were compared with what was decided.
    pub(crate) compared: u64,
}

#[derive(Debug)]
struct Answer {
    key: String,
    starts: Vec<DecidedStart>,
}

impl Answers {
    /// None: nothing is compared with them.
    pub(crate) fn unread() -> Self {
        Self { oldest: Some(u64::MAX), ..Self::default() }
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// When one is damaged.
    pub(crate) fn read(storage: &mut dyn Storage) -> Result<Self, StorageError> {
        let mut answers = Self::of(storage.last_slots(u32::MAX)?)?;
        let lost = storage.note(LOST_NOTE)?.unwrap_or_default();
        answers.lost = lost.split(' ').filter_map(|slot| slot.parse().ok()).collect();
        Ok(answers)
    }

    /// Takes rows, in any order.
    ///
    /// # Errors
    /// When one is not an answer.
    pub(crate) fn of(rows: impl IntoIterator<Item = SlotRow>) -> Result<Self, StorageError> {
        let mut answers = Self::default();
        for row in rows {
            let damaged =
                |why: String| StorageError::Damaged(format!("the answer of slot {}: {why}", row.slot));
            let starts = answered_starts(&row.answer).map_err(damaged)?;
            answers.oldest = Some(answers.oldest.map_or(row.slot, |oldest| oldest.min(row.slot)));
            answers.by_slot.insert(row.slot, Answer { key: row.key, starts });
        }
        Ok(answers)
    }

    /// What was answered in a slot.
    pub(super) fn starts(&self, slot: u64) -> Option<&[DecidedStart]> {
        self.by_slot.get(&slot).map(|answer| &*answer.starts)
    }

    /// Whether the answers to the slots of a frame are there, and say what it decides.
    ///
    /// # Errors
    /// When one does not.
    pub(crate) fn compare(&mut self, events: &[Event]) -> Result<(), JournalReplayError> {
        for event in events {
            let Event::Decided(Decided { slot, key, starts, .. }) = event else { continue };
            let slot = slot.0;
            match self.by_slot.get(&slot) {
                // One that was dropped, or a decision that nobody has asked for by a key.
                None if key.is_empty() || self.oldest.is_some_and(|oldest| slot < oldest) => {}
                None if self.lost.contains(&slot) => {}
                None => return Err(JournalReplayError::NoAnswer(slot)),
                Some(answer) if answer.key != *key || !same(&answer.starts, starts) => {
                    return Err(JournalReplayError::Answer(slot));
                }
                Some(_) => self.compared += 1,
            }
        }
        Ok(())
    }
}

/// Whether two lists of starts are the same; an answer does not say what was exploration.
fn same(answered: &[DecidedStart], decided: &[DecidedStart]) -> bool {
    let bare = |tasks: &DecidedTasks| DecidedTasks { exploration: false, ..tasks.clone() };
    let pairs = answered.iter().zip(decided);
    answered.len() == decided.len()
        && pairs.into_iter().all(|(a, b)| {
            (a.ticket, &a.job) == (b.ticket, &b.job) && a.tasks.iter().map(bare).eq(b.tasks.iter().map(bare))
        })
}

/// What the answer to a slot says was started.
///
/// # Errors
/// When it is not an answer.
pub fn answered_starts(answer: &str) -> Result<Vec<DecidedStart>, String> {
    #[derive(serde::Deserialize)]
    struct Answered {
        placements: Vec<PlacementWire>,
    }
    let answered: Answered = serde_json::from_str(answer).map_err(|error| error.to_string())?;
    let mut starts: Vec<DecidedStart> = Vec::new();
    for PlacementWire { job, group, server, count, ticket } in answered.placements {
        let ticket = ticket.parse::<TicketName>().map_err(|error| error.message)?.ticket;
        if starts.last().is_none_or(|last| last.ticket != ticket) {
            starts.push(DecidedStart { ticket, job, tasks: Vec::new(), pace: 0 });
        }
        let tasks = DecidedTasks { group, server, count, exploration: false };
        starts.last_mut().expect("there is one").tasks.push(tasks);
    }
    Ok(starts)
}
