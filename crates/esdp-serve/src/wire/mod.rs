//! What goes over the wire: requests, answers, errors. Unknown keys are refused: a misspelt one would be
//! ignored otherwise.

mod change;
mod cluster;
mod error;
mod extender;
mod job;
mod object;
mod observation;
mod precondition;
mod slot;
mod trainer;
mod whole;

pub use change::{ClusterNames, ClusterPreview, ServerPatch};
pub use cluster::{ClusterWire, GroupWire, ListedWire, PortWire, ServerWire};
pub use error::{ApiError, Code};
pub use extender::{ExtenderArgs, HostPriority, MOST_PRIORITY, PORT_LABEL};
pub use job::{
    JobPatch, JobView, JobsWire, KnownJob, PlaceView, StartView, WaitingView, cursor, tag, wrong_cursor,
};
pub(crate) use object::Objects;
pub use observation::{ObservationWire, ObservedAnswer, RefusedObservation};
pub use precondition::{Precondition, Tags};
pub use slot::{
    HeldWire, IgnoredWire, JobWire, JobsAnswer, PlacementWire, SlotAnswer, SlotWire, StartWire, StartedWire,
    TicketName,
};
pub use trainer::TrainerWire;

/// One thing alone or a list of them. One that is refused alone is refused by the status of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OneOrMany<T> {
    /// All of them.
    pub list: Vec<T>,
    /// Whether it was one alone.
    pub single: bool,
}

impl<T> OneOrMany<T> {
    /// The place of an error in the request, given where it is in one of the list.
    pub fn at(&self, index: usize, error: ApiError) -> ApiError {
        match (self.single, &error.field) {
            (false, Some(field)) => ApiError { field: Some(format!("[{index}].{field}")), ..error },
            _ => error,
        }
    }
}

/// The longest name in characters, as long as those of DNS.
pub const LONGEST_NAME: usize = 253;

/// Checks a name: some text without control characters, not too long.
///
/// # Errors
/// With the field and what is accepted.
pub fn check_name(field: impl Fn() -> String, name: &str) -> Result<(), ApiError> {
    let sound = (1..=LONGEST_NAME).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if sound {
        return Ok(());
    }
    let shown: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
    let accepted = format!("1 to {LONGEST_NAME} characters, none of them a control character");
    Err(ApiError::value(field(), format!("the name `{shown}` was rejected"), accepted))
}

/// Checks the length of a list.
///
/// # Errors
/// With the field and what is accepted.
pub fn check_length(field: &str, length: usize, most: usize) -> Result<(), ApiError> {
    match length <= most {
        true => Ok(()),
        false => Err(ApiError::value(field, format!("{length} entries"), format!("at most {most}"))),
    }
}
