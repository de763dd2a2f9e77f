//! A scheduler that learns how fast your machines really are.
//!
//! Multi-server jobs arrive slot by slot at *ports* (job types). A *channel* joins a port to a
//! server that may run its jobs, and requests some of each *device*. How fast a channel
//! runs is unknown and fluctuates. Each slot the scheduler chooses channels within
//! capacity, watches how they did, and learns. The method is that of *Learning to Schedule
//! Multi-Server Jobs with Fluctuated Processing Speeds*, with every slot solved exactly;
//! `docs/paper.md` of the repository tells where and why we deviate.
//!
//! This library does no IO: it reads no file, clock or environment. You turn the crank.
//!
//! ```
//! use esdp::model::{Arrivals, Capacity, ChannelSpec, Cluster, ClusterSpec, Observation, Outcome};
//! use esdp::policy::PolicySpec;
//! use esdp::scheduler::Scheduler;
//! use std::sync::Arc;
//!
//! // Two job types, two servers, one kind of device, room for two of its units.
//! let channel = |port, server| ChannelSpec::new(port, server, vec![1]);
//! let cluster = Arc::new(Cluster::new(ClusterSpec {
//!     devices: vec!["gpu".into()],
//!     servers: vec!["old".into(), "new".into()],
//!     ports: vec!["train".into(), "serve".into()],
//!     channels: vec![channel(0, 0), channel(0, 1), channel(1, 1)],
//!     capacity: Capacity::cluster_wide(vec![2]),
//!     ..ClusterSpec::default()
//! })?);
//! let policy = "esdp".parse::<PolicySpec>()?.build(&cluster, 42, None)?;
//! let mut scheduler = Scheduler::new(cluster, policy);
//!
//! let speeds = [0.2, 0.9, 0.6]; // what we must find out
//! for _ in 0..200 {
//!     let decision = scheduler.decide(&Arrivals::everywhere(2), None)?;
//!     let (slot, chosen) = (decision.slot(), decision.channels().to_vec());
//!     for channel in chosen {
//!         let outcome = Outcome::Ran(speeds[channel.index()]);
//!         scheduler.observe(&Observation { slot, channel, outcome })?;
//!     }
//! }
//! let decision = scheduler.decide(&Arrivals::everywhere(2), None)?;
//! let chosen: Vec<u32> = decision.channels().iter().map(|channel| channel.0).collect();
//! assert_eq!(chosen, [1, 2]); // the slow channel is left alone
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tour, in the order of the arrows between modules:
//!
//! - [`model`]: clusters, capacities, costs, arrivals, observations;
//! - [`rng`]: randomness keyed by seed, purpose, slot and index;
//! - [`solver`]: one slot's problem, solved with a certified bound;
//! - [`stats`]: what is learned of a channel;
//! - [`policy`]: which channels to use, one policy a file;
//! - [`scheduler`]: decide and observe around a policy, the book of jobs, checkpoints;
//! - [`live`]: names, events, tickets: the scheduler of a real cluster;
//! - [`conformance`]: what every policy must keep, for policies of your own;
//! - [`sim`]: clusters, arrivals and speeds to measure policies on;
//! - [`scenario`]: all of that from a TOML text, and the presets.

pub mod model;

pub mod rng;

pub mod solver;

pub mod stats;

pub mod policy;

pub mod scheduler;

pub mod live;

pub mod conformance;

pub mod sim;

pub mod scenario;
