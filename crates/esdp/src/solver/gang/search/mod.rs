//! Searches with a proof: the relaxation, trees, and what is fixed before them.

mod branching;
pub(super) mod copies;
pub(super) mod doubt;
pub(super) mod fixing;
pub(super) mod large;
pub(super) mod relaxed;
pub(super) mod tree;
