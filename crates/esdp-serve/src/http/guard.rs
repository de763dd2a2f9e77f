//! Who comes in: tokens, users of this machine, and roles.

use super::origin::is_form;
use super::{App, answer};
use crate::actor::{Actor, Peer};
use crate::settings::Access;
use crate::tokens::{Role, TokenEntry, TokenRefusal};
use crate::wire::{ApiError, Code};
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Paths that everybody may read: they tell nothing about the cluster.
const PUBLIC: [&str; 6] = ["/", "/healthz", "/readyz", "/openapi.json", "/dashboard.js", "/dashboard.css"];
/// The header with the id of a request: the caller's own, or one of ours.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id of a request that is kept, in characters.
const LONGEST_ID: usize = 64;
/// What reporters may send.
const REPORTS: [&str; 2] = ["/v1/observations", "/v1/trainer-status/"];
/// Sent, but only to be answered: it changes nothing.
const QUESTIONS: [&str; 1] = ["/v1/prioritize"];

/// The role that a request needs; none if everybody may.
fn needed(method: &Method, path: &str) -> Option<Role> {
    let reads = is_read(method);
    match () {
        () if reads && PUBLIC.contains(&path) => None,
        () if reads || under(&QUESTIONS, path) => Some(Role::Reader),
        () if under(&REPORTS, path) => Some(Role::Reporter),
        () => Some(Role::Operator),
    }
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn under(paths: &[&str], path: &str) -> bool {
    paths.iter().any(|known| path == *known || (known.ends_with('/') && path.starts_with(known)))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// An id that may stand in a log and in a header.
fn is_plain(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte))
}

/// The caller's own id of the request, or one of ours.
fn request_id(app: &App, headers: &HeaderMap) -> String {
    let own = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(|id| is_plain(id));
    own.map_or_else(|| app.requests.next(), str::to_owned)
}

/// Who asks, if they may.
fn check(app: &App, request: &Request<Body>, id: &str) -> Result<Actor, ApiError> {
    let (method, path, headers) = (request.method(), request.uri().path(), request.headers());
    let peer = request.extensions().get::<Peer>().cloned().unwrap_or_default();
    let needed = needed(method, path);
    // No browser reaches a unix socket.
    if peer.uid.is_none() {
        app.hosts().check(headers, needed.is_none())?;
    }
    if !is_read(method) && !under(&QUESTIONS, path) && is_form(headers) {
        return Err(ApiError::new(Code::UnsupportedMediaType, "forms are refused; send application/json"));
    }
    let anyone = Actor {
        name: "anyone".to_owned(),
        role: Role::Operator,
        address: peer.address.clone(),
        request: id.to_owned(),
        ports: Vec::new(),
    };
    let Some(needed) = needed else { return Ok(anyone) };
    let actor = identify(app, headers, &peer, anyone)?;
    let reports = !is_read(method) && under(&REPORTS, path);
    if !actor.ports.is_empty() && !reports {
        return Err(ApiError::new(Code::Forbidden, "this token only reports, for its own ports"));
    }
    if actor.role >= needed {
        return Ok(actor);
    }
    let needed = format!("{needed:?}").to_lowercase();
    let mut why = format!("this needs the role `{needed}`");
    if app.access == Access::ReadOnly && !app.tokens.any() {
        why = format!(
            "nothing can be changed here until a token was made: esdp token create NAME --role {needed} \
             --data {}",
            app.data.display()
        );
    }
    Err(ApiError::new(Code::Forbidden, why))
}

/// Who asks: a token says so, or the system of a local process; or anyone, where no token is needed.
fn identify(app: &App, headers: &HeaderMap, peer: &Peer, anyone: Actor) -> Result<Actor, ApiError> {
    if let Some(token) = bearer(headers) {
        let TokenEntry { name, role, ports, .. } = app.tokens.find(token).map_err(refused)?;
        return Ok(Actor { name: format!("token:{name}"), role, ports, ..anyone });
    }
    if let Some(uid) = peer.uid {
        let actor = Actor { name: format!("uid:{uid}"), ..anyone };
        return match app.is_operator(uid) {
            true => Ok(actor),
            false => Err(ApiError::new(
                Code::Forbidden,
                format!("user {uid} may not use this socket without a token; see --allow-uid"),
            )),
        };
    }
    match (&app.access, app.tokens.any()) {
        (Access::Open, false) => Ok(anyone),
        (Access::ReadOnly, false) if app.local => Ok(Actor { role: Role::Reader, ..anyone }),
        _ => Err(refused(app.tokens.unreadable().map_or(TokenRefusal::Unknown, TokenRefusal::Unreadable))),
    }
}

fn refused(why: TokenRefusal) -> ApiError {
    ApiError::new(
        Code::Unauthorized,
        match why {
            TokenRefusal::Unknown => "a valid token is needed: Authorization: Bearer <token>".to_owned(),
            TokenRefusal::Expired => "the token has expired".to_owned(),
            TokenRefusal::Unreadable(why) => {
                format!("no token can be accepted: the service cannot read its tokens ({why})")
            }
        },
    )
}

/// Lets a request in or not, and finishes its answer.
pub(super) async fn guard(State(app): State<Arc<App>>, mut request: Request<Body>, next: Next) -> Response {
    let started = std::time::Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let id = request_id(&app, request.headers());
    let mut response = match check(&app, &request, &id) {
        Ok(actor) => {
            request.extensions_mut().insert(actor);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    };
    answer::secure(response.headers_mut());
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let status = response.status().as_u16();
    app.metrics.requests[usize::from(status / 100).min(5)].fetch_add(1, Relaxed);
    let micros = started.elapsed().as_micros() as u64;
    tracing::debug!(%method, path, status, micros, request = id, "request");
    response
}

#[cfg(test)]
mod tests {
    use super::*;

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
