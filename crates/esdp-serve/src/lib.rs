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

pub mod actor;
pub mod answer;
pub mod clock;
pub mod engine;
pub mod feed;
pub mod http;
pub mod log;
pub mod metrics;
pub mod offline;
pub mod settings;
pub mod storage;
pub mod tls;
pub mod tokens;
pub mod wire;

use engine::{Engine, EngineSettings, JournalReplayError, PolicyMaker};
use esdp::model::{ClusterDescription, JobShape, PortSpec, ServerSpec};
use esdp::policy::{PolicySpec, SpecError};
use settings::Settings;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use storage::{DataLock, Sqlite, Storage, StorageError};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::watch;

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
        listen: SocketAddr,
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

/// Runs a service until it is told to stop by SIGTERM or Ctrl-C; `ready` is called once it listens.
///
/// # Errors
/// When it cannot start, or the engine stops.
pub fn run(settings: &Settings, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let policy = policy_maker(&settings.policy, settings.seed)?;
    serve(settings, policy, ready, None)
}

/// Runs a service that decides by a policy of one's own. The data notes it under the name in the settings: a
/// policy that keeps another state belongs under another name or seed.
///
/// # Errors
/// When it cannot start, or the engine stops.
pub fn run_policy(
    settings: &Settings,
    policy: PolicyMaker,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    serve(settings, policy, ready, None)
}

/// What drives a service from a thread of its own in the same process; the service stops when it returns.
type Driver = Box<dyn FnOnce(&engine::Client) -> Result<(), String> + Send>;

/// Runs a service with a driver in the same process, until either is told to stop.
///
/// # Errors
/// When the service cannot start, the engine stops, or the driver fails.
pub fn run_with(
    settings: &Settings,
    ready: impl FnOnce(SocketAddr),
    driver: impl FnOnce(&engine::Client) -> Result<(), String> + Send + 'static,
) -> Result<(), ServeError> {
    let policy = policy_maker(&settings.policy, settings.seed)?;
    serve(settings, policy, ready, Some(Box::new(driver)))
}

fn serve(
    settings: &Settings,
    policy: PolicyMaker,
    ready: impl FnOnce(SocketAddr),
    driver: Option<Driver>,
) -> Result<(), ServeError> {
    std::fs::create_dir_all(&settings.data).map_err(io_error(settings.data.display().to_string()))?;
    raise_file_limit();
    let _lock = DataLock::take(&settings.data)?;
    let tokens = tokens::Tokens::new(&settings.data);
    let loopback = settings.listen.ip().is_loopback();
    let closed = !loopback && !settings.insecure;
    if closed && !tokens.any() {
        let missing = "make a token first (esdp token create)";
        return Err(ServeError::Insecure { listen: settings.listen, missing });
    }
    if closed && settings.tls.is_none() {
        let missing = "give a certificate (--tls-certificate, --tls-key)";
        return Err(ServeError::Insecure { listen: settings.listen, missing });
    }
    let tls = settings.tls.as_ref().map(|(certificate, key)| tls::acceptor(certificate, key));
    let tls = tls.transpose().map_err(io_error("TLS"))?;
    try_older(settings, &policy)?;
    let mut storage: Box<dyn Storage> = Box::new(Sqlite::open_with(&settings.data, &settings.synchronous)?);
    if !is_noted(&mut *storage, settings)? {
        storage.save_note("policy", &policy_note(&settings.policy, settings.seed))?;
    }
    let (metrics, feed) = (Arc::new(metrics::Metrics::default()), Arc::new(feed::Feed::default()));
    let engine_settings = EngineSettings {
        mode: settings.mode,
        most_exploration: settings.max_exploration,
        snapshot_events: settings.snapshot_events,
        kept_slots: settings.kept_slots,
        accept_divergence: settings.accept_divergence,
    };
    let started = Instant::now();
    let (engine, thread) =
        Engine::start(storage, policy, engine_settings, Arc::clone(&metrics), Arc::clone(&feed))?;
    tracing::info!(millis = started.elapsed().as_millis() as u64, data = %settings.data.display(),
        "state loaded");
    let limits = settings.limits.clone();
    let (stop, stopped) = watch::channel(false);
    let client = driver.map(|driver| {
        (driver, engine::Client::new(actor::Actor::driver("slurm"), engine.clone(), stopped.clone()))
    });
    let version = settings.version.clone();
    let (texts, stop_of_app) = (http::LongTexts::default(), stopped.clone());
    let app = http::App {
        engine,
        feed,
        texts,
        metrics,
        tokens,
        closed,
        loopback,
        limits,
        stop: stop_of_app,
        started,
        version,
    };
    let app = Arc::new(app);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(workers()).build();
    let runtime = runtime.map_err(io_error("threads"))?;
    let engine_gone = Arc::new(tokio::sync::Notify::new());
    let watcher = {
        let gone = Arc::clone(&engine_gone);
        std::thread::spawn(move || {
            let ended = thread.join();
            gone.notify_one();
            ended
        })
    };
    let mut driven = None;
    runtime.block_on(async {
        let listener =
            TcpListener::bind(settings.listen).await.map_err(io_error(settings.listen.to_string()))?;
        let address = listener.local_addr().map_err(io_error(settings.listen.to_string()))?;
        tracing::info!(%address, mode = ?settings.mode, policy = settings.policy.name(), tls = tls.is_some(),
            "listening");
        // Before anybody is told that we are there, so that no signal comes too early.
        let signalled = signals().map_err(io_error("signals"))?;
        ready(address);
        let driver_gone = Arc::new(tokio::sync::Notify::new());
        let gone = Arc::clone(&driver_gone);
        driven = client.map(|(driver, client)| {
            std::thread::spawn(move || {
                let _told = EndNotice(gone);
                driver(&client)
            })
        });
        tokio::spawn(async move {
            tokio::select! {
                () = signalled => tracing::info!("stopping"),
                () = engine_gone.notified() => tracing::error!("the engine has stopped"),
                () = driver_gone.notified() => {}
            }
            let _ = stop.send(true);
        });
        http::serve(listener, app, tls, stopped).await.map_err(io_error("connections"))
    })?;
    // Handlers hold the last ways to the engine; without them it writes its snapshot and ends.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    let driven = driven.map_or(Ok(Ok(())), std::thread::JoinHandle::join);
    match watcher.join() {
        Ok(Ok(Ok(()))) => {
            tracing::info!("stopped");
            driven.unwrap_or_else(|_| Err("the driver panicked".to_owned())).map_err(ServeError::Driver)
        }
        Ok(Ok(Err(error))) => Err(error.into()),
        Ok(Err(_)) | Err(_) => Err(ServeError::Engine("it panicked".to_owned())),
    }
}

/// Tells that a thread has ended, however it did.
struct EndNotice(Arc<tokio::sync::Notify>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// As many open files as the system lets us have: a connection is one, and shells often allow 1,024.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        if limit.current != limit.maximum {
            // Not allowed is no failure: there are fewer connections then.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
        }
    }
}

/// Threads for connections: one for each core but the engine's, at least one and not many.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(2, 4)
}

/// Listens for SIGTERM and Ctrl-C from now on; the future ends when one has come.
fn signals() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminated, mut interrupted) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(async move {
            tokio::select! {
                _ = terminated.recv() => {}
                _ = interrupted.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
