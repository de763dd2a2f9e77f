//! The scheduler, its policies and the live core: what is sealed, learned, saved and told. One program, as
//! `solver/` is.

mod change;
mod conformance;
mod doubt;
mod factors;
mod faults;
mod judged;
mod live;
mod live_files;
mod modes;
mod pooled;
mod queue;
mod regret;
mod seal;
mod whole_jobs;
