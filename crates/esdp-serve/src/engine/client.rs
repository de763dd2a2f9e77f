//! A caller in the same process: a driver that feeds the engine from a thread of its own.

use super::command::stopping;
use super::{Command, Followed, Handle, Reply, View};
use crate::actor::Actor;
use crate::metrics::Metrics;
use crate::wire::ApiError;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How soon a pause ends when the service is told to stop.
const STEP: Duration = Duration::from_millis(20);

/// The way to the engine for a thread that may wait. The service ends after the last client has gone.
#[derive(Debug)]
pub struct Client {
    actor: Actor,
    engine: Handle,
    stop: watch::Receiver<bool>,
    metrics: Arc<Metrics>,
}

impl Client {
    pub(crate) fn new(
        actor: Actor,
        engine: Handle,
        stop: watch::Receiver<bool>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let client = Self { actor, engine, stop, metrics };
        client.beat();
        client
    }

    /// Says that the driver lives: a turn begins. `/readyz` complains if the next one is long in coming.
    pub fn beat(&self) {
        self.metrics.turn.store(crate::clock::now(), Relaxed);
    }

    /// Asks the engine and waits for its answer.
    ///
    /// # Errors
    /// With what any caller would be told.
    pub fn ask(&self, command: Command) -> Reply {
        self.engine.post(self.actor.clone(), command)?.blocking_recv().map_err(|_| stopping())?
    }

    /// All rows of the present state.
    ///
    /// # Errors
    /// With what any caller would be told.
    pub fn view(&self) -> Result<Arc<View>, ApiError> {
        self.engine.follower().ask_blocking(Followed::view)
    }

    /// Whether the service was told to stop.
    pub fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// Waits until a time, or until the service is told to stop.
    pub fn pause_until(&self, due: Instant) {
        while !self.is_stopped() && Instant::now() < due {
            std::thread::sleep(STEP.min(due.saturating_duration_since(Instant::now())));
        }
    }
}
