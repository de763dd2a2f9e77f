//! Ctrl-C: the flag that the engine asks between slots.

use crate::exit::INTERRUPTED;
use esdp_engine::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::OnceLock;

/// Set by the first Ctrl-C, or SIGTERM, which is how clusters end a job. The second one ends the process
/// on the spot: a slot of a huge cluster may take longer than a user's patience. Where there are no
/// signals, it is never set.
pub(crate) fn on_ctrl_c() -> &'static Cancel {
    static ASKED: OnceLock<Cancel> = OnceLock::new();
    ASKED.get_or_init(|| {
        let cancel = Cancel::never();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first asks whether the flag was set before this signal.
            let _ = flag::register_conditional_shutdown(signal, INTERRUPTED.into(), cancel.flag())
                .and_then(|_| flag::register(signal, cancel.flag()));
        }
        cancel
    })
}
