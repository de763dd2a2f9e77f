//! How the process ends: an exit code and at most one sentence on standard error.

use crate::output;
use clap::error::ErrorKind;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::Mutex;

/// Bad input or failure. (1, a threshold that was not met, is for commands that have one.)
const FAILURE: u8 = 2;

/// Runs a command; errors and, as a last resort, panics become a sentence and exit code 2.
pub(crate) fn guard(command: impl FnOnce() -> anyhow::Result<()>) -> ExitCode {
    static PANIC: Mutex<Option<String>> = Mutex::new(None);
    // A user shall see a sentence, not a backtrace; the place is what we need in a report.
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!(" ({}:{})", short(place.file()), place.line()));
        let payload = info.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = text.unwrap_or("no message");
        let sentence = format!("{message}{}", place.unwrap_or_default());
        if let Ok(mut first) = PANIC.lock() {
            first.get_or_insert(sentence);
        }
    }));
    let outcome = panic::catch_unwind(AssertUnwindSafe(command));
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => fail(&format!("{error:#}")),
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
    let sentence = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // With standard error gone too, the exit code has to do.
    let _ = writeln!(std::io::stderr(), "error: {sentence}");
    ExitCode::from(FAILURE)
}

/// Help and version are printed; anything else `clap` has to say becomes one sentence.
pub(crate) fn usage(answer: &clap::Error) -> anyhow::Result<()> {
    if matches!(answer.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return output::print_help(answer);
    }
    let text = answer.render().to_string();
    let said = text.split("\n\n").take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more"));
    let said = said.collect::<Vec<_>>().join("; ");
    anyhow::bail!("{}; try `--help`", said.trim_start_matches("error: ").trim_end())
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
