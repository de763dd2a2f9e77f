//! The clocks of the service. No decision depends on them: a slot's time is its number.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, for people who read logs and journals; 0 on a machine whose clock is before that.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_millis() as u64)
}
