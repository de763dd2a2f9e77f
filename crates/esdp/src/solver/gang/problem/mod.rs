//! The problem, laid out by server, and what a search has settled of it.

pub(super) mod fill;
pub(super) mod form;
pub(super) mod groups;
pub(super) mod limits;
pub(super) mod number;
