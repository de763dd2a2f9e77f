//! A service from its start to its end: data, tokens, doors, signals.

mod doors;
mod signals;

use crate::engine::{self, Engine, EngineSettings, PolicyMaker};
use crate::http::{self, App, Hosts, Rules};
use crate::settings::{Access, Settings};
use crate::storage::{DataLock, Sqlite, Storage};
use crate::tls::Certified;
use crate::tokens::{self, Tokens};
use crate::{
    ServeError, actor, feed, io_error, is_noted, metrics, policy_maker, policy_note, private, try_older,
};
use signals::{Signal, Signals};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often it is written down when tokens were used last.
const USES_KEPT: Duration = Duration::from_secs(60);

/// A service that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Serving {
    /// Its address, if it has one.
    pub address: Option<SocketAddr>,
    /// Its unix socket, if it has one.
    pub socket: Option<PathBuf>,
    /// Whether it speaks TLS.
    pub tls: bool,
    /// The token that was made at this start, if it was not written to a file.
    pub token: Option<String>,
}

impl Serving {
    /// Where it listens, as a URL.
    pub fn url(&self) -> String {
        match (self.address, &self.socket) {
            (Some(address), _) if self.tls => format!("https://{address}"),
            (Some(address), _) => format!("http://{address}"),
            (None, socket) => format!("unix:{}", socket.as_deref().unwrap_or(Path::new("")).display()),
        }
    }
}

/// Reads the settings anew, for SIGHUP.
pub type Reload = Box<dyn Fn() -> Result<Settings, String> + Send + Sync>;

/// Runs a service until it is told to stop by SIGTERM or Ctrl-C; `ready` is called once it listens.
///
/// # Errors
/// When it cannot start, or the engine stops.
pub fn run(settings: &Settings, ready: impl FnOnce(&Serving)) -> Result<(), ServeError> {
    let policy = policy_maker(&settings.policy, settings.seed)?;
    serve(settings, policy, ready, None, None)
}

/// The same, with settings that are read anew at SIGHUP.
///
/// # Errors
/// When it cannot start, or the engine stops.
pub fn run_reloading(
    settings: &Settings,
    reload: Reload,
    ready: impl FnOnce(&Serving),
) -> Result<(), ServeError> {
    let policy = policy_maker(&settings.policy, settings.seed)?;
    serve(settings, policy, ready, None, Some(reload))
}

/// Runs a service that decides by a policy of one's own. The data notes it under the name in the settings: a
/// policy that keeps another state belongs under another name or seed.
///
/// # Errors
/// When it cannot start, or the engine stops.
pub fn run_policy(
    settings: &Settings,
    policy: PolicyMaker,
    ready: impl FnOnce(&Serving),
) -> Result<(), ServeError> {
    serve(settings, policy, ready, None, None)
}

/// What drives a service from a thread of its own in the same process; the service stops when it returns.
type Driver = Box<dyn FnOnce(&engine::Client) -> Result<(), String> + Send>;

/// How long a driver may take to end: as long as its longest call of a program, and a little more.
const DRIVER_ENDS: Duration = Duration::from_secs(35);

/// Runs a service with a driver in the same process, until either is told to stop.
///
/// # Errors
/// When the service cannot start, the engine stops, or the driver fails.
pub fn run_with(
    settings: &Settings,
    ready: impl FnOnce(&Serving),
    driver: impl FnOnce(&engine::Client) -> Result<(), String> + Send + 'static,
) -> Result<(), ServeError> {
    let policy = policy_maker(&settings.policy, settings.seed)?;
    serve(settings, policy, ready, Some(Box::new(driver)), None)
}

