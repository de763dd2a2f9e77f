//! The driver for Slurm: reads a cluster, learns its nodes' speeds, and places jobs on them.
//!
//! | file | subject |
//! |---|---|
//! | [`client`] | calls of Slurm's programs, with time-outs |
//! | [`conversation`] | one `scontrol` that is told line by line |
//! | `rest` | Slurm's REST interface |
//! | [`cluster`] | what a cluster is asked and told, by its version |
//! | [`job`], [`node`] | what `squeue` and `sinfo` answer |
//! | `json`, [`tres`], [`esdp_trace::hostlist`] | what both share: values, amounts, lists of nodes |
//! | [`config`], [`ports`] | rules, job types, and the cluster as the core sees it |
//! | [`admission`] | Slurm's own order, with backfill |
//! | [`core`] | the service's engine, which decides and keeps everything |
//! | [`driver`] | one turn: read, follow, learn, decide, place |
//! | [`ledger`] | what became of every job |
//! | [`lua`] | `job_submit.lua`, which holds jobs |
//! | [`doctor`] | what a cluster needs, and the way back |
//! | [`prefer`] | speed classes as node features |
//! | [`weights`] | node weights by learned speed |
//! | [`reports`], [`spool`] | speeds that jobs report themselves, and how they are read |

pub mod admission;
pub mod client;
pub mod cluster;
pub mod config;
pub mod conversation;
pub mod core;
pub mod doctor;
pub mod driver;
pub mod job;
mod json;
pub mod ledger;
pub mod lua;
pub mod node;
pub mod ports;
pub mod prefer;
pub mod reports;
mod rest;
pub mod spool;
pub mod tres;
pub mod weights;

use job::SlurmJob;

/// How the administrator's comment of a job begins that `job_submit.lua` has held for us: `esdp 4294901760`,
/// with Slurm's priority if it has one.
pub const MARK: &str = "esdp";

/// Whether a job was held for us.
pub fn is_marked(job: &SlurmJob) -> bool {
    job.admin_comment.split(' ').next() == Some(MARK)
}

/// The priority in the mark; jobs without one are alike, and go by the time of their submission.
pub fn marked_priority(job: &SlurmJob) -> u64 {
    job.admin_comment.split(' ').nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
