//! The seam to a cluster, and one round of both.

use super::{Effect, Event, Live, Start};
use crate::model::{Amounts, Slot, Ticket};
use std::borrow::Cow;
use std::collections::BTreeMap;
use thiserror::Error;

/// A cluster: simulated, scripted or real.
pub trait Driver {
    /// What happened since the last call, in whatever order it became known.
    ///
    /// # Errors
    /// When the cluster cannot be asked.
    fn poll(&mut self) -> Result<Vec<Event>, DriverError>;

    /// What the driver knows of the slot that is due; asked after `poll`.
    fn due(&mut self) -> Due {
        Due::default()
    }

    /// Carries out starts. An answer that is missing may come later as an event.
    fn start(&mut self, starts: &[Start]) -> Vec<(Ticket, Result<(), Refusal>)>;
}

/// What a driver knows of a slot better than the core, see [`Event::SlotDue`]; the default is nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Due {
    /// What is free by server.
    pub free: BTreeMap<String, Amounts>,
    /// Servers that take nothing new.
    pub closed: Vec<String>,
    /// The most work that the decision may take.
    pub work: Option<u64>,
}

/// Keeps events before they take effect.
pub trait Journal {
    /// Keeps an event for good.
    ///
    /// # Errors
    /// When it cannot be kept; it is not applied then.
    fn append(&mut self, event: &Event) -> Result<(), JournalError>;
}

/// Keeps nothing.
impl Journal for () {
    fn append(&mut self, _event: &Event) -> Result<(), JournalError> {
        Ok(())
    }
}

/// Keeps events in memory.
impl Journal for Vec<Event> {
    fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        self.push(event.clone());
        Ok(())
    }
}

/// Why a cluster cannot be asked. Retryable: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the cluster cannot be asked: {cause}")]
pub struct DriverError {
    /// What happened, for people.
    pub cause: String,
}

/// Why an event cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the journal cannot be written: {cause}")]
pub struct JournalError {
    /// What happened, for people.
    pub cause: String,
}

/// Why a cluster does not run a start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Refusal {
    /// Why, for people.
    pub why: String,
}

/// Why a round ended early. What was applied before it is applied and in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TurnError {
    /// The cluster cannot be asked. Retryable.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The journal cannot be written. Fatal until it can be.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What a round did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnReport {
    /// The starts that were given to the driver, refused ones included.
    pub starts: Vec<Start>,
    /// All that followed from its events.
    pub effects: Vec<Effect>,
}

/// One round: what happened out there, the decision of a slot, its starts, and the answers to them.
///
/// Every event is in the journal before it is applied, and starts go out after the decision that made them is
/// in it.
///
/// # Errors
/// When the cluster cannot be asked or the journal cannot be written.
pub fn turn(
    live: &mut Live,
    driver: &mut dyn Driver,
    journal: &mut dyn Journal,
    slot: Slot,
) -> Result<TurnReport, TurnError> {
    let mut report = TurnReport::default();
    let mut apply = |report: &mut TurnReport, event: &Event| -> Result<(), TurnError> {
        let mut event = Cow::Borrowed(event);
        loop {
            journal.append(&event)?;
            for effect in live.apply(&event) {
                match effect {
                    Effect::Started(start) => report.starts.push(start),
                    other => report.effects.push(other),
                }
            }
            match live.decide(&event) {
                Ok(Some(decided)) => event = Cow::Owned(Event::Decided(decided)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    report.effects.push(Effect::Rejected { why: error.to_string(), cause: error.cause() });
                    return Ok(());
                }
            }
        }
    };
    for event in driver.poll()? {
        apply(&mut report, &event)?;
    }
    let Due { free, closed, work } = driver.due();
    apply(&mut report, &Event::SlotDue { slot, free, closed, work })?;
    for (ticket, answer) in driver.start(&report.starts) {
        let event = match answer {
            Ok(()) => Event::Accepted { ticket },
            Err(Refusal { why }) => Event::Refused { ticket, why },
        };
        apply(&mut report, &event)?;
    }
    Ok(report)
}
