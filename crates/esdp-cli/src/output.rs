//! Standard output, and nothing but the result on it.

use anyhow::Context;
use clap::ValueEnum;
use serde::Serialize;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs: one JSON document.
    Json,
}

/// Prints a text. A reader that has seen enough (`| head`) is no failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Tells something beside the result, on standard error. Nobody to hear it is no failure.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Whether standard output may be coloured: a terminal that can, and a user who does not mind.
pub(crate) fn colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
}

/// Prints what `clap` wants printed, in colour on a terminal.
pub(crate) fn print_help(help: &clap::Error) -> anyhow::Result<()> {
    written(help.print())
}

fn written(outcome: io::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("standard output cannot be written"),
        _ => Ok(()),
    }
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value).context("the result cannot be written as JSON")?;
    text.push('\n');
    print(&text)
}

/// A whole number of a flag, with an error that says what is accepted.
pub(crate) fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}
