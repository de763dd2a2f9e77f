//! A scheduler that learns how fast your machines really are.
//!
//! Multi-server jobs arrive slot by slot at *ports* (job types). A *channel* joins a port to a
//! server that may run its jobs, and requests some of each *device*. How fast a channel
//! runs is unknown and fluctuates. Each slot the scheduler chooses channels within
//! capacity, watches how they did, and learns. The method is that of *Learning to Schedule
//! Multi-Server Jobs with Fluctuated Processing Speeds*, with every slot solved exactly;
//! `docs/paper.md` of the repository says where and why we deviate.
//!
//! This library does no IO: it reads no file, clock or environment. You drive it.
//!
//! ```
//! use esdp::live::{Effect, Event, Live, SpeedReport, WhichTasks};
//! use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec, Slot};
//! use esdp::policy::PolicySpec;
//!
//! // Two servers, and jobs of two tasks that need a GPU each.
//! let cluster = ClusterDescription {
//!     devices: vec!["gpu".into()],
//!     servers: vec![ServerSpec::new("old", &[("gpu", 2)]), ServerSpec::new("new", &[("gpu", 2)])],
//!     ports: vec![PortSpec::new("train", JobShape::tasks(2, 2, &[("gpu", 1)]))],
//!     ..ClusterDescription::default()
//! };
//! let policy: PolicySpec = "esdp".parse()?;
//! let mut live = Live::new(cluster, |cluster| policy.build(cluster, 42, None).unwrap())?;
//!
//! let mut last = String::new();
//! for slot in 1..=100 {
//!     live.apply(&Event::Submitted { job: format!("job-{slot}"), port: "train".into(), weight: 1.0 });
//!     let due = Event::SlotDue { slot: Slot(slot), free: [].into(), closed: vec![], work: None };
//!     for effect in live.step(&due) {
//!         let Effect::Started(start) = effect else { continue };
//!         live.apply(&Event::Accepted { ticket: start.ticket }); // your cluster runs it ...
//!         for place in &start.placements {
//!             // ... at a speed we must find out
//!             let images = if place.server == "new" { 900.0 } else { 200.0 };
//!             let report = SpeedReport::Work { work: 10.0 * images, seconds: 10.0 };
//!             let tasks = WhichTasks::On(place.server.clone());
//!             live.apply(&Event::Reported { ticket: start.ticket, tasks, report, source: String::new() });
//!             last = place.server.clone();
//!         }
//!         live.apply(&Event::Ended { job: start.job });
//!     }
//! }
//! assert_eq!(last, "new"); // the slow server is left alone
//! assert_eq!(live.beliefs().last().unwrap().speed.round(), 900.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tour, in the order of the arrows between modules:
//!
//! - [`model`]: clusters, capacities, costs, arrivals, observations;
//! - [`rng`]: randomness keyed by seed, purpose, slot and index;
//! - [`solver`]: one slot's problem, solved with a certified bound;
//! - [`stats`]: what is learned about a channel;
//! - [`policy`]: which channels to use, one policy per file;
//! - [`scheduler`]: decide and observe around a policy, the book of jobs, checkpoints;
//! - [`live`]: names, events, tickets: the scheduler of a real cluster;
//! - [`conformance`]: what every policy must keep, for policies of your own;
//! - [`sim`]: clusters, arrivals and speeds to measure policies on;
//! - [`scenario`]: all of that from a TOML text, and the presets.

// No IO, no clock, no threads, no hidden state: see clippy.toml. Tests of a module may print and wait.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros))]

pub mod model;
pub use model::BUILD;

pub mod rng;

pub mod solver;

pub mod stats;

pub mod policy;

pub mod scheduler;

pub mod live;

pub mod conformance;

pub mod sim;

pub mod scenario;
