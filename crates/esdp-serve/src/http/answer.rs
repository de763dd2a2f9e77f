//! Answers: JSON, errors, and the headers that all of them carry.

use crate::engine::{Body, Reply};
use crate::wire::{ApiError, Code};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

/// Headers of every answer: a page of ours runs our scripts only, is framed by nobody, and tells nobody where
/// it was.
const SECURITY: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
];

/// Adds the headers of every answer.
pub(super) fn secure(headers: &mut HeaderMap) {
    for (name, value) in SECURITY {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// A JSON text.
pub(super) fn json(status: u16, text: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// What the engine says.
pub(super) fn reply(reply: Reply) -> Response {
    match reply {
        Ok(Body { status, text }) => json(status, text),
        Err(error) => error.into_response(),
    }
}

/// A value as JSON.
pub(super) fn value<T: serde::Serialize>(value: &T) -> Response {
    match serde_json::to_string(value) {
        Ok(text) => json(200, text),
        Err(error) => ApiError::new(Code::Internal, error.to_string()).into_response(),
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = json(self.code.status(), self.body());
        let headers = response.headers_mut();
        match self.code {
            Code::Unauthorized => {
                drop(headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")))
            }
            Code::Overloaded | Code::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            // The rest of the body is not read: the connection cannot be used again.
            Code::TooLarge | Code::Timeout => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}
