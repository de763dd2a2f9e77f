//! The HTTP API: routes, and what every request passes on its way in and out.

mod answer;
mod body;
mod cluster;
mod guard;
mod jobs;
mod openapi;
mod prioritize;
mod reading;
mod routes;
mod server;
mod sse;

pub use openapi::document;
pub use reading::LongTexts;
pub use server::{Limits, Stop, serve};

use crate::engine::Handle;
use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::tokens::Tokens;
use crate::wire::{ApiError, Code, check_name};
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::Uri;
use std::sync::Arc;
use std::time::Instant;

/// What handlers share.
#[derive(Debug)]
pub struct App {
    /// The way to the engine.
    pub engine: Handle,
    /// News.
    pub feed: Arc<Feed>,
    /// Long texts that are being written.
    pub texts: LongTexts,
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

/// What stands in a path in the place of a name.
type Name = Result<Path<String>, PathRejection>;

/// A name in a path.
fn named(what: &str, name: Name) -> Result<String, ApiError> {
    let Path(name) = name.map_err(|_| ApiError::new(Code::NotFound, format!("the {what} is not a name")))?;
    check_name(|| what.to_owned(), &name)?;
    Ok(name)
}

/// A value of the query, decoded.
fn query(uri: &Uri, key: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let (_, text) = pairs.into_iter().find(|(name, _)| *name == key)?;
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => (digit(rest.next()?)? * 16 + digit(rest.next()?)?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}
