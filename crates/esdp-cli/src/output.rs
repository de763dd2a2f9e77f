//! Standard output, and nothing but the result on it.

use crate::files;
use anyhow::Context;
use clap::ValueEnum;
use esdp_report::visible;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::str::FromStr;

/// How a command prints its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Table,
    /// For programs: one JSON document.
    Json,
}

/// Prints a text. A reader that has seen enough (`| head`) is no failure. A program gets every byte; on a
/// terminal, what would steer it is shown.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let outcome = if stdout.is_terminal() {
        stdout.write_all(visible::lines(text, &visible::STYLES).as_bytes())
    } else {
        stdout.write_all(text.as_bytes())
    };
    written(outcome.and_then(|()| stdout.flush()))
}

/// Prints sentences about files that were written: on standard error where one of them is standard output
/// itself.
pub(crate) fn print_about(files: &[&Path], text: &str) -> anyhow::Result<()> {
    if files.iter().any(|file| files::is_stdout(file)) {
        let _ = io::stderr().write_all(visible::lines(text, &[]).as_bytes());
        return Ok(());
    }
    print(text)
}

/// Tells something beside the result, on standard error. Nobody to hear it is no failure.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "note: {}", visible::line(text));
}

/// Tells that something was accepted and can hardly be meant, on standard error.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warning: {}", visible::line(text));
}

/// Whether standard output may be coloured: a terminal that can, and a user who does not mind.
pub(crate) fn colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
}

/// Prints a text with a file's path in its middle; on a terminal that may be coloured, one to click on.
pub(crate) fn print_around(before: &str, path: &Path, after: &str) -> anyhow::Result<()> {
    let shown = path.display();
    let Some(whole) = std::fs::canonicalize(path).ok().filter(|_| colour()) else {
        return print(&format!("{before}{shown}{after}"));
    };
    let start = link(&whole.to_string_lossy());
    // Nothing but our own link steers the terminal, whatever else is in the text.
    let styles: Vec<&str> = visible::STYLES.into_iter().chain([&*start, LINK_END]).collect();
    let text = visible::lines(&format!("{before}{start}{shown}{LINK_END}{after}"), &styles);
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// The end of a link on a terminal.
const LINK_END: &str = "\x1b]8;;\x1b\\";

/// The start of a link to a file (OSC 8): what an address may hold as it is, and the rest as its bytes.
fn link(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let byte = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    let address: String = path.bytes().map(byte).collect();
    format!("\x1b]8;;file://{address}\x1b\\")
}

/// How many columns standard output has; 80 where it is no terminal.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(io::stdout()).map_or(80, |(width, _)| usize::from(width.0).max(20))
}

/// The command that was given, as a line for a shell.
pub(crate) fn command_line() -> String {
    let given = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    ["esdp".to_owned()].into_iter().chain(given).collect::<Vec<_>>().join(" ")
}

/// A word as a shell must have it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Prints what `clap` wants printed, in colour on a terminal.
pub(crate) fn print_help(help: &clap::Error) -> anyhow::Result<()> {
    written(help.print())
}

fn written(outcome: io::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}

/// Prints one JSON document.
pub(crate) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string(value).context("the result cannot be written as JSON")?;
    text.push('\n');
    print(&text)
}

/// Reads a whole number of a flag, with an error that says what is accepted.
pub(crate) fn whole<T: FromStr + PartialOrd + Display + Copy>(
    from: T,
    to: T,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let found = text.parse().ok().filter(|number| (from..=to).contains(number));
        found.ok_or_else(|| format!("expected a whole number from {from} to {to}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_holds_nothing_that_steers_a_terminal() {
        assert_eq!(link("/tmp/out/report.html"), "\x1b]8;;file:///tmp/out/report.html\x1b\\");
        assert_eq!(link("/a b/\x1b]0;\u{e4}"), "\x1b]8;;file:///a%20b/%1B%5D0%3B%C3%A4\x1b\\");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("--vary=arrivals.rho=0.5,1"), "--vary=arrivals.rho=0.5,1");
        assert_eq!(quoted("devices.capacity=[1, 2]"), "'devices.capacity=[1, 2]'");
        assert_eq!(["", "it's"].map(quoted), ["''", r"'it'\''s'"]);
    }
}
