//! The same dual, smoothed: every server a Gibbs sum over its uses, minimised by Newton's method.

pub(super) mod cells;
pub(super) mod gibbs;
pub(super) mod grid;
pub(super) mod newton;
pub(super) mod offers;
pub(super) mod smoothed;
