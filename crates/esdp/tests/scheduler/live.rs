//! The live core: what it promises of names, tickets, time, speeds and reasons, one by one.
//! `faults.rs` shows that it keeps it whatever happens.

mod budgets;
mod changes;
pub mod cluster;
mod jobs;
mod pace;
mod reasons;
mod speeds;
mod tickets;
mod turns;
