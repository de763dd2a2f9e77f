//! Errors as callers see them, from one table of stable codes.

use serde::Serialize;
use std::fmt;

/// What went wrong, for programs. A code never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The body is not JSON.
    InvalidJson,
    /// A value is missing, unknown, of the wrong type or out of range; `field` says where.
    InvalidValue,
    /// There is no such thing.
    NotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// It contradicts itself or the state: a name that the cluster does not have, a cluster that does not fit
    /// together or is not described yet; `field` says where.
    Conflict,
    /// The body is not `application/json`.
    UnsupportedMediaType,
    /// The body is larger than is accepted.
    TooLarge,
    /// The request did not arrive in time.
    Timeout,
    /// No token, or one that is not valid.
    Unauthorized,
    /// The token's role does not allow it.
    Forbidden,
    /// What the change was meant for is not what is there; see `If-Match` and `If-None-Match`.
    PreconditionFailed,
    /// The key was used before, for another request.
    KeyReused,
    /// Too many requests wait; try again.
    Overloaded,
    /// The journal cannot be written right now. The message says whether nothing was changed, or nobody
    /// knows;
    /// either way the same request may be sent again.
    Unavailable,
    /// A bug in esdp.
    Internal,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 15] = [
        Self::InvalidJson,
        Self::InvalidValue,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Conflict,
        Self::UnsupportedMediaType,
        Self::TooLarge,
        Self::Timeout,
        Self::Unauthorized,
        Self::Forbidden,
        Self::PreconditionFailed,
        Self::KeyReused,
        Self::Overloaded,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The HTTP status it goes with.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidJson => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Timeout => 408,
            Self::Conflict => 409,
            Self::PreconditionFailed => 412,
            Self::TooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::InvalidValue | Self::KeyReused => 422,
            Self::Internal => 500,
            Self::Overloaded | Self::Unavailable => 503,
        }
    }
}

/// An error, as the body of an answer: `{"code", "message", "field", "accepted"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApiError {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
    /// Where in the request, as a path such as `jobs[2].port`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What would have been accepted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl ApiError {
    /// An error without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), field: None, accepted: None }
    }

    /// A value that was not accepted.
    pub fn value(field: impl Into<String>, message: impl Into<String>, accepted: impl Into<String>) -> Self {
        let (field, accepted) = (Some(field.into()), Some(accepted.into()));
        Self { code: Code::InvalidValue, message: message.into(), field, accepted }
    }

    /// A value that fits by itself, but not with the rest or with the state.
    pub fn clash(field: impl Into<String>, message: impl Into<String>, accepted: impl Into<String>) -> Self {
        Self { code: Code::Conflict, ..Self::value(field, message, accepted) }
    }

    /// There is no such thing.
    pub fn missing(what: &str, name: &str) -> Self {
        let name: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        Self::new(Code::NotFound, format!("there is no {what} `{name}`"))
    }

    /// Nothing can be done before the cluster is known.
    pub fn no_cluster() -> Self {
        Self::new(Code::Conflict, "no cluster has been described yet; send one to PUT /v1/cluster")
    }

    /// The error as JSON.
    pub fn body(&self) -> String {
        // A struct of strings is always JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ApiError {}
