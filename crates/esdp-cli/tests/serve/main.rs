//! `esdp serve` and what speaks to it, as real processes. One program, as `commands/` is; the page has its
//! own, `dashboard/`.

mod access;
mod api;
mod audit;
mod builds;
mod crash;
mod damage;
mod deploy;
mod doubts;
mod example;
mod faults;
mod hostile;
mod jobs;
mod load;
mod model;
mod moved;
mod order;
mod preconditions;
mod queues;
mod readers;
mod recovery;
mod same;
mod schema;
#[path = "../service/mod.rs"]
mod service;
mod signals;
mod slots;
mod soak;
mod strangers;
mod sync;
mod upgrade;
