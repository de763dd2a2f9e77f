//! Who comes in: tokens and roles, and what browsers are kept from doing for other sites.

use super::{App, answer};
use crate::actor::{Actor, Peer};
use crate::tokens::{Role, TokenEntry};
use crate::wire::{ApiError, Code};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Paths that everybody may read: they tell nothing about the cluster.
const PUBLIC: [&str; 6] = ["/", "/healthz", "/readyz", "/openapi.json", "/dashboard.js", "/dashboard.css"];
/// The longest id of a request that is kept, in characters.
const LONGEST_ID: usize = 64;
/// What reporters may send.
const REPORTS: [&str; 2] = ["/v1/observations", "/v1/trainer-status/"];
/// Sent, but only to be answered: it changes nothing.
const QUESTIONS: [&str; 1] = ["/v1/prioritize"];

/// The role that a request needs; none if everybody may.
fn needed(method: &Method, path: &str) -> Option<Role> {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let under = |paths: &[&str]| {
        paths.iter().any(|known| path == *known || (known.ends_with('/') && path.starts_with(known)))
    };
    match () {
        () if reads && PUBLIC.contains(&path) => None,
        () if reads || under(&QUESTIONS) => Some(Role::Reader),
        () if under(&REPORTS) => Some(Role::Reporter),
        () => Some(Role::Operator),
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn host(text: &str) -> &str {
    match text.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => text,
    }
}

/// Whether a Host header names this machine: an address of its own, or exactly `localhost`. A name that
/// merely looks like an address, such as `127.evil.example`, belongs to somebody else.
fn is_own(asked: &str) -> bool {
    let host = host(asked);
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.is_empty()
        || host.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Pages of other sites may not use a visitor's browser to reach us.
fn check_browser(app: &App, headers: &HeaderMap, protected: bool) -> Result<(), ApiError> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = text(header::HOST).unwrap_or_default();
    if let Some(origin) = text(header::ORIGIN) {
        let site = origin.split_once("://").map_or(origin, |(_, site)| site);
        if site != asked {
            return Err(ApiError::new(Code::Forbidden, "requests from pages of other sites are refused"));
        }
    }
    // Without tokens a name that somebody has pointed at 127.0.0.1 would make any page one of ours.
    match app.loopback && !protected && !is_own(asked) {
        true => Err(ApiError::new(
            Code::Forbidden,
            "this service is for localhost; for other names make a token first",
        )),
        false => Ok(()),
    }
}

/// Who asks, if they may.
fn check(app: &App, request: &Request<Body>) -> Result<Actor, ApiError> {
    let peer = request.extensions().get::<Peer>().cloned().unwrap_or_default();
    let id = request.headers().get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
    let id = id.chars().take(LONGEST_ID).collect();
    let mut actor =
        Actor { name: "anyone".to_owned(), role: Role::Operator, address: peer.address, request: id };
    if let Some(uid) = peer.uid {
        actor.name = format!("uid:{uid}");
    }
    let protected = app.closed || app.tokens.any();
    check_browser(app, request.headers(), protected)?;
    let Some(needed) = needed(request.method(), request.uri().path()).filter(|_| protected) else {
        return Ok(actor);
    };
    let token = bearer(request.headers()).and_then(|token| app.tokens.find(token));
    match token {
        None => {
            Err(ApiError::new(Code::Unauthorized, "a valid token is needed: Authorization: Bearer <token>"))
        }
        Some(TokenEntry { role, .. }) if role < needed => {
            let needed = format!("{needed:?}").to_lowercase();
            Err(ApiError::new(Code::Forbidden, format!("this needs the role `{needed}`")))
        }
        Some(TokenEntry { name, role, .. }) => Ok(Actor { name: format!("token:{name}"), role, ..actor }),
    }
}

/// Lets a request in or not, and finishes its answer.
pub(super) async fn guard(State(app): State<Arc<App>>, mut request: Request<Body>, next: Next) -> Response {
    let started = std::time::Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = match check(&app, &request) {
        Ok(actor) => {
            request.extensions_mut().insert(actor);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    };
    answer::secure(response.headers_mut());
    let status = response.status().as_u16();
    app.metrics.requests[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
    let micros = started.elapsed().as_micros() as u64;
    tracing::debug!(%method, path, status, micros, "request");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_our_own() {
        let own = [
            "",
            "localhost",
            "LOCALHOST:7070",
            "127.0.0.1",
            "127.0.0.1:7070",
            "127.8.9.1",
            "[::1]",
            "[::1]:7",
        ];
        for host in own {
            assert!(is_own(host), "{host}");
        }
        let others = [
            "127.evil.example",
            "127.0.0.1.nip.io",
            "127.0.0.1.nip.io:7070",
            "evil.example",
            "localhost.evil.example",
            "localhost.",
            "10.0.0.1",
            "[::2]",
            "127.0.0.1@evil.example",
            "127.1",
            "2130706433",
        ];
        for host in others {
            assert!(!is_own(host), "{host}");
        }
    }

    #[test]
    fn roles_allow_what_they_should() {
        for (method, path, role) in [
            (Method::GET, "/healthz", None),
            (Method::GET, "/", None),
            (Method::GET, "/metrics", Some(Role::Reader)),
            (Method::GET, "/v1/servers", Some(Role::Reader)),
            (Method::POST, "/v1/prioritize", Some(Role::Reader)),
            (Method::POST, "/v1/observations", Some(Role::Reporter)),
            (Method::POST, "/v1/trainer-status/ns/job", Some(Role::Reporter)),
            (Method::POST, "/v1/slots", Some(Role::Operator)),
            (Method::PUT, "/v1/cluster", Some(Role::Operator)),
            (Method::POST, "/healthz", Some(Role::Operator)),
            (Method::DELETE, "/v1/jobs/j", Some(Role::Operator)),
        ] {
            assert_eq!(needed(&method, path), role, "{method} {path}");
        }
    }
}
