//! The live scheduler as a service: `esdp::live` behind HTTP, durable, with metrics and a dashboard.
//!
//! ```text
//!            HTTP                  bounded queue              SQLite
//! clients --> handlers --commands--> engine thread: apply -- one commit (fsync) per batch --> journal
//!    ^                                  |
//!    +----------- answers, after that --+--> news (server-sent events), figures
//!    |                                  | frames
//!    +----------- reads ----- a second copy of the state, in a thread of its own
//! ```
//!
//! All that is known is in the core, all that changes it goes through [`esdp::live::Live::apply`], and the
//! journal is the list of those events: the state is a fold over it, a snapshot a shortcut. The service is
//! what is around it: it translates requests into events, keeps them, and answers.
//!
//! | module | subject |
//! |---|---|
//! | [`wire`] | requests, answers and errors, as they go over the wire |
//! | [`engine`] | the one thread that owns the core and the journal, and the copy for readers |
//! | [`storage`] | the seam to what keeps events, and SQLite behind it |
//! | [`http`] | routes, roles, limits, connections |
//! | [`metrics`], [`feed`] | figures and news for those who watch |
//! | [`tokens`], [`tls`] | who may come in, and over what |
//! | [`settings`], [`log`] | how it runs, what it says |
//! | [`answer`] | answers as a client reads them |
//! | [`offline`] | a journal without its service |

// The table of schemas is one large `json!`.
#![recursion_limit = "256"]

pub mod actor;
pub mod answer;
pub mod clock;
pub mod engine;
pub mod feed;
pub mod http;
pub mod log;
pub mod metrics;
pub mod offline;
mod private;
pub mod settings;
pub mod storage;
pub mod tls;
pub mod tokens;
pub mod wire;

mod run;

pub use run::{Reload, Started, run, run_policy, run_reloading, run_with};

use engine::{JournalReplayError, PolicyMaker};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec};
use esdp::policy::{PolicySpec, SpecError};
use settings::{Listen, Settings};
use std::io;
use std::sync::Arc;
use storage::{Sqlite, Storage, StorageError};
use thiserror::Error;

/// Why a service did not start, or stopped. Fatal.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The data.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The state.
    #[error(transparent)]
    Replay(#[from] JournalReplayError),
    /// The policy.
    #[error(transparent)]
    Policy(#[from] SpecError),
    /// What was learned belongs to another policy.
    #[error(
        "the data was learned with {found}, not {asked}; use that one, or start with an empty --data \
         directory and \
             send it the old GET /v1/state by PUT /v1/state"
    )]
    OtherPolicy {
        /// The policy of the data.
        found: String,
        /// The policy asked for.
        asked: String,
    },
    /// An address for others without protection.
    #[error("{listen} can be reached by others: {missing}, or add --insecure")]
    Insecure {
        /// The address.
        listen: Listen,
        /// What is missing.
        missing: &'static str,
    },
    /// The system.
    #[error("{what}: {cause}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        cause: io::Error,
    },
    /// The driver in the same process.
    #[error("{0}")]
    Driver(String),
    /// The engine has ended by itself: a bug.
    #[error("the engine has stopped: {0}")]
    Engine(String),
}

fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> ServeError {
    let what = what.into();
    move |cause| ServeError::Io { what, cause }
}

/// Builds a policy for whatever cluster comes.
///
/// # Errors
/// When a parameter is out of range, or the policy needs to know true speeds.
pub fn policy_maker(spec: &PolicySpec, seed: u64) -> Result<PolicyMaker, SpecError> {
    let smallest = ClusterDescription {
        devices: vec!["device".to_owned()],
        servers: vec![ServerSpec::new("server", &[("device", 1)])],
        ports: vec![PortSpec::new("port", JobShape::tasks(1, 1, &[("device", 1)]))],
        ..ClusterDescription::default()
    };
    let smallest = smallest.cluster().expect("a cluster of one server");
    spec.build(&smallest, seed, None)?;
    let spec = spec.clone();
    Ok(Arc::new(move |cluster| spec.build(cluster, seed, None).expect("its parameters were checked")))
}

/// The note of the policy in the data, in today's words: what is `esdp-index` was `esdp` in the first
/// versions, and had parameters. Its journal is played again by `esdp-index` alone, which decides as it did.
fn noted_policy(storage: &mut dyn Storage) -> Result<Option<String>, StorageError> {
    Ok(storage.note("policy")?.map(|note| todays_policy(&note)))
}

fn todays_policy(note: &str) -> String {
    let (then, now) = (r#"{"name":"esdp","kappa":"#, r#"{"name":"esdp-index","kappa":"#);
    note.replacen(then, now, 1)
}

/// What a policy is called in the data.
fn policy_note(spec: &PolicySpec, seed: u64) -> String {
    let spec = serde_json::to_string(spec).unwrap_or_default();
    format!("policy {spec} and seed {seed}")
}

/// Whether the data notes the policy of the settings; none is noted in new data.
fn is_noted(storage: &mut dyn Storage, settings: &Settings) -> Result<bool, ServeError> {
    let asked = policy_note(&settings.policy, settings.seed);
    match noted_policy(storage)? {
        Some(found) if found != asked => Err(ServeError::OtherPolicy { found, asked }),
        found => Ok(found.is_some()),
    }
}

/// Sees on a copy in memory whether data of the first version can be served. Opening it brings it to the
/// present schema, and then the build that wrote it cannot read it any more: but that build is the way out of
/// every refusal.
fn try_older(settings: &Settings, policy: &PolicyMaker) -> Result<(), ServeError> {
    // What cannot be read at all is told when it is opened.
    let Ok(mut copy) = Sqlite::open_read_only(&settings.data) else { return Ok(()) };
    if copy.note(engine::recover::BUILD_NOTE)?.is_none() && copy.last_sequence()? > 0 {
        is_noted(&mut copy, settings)?;
        engine::recover(&mut copy, policy, settings.accept_divergence)?;
    }
    Ok(())
}
