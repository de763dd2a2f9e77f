//! How the process ends: an exit code and at most one sentence on standard error.

use crate::output;
use clap::Command;
use clap::error::ErrorKind;
use esdp_report::visible;
use std::ffi::OsString;
use std::fmt;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;

/// A threshold was not met.
const UNMET: u8 = 1;
/// Bad input or failure.
const FAILURE: u8 = 2;
/// Ctrl-C, as shells number it.
pub(crate) const INTERRUPTED: u8 = 130;

/// An end that is no failure, but no success either.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// Thresholds that were not met, one sentence each.
    Unmet(Vec<String>),
    /// Ctrl-C; what is done and what is not.
    Interrupted(String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unmet(sentences) => write!(f, "not met: {}", sentences.join("; ")),
            Self::Interrupted(sentence) => write!(f, "interrupted: {sentence}"),
        }
    }
}

impl std::error::Error for End {}

/// Runs a command; errors and, as a last resort, panics become a sentence and exit code 2.
pub(crate) fn guard(command: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    static PANIC: Mutex<Option<String>> = Mutex::new(None);
    // A user shall see a sentence, not a backtrace; the place is what we need in a report.
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!(" ({}:{})", short(place.file()), place.line()));
        let payload = info.payload();
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("no message");
        let sentence = format!("{message}{}", place.unwrap_or_default());
        if let Ok(mut first) = PANIC.lock() {
            first.get_or_insert(sentence);
        }
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(command));
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => match error.downcast_ref::<End>() {
            Some(end @ End::Unmet(_)) => say(&end.to_string(), UNMET),
            Some(end @ End::Interrupted(_)) => say(&end.to_string(), INTERRUPTED),
            None => fail(&format!("{error:#}")),
        },
        Err(_) => {
            let cause = PANIC.lock().ok().and_then(|mut first| first.take()).unwrap_or_default();
            fail(&format!("internal error, please report it: {cause}"))
        }
    }
}

/// The path inside its crate: where it was built is nobody's business.
fn short(file: &str) -> &str {
    file.find("src/").map_or(file, |at| &file[at..])
}

fn fail(message: &str) -> ExitCode {
    say(&format!("error: {message}"), FAILURE)
}

/// One line on standard error. With that gone too, the exit code has to do.
fn say(message: &str, code: u8) -> ExitCode {
    let sentence = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(std::io::stderr(), "{}", visible::line(&sentence));
    ExitCode::from(code)
}

/// Help and version are printed; anything else `clap` has to say becomes one sentence.
pub(crate) fn usage(answer: &clap::Error, root: &Command, args: &[OsString]) -> anyhow::Result<()> {
    match answer.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return output::print_help(answer),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => anyhow::bail!("{}", missing(root, args)),
        _ => {}
    }
    let text = answer.render().to_string();
    let said =
        text.split("\n\n").take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"));
    let said = said.collect::<Vec<_>>().join("; ");
    anyhow::bail!("{}; try `--help`", said.trim_start_matches("error: ").trim_end())
}

/// What is said where a command needs another one: `clap` has the whole help for it.
fn missing(root: &Command, args: &[OsString]) -> String {
    let (mut path, mut command) = ("esdp".to_owned(), root);
    for arg in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        let Some(found) = command.find_subcommand(arg) else { break };
        (path, command) = (format!("{path} {arg}"), found);
    }
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    format!("`{path}` needs a command: {}; try `{path} --help`", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_exit_code() {
        let code = guard(|| panic!("the sky fell\non our heads"));
        // `ExitCode` has no equality; its debug form shows the number.
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(2)));
        let _ = panic::take_hook();
    }

    #[test]
    fn places_do_not_show_where_it_was_built() {
        assert_eq!(short("/home/me/crates/x/src/lib.rs"), "src/lib.rs");
        assert_eq!(short("build.rs"), "build.rs");
    }
}
