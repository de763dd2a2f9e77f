//! Logs on standard error, for people or as JSON.

use std::str::FromStr;
use std::sync::OnceLock;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

/// Changes the level while the service runs.
static LEVEL: OnceLock<reload::Handle<LevelFilter, Registry>> = OnceLock::new();

fn parse(level: &str) -> Result<LevelFilter, String> {
    LevelFilter::from_str(level)
        .map_err(|_| format!("unknown log level `{level}`, expected off, error, warn, info, debug or trace"))
}

/// Starts logging; a second call does nothing.
///
/// # Errors
/// When the level is unknown.
pub fn start(level: &str, json: bool) -> Result<(), String> {
    let (level, handle) = reload::Layer::new(parse(level)?);
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(level);
    let started = match json {
        true => registry.with(lines.json().flatten_event(true)).try_init(),
        false => registry.with(lines.with_ansi(false)).try_init(),
    };
    // Only a test starts two services in a process.
    if started.is_ok() {
        let _ = LEVEL.set(handle);
    }
    Ok(())
}

/// Logs at another level from now on.
///
/// # Errors
/// When the level is unknown.
pub fn set_level(level: &str) -> Result<(), String> {
    let level = parse(level)?;
    LEVEL.get().map_or(Ok(()), |handle| handle.reload(level).map_err(|error| error.to_string()))
}