fn serve(
    settings: &Settings,
    policy: PolicyMaker,
    ready: impl FnOnce(&Serving),
    driver: Option<Driver>,
    reload: Option<Reload>,
) -> Result<(), ServeError> {
    let data = || settings.data.display().to_string();
    private::make_directory(&settings.data).map_err(io_error(data()))?;
    raise_file_limit();
    let lock = DataLock::take(&settings.data)?;
    let closed = settings.listen.is_public();
    let refused = |missing| Err(ServeError::Insecure { listen: settings.listen.clone(), missing });
    if closed && !settings.insecure && settings.tls.is_none() {
        return refused("give a certificate (--tls-certificate, --tls-key)");
    }
    if closed && !matches!(settings.access, Access::Token(_)) && !Tokens::new(&settings.data).any() {
        return refused("make a token first (esdp token create)");
    }
    let tls = certificate(settings)?;
    try_older(settings, &policy)?;
    private::close(&settings.data).map_err(io_error(data()))?;
    let mut storage: Box<dyn Storage> = Box::new(Sqlite::open_with(&settings.data, &settings.synchronous)?);
    if !is_noted(&mut *storage, settings)? {
        storage.save_note("policy", &policy_note(&settings.policy, settings.seed))?;
    }
    let (metrics, feed) = (Arc::new(metrics::Metrics::default()), Arc::new(feed::Feed::default()));
    let engine_settings = EngineSettings {
        directions: settings.directions,
        snapshot_events: settings.snapshot_events,
        kept_slots: settings.kept_slots,
        accept_divergence: settings.accept_divergence,
    };
    let started = Instant::now();
    let (engine, thread) =
        Engine::start(storage, policy, engine_settings, Arc::clone(&metrics), Arc::clone(&feed))?;
    tracing::info!(millis = started.elapsed().as_millis() as u64, data = data(), "state loaded");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(workers()).build();
    let runtime = runtime.map_err(io_error("threads"))?;
    let (stop, stopped) = watch::channel(false);
    let client = driver.map(|driver| {
        let actor = actor::Actor::driver("slurm");
        (driver, engine::Client::new(actor, engine.clone(), stopped.clone(), Arc::clone(&metrics)))
    });
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
    let opened = runtime.block_on(async {
        let mut listening = doors::open(&settings.listen, !settings.allow_uid.is_empty()).await?;
        // After the doors: whoever finds one taken has made no token.
        let (tokens, token) = first_token(settings)?;
        let app = Arc::new(App {
            engine,
            feed,
            texts: http::LongTexts::default(),
            metrics,
            tokens,
            access: settings.access.clone(),
            local: !closed,
            data: settings.data.clone(),
            rules: RwLock::new(rules(settings, tls)),
            requests: http::RequestIds::default(),
            limits: settings.limits.clone(),
            stop: stopped.clone(),
            started,
            version: settings.version.clone(),
        });
        let started = Serving {
            address: listening.address,
            socket: settings.listen.unix.clone(),
            tls: settings.tls.is_some(),
            token,
        };
        tracing::info!(address = started.url(), socket = ?started.socket, mode = ?settings.directions.mode,
            policy = settings.policy.name(), tls = started.tls, "listening");
        app.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
        if lock.begin() {
            tracing::info!("the last run was killed, or the power failed; what was answered is there");
        }
        // Before anybody is told that we are there, so that no signal comes too early.
        let signals = Signals::listen().map_err(io_error("signals"))?;
        ready(&started);
        let driver_gone = Arc::new(tokio::sync::Notify::new());
        let gone = Arc::clone(&driver_gone);
        driven = client.map(|(driver, client)| {
            std::thread::spawn(move || {
                let _told = EndNotice(gone);
                driver(&client)
            })
        });
        let now = settings.clone();
        let watched = Arc::clone(&app);
        tokio::spawn(async move {
            tokio::select! {
                () = attend(signals, &watched, now, reload) => {}
                () = engine_gone.notified() => tracing::error!("the engine has stopped"),
                () = driver_gone.notified() => {}
            }
            let _ = stop.send(true);
        });
        http::serve(std::mem::take(&mut listening.doors), Arc::clone(&app), stopped).await;
        keep_uses(&app);
        Ok::<_, ServeError>(())
    });
    // Handlers hold the last ways to the engine; without them it writes its snapshot and ends.
    runtime.shutdown_timeout(Duration::from_secs(1));
    opened?;
    if let Some(driver) = &driven {
        let due = Instant::now() + DRIVER_ENDS;
        while !driver.is_finished() && Instant::now() < due {
            std::thread::sleep(Duration::from_millis(10));
        }
        if !driver.is_finished() {
            tracing::error!("the driver does not end; it is left behind, and the journal has everything");
            let seconds = DRIVER_ENDS.as_secs();
            return Err(ServeError::Driver(format!("the driver did not end within {seconds} s")));
        }
    }
    let driven = driven.map_or(Ok(Ok(())), std::thread::JoinHandle::join);
    match watcher.join() {
        Ok(Ok(Ok(()))) => {
            lock.finished();
            tracing::info!("stopped");
            driven.unwrap_or_else(|_| Err("the driver panicked".to_owned())).map_err(ServeError::Driver)
        }
        Ok(Ok(Err(error))) => Err(error.into()),
        Ok(Err(_)) | Err(_) => Err(ServeError::Engine("it panicked".to_owned())),
    }
}

