//! Real traces as streams of typed events.
//!
//! An [`Import`] reads one of the [`Format`]s, plain or gzip, and passes machines, tasks, instances and
//! speeds to a [`Sink`] as it meets them. Memory does not grow with the rows. Problems of a row are counted
//! by [`Reason`] in a [`Ledger`], and are fatal only on request.
//!
//! ```
//! use esdp_trace::{Import, Ledger, Reason, Sink, Source, Task};
//!
//! #[derive(Default)]
//! struct Cores(f64);
//! impl Sink for Cores {
//!     fn task(&mut self, task: &Task<'_>) {
//!         self.0 += task.request[0].1 * task.count as f64;
//!     }
//! }
//!
//! let text = "M1,3,j_1,1,Terminated,100,160,50,0.2\nM1,1,j_2,1,Running,100,0,100,0.3\n";
//! let (mut ledger, mut cores) = (Ledger::new(false), Cores::default());
//! Import::open(text.as_bytes(), None)?.stream(&mut ledger, &mut cores)?;
//! assert_eq!(cores.0, 2.5);
//! assert_eq!((ledger.clean, ledger.repaired, ledger.count(Reason::NoEnd)), (1, 1, 1));
//! # Ok::<(), esdp_trace::TraceError>(())
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`event`] | what a trace says, and in which units |
//! | [`formats`], [`sniff`] | the formats, and how they are recognised |
//! | [`ledger`] | how every row was treated, and why |
//! | [`summary`] | what is in a trace, in bounded memory |
//! | [`plan`] | which part of a trace to take, for both of the following |
//! | [`scenario`] | a scenario for `esdp run` from a trace |
//! | [`relative`] | how fast nodes are relative to each other, from accounting alone |
//! | [`replay`] | a trace replayed as a scenario |
//! | [`hostlist`] | lists of nodes as Slurm writes them |
//! | [`generate`] | a synthetic trace, with the statistics of a real one |
//! | [`hostile`] | what must hold of any bytes: for property tests and fuzzing |
//!
//! Nothing here opens a file or reads a clock: inputs are readers, which the caller opens and names.

// No IO, no clock, no threads, no hidden state: see clippy.toml. Tests of a module may print and wait.
#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types, clippy::disallowed_macros))]

pub mod error;
pub mod event;
pub mod formats;
pub mod generate;
pub mod hostile;
pub mod hostlist;
mod input;
pub mod ledger;
mod number;
pub mod plan;
pub mod relative;
pub mod replay;
pub mod scenario;
pub mod sniff;
mod source;
pub mod summary;
mod table;

pub use error::TraceError;
pub use event::{DeviceAmounts, Ignore, Machine, Sink, Speed, Task, TaskInstance};
pub use formats::{FORMATS, Format};
pub use input::{BUFFER, LONGEST_LINE};
pub use ledger::{Fate, Ledger, Place, REASONS, Reason, Tally};
pub use source::{Import, Source};
