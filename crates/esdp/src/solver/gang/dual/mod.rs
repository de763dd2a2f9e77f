//! Prices of tasks: every server is a knapsack of its own, and their sum bounds the problem.

pub(super) mod descent;
pub(super) mod knapsack;
pub(super) mod prices;
pub(super) mod start;