fn certificate(settings: &Settings) -> Result<Option<Certified>, ServeError> {
    let read = |(certificate, key): &(PathBuf, PathBuf)| crate::tls::certified(certificate, key);
    settings.tls.as_ref().map(read).transpose().map_err(io_error("TLS"))
}

fn rules(settings: &Settings, tls: Option<Certified>) -> Rules {
    let hosts = Hosts { local: !settings.listen.is_public(), allowed: settings.allow_host.clone() };
    Rules { hosts, operators: settings.allow_uid.clone(), tls }
}

/// The tokens, and the one that was made at this start, if it is to be printed.
fn first_token(settings: &Settings) -> Result<(Tokens, Option<String>), ServeError> {
    let failed = || io_error(settings.data.join("tokens.json").display().to_string());
    let mut printed = None;
    let before = Tokens::new(&settings.data);
    if let Access::Token(file) = &settings.access {
        // What cannot be read is there: it was reported, and nobody gets in by a new one.
        let made = match before.unreadable() {
            Some(_) => None,
            None => tokens::create_first(&settings.data).map_err(failed())?,
        };
        match (made, file) {
            (Some(token), Some(file)) => {
                let written = private::replace(file, format!("{token}\n").as_bytes());
                if let Err(error) = written {
                    // Nobody knows it: the next start makes another one.
                    let _ = tokens::unmake(&settings.data);
                    return Err(io_error(file.display().to_string())(error));
                }
                let (file, name) = (file.display().to_string(), tokens::FIRST);
                tracing::info!(file, name, "a token for an operator was made");
            }
            (Some(token), None) => printed = Some(token),
            (None, _) => {}
        }
    }
    let tokens = Tokens::new(&settings.data);
    if tokens.any() && tokens.unreadable().is_none() && tokens.valid() == 0 {
        let data = settings.data.display().to_string();
        tracing::warn!(
            data,
            "no token is valid; make one: esdp token create NAME --role operator --data DIR"
        );
    }
    if settings.access == Access::Open && tokens.any() {
        tracing::warn!("a token was made here once, so one is needed in spite of --no-token");
    }
    Ok((tokens, printed))
}

fn keep_uses(app: &App) {
    if let Err(error) = app.tokens.save_uses() {
        tracing::warn!(%error, "when tokens were used last was not written down");
    }
}

/// Does what signals say, until one says to stop.
async fn attend(mut signals: Signals, app: &App, mut now: Settings, reload: Option<Reload>) {
    let mut house = tokio::time::interval(USES_KEPT);
    loop {
        let signal = tokio::select! {
            signal = signals.next() => signal,
            _ = house.tick() => {
                keep_uses(app);
                continue;
            }
        };
        match signal {
            Signal::Stop(name) => {
                tracing::info!(signal = name, "stopping");
                return;
            }
            Signal::Other(name) => tracing::warn!(signal = name, "a signal without a meaning was ignored"),
            Signal::Reload => match read_anew(app, &now, reload.as_ref()).await {
                Ok(next) => now = next,
                Err(error) => tracing::error!(error, "SIGHUP: nothing was changed"),
            },
        }
    }
}

/// Reads settings, tokens and the certificate anew. What is wrong changes nothing.
async fn read_anew(app: &App, now: &Settings, reload: Option<&Reload>) -> Result<Settings, String> {
    let next = reload.map_or_else(|| Ok(now.clone()), |reload| reload())?;
    // These belong to the start; all else takes effect now.
    let kept = Settings {
        directions: next.directions,
        tls: now.tls.as_ref().and(next.tls.clone()).or(now.tls.clone()),
        allow_host: next.allow_host.clone(),
        allow_uid: next.allow_uid.clone(),
        log_level: next.log_level.clone(),
        ..now.clone()
    };
    let tls = certificate(&kept).map_err(|error| error.to_string())?;
    crate::log::set_level(&kept.log_level)?;
    if kept.directions != now.directions {
        let asked = actor::Actor::driver("service");
        let done = app.engine.ask(asked, engine::Command::Direct(kept.directions)).await;
        done.map_err(|error| error.to_string())?;
    }
    *app.rules.write().unwrap_or_else(PoisonError::into_inner) = rules(&kept, tls);
    app.tokens.reload();
    app.tokens.any();
    tracing::info!(
        mode = ?kept.directions.mode,
        level = kept.log_level,
        certificate_days = app.certificate_days().map(f64::floor),
        tokens = app.tokens.valid(),
        "SIGHUP: settings, tokens and certificate were read anew"
    );
    if next != kept {
        tracing::warn!("some settings have changed that need a restart");
    }
    app.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    Ok(kept)
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
