//! The live scheduler on real clusters.
//!
//! | module | subject |
//! |---|---|
//! | [`slurm`] | reads a Slurm cluster, learns its nodes' speeds, and places jobs on them |
//! | [`testbed`] | a real Slurm cluster of many nodes on this machine, to try all of it |

pub mod slurm;
pub mod testbed;
