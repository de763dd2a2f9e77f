//! The live scheduler on real clusters.
//!
//! | module | subject |
//! |---|---|
//! | [`slurm`] | reads a Slurm cluster, learns its nodes' speeds, and places jobs on them |
//! | [`testbed`] | a real Slurm cluster of many nodes on this machine, for tests and demonstrations |

pub mod slurm;
pub mod testbed;
