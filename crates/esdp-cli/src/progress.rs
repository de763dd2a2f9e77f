//! Progress with an estimate of what is left, on standard error, on terminals only.

use esdp_report::visible;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What takes less needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar over `steps`, invisible when asked to be quiet or when nobody looks.
pub(crate) fn bar(steps: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    styled(ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr()))
}

fn styled(bar: ProgressBar) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3}% {eta:>5} left  {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A bar that appears after a second. Threads may share it.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    waiting: AtomicBool,
}

impl Progress {
    /// Over `steps`; invisible when asked to be quiet or when nobody looks.
    pub(crate) fn new(steps: u64, quiet: bool) -> Self {
        let waiting = AtomicBool::new(!quiet && std::io::stderr().is_terminal());
        let bar = styled(ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden()));
        Self { bar, started: Instant::now(), waiting }
    }

    /// So many more steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        if self.waiting.load(Ordering::Relaxed)
            && self.started.elapsed() >= PATIENCE
            && self.waiting.swap(false, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(steps);
    }

    /// What is being done.
    pub(crate) fn message(&self, text: impl Into<String>) {
        self.bar.set_message(visible::line(&text.into()));
    }

    /// Takes the bar off the terminal.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
