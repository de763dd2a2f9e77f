//! Better decisions from good ones.

pub(super) mod part;
pub(super) mod polish;
pub(super) mod region;
pub(super) mod ruin;
pub(super) mod sequence;
