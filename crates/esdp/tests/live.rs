//! The live core: what it promises of names, tickets, time, speeds and reasons, one by one.
//! `faults.rs` shows that it keeps it whatever happens.

#[path = "live/budgets.rs"]
mod budgets;
#[path = "live/changes.rs"]
mod changes;
#[path = "live/cluster.rs"]
mod cluster;
#[path = "live/reasons.rs"]
mod reasons;
#[path = "live/speeds.rs"]
mod speeds;
#[path = "live/tickets.rs"]
mod tickets;
#[path = "live/turns.rs"]
mod turns;
