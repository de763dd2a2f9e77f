//! Ctrl-C: a flag that the engine asks between slots.

use crate::exit::INTERRUPTED;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether to stop early.
#[derive(Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// Nobody interrupts, unless [`set`](Cancel::set) is called.
    pub fn never() -> Self {
        Self::default()
    }

    /// Set by the first Ctrl-C, or SIGTERM, which is how clusters end a job. The second one ends the process
    /// on the spot: a slot of a huge cluster may take longer than a user's patience. Where there are no
    /// signals, it is never set.
    pub fn on_ctrl_c() -> &'static Self {
        static ASKED: OnceLock<Cancel> = OnceLock::new();
        ASKED.get_or_init(|| {
            let cancel = Cancel::never();
            for signal in [SIGINT, SIGTERM] {
                // In this order: the first asks whether the flag was set before this signal.
                let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), Arc::clone(&cancel.flag))
                    .and_then(|_| flag::register(signal, Arc::clone(&cancel.flag)));
            }
            cancel
        })
    }

    /// Whether somebody asked to stop.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Asks to stop.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}
