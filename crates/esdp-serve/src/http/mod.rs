//! The HTTP API: routes, and what every request passes on its way in and out.

mod answer;
mod body;
mod guard;
mod openapi;
mod prioritize;
mod routes;
mod server;
mod sse;

pub use openapi::document;
pub use server::{Limits, Stop, serve};

use crate::engine::Handle;
use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::tokens::Tokens;
use std::sync::Arc;
use std::time::Instant;

/// What handlers share.
#[derive(Debug)]
pub struct App {
    /// The way to the engine.
    pub engine: Handle,
    /// News and the published state.
    pub feed: Arc<Feed>,
    /// Figures.
    pub metrics: Arc<Metrics>,
    /// Who may do what.
    pub tokens: Tokens,
    /// Whether a token is needed even if none was made.
    pub closed: bool,
    /// Whether the service listens on a loopback address only, so that other names in `Host` are an attack on
    /// a browser.
    pub loopback: bool,
    /// How much is taken.
    pub limits: Limits,
    /// Says when to stop.
    pub stop: Stop,
    /// When the service was started.
    pub started: Instant,
    /// The version with its commit.
    pub version: String,
}

/// The routes of the service.
pub fn router(app: Arc<App>) -> axum::Router {
    routes::router(app)
}
