//! A flag that the engine asks between slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

    /// The flag itself, for whoever sets it from outside, such as a handler of signals.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
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
