//! The HTTP API: routes, and what every request passes on its way in and out.

mod answer;
mod audit;
mod body;
mod cluster;
mod gate;
mod guard;
mod jobs;
mod openapi;
mod origin;
mod prioritize;
mod reading;
mod routes;
mod server;
mod sse;

pub use openapi::document;
pub use origin::Hosts;
pub use reading::LongTexts;
pub use server::{Door, Limits, Stop, serve};

use crate::clock;
use crate::engine::Handle;
use crate::feed::Feed;
use crate::metrics::Metrics;
use crate::settings::Access;
use crate::tls::Certified;
use crate::tokens::Tokens;
use crate::wire::{ApiError, Code, check_name};
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::Uri;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Instant;
use tokio_rustls::TlsAcceptor;

/// From how many days on the end of a certificate is a warning.
const SOON: f64 = 14.0;

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
    /// Who may do what before any token was made.
    pub access: Access,
    /// Whether only this machine reaches the service, so that other names in `Host` are an attack on a
    /// browser.
    pub local: bool,
    /// Where the data is, for those who have to make a token there.
    pub data: PathBuf,
    /// What may change while the service runs.
    pub rules: RwLock<Rules>,
    /// Numbers requests.
    pub requests: RequestIds,
    /// How much is taken.
    pub limits: Limits,
    /// Says when to stop.
    pub stop: Stop,
    /// When the service was started.
    pub started: Instant,
    /// The version with its commit.
    pub version: String,
}

/// What may change while the service runs.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Which names are ours.
    pub hosts: Hosts,
    /// Users of this machine who are operators at the unix socket, apart from root and our own.
    pub operators: Vec<u32>,
    /// The certificate.
    pub tls: Option<Certified>,
}

impl App {
    fn rules(&self) -> RwLockReadGuard<'_, Rules> {
        self.rules.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn hosts(&self) -> Hosts {
        self.rules().hosts.clone()
    }

    fn tls(&self) -> Option<TlsAcceptor> {
        self.rules().tls.as_ref().map(|tls| tls.acceptor.clone())
    }

    /// The days until the certificate ends; none without one.
    pub(crate) fn certificate_days(&self) -> Option<f64> {
        self.rules().tls.as_ref().map(|tls| (tls.ends as f64 - clock::now() as f64 / 1e3) / 86_400.0)
    }

    /// Whether a user of this machine may do everything.
    fn is_operator(&self, uid: u32) -> bool {
        #[cfg(unix)]
        let own = rustix::process::geteuid().as_raw();
        #[cfg(not(unix))]
        let own = u32::MAX;
        uid == 0 || uid == own || self.rules().operators.contains(&uid)
    }

    /// What somebody who looks after the service should know.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.access == Access::Open && !self.tokens.any() {
            warnings.push("no token is needed: everybody on this machine may do everything".to_owned());
        }
        if !self.local && self.rules().tls.is_none() {
            warnings.push(
                "others can reach this service, and it speaks no TLS: tokens can be read on the way"
                    .to_owned(),
            );
        }
        if let Some(days) = self.certificate_days().filter(|days| *days < SOON) {
            warnings.push(match days > 0.0 {
                true => format!("the certificate ends in {days:.1} days"),
                false => "the certificate has ended".to_owned(),
            });
        }
        warnings
    }
}

/// Ids of requests: not the same ones after a restart.
#[derive(Debug)]
pub struct RequestIds {
    start: u64,
    next: AtomicU64,
}

impl Default for RequestIds {
    fn default() -> Self {
        Self { start: clock::now(), next: AtomicU64::new(1) }
    }
}

impl RequestIds {
    fn next(&self) -> String {
        format!("{:x}-{}", self.start, self.next.fetch_add(1, Relaxed))
    }
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
