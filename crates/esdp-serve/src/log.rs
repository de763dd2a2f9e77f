//! Logs on standard error, for people or as JSON.

use std::str::FromStr;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging; a second call does nothing.
///
/// # Errors
/// When the level is unknown.
pub fn start(level: &str, json: bool) -> Result<(), String> {
    let level = LevelFilter::from_str(level).map_err(|_| {
        format!("unknown log level `{level}`, expected off, error, warn, info, debug or trace")
    })?;
    let builder =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let started = match json {
        true => builder.json().flatten_event(true).try_init(),
        false => builder.with_ansi(false).try_init(),
    };
    // Only a test starts two services in a process.
    drop(started);
    Ok(())
}
