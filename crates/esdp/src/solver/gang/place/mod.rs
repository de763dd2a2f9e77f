//! Decisions: built, dived for, completed.

pub(super) mod baseline;
pub(super) mod build;
pub(super) mod by_server;
pub(super) mod candidates;
pub(super) mod dive;
pub(super) mod eject;
pub(super) mod placement;
